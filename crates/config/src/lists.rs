//! Values that are lists of texts: what they may hold, and what comes of the user's and the
//! administrator's together.

use minisign_verify::PublicKey;
use moss_plugin_list::{Grant, grants::maximum::CapabilityKind};
use toml::Value;

use super::{Override, PluginMaximumConfig};
use crate::excluded::ExcludedPaths;

/// Most texts of one list.
const TEXTS_MAX: usize = 64;

/// Puts a list in its place: as it is, or as what both lists have.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn put(
    section: &str,
    key: &str,
    old: &mut Vec<Value>,
    new: &[Value],
    take: Override,
) -> Result<(), String> {
    let texts = |values: &[Value]| -> Option<Vec<String>> {
        values.iter().map(|value| value.as_str().map(ToOwned::to_owned)).collect()
    };
    let expected = || format!("expected a list of at most {TEXTS_MAX} texts");
    let given = texts(new).filter(|given| given.len() <= TEXTS_MAX).ok_or_else(expected)?;
    let kept = texts(old).ok_or_else(expected)?;
    let result = match kind(section, key) {
        Some(kind) => {
            let bound = Grant::bound(kind, &given)?;
            match take {
                Override::Replace => given,
                Override::Bound => {
                    let known = Grant::bound(kind, &kept)?;
                    known.meet(&bound).texts(kind)
                }
            }
        }
        None if (section, key) == ("checks", "before_edit") => match take {
            Override::Replace => given,
            Override::Bound => kept.into_iter().filter(|name| given.contains(name)).collect(),
        },
        // What the administrator turns off stays off.
        None if (section, key) == ("language_servers", "disabled") => both(kept, given, take),
        None if (section, key) == ("index", "exclude") => {
            ExcludedPaths::new(&given)?;
            both(kept, given, take)
        }
        None => {
            if let Some(text) = given.iter().find(|text| PublicKey::from_base64(text).is_err()) {
                return Err(format!(
                    "expected public keys of minisign, such as \"RW…\", not `{text}`"
                ));
            }
            match take {
                // Who names none leaves it to the other.
                Override::Bound if !kept.is_empty() && !given.is_empty() => {
                    kept.into_iter().filter(|key| given.contains(key)).collect()
                }
                Override::Bound if given.is_empty() => kept,
                Override::Bound | Override::Replace => given,
            }
        }
    };
    *old = result.into_iter().map(Value::String).collect();
    Ok(())
}

/// What a list says in place of another, or what either says.
fn both(kept: Vec<String>, given: Vec<String>, take: Override) -> Vec<String> {
    match take {
        Override::Replace => given,
        Override::Bound => {
            let more: Vec<_> = given.into_iter().filter(|one| !kept.contains(one)).collect();
            kept.into_iter().chain(more).collect()
        }
    }
}

/// The kind of capability that a list bounds; none for other lists.
fn kind(section: &str, key: &str) -> Option<CapabilityKind> {
    match (section, key) {
        ("plugin_maximum", "files") => Some(CapabilityKind::Files),
        ("plugin_maximum", "http") => Some(CapabilityKind::Http),
        ("plugin_maximum", "env") => Some(CapabilityKind::Env),
        ("plugin_maximum", "tools") => Some(CapabilityKind::Tools),
        ("plugin_maximum", "commands") => Some(CapabilityKind::Commands),
        _ => None,
    }
}

// === impl PluginMaximumConfig ===

