//! The endpoint of embeddings that the user names.

use moss_embeddings::{EmbeddingApi, EmbeddingEndpoint};

use super::EmbeddingsConfig;

/// Most numbers of a vector.
pub(super) const DIMENSIONS_MAX: i64 = 8_192;
/// Longest wait of a question for its vector.
pub(super) const QUERY_MS_MAX: i64 = 10_000;
/// Longest text, in bytes.
const TEXT_BYTES_MAX: usize = 4_096;
/// A model that stands for any where only the URL is looked at.
const ANY_MODEL: &str = "any";

/// Looks at a text of the section.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn check(key: &str, text: &str) -> Result<(), String> {
    if text.len() > TEXT_BYTES_MAX || text.contains(char::is_control) {
        return Err(format!("expected a line of at most {TEXT_BYTES_MAX} bytes"));
    }
    match key {
        "api" if EmbeddingApi::parse(text).is_none() => {
            Err(format!("expected \"ollama\" or \"openai\", got {text:?}"))
        }
        "url" if !text.is_empty() => {
            EmbeddingEndpoint::new(EmbeddingApi::Ollama, text, ANY_MODEL, None).map(drop)
        }
        "token_env" if text.contains(['=', ' ']) => {
            Err("expected the name of a variable of the environment".to_owned())
        }
        _ => Ok(()),
    }
}

// === impl EmbeddingsConfig ===

impl EmbeddingsConfig {
    /// The endpoint, without its secret; none where nobody wants one.
    ///
    /// # Errors
    ///
    /// What is missing.
    pub fn endpoint(&self) -> Option<Result<EmbeddingEndpoint, String>> {
        if !self.enabled || self.url.is_empty() {
            return None;
        }
        let Some(api) = EmbeddingApi::parse(&self.api) else {
            return Some(Err(format!("there is no API `{}`", self.api)));
        };
        let dimensions = (self.dimensions > 0).then_some(self.dimensions);
        Some(EmbeddingEndpoint::new(api, &self.url, &self.model, dimensions))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Config, ConfigSource};

    fn resolve(user: &str, admin: &str) -> Result<Config, String> {
        let source = |text| Some(ConfigSource { file: Path::new("config.toml"), text });
        Config::resolve(source(user), source(admin)).map_err(|error| error.to_string())
    }

    const OLLAMA: &str = "[embeddings]\nurl = \"http://127.0.0.1:11434\"\nmodel = \"m\"";

    #[test]
    fn there_is_no_endpoint_unless_one_is_named() {
        assert!(resolve("", "").unwrap().embeddings.endpoint().is_none());
        let named = resolve(OLLAMA, "").unwrap();
        let endpoint = named.embeddings.endpoint().unwrap().unwrap();
        assert_eq!((endpoint.url(), endpoint.model()), ("http://127.0.0.1:11434", "m"));
        let (after, waiting) = Config::default().renewed(&named);
        assert_eq!((after.embeddings, waiting), (named.embeddings, vec![]));
        let no_model = resolve("[embeddings]\nurl = \"http://a\"", "").unwrap();
        let error = no_model.embeddings.endpoint().unwrap().unwrap_err();
        assert!(error.contains("`model`"), "{error}");
    }

    #[test]
    fn what_the_administrator_says_counts() {
        let off = resolve(OLLAMA, "[embeddings]\nenabled = false").unwrap();
        assert!(off.embeddings.endpoint().is_none());
        let theirs = resolve(OLLAMA, "[embeddings]\nurl = \"https://a.example\"").unwrap();
        assert_eq!(theirs.embeddings.url, "https://a.example");
        let untouched = resolve(OLLAMA, "[embeddings]\nurl = \"\"").unwrap();
        assert_eq!(untouched.embeddings.url, "http://127.0.0.1:11434");
    }

    #[test]
    fn what_is_no_endpoint_is_refused_by_line() {
        for (text, why) in [
            ("api = \"grpc\"", "2:7: `api` in [embeddings]: expected \"ollama\" or \"openai\""),
            ("url = \"localhost\"", "2:7: `url` in [embeddings]: "),
            ("url = \"http://u:p@a\"", "it holds credentials"),
            ("url = 7", "expected a text, got 7"),
            ("dimensions = 9000", "from 0 to 8192"),
            ("query_ms = 60000", "from 1 to 10000"),
            ("token_env = \"A=b\"", "the name of a variable"),
            ("token = \"secret\"", "no key `token` in [embeddings]"),
        ] {
            let error = resolve(&format!("[embeddings]\n{text}"), "").unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
