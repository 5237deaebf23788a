//! What a plugin asks for, what the user granted, what the administrator allows at most, and what
//! it therefore has: the intersection. All of them are a [`Grant`].
//!
//! Only what is enforced has a type here.

pub mod host;
pub mod maximum;
pub mod paths;

use std::fmt;

use moss_sdk::RelPath;

use crate::grants::host::HostPattern;
use crate::units;

/// How the variables of the environment begin that are moss's own: no plugin sees them.
pub const OWN_VARIABLES: &str = "MOSS_";

/// What a plugin may do outside itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// What of the workspace it may read.
    pub files: Vec<FileGrant>,
    /// The hosts that it may reach.
    pub http: Vec<HostPattern>,
    /// The variables of the environment that it may see.
    pub env: Vec<NamePattern>,
    /// The most bytes that it may keep in its store, per workspace; 0 where it has none.
    pub store_bytes_max: u64,
    /// The tools of moss that it may call.
    pub tools: Vec<NamePattern>,
    /// Whether it may ask editors what they know of a file.
    pub editor: bool,
}

/// A part of the workspace that may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileGrant {
    /// A file, or a directory with all that is in it, relative to the workspace of the call.
    pub path: RelPath,
    /// Globs of paths, relative to the workspace, that are left out. Sorted.
    pub except: Vec<String>,
}

/// A name, or every name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamePattern {
    /// Every name: `*`.
    Any,
    /// This name and no other.
    Exactly(String),
}

/// Something that a plugin asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedCapability {
    /// What the plugin wants to do.
    pub capability: Capability,
    /// Why it is needed, for the person who grants it.
    pub reason: String,
}

/// A capability that this version enforces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capability {
    /// Reading a file, or the files beneath a directory, relative to the workspace; the workspace
    /// itself stands for whatever is granted.
    Files(RelPath),
    /// Sending requests to hosts that match.
    Http(HostPattern),
    /// Seeing variables of the environment.
    Env(NamePattern),
    /// Keeping so many bytes from call to call.
    Store(u64),
    /// Calling tools of moss that only read.
    Tool(NamePattern),
    /// Asking editors for symbols and definitions.
    Editor,
}

// === impl Grant ===

impl Grant {
    /// All that there is: what an administrator allows by default.
    pub fn everything() -> Self {
        Self {
            files: vec![FileGrant { path: RelPath::root(), except: Vec::new() }],
            http: vec![HostPattern::EVERYTHING],
            env: vec![NamePattern::Any],
            store_bytes_max: u64::MAX,
            tools: vec![NamePattern::Any],
            editor: true,
        }
    }

    /// What requests would come to if they were granted as they are.
    pub fn requested(requests: &[RequestedCapability]) -> Self {
        let mut all = Self::default();
        for RequestedCapability { capability, .. } in requests {
            match capability.clone() {
                Capability::Files(path) => all.files.push(FileGrant { path, except: Vec::new() }),
                Capability::Http(host) => all.http.push(host),
                Capability::Env(name) => all.env.push(name),
                Capability::Store(bytes) => all.store_bytes_max = all.store_bytes_max.max(bytes),
                Capability::Tool(name) => all.tools.push(name),
                Capability::Editor => all.editor = true,
            }
        }
        all
    }

