//! Files that a person wants in no index.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use moss_sdk::RelPath;

/// Longest glob, in bytes.
const GLOB_BYTES_MAX: usize = 1_024;

/// Globs over paths: `*` stays within a name, `**` crosses `/`.
#[derive(Debug, Default)]
pub struct ExcludedPaths(GlobSet);

// === impl ExcludedPaths ===

impl ExcludedPaths {
    /// Compiles globs.
    ///
    /// # Errors
    ///
    /// Which of them is not a glob, and why.
    pub fn new(globs: &[String]) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            if glob.len() > GLOB_BYTES_MAX {
                return Err(format!("a glob has at most {GLOB_BYTES_MAX} bytes"));
            }
            let built = GlobBuilder::new(glob).literal_separator(true).build();
            set.add(built.map_err(|error| format!("`{glob}` is no glob: {}", error.kind()))?);
        }
        let built = set.build().map_err(|error| format!("too large together: {}", error.kind()))?;
        Ok(Self(built))
    }

    /// Whether a path, or a directory on the way to it, is one of them.
    pub fn contains(&self, path: &RelPath) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let path = path.as_str();
        let above = path.match_indices('/').map(|(end, _)| &path[..end]);
        above.chain([path]).any(|path| self.0.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_of_paths_and_of_all_beneath_directories() {
        let globs = ["vendor", "data/*.csv", "**/*.min.js", "docs/{a,b}/**"].map(str::to_owned);
        let excluded = ExcludedPaths::new(&globs).unwrap();
        for (path, is_excluded) in [
            ("vendor/a/b.c", true),
            ("src/vendor/a.c", false),
            ("data/a.csv", true),
            ("data/b/a.csv", false),
            ("a.min.js", true),
            ("web/x/a.min.js", true),
            ("docs/b/x", true),
            ("docs/c/x", false),
            ("a.c", false),
        ] {
            assert_eq!(excluded.contains(&RelPath::parse(path).unwrap()), is_excluded, "{path}");
        }
        assert!(!ExcludedPaths::default().contains(&RelPath::parse("a").unwrap()));
    }

    #[test]
    fn what_is_no_glob_is_named() {
        let problem = ExcludedPaths::new(&["a".to_owned(), "b[".to_owned()]).unwrap_err();
        assert!(problem.contains("`b[` is no glob"), "{problem}");
        assert!(ExcludedPaths::new(&["x".repeat(GLOB_BYTES_MAX + 1)]).is_err());
    }
}
