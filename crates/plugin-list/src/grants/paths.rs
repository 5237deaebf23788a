//! Which paths the grants of files of a plugin cover, all together.

use globset::GlobBuilder;
use moss_sdk::RelPath;
use moss_sdk::glob::over_characters;
use regex::{RegexSet, RegexSetBuilder};

use crate::grants::{FileGrant, is_within};

/// Most memory of the compiled globs of one grant, in bytes.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// The paths that a plugin may read.
#[derive(Debug, Default)]
pub struct GrantedPaths {
    parts: Vec<PathGrant>,
}

/// What one grant covers.
#[derive(Debug)]
struct PathGrant {
    path: RelPath,
    except: RegexSet,
}

/// What a plugin sees of a path. The order is that of how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// Nothing: for the plugin there is no such name.
    Nothing,
    /// A directory above what was granted, with nothing in it but the way there.
    OnTheWay,
    /// Something that was granted, or lies beneath it.
    Granted,
}

/// Reads the globs of `except`. Letter case makes no difference, so that they hold on every file
/// system.
///
/// # Errors
///
/// What is wrong with the first of them that is not valid, or with all of them together.
pub fn read_globs(globs: &[String]) -> Result<RegexSet, String> {
    let mut expressions = Vec::with_capacity(globs.len());
    for glob in globs {
        let mut builder = GlobBuilder::new(glob);
        builder.literal_separator(true).case_insensitive(true).backslash_escape(true);
        let glob = builder.build().map_err(|error| error.kind().to_string())?;
        expressions.push(over_characters(glob.regex()));
    }
    RegexSetBuilder::new(expressions)
        .dot_matches_new_line(true)
        .size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|_| "the globs are too large".to_owned())
}

// === impl GrantedPaths ===

impl GrantedPaths {
    /// A grant whose globs cannot be read covers nothing.
    pub fn new(grants: &[FileGrant]) -> Self {
        let part = |grant: &FileGrant| {
            let except = read_globs(&grant.except).ok()?;
            Some(PathGrant { path: grant.path.clone(), except })
        };
        Self { parts: grants.iter().filter_map(part).collect() }
    }

    /// Whether nothing is granted.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// What is seen of a path: the most that any grant shows of it.
    pub fn sight(&self, path: &RelPath) -> Sight {
        let sights = self.parts.iter().map(|part| part.sight(path));
        sights.max().unwrap_or(Sight::Nothing)
    }
}

impl PathGrant {
    fn sight(&self, path: &RelPath) -> Sight {
        if is_within(path, &self.path) {
            if self.excepts(path) { Sight::Nothing } else { Sight::Granted }
        } else if is_within(&self.path, path) {
            Sight::OnTheWay
        } else {
            Sight::Nothing
        }
    }

    /// Whether a glob leaves out a path, or a directory above it.
    fn excepts(&self, path: &RelPath) -> bool {
        !self.except.is_empty()
            && std::iter::successors(Some(path.clone()), RelPath::parent)
                .take_while(|above| !above.is_root())
                .any(|above| self.except.is_match(above.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(grants: &[(&str, &[&str])]) -> GrantedPaths {
        let grant = |(path, except): &(&str, &[&str])| FileGrant {
            path: RelPath::parse(path).unwrap(),
            except: except.iter().map(ToString::to_string).collect(),
        };
        GrantedPaths::new(&grants.iter().map(grant).collect::<Vec<_>>())
    }

    #[test]
    fn paths_are_seen_as_far_as_a_grant_shows_them() {
        let all = granted(&[
            ("docs", &["docs/drafts", "**/*.Pem", "docs/private/**"]),
            ("docs/drafts/shown", &[]),
            ("README.md", &[]),
            ("a/b/c.txt", &[]),
        ]);
        for (path, sight) in [
            (".", Sight::OnTheWay),
            ("docs", Sight::Granted),
            ("docs/a/b", Sight::Granted),
            ("documents", Sight::Nothing),
            ("Docs", Sight::Nothing),
            ("docs/x.pem", Sight::Nothing),
            ("docs/X.PEM/inside", Sight::Nothing),
            ("docs/Drafts/a", Sight::Nothing),
            ("docs/drafts", Sight::OnTheWay),
            ("docs/drafts/a", Sight::Nothing),
            ("docs/drafts/shown/a", Sight::Granted),
            ("docs/private", Sight::Granted),
            ("docs/private/a/b", Sight::Nothing),
            ("README.md", Sight::Granted),
            ("README.md/x", Sight::Granted),
            ("LICENSE", Sight::Nothing),
            ("a", Sight::OnTheWay),
            ("a/b", Sight::OnTheWay),
            ("a/b/c.txt", Sight::Granted),
            ("a/b/d.txt", Sight::Nothing),
        ] {
            assert_eq!(all.sight(&RelPath::parse(path).unwrap()), sight, "{path}");
        }
    }

    #[test]
    fn what_cannot_be_read_covers_nothing() {
        for glob in ["[", "{a", "a\\"] {
            assert!(read_globs(&[glob.to_owned()]).is_err(), "{glob}");
            assert!(granted(&[(".", &[glob])]).is_empty(), "{glob}");
        }
        let root = granted(&[(".", &["*"])]);
        assert_eq!(root.sight(&RelPath::root()), Sight::Granted);
        assert_eq!(root.sight(&RelPath::parse("a").unwrap()), Sight::Nothing);
        assert_eq!(granted(&[]).sight(&RelPath::root()), Sight::Nothing);
    }
}