    /// Returns what both grants allow.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        Self {
            files: meet(&self.files, &other.files, FileGrant::meet, FileGrant::covers),
            http: meet(&self.http, &other.http, HostPattern::meet, HostPattern::covers),
            env: meet(&self.env, &other.env, NamePattern::meet, NamePattern::covers),
            store_bytes_max: self.store_bytes_max.min(other.store_bytes_max),
            tools: meet(&self.tools, &other.tools, NamePattern::meet, NamePattern::covers),
            editor: self.editor && other.editor,
        }
    }

    /// Whether all that `other` allows is allowed by this.
    pub fn covers(&self, other: &Self) -> bool {
        fn all<T>(mine: &[T], theirs: &[T], covers: impl Fn(&T, &T) -> bool) -> bool {
            theirs.iter().all(|theirs| mine.iter().any(|mine| covers(mine, theirs)))
        }
        all(&self.files, &other.files, FileGrant::covers)
            && all(&self.http, &other.http, HostPattern::covers)
            && all(&self.env, &other.env, NamePattern::covers)
            && all(&self.tools, &other.tools, NamePattern::covers)
            && self.store_bytes_max >= other.store_bytes_max
            && (self.editor || !other.editor)
    }

    /// What it allows and `other` does not, one line each, for people.
    pub fn beyond(&self, other: &Self) -> Vec<String> {
        fn without<T: Clone>(mine: &[T], theirs: &[T], covers: impl Fn(&T, &T) -> bool) -> Vec<T> {
            let is_lost = |mine: &&T| !theirs.iter().any(|theirs| covers(theirs, mine));
            mine.iter().filter(is_lost).cloned().collect()
        }
        let store_bytes_max =
            if other.store_bytes_max < self.store_bytes_max { self.store_bytes_max } else { 0 };
        let beyond = Self {
            files: without(&self.files, &other.files, FileGrant::covers),
            http: without(&self.http, &other.http, HostPattern::covers),
            env: without(&self.env, &other.env, NamePattern::covers),
            store_bytes_max,
            tools: without(&self.tools, &other.tools, NamePattern::covers),
            editor: self.editor && !other.editor,
        };
        beyond.lines()
    }

    /// Whether it allows nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What it allows, one line each, for people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.files.iter().map(|files| match files.except.as_slice() {
            [] => format!("read {}", shown(&files.path)),
            except => format!("read {} except {}", shown(&files.path), except.join(", ")),
        }));
        lines.extend(self.http.iter().map(|host| format!("reach {host}")));
        lines.extend(self.env.iter().map(|name| format!("see the variable {name}")));
        if self.store_bytes_max > 0 {
            let bytes = usize::try_from(self.store_bytes_max).unwrap_or(usize::MAX);
            lines.push(format!("keep {}", units::size(bytes)));
        }
        lines.extend(self.tools.iter().map(|name| format!("call the tool {name}")));
        if self.editor {
            lines.push("ask the editor for symbols".to_owned());
        }
        lines
    }
}

/// The meets of all pairs, without those that lie within another.
fn meet<T: Clone + PartialEq>(
    mine: &[T],
    theirs: &[T],
    meet: impl Fn(&T, &T) -> Option<T>,
    covers: impl Fn(&T, &T) -> bool,
) -> Vec<T> {
    let mut both: Vec<T> = Vec::new();
    for mine in mine {
        for met in theirs.iter().filter_map(|theirs| meet(mine, theirs)) {
            if !both.iter().any(|known| covers(known, &met)) {
                both.retain(|known| !covers(&met, known));
                both.push(met);
            }
        }
    }
    both
}

fn shown(path: &RelPath) -> String {
    if path.is_root() { "the workspace".to_owned() } else { path.to_string() }
}

// === impl FileGrant ===

impl FileGrant {
    /// What both allow: the inner path, without what either leaves out.
    fn meet(&self, other: &Self) -> Option<Self> {
        let path = if is_within(&self.path, &other.path) {
            &self.path
        } else if is_within(&other.path, &self.path) {
            &other.path
        } else {
            return None;
        };
        let mut except: Vec<String> = self.except.iter().chain(&other.except).cloned().collect();
        except.sort();
        except.dedup();
        Some(Self { path: path.clone(), except })
    }

    /// Whether all that `other` allows is surely allowed by this.
    fn covers(&self, other: &Self) -> bool {
        is_within(&other.path, &self.path)
            && self.except.iter().all(|glob| other.except.contains(glob))
    }
}

/// Whether a path is another one, or lies beneath it.
pub fn is_within(inner: &RelPath, outer: &RelPath) -> bool {
    let mut inner = inner.components();
    outer.components().all(|component| inner.next() == Some(component))
}

// === impl NamePattern ===

