//! Finds what is protected or masked beneath a directory, by its names. Whoever asks says which
//! name is what.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

/// The name of git's directory, and of the file that leads to one.
const GIT: &str = ".git";
/// Directories in git's that are not entered: what lies there has the names of objects and branches, and is
/// git's own.
const GIT_STORES: &[&str] = &["logs", "objects", "refs"];
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
    /// Directories that could not be looked into: nobody knows what is protected or masked in them.
    pub closed: BTreeSet<PathBuf>,
    /// `.git` directories, and the files in their stead.
    pub repositories: Vec<PathBuf>,
    /// Whether everything was looked at.
    pub is_complete: bool,
}

/// What a directory lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// Nothing that is protected.
    Open,
    /// What stays as it is with all in it: only what is masked matters.
    Protected,
    /// Git's own directory, of which the same is true: what of it is protected is another question.
    Git,
}

/// A directory that is to be entered.
struct Pending {
    /// Its path from the root of the workspace.
    path: PathBuf,
    around: Around,
    depth: usize,
}

/// A walk on its way.
struct ProtectedWalk<'a> {
    root: &'a Path,
    entries_left: usize,
    kind: &'a dyn Fn(&Path) -> Option<ProtectedKind>,
    pending: Vec<Pending>,
    found: ProtectedFiles,
}

/// Walks through a directory, at most so many entries, and asks about the path of each below it.
///
/// What is masked is not entered, nor are links. In what is protected, and in git's directories, only what is
/// masked is looked for.
pub fn find_protected(
    root: &Path,
    entries_max: usize,
    kind: &dyn Fn(&Path) -> Option<ProtectedKind>,
) -> ProtectedFiles {
    let found = ProtectedFiles { is_complete: true, ..ProtectedFiles::default() };
    let first = Pending { path: PathBuf::new(), around: Around::Open, depth: 0 };
    let mut walk =
        ProtectedWalk { root, entries_left: entries_max, kind, pending: vec![first], found };
    while let Some(directory) = walk.pending.pop() {
        if !walk.enter(&directory) {
            walk.found.is_complete = false;
            break;
        }
    }
    walk.found
}

/// Whether there is something that cannot be looked at. What is gone is not.
fn is_closed(error: &io::Error) -> bool {
    !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

// === impl ProtectedWalk ===

impl ProtectedWalk<'_> {
    /// Looks at all that lies in a directory. Returns whether it may go on.
    fn enter(&mut self, directory: &Pending) -> bool {
        let listed = match fs::read_dir(self.root.join(&directory.path)) {
            Ok(listed) => listed,
            Err(error) => {
                if is_closed(&error) {
                    self.close(&directory.path);
                }
                return true;
            }
        };
        for entry in listed {
            let Some(left) = self.entries_left.checked_sub(1) else { return false };
            self.entries_left = left;
            let looked = entry.and_then(|entry| self.look(directory, &entry));
            if looked.is_err_and(|error| is_closed(&error)) {
                self.close(&directory.path);
                break;
            }
        }
        true
    }

    /// Takes note of an entry.
    fn look(&mut self, directory: &Pending, entry: &DirEntry) -> io::Result<()> {
        let name = entry.file_name();
        let is_directory = entry.file_type()?.is_dir();
        let path = directory.path.join(&name);
        let kind = (self.kind)(&path);
        let is_open = directory.around == Around::Open;
        let around = if name == GIT {
            if is_open {
                self.found.repositories.push(entry.path());
            }
            Around::Git
        } else if kind == Some(ProtectedKind::Masked) {
            // What can be listed but not looked at hides by no mount of its own.
            entry.path().symlink_metadata()?;
            self.found.masked.push(entry.path());
            return Ok(());
        } else if directory.around == Around::Git {
            if GIT_STORES.iter().any(|store| name == *store) {
                return Ok(());
            }
            Around::Git
        } else if kind == Some(ProtectedKind::Protected) && is_open {
            entry.path().symlink_metadata()?;
            self.found.protected.push(entry.path());
            Around::Protected
        } else {
            directory.around
        };
        if is_directory && directory.depth < DEPTH_MAX {
            self.pending.push(Pending { path, around, depth: directory.depth + 1 });
        } else {
            self.found.is_complete &= !is_directory;
        }
        Ok(())
    }

    /// Takes note of a directory that cannot be looked into; of the one around it, where that is why.
    fn close(&mut self, directory: &Path) {
        let path = self.root.join(directory);
        let is_hidden = path.symlink_metadata().is_err_and(|error| is_closed(&error));
        match directory.parent() {
            Some(around) if is_hidden => self.found.closed.insert(self.root.join(around)),
            _ => self.found.closed.insert(path),
        };
    }
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

    #[test]
    fn what_is_masked_is_found_in_what_is_protected_and_in_git() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let secrets =
            [".tool/.env", ".tool/deep/.env", ".git/.env", "a/.git/x/.env", ".tool/b/.git/.env"];
        let others = [".tool/tasks", ".git/refs/heads/fix/.env", "a/.git/objects/ab/.env"];
        for file in secrets.iter().chain(&others) {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let kind = |path: &Path| match path.to_str()? {
            path if path.ends_with(".env") => Some(ProtectedKind::Masked),
            path if path.contains(".tool") => Some(ProtectedKind::Protected),
            _ => None,
        };
        let mut found = find_protected(root, 100, &kind);
        found.masked.sort();
        found.repositories.sort();
        let mut secrets = secrets.map(|path| root.join(path));
        secrets.sort();
        assert_eq!(found.masked, secrets);
        assert_eq!(found.protected, [root.join(".tool")]);
        assert_eq!(found.repositories, [root.join(".git"), root.join("a/.git")]);
    }
}
