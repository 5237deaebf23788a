//! Finds what is protected or masked beneath a directory, by its names. Whoever asks says which
//! name is what.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
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
    /// What is masked: only which of its files have other names matters.
    Masked,
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
    /// Masked files that have several names, by device and inode.
    linked: BTreeSet<(u64, u64)>,
}

/// Walks through a directory, at most so many entries, and asks about the path of each below it.
///
/// Links are not entered. In what is protected, and in git's directories, only what is masked is looked for. Where a
/// masked file has several names, it is masked by each that is not git's own.
pub fn find_protected(
    root: &Path,
    entries_max: usize,
    kind: &dyn Fn(&Path) -> Option<ProtectedKind>,
) -> ProtectedFiles {
    let found = ProtectedFiles { is_complete: true, ..ProtectedFiles::default() };
    let pending = vec![Pending { path: PathBuf::new(), around: Around::Open, depth: 0 }];
    let (entries_left, linked) = (entries_max, BTreeSet::new());
    let mut walk = ProtectedWalk { root, entries_left, kind, pending, found, linked };
    while let Some(directory) = walk.pending.pop() {
        if !walk.enter(&directory) {
            walk.found.is_complete = false;
            break;
        }
    }
    let ProtectedWalk { mut found, linked, .. } = walk;
    if !linked.is_empty() {
        add_other_names(root, &linked, &mut found.masked);
    }
    found
}

/// Adds the other names of masked files, which are given by device and inode: these are known without a look at each
/// entry.
fn add_other_names(root: &Path, linked: &BTreeSet<(u64, u64)>, masked: &mut Vec<PathBuf>) {
    let known: BTreeSet<PathBuf> = masked.iter().cloned().collect();
    let inodes: BTreeSet<u64> = linked.iter().map(|&(_, inode)| inode).collect();
    let mut pending = vec![(root.to_owned(), 0)];
    while let Some((directory, depth)) = pending.pop() {
        let listed = fs::read_dir(&directory).into_iter().flatten().flatten();
        for entry in listed.filter(|entry| !known.contains(&entry.path())) {
            let is_store = directory.ends_with(GIT)
                && GIT_STORES.iter().any(|store| entry.file_name() == *store);
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && depth < DEPTH_MAX && !is_store {
                pending.push((entry.path(), depth + 1));
            }
            let is_one = inodes.contains(&entry.ino())
                && entry.metadata().is_ok_and(|found| {
                    found.is_file() && linked.contains(&(found.dev(), found.ino()))
                });
            if is_one {
                masked.push(entry.path());
            }
        }
    }
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
                if is_closed(&error) && directory.around != Around::Masked {
                    self.close(&directory.path);
                }
                return true;
            }
        };
        for entry in listed {
            let Some(left) = self.entries_left.checked_sub(1) else { return false };
            self.entries_left = left;
            let looked = entry.and_then(|entry| self.look(directory, &entry));
            if looked.is_err_and(|error| is_closed(&error)) && directory.around != Around::Masked {
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
        if directory.around == Around::Masked {
            return self.look_at_masked(directory, path, entry);
        }
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
            return self.look_at_masked(directory, path, entry);
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

    /// Takes note of a masked file that has other names, or looks for such in a masked directory.
    fn look_at_masked(
        &mut self,
        directory: &Pending,
        path: PathBuf,
        entry: &DirEntry,
    ) -> io::Result<()> {
        if entry.file_type()?.is_dir() {
            if directory.depth < DEPTH_MAX {
                let depth = directory.depth + 1;
                self.pending.push(Pending { path, around: Around::Masked, depth });
            }
            return Ok(());
        }
        let found = entry.metadata()?;
        if found.is_file() && found.nlink() > 1 {
            self.linked.insert((found.dev(), found.ino()));
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
    fn what_is_masked_is_masked_by_all_its_names() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for directory in ["private/deep", "b", ".github"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for file in [".env", "private/deep/key", "b/other", "private/alone"] {
            fs::write(root.join(file), "").unwrap();
        }
        for (file, other) in [
            (".env", "b/twin"),
            ("private/deep/key", "key"),
            (".env", ".github/twin"),
            ("b/other", "b/more"),
        ] {
            fs::hard_link(root.join(file), root.join(other)).unwrap();
        }
        let kind = |path: &Path| match path.to_str()? {
            ".env" | "private" => Some(ProtectedKind::Masked),
            ".github" => Some(ProtectedKind::Protected),
            _ => None,
        };
        let mut found = find_protected(root, 100, &kind);
        found.masked.sort();
        let all = [".env", ".github/twin", "b/twin", "key", "private"].map(|path| root.join(path));
        assert_eq!((found.masked, found.is_complete), (all.to_vec(), true));
        assert_eq!(found.protected, [root.join(".github")]);
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
