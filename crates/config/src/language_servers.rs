//! Language servers that the user names, beside those that moss knows.

use moss_language_servers::{ServedFiles, ServerSpec};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::named;

/// The section that has them; its keys are the names.
pub(super) const SECTION: &str = "added_language_servers";
/// Most words of a command, names of files, manifests; and the longest of these texts, in bytes.
const TEXTS_MAX: usize = 64;
const TEXT_BYTES_MAX: usize = 512;

/// A language server that the configuration adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedServerConfig {
    /// Its program and its arguments; it speaks over its standard streams.
    pub command: Vec<String>,
    /// The files that it knows, as `*.zig`.
    pub files: Vec<String>,
    /// What the protocol calls their language.
    pub language: String,
    /// Names of files that make a directory the root of a project.
    #[serde(default)]
    pub manifests: Vec<String>,
}

/// Puts a server in its place: that of the administrator replaces one of the user.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn put(servers: &mut Table, name: &str, server: Value) -> Result<(), String> {
    named::put(servers, (name, server), "language server", AddedServerConfig::check)
}

// === impl AddedServerConfig ===

impl AddedServerConfig {
    /// The server, as it is started.
    pub fn spec(&self, name: &str) -> ServerSpec {
        let served = |file: &String| ServedFiles {
            ending: file.trim_start_matches('*').to_owned(),
            language: self.language.clone(),
        };
        let files = self.files.iter().map(served).collect();
        ServerSpec::configured(name, &self.command, files, &self.manifests)
    }

    fn check(&self) -> Result<(), String> {
        let all = [&self.command, &self.files, &self.manifests];
        let is_text = |text: &String| {
            !text.is_empty() && text.len() <= TEXT_BYTES_MAX && !text.contains(['\0', '\n'])
        };
        let language = std::slice::from_ref(&self.language);
        let texts = || all.iter().flat_map(|texts| texts.iter()).chain(language);
        if all.iter().any(|texts| texts.len() > TEXTS_MAX) || !texts().all(is_text) {
            return Err(format!(
                "`command`, `files` and `manifests` have at most {TEXTS_MAX} texts, each a line of 1 to \
                 {TEXT_BYTES_MAX} bytes"
            ));
        }
        if self.command.is_empty() || self.files.is_empty() {
            return Err("`command` and `files` have at least one text".to_owned());
        }
        let is_ending = |file: &&String| {
            file.strip_prefix("*.").is_some_and(|end| !end.is_empty() && !end.contains(['*', '/']))
        };
        if let Some(file) = self.files.iter().find(|file| !is_ending(file)) {
            return Err(format!("`{file}` in `files` is not an ending, such as `*.zig`"));
        }
        match self.manifests.iter().find(|name| name.contains(['/', '*'])) {
            Some(name) => Err(format!("`{name}` in `manifests` is not the name of a file")),
            None => Ok(()),
        }
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

    const ZLS: &str = "[added_language_servers]\nzls = { command = [\"zls\"], files = [\"*.zig\"], language = \"zig\" }";

    #[test]
    fn a_server_is_added_while_a_daemon_runs_and_knows_its_files() {
        let read = resolve(ZLS, "").unwrap();
        let (after, waiting) = Config::default().renewed(&read);
        assert_eq!(
            (&after.added_language_servers, waiting),
            (&read.added_language_servers, vec![])
        );
        let spec = after.added_language_servers["zls"].spec("zls");
        assert_eq!(spec.language_of("main.zig"), Some("zig"));
        assert_eq!(spec.language_of("main.rs"), None);
    }

    #[test]
    fn what_the_administrator_turns_off_stays_off() {
        let disabled = |user: &str, admin: &str| {
            let servers = resolve(user, admin).unwrap().language_servers;
            (servers.enabled, servers.disabled)
        };
        let both = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let user = "[language_servers]\nenabled = true\ndisabled = [\"gopls\"]";
        assert_eq!(disabled("", ""), (true, vec![]));
        let admin = "[language_servers]\ndisabled = [\"clangd\", \"gopls\"]";
        assert_eq!(disabled(user, admin), (true, both(&["gopls", "clangd"])));
        assert!(!disabled(user, "[language_servers]\nenabled = false").0);
    }

    #[test]
    fn what_is_no_server_is_refused_by_name() {
        for (text, why) in [
            ("a = \"zls\"", "2:5: `a` in [added_language_servers]: "),
            ("a = { command = [], files = [\"*.a\"], language = \"a\" }", "at least one"),
            ("a = { command = [\"a\"], files = [\"src/*.a\"], language = \"a\" }", "`src/*.a`"),
            ("a = { command = [\"a\"], files = [\"*.a\"], language = \"\" }", "1 to 512 bytes"),
            (
                "a = { command = [\"a\"], files = [\"*.a\"], language = \"a\", manifests = [\"a/b\"] }",
                "`a/b` in `manifests`",
            ),
            ("a = { command = [\"a\"], files = [\"*.a\"] }", "missing field `language`"),
        ] {
            let error = resolve(&format!("[added_language_servers]\n{text}"), "").unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