impl PluginMaximumConfig {
    /// What any plugin may have at most.
    pub fn grant(&self) -> Grant {
        let of = |kind, texts: &[String]| {
            Grant::bound(kind, texts).expect("what does not fit was refused where it was read")
        };
        Grant {
            files: of(CapabilityKind::Files, &self.files).files,
            http: of(CapabilityKind::Http, &self.http).http,
            env: of(CapabilityKind::Env, &self.env).env,
            tools: of(CapabilityKind::Tools, &self.tools).tools,
            store_bytes_max: self.store_bytes,
            editor: self.editor,
            index: self.index,
            commands: of(CapabilityKind::Commands, &self.commands).commands,
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

    #[test]
    fn nothing_is_withheld_where_nobody_says_so() {
        let all = Config::default().plugin_maximum.grant();
        let everything = moss_plugin_list::Grant::everything();
        assert_eq!((&all.files, &all.http), (&everything.files, &everything.http));
        assert_eq!((&all.env, &all.tools), (&everything.env, &everything.tools));
        assert_eq!(all.commands, everything.commands);
        assert!(all.editor && all.index && all.store_bytes_max >= 64 << 20);
    }

    #[test]
    fn a_user_narrows_what_the_administrator_allows_and_never_widens_it() {
        let admin = "[plugin_maximum]\nhttp = [\"*.bank.example\"]\nfiles = [\"docs\"]\nenv = []\n\
                     editor = false\nindex = false\ncommands = []\nstore_bytes = 0\n[plugins]\nunpinned = false";
        let wide = "[plugin_maximum]\nhttp = [\"*\"]\nenv = [\"*\"]\neditor = true\n\
                    index = true\ncommands = [\"*\"]\n[plugins]\nunpinned = true";
        let config = resolve(wide, admin).unwrap();
        let grant = config.plugin_maximum.grant();
        assert_eq!(grant.lines(), ["read docs", "reach *.bank.example", "call the tool *"]);
        assert!(!config.plugins.unpinned);
        let narrow = "[plugin_maximum]\nhttp = [\"a.bank.example\", \"b.example\"]\ntools = []";
        let grant = resolve(narrow, admin).unwrap().plugin_maximum.grant();
        assert_eq!(grant.lines(), ["read docs", "reach a.bank.example"]);
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let key = |section: &str| format!("[{section}]\n");
        for (text, word) in [
            ("http = [\"a/b\"]", "config.toml:2:8: `http` in [plugin_maximum]: `a/b` is not"),
            ("http = \"a\"", "expected a list of texts, got \"a\""),
            (
                "files = [\"/etc\"]",
                "`files` in [plugin_maximum]: `/etc`: the path is absolute; only files beneath",
            ),
            ("files = [1]", "expected a list of at most 64 texts"),
        ] {
            let refused = resolve(&(key("plugin_maximum") + text), "").unwrap_err();
            assert!(refused.contains(word), "{word}: {refused}");
        }
        let refused = resolve("[plugins]\nsigners = [\"RW\"]", "").unwrap_err();
        assert!(refused.contains("public keys of minisign"), "{refused}");
    }

    #[test]
    fn linters_run_before_an_edit_where_the_user_names_them_and_the_administrator_does_not_leave_them_out()
     {
        let named = |user: &str, admin: &str| resolve(user, admin).unwrap().checks.before_edit;
        let user = "[checks]\nbefore_edit = [\"ruff\", \"eslint\"]";
        assert!(named("", "").is_empty());
        assert_eq!(named(user, ""), ["ruff", "eslint"]);
        assert_eq!(named(user, "[checks]\nbefore_edit = [\"ruff\", \"mypy\"]"), ["ruff"]);
        assert!(named(user, "[checks]\nbefore_edit = []").is_empty());
        assert!(named("", "[checks]\nbefore_edit = [\"ruff\"]").is_empty());
        let long = resolve("[checks]\nbefore_edit_ms = 600_001", "").unwrap_err();
        assert!(long.contains("an integer from 1 to 600000"), "{long}");
    }

    #[test]
    fn only_keys_that_both_name_sign() {
        const ONE: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        let one = format!("[plugins]\nsigners = [\"{ONE}\"]");
        let signers = |user: &str, admin: &str| resolve(user, admin).unwrap().plugins.signers;
        assert_eq!(signers(&one, ""), [ONE]);
        assert_eq!(signers("", &one), [ONE]);
        assert_eq!(signers(&one, &one), [ONE]);
        assert_eq!(signers(&one, "[plugins]\nsigners = []"), [ONE]);
    }
}
