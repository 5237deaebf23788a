//! What one look at a directory says about many names in it: nearly none of those that are asked for is
//! there.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Most entries that are read: where there are more, each name is asked for.
const ENTRIES_MAX: usize = 512;

/// The names in a directory.
#[derive(Debug)]
pub(crate) struct NameListing<'a> {
    pub(crate) directory: &'a Path,
    /// In lower case, as some file systems know no other; none where not all are known.
    names: Option<HashSet<Vec<u8>>>,
}

// === impl NameListing ===

impl<'a> NameListing<'a> {
    pub(crate) fn of(directory: &'a Path) -> Self {
        let names = read(directory)
            .unwrap_or_else(|error| (error.kind() == io::ErrorKind::NotFound).then(HashSet::new));
        Self { directory, names }
    }

    /// Those of some paths beneath the directory that may be there: what is not among them is not.
    pub(crate) fn candidates(
        &self,
        paths: impl IntoIterator<Item = &'static &'static str>,
    ) -> impl Iterator<Item = PathBuf> {
        let may_be = |path: &&&str| {
            let first = path.split('/').next().unwrap_or_default();
            let first = first.to_ascii_lowercase();
            self.names.as_ref().is_none_or(|names| names.contains(first.as_bytes()))
        };
        paths.into_iter().filter(may_be).map(|path| self.directory.join(path))
    }
}

/// Returns the names in a directory; none where there are too many, or one that a file system may take for
/// another one.
fn read(directory: &Path) -> io::Result<Option<HashSet<Vec<u8>>>> {
    let mut names = HashSet::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let name = name.as_bytes();
        // Letters of other alphabets, and marks that nobody sees, can stand for ASCII letters.
        let is_plain = name.is_ascii() || !name.iter().any(u8::is_ascii_alphanumeric);
        if !is_plain || names.len() == ENTRIES_MAX {
            return Ok(None);
        }
        names.insert(name.to_ascii_lowercase());
    }
    Ok(Some(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: &[&str] = &[".ssh", ".config/gh", "go", ".netrc"];

    fn candidates(directory: &Path) -> Vec<PathBuf> {
        let listing = NameListing::of(directory);
        let found = listing.candidates(PATHS);
        found.map(|path| path.strip_prefix(directory).unwrap().to_owned()).collect()
    }

    #[test]
    fn only_what_may_be_there_is_asked_for() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        assert!(candidates(root).is_empty());
        assert!(candidates(&root.join("missing")).is_empty());
        fs::create_dir(root.join(".config")).unwrap();
        fs::write(root.join(".SSH"), "").unwrap();
        fs::write(root.join("\u{4e0b}\u{8f7d}"), "").unwrap();
        assert_eq!(candidates(root), [Path::new(".ssh"), Path::new(".config/gh")]);
    }

    #[test]
    fn where_names_are_not_all_known_every_one_is_asked_for() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        // A long s, which folds to an s.
        fs::write(root.join(".\u{17f}sh"), "").unwrap();
        assert_eq!(candidates(root).len(), PATHS.len());
        fs::remove_file(root.join(".\u{17f}sh")).unwrap();
        for number in 0..=ENTRIES_MAX {
            fs::write(root.join(number.to_string()), "").unwrap();
        }
        assert_eq!(candidates(root).len(), PATHS.len());
    }
}
