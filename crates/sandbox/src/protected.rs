//! Finds what is protected or masked beneath a directory, by its names. Whoever asks says which
//! name is what.

use std::fs;
use std::path::{Path, PathBuf};

/// The name of git's directory, and of the file that leads to one.
const GIT: &str = ".git";
/// Deepest directory that is entered.
const DEPTH_MAX: usize = 64;

/// What a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtectedKind {
    /// It stays as it is.
    Protected,
    /// It is not readable, either.
    Masked,
}

/// What was found, by absolute paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProtectedFiles {
    /// What stays as it is.
    pub protected: Vec<PathBuf>,
    /// What is not readable.
    pub masked: Vec<PathBuf>,
    /// `.git` directories, and the files in their stead.
    pub repositories: Vec<PathBuf>,
    /// Whether everything was looked at.
    pub is_complete: bool,
}

/// Walks through a directory, at most so many entries, and asks about the path of each below it.
/// What is protected or masked, or is a repository, is not entered, nor are links.
pub fn find_protected(
    root: &Path,
    entries_max: usize,
    kind: &dyn Fn(&Path) -> Option<ProtectedKind>,
) -> ProtectedFiles {
    let mut found = ProtectedFiles { is_complete: true, ..ProtectedFiles::default() };
    let mut entries = 0;
    let mut directories = vec![(PathBuf::new(), 0)];
    while let Some((directory, depth)) = directories.pop() {
        let Ok(listed) = fs::read_dir(root.join(&directory)) else { continue };
        for entry in listed.flatten() {
            entries += 1;
            if entries > entries_max {
                found.is_complete = false;
                return found;
            }
            let path = directory.join(entry.file_name());
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match kind(&path) {
                _ if entry.file_name() == GIT => found.repositories.push(entry.path()),
                Some(ProtectedKind::Protected) => found.protected.push(entry.path()),
                Some(ProtectedKind::Masked) => found.masked.push(entry.path()),
                None if is_directory && depth < DEPTH_MAX => directories.push((path, depth + 1)),
                None => found.is_complete &= !is_directory,
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_at_any_depth_and_the_walk_is_bounded() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for directory in ["a/b/.git/hooks", ".github/workflows", "c"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for file in ["a/.env", "c/x", ".github/workflows/ci.yml"] {
            fs::write(root.join(file), "").unwrap();
        }
        let kind = |path: &Path| match path.to_str()? {
            ".github/workflows" => Some(ProtectedKind::Protected),
            path if path.ends_with(".env") => Some(ProtectedKind::Masked),
            _ => None,
        };
        let found = find_protected(root, 100, &kind);
        assert!(found.is_complete);
        assert_eq!(found.protected, [root.join(".github/workflows")]);
        assert_eq!(found.masked, [root.join("a/.env")]);
        assert_eq!(found.repositories, [root.join("a/b/.git")]);
        assert!(!find_protected(root, 3, &kind).is_complete);
    }
}
