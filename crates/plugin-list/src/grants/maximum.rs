//! What an administrator lets any plugin have at most, as configuration files say it: lists of
//! texts, where `*` stands for every name, of hosts by any scheme at any port, and `.` for the whole
//! workspace.

use moss_sdk::RelPath;

use super::command::CommandPattern;
use super::host::HostPattern;
use super::{FileGrant, Grant, NamePattern};
use crate::tool_names::is_tool_name;

/// A kind of capability that lists of texts bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapabilityKind {
    /// Paths of the workspace.
    Files,
    /// Patterns of hosts to which requests may go.
    Http,
    /// Variables of the environment.
    Env,
    /// Names of tools of moss.
    Tools,
    /// Commands that may be run.
    Commands,
}

// === impl Grant ===

impl Grant {
    /// Reads a bound on one kind; nothing of the others.
    ///
    /// # Errors
    ///
    /// The text that is none of that kind, and why.
    pub fn bound(kind: CapabilityKind, texts: &[String]) -> Result<Self, String> {
        let mut bound = Self::default();
        for text in texts {
            let refused = |why: &str| format!("`{text}` {why}");
            match kind {
                CapabilityKind::Files => {
                    let path = RelPath::parse(text).map_err(|error| match error.hint {
                        Some(hint) => format!("{}; {hint}", error.message),
                        None => error.message,
                    })?;
                    bound.files.push(FileGrant { path, except: Vec::new() });
                }
                CapabilityKind::Http if text == "*" => bound.http.push(HostPattern::EVERYTHING),
                CapabilityKind::Http => bound.http.push(HostPattern::parse(text).map_err(refused)?),
                CapabilityKind::Env => bound.env.push(
                    name(text)
                        .ok_or_else(|| refused("is neither the name of a variable nor `*`"))?,
                ),
                CapabilityKind::Tools => bound.tools.push(
                    name(text).ok_or_else(|| refused("is neither the name of a tool nor `*`"))?,
                ),
                CapabilityKind::Commands => {
                    bound.commands.push(CommandPattern::parse(text).map_err(refused)?);
                }
            }
        }
        Ok(bound)
    }

    /// Writes what it has of one kind as [`Grant::bound`] reads it.
    pub fn texts(&self, kind: CapabilityKind) -> Vec<String> {
        let path = |files: &FileGrant| match files.path.is_root() {
            true => ".".to_owned(),
            false => files.path.to_string(),
        };
        match kind {
            CapabilityKind::Files => self.files.iter().map(path).collect(),
            CapabilityKind::Http => self.http.iter().map(ToString::to_string).collect(),
            CapabilityKind::Env => self.env.iter().map(ToString::to_string).collect(),
            CapabilityKind::Tools => self.tools.iter().map(ToString::to_string).collect(),
            CapabilityKind::Commands => self.commands.iter().map(ToString::to_string).collect(),
        }
    }
}

fn name(text: &str) -> Option<NamePattern> {
    match text {
        "*" => Some(NamePattern::Any),
        name => is_tool_name(name).then(|| NamePattern::Exactly(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_meet_by_what_they_mean() {
        let meet = |kind, one: &[&str], other: &[&str]| {
            let bound = |texts: &[&str]| {
                let texts: Vec<_> = texts.iter().map(ToString::to_string).collect();
                Grant::bound(kind, &texts).unwrap()
            };
            bound(one).meet(&bound(other)).texts(kind)
        };
        assert_eq!(meet(CapabilityKind::Files, &["."], &["docs"]), ["docs"]);
        assert_eq!(meet(CapabilityKind::Files, &["."], &["."]), ["."]);
        assert_eq!(
            meet(CapabilityKind::Http, &["*"], &["http://a.example:81"]),
            ["http://a.example:81"]
        );
        assert_eq!(meet(CapabilityKind::Http, &["*"], &["https://*"]), ["https://*"]);
        assert_eq!(
            meet(CapabilityKind::Http, &["https://*"], &["http://*", "a.example"]),
            ["a.example"]
        );
        assert_eq!(meet(CapabilityKind::Http, &["*.a.example"], &["*"]), ["*.a.example"]);
        assert_eq!(meet(CapabilityKind::Env, &["*"], &["LANG", "HOME"]), ["LANG", "HOME"]);
        assert_eq!(meet(CapabilityKind::Tools, &["read_file"], &["grep_search"]), [""; 0]);
        assert_eq!(meet(CapabilityKind::Commands, &["*"], &["npm run *"]), ["npm run *"]);
        assert_eq!(
            meet(CapabilityKind::Commands, &["npm run test"], &["npm run *"]),
            ["npm run test"]
        );
        for (kind, text) in [
            (CapabilityKind::Files, "../a"),
            (CapabilityKind::Http, "a/b"),
            (CapabilityKind::Env, "A B"),
            (CapabilityKind::Tools, "a*"),
            (CapabilityKind::Commands, "* a"),
        ] {
            let refused = Grant::bound(kind, &[text.to_owned()]).unwrap_err();
            assert!(refused.starts_with(&format!("`{text}`")), "{refused}");
        }
    }
}
