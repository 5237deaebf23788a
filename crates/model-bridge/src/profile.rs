//! How a model is best asked where it calls tools in text: settings as data, in `profiles.toml`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::conversation::Sampling;
use crate::parse::Forms;

/// How many stop texts APIs take.
const STOPS_MAX: usize = 4;

/// The settings of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelProfile {
    /// The models it is for: names, or beginnings of names followed by `*`.
    pub models: Vec<String>,
    /// The temperature where the client says none; none where the model takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts that end a reply: what a model writes that makes up a result.
    pub stop: Vec<String>,
    /// How much of the context is kept free for results and what follows them, in percent.
    pub result_room_percent: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Profiles {
    profile: Vec<ModelProfile>,
    forms: Vec<FormsProfile>,
}

/// The forms of calls that models were trained on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormsProfile {
    /// The models, as of [`ModelProfile`].
    models: Vec<String>,
    /// The names of the forms.
    read: Vec<String>,
}

static PROFILES: LazyLock<Profiles> = LazyLock::new(|| {
    toml::from_str(include_str!("profiles.toml")).expect("the committed profiles read")
});

/// The profile of a model, by its name; what stands before the last `/` is the provider's.
pub fn profile(model: &str) -> &'static ModelProfile {
    let name = own_name(model);
    let profiles = &PROFILES.profile;
    let own = profiles.iter().find(|profile| profile.models.iter().any(|one| fits(one, &name)));
    own.unwrap_or(&profiles[profiles.len() - 1])
}

/// The forms in which a model writes calls, by its name: those that it was trained on, or all where
/// that is not known.
pub fn forms(model: &str) -> Forms {
    let name = own_name(model);
    let of_model = |profile: &&FormsProfile| profile.models.iter().any(|one| fits(one, &name));
    let own = PROFILES.forms.iter().find(of_model);
    own.map_or_else(Forms::default, |profile| Forms::named(&profile.read))
}

fn own_name(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_lowercase()
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

// === impl ModelProfile ===

impl ModelProfile {
    /// Fills in what the client leaves open. Its own stop texts stay; ours are added as far as APIs
    /// take them.
    pub fn applied_to(&self, sampling: &Sampling) -> Sampling {
        let mut applied = sampling.clone();
        applied.temperature = applied.temperature.or(self.temperature);
        for stop in &self.stop {
            if applied.stop.len() < STOPS_MAX && !applied.stop.contains(stop) {
                applied.stop.push(stop.clone());
            }
        }
        applied
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::continuation::continuation;
    use crate::conversation::{MessagePart, ToolResult};
    use crate::language::Language;

    /// The lowest and the highest temperature that is recommended where tools are called: section 7 of
    /// the specification for models (document 000).
    const TEMPERATURE_RECOMMENDED: (f64, f64) = (0.1, 0.3);

    #[test]
    fn temperatures_are_those_that_the_specification_recommends() {
        let (lowest, highest) = TEMPERATURE_RECOMMENDED;
        for temperature in PROFILES.profile.iter().filter_map(|profile| profile.temperature) {
            assert!((lowest..=highest).contains(&temperature), "{temperature}");
        }
    }

    #[test]
    fn the_first_profile_that_fits_is_a_models_own() {
        for (model, temperature) in [
            ("qwen3-32b", Some(0.2)),
            ("", Some(0.2)),
            ("openai/o3-mini", None),
            ("GPT-5.1", None),
            ("gpt-4.1", Some(0.2)),
            ("deepseek-reasoner", None),
            ("deepseek-chat", Some(0.2)),
            ("ollama3", Some(0.2)),
        ] {
            assert_eq!(profile(model).temperature, temperature, "{model}");
        }
    }

    #[test]
    fn forms_are_those_that_the_model_was_trained_on() {
        let known: Vec<&str> = Forms::names().collect();
        for profile in &PROFILES.forms {
            assert!(!profile.read.is_empty(), "{:?}", profile.models);
            for name in &profile.read {
                assert!(known.contains(&name.as_str()), "{name}");
            }
        }
        assert_eq!(forms("openai/gpt-oss-120b"), Forms::named(&["harmony"]));
        assert_eq!(forms("Qwen/Qwen3-Coder-30B"), Forms::named(&["hermes", "qwen3_coder"]));
        assert_eq!(forms("somebody/else"), Forms::default());
        assert_eq!(forms(""), Forms::default());
    }

    #[test]
    fn what_the_client_says_goes_first() {
        let own = |temperature, stop: &[&str]| Sampling {
            temperature,
            stop: stop.iter().map(|text| (*text).to_owned()).collect(),
            ..Sampling::default()
        };
        let profile = profile("qwen3-32b");
        let filled = profile.applied_to(&own(None, &["END"]));
        assert_eq!(filled.temperature, Some(0.2));
        assert_eq!(filled.stop, ["END", "\nTool result of call", "\n工具结果（"]);
        let kept = profile.applied_to(&own(Some(1.0), &["a", "b", "c", "d"]));
        assert_eq!(kept, own(Some(1.0), &["a", "b", "c", "d"]));
    }

    #[test]
    fn stop_texts_are_how_results_begin() {
        let result = ToolResult {
            call_id: "c".to_owned(),
            name: Some("todo".to_owned()),
            content: vec![MessagePart::Text("x".to_owned())],
            is_error: false,
        };
        let stops = &profile("any").stop;
        for (language, stop) in [Language::En, Language::Zh].into_iter().zip(stops) {
            let parts = continuation(&[], &[&result], language, false);
            let [MessagePart::Text(text)] = parts.as_slice() else { panic!("one text") };
            assert!(format!("\n{text}").starts_with(stop.as_str()), "{text}");
        }
    }
}