impl NamePattern {
    /// Whether it is, or stands for, this name.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(exactly) => exactly == name,
        }
    }

    fn covers(&self, other: &Self) -> bool {
        *self == Self::Any || self == other
    }

    fn meet(&self, other: &Self) -> Option<Self> {
        if self.covers(other) {
            Some(other.clone())
        } else {
            other.covers(self).then(|| self.clone())
        }
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Exactly(name) => f.write_str(name),
        }
    }
}

// === impl Capability ===

impl fmt::Display for Capability {
    /// What it lets a plugin do, as a verb and its object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = Grant::requested(&[RequestedCapability {
            capability: self.clone(),
            reason: String::new(),
        }]);
        f.write_str(&alone.lines().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(texts: &[&str]) -> Grant {
        let grant =
            |text: &&str| FileGrant { path: RelPath::parse(text).unwrap(), except: Vec::new() };
        Grant { files: texts.iter().map(grant).collect(), ..Grant::default() }
    }

    #[test]
    fn what_is_effective_is_both_requested_and_granted() {
        let cases: &[(&[&str], &[&str], &[&str])] = &[
            (&["."], &["docs", "src"], &["docs", "src"]),
            (&["docs"], &["."], &["docs"]),
            (&["docs/a"], &["docs"], &["docs/a"]),
            (&["docs"], &["docs/a", "src"], &["docs/a"]),
            (&["docs"], &["documents"], &[]),
            (&["doc"], &["docs"], &[]),
            (&["."], &[], &[]),
            (&[], &["."], &[]),
            (&["."], &[".", "docs"], &["."]),
            (&["a", "a/b"], &["a"], &["a"]),
        ];
        for (requested, granted, expected) in cases {
            let effective = reads(requested).meet(&reads(granted));
            assert_eq!(effective, reads(expected), "{requested:?} and {granted:?}");
            assert!(reads(granted).covers(&effective) && reads(requested).covers(&effective));
            assert_eq!(effective.meet(&Grant::everything()), effective);
        }
    }

    #[test]
    fn what_either_leaves_out_is_left_out() {
        let grant = |path: &str, except: &[&str]| Grant {
            files: vec![FileGrant {
                path: RelPath::parse(path).unwrap(),
                except: except.iter().map(ToString::to_string).collect(),
            }],
            ..Grant::default()
        };
        let (wide, narrow) = (grant(".", &["**/*.pem"]), grant("docs", &["docs/drafts/**"]));
        let both = wide.meet(&narrow);
        assert_eq!(both, grant("docs", &["**/*.pem", "docs/drafts/**"]));
        assert!(wide.covers(&both) && narrow.covers(&both));
        assert!(!both.covers(&narrow) && !both.covers(&wide));
    }

    #[test]
    fn each_kind_meets_its_own() {
        let grant = |http: &str, env: &str, store: u64, tool: &str, editor: bool| Grant {
            http: vec![HostPattern::parse(http).unwrap()],
            env: vec![NamePattern::Exactly(env.to_owned())],
            store_bytes_max: store,
            tools: vec![NamePattern::Exactly(tool.to_owned())],
            editor,
            ..Grant::default()
        };
        let one = grant("*.a.example", "LANG", 10, "read_file", true);
        let other = grant("b.a.example", "LANG", 20, "read_file", false);
        assert_eq!(one.meet(&other), grant("b.a.example", "LANG", 10, "read_file", false));
        assert_eq!(one.meet(&grant("c.example", "HOME", 0, "diff", false)), Grant::default());
        let near = Grant {
            http: vec![HostPattern::parse("http://localhost:8080").unwrap()],
            ..Grant::default()
        };
        let requested = Capability::Http(HostPattern::EVERYTHING);
        let requested = Grant::requested(&[RequestedCapability {
            capability: requested,
            reason: String::new(),
        }]);
        assert_eq!(requested.meet(&near).meet(&Grant::everything()), near);
        assert!(Grant::everything().covers(&one) && !one.covers(&Grant::everything()));
        assert!(Grant::default().is_empty());
        let lines = one.lines();
        assert_eq!(lines[0], "reach *.a.example");
        assert_eq!(lines[3], "call the tool read_file");
    }
}
