//! Finds what is protected or masked beneath a directory, by its names. Whoever asks says which
//! name is what.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::reached::{ReachedDirectory, ReachedName};

/// The name of git's directory, and of the file that leads to one.
const GIT: &str = ".git";
/// Directories in git's that are not entered: what lies there has the names of objects and branches, and is
/// git's own.
const GIT_STORES: &[&str] = &["logs", "objects", "refs"];

/// How deep it is looked into what a link leads to, in directories: as deep as protected names are.
const LINKED_DEPTH_MAX: usize = 3;
/// Most entries of what a link leads to that are looked at: one that leads to more is taken for a protected one.
const LINKED_ENTRIES_MAX: usize = 10_000;

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
    /// What stays as it is for the sake of a link that leads there from a protected name: its own protects nothing.
    pub led_to: Vec<PathBuf>,
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
/// Links are not entered, but for those with a dot before their name: where they lead to a protected name, they are
/// protected. Directories are entered at any depth that a path can name: one further down is closed. In what is
/// protected, and in git's directories, only what is masked is looked for. Where a
/// masked file has several names, it is masked by each that is not git's own.
pub fn find_protected(
    root: &Path,
    entries_max: usize,
    kind: &dyn Fn(&Path) -> Option<ProtectedKind>,
) -> ProtectedFiles {
    let found = ProtectedFiles { is_complete: true, ..ProtectedFiles::default() };
    let pending = vec![Pending { path: PathBuf::new(), around: Around::Open }];
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

/// Adds to masked files all other names of some beneath a directory, which are given by device and inode: these are known
/// without a look at each entry.
pub fn add_other_names(root: &Path, linked: &BTreeSet<(u64, u64)>, masked: &mut Vec<PathBuf>) {
    let known: BTreeSet<PathBuf> = masked.iter().cloned().collect();
    let inodes: BTreeSet<u64> = linked.iter().map(|&(_, inode)| inode).collect();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        let listed = fs::read_dir(&directory).into_iter().flatten().flatten();
        for entry in listed.filter(|entry| !known.contains(&entry.path())) {
            let is_store = directory.ends_with(GIT)
                && GIT_STORES.iter().any(|store| entry.file_name() == *store);
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && !is_store {
                pending.push(entry.path());
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

/// Whether there is something that cannot be looked at. What is gone is not, nor what became a link meanwhile.
fn is_closed(error: &io::Error) -> bool {
    let is_link = [Errno::LOOP, Errno::XDEV].map(|errno| Some(errno.raw_os_error()));
    !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        && !is_link.contains(&error.raw_os_error())
}

// === impl ProtectedWalk ===

impl ProtectedWalk<'_> {
    /// Looks at all that lies in a directory. Returns whether it may go on.
    fn enter(&mut self, directory: &Pending) -> bool {
        let reach = || ReachedDirectory::open(self.root)?.within(&directory.path);
        let reached = reach().and_then(|reached| Ok((reached.list()?, reached)));
        let (listed, reached) = match reached {
            Ok(reached) => reached,
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
            let looked = entry.and_then(|entry| self.look((directory, &reached), &entry));
            if looked.is_err_and(|error| is_closed(&error)) && directory.around != Around::Masked {
                self.close(&directory.path);
                break;
            }
        }
        true
    }

    /// Takes note of an entry of a directory that was reached.
    fn look(
        &mut self,
        (directory, reached): (&Pending, &ReachedDirectory),
        entry: &ReachedName,
    ) -> io::Result<()> {
        let (name, is_directory) = (&entry.name, entry.kind == FileType::Directory);
        let path = directory.path.join(name);
        if directory.around == Around::Masked {
            return self.look_at_masked(path, reached, entry);
        }
        let kind = (self.kind)(&path);
        let is_open = directory.around == Around::Open;
        let around = if name == GIT {
            if is_open {
                self.found.repositories.push(self.root.join(&path));
            }
            Around::Git
        } else if kind == Some(ProtectedKind::Masked) {
            // What can be listed but not looked at hides by no mount of its own.
            reached.stat(name)?;
            self.found.masked.push(self.root.join(&path));
            return self.look_at_masked(path, reached, entry);
        } else if directory.around == Around::Git {
            if GIT_STORES.iter().any(|store| name == *store) {
                return Ok(());
            }
            Around::Git
        } else if kind == Some(ProtectedKind::Protected) && is_open {
            reached.stat(name)?;
            self.found.protected.push(self.root.join(&path));
            Around::Protected
        } else {
            if is_open && entry.kind == FileType::Symlink {
                self.look_at_link(&path);
            }
            directory.around
        };
        if is_directory {
            self.pending.push(Pending { path, around });
        }
        Ok(())
    }

    /// Takes note of a link that leads to protected names: a link `.tool` to a directory with what `.tool/tasks` is
    /// about. Names with a dot before them alone are looked at, which all such names have.
    fn look_at_link(&mut self, path: &Path) {
        let link = self.root.join(path);
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
        let Some(real) = is_hidden.then(|| fs::canonicalize(&link).ok()).flatten() else { return };
        let mut pending = vec![(PathBuf::new(), 0)];
        let (mut seen, mut is_protected) = (0, false);
        while let Some((inner, depth)) = pending.pop() {
            let reached = ReachedDirectory::open(&real).and_then(|target| target.within(&inner));
            let listed = reached.and_then(|reached| reached.list()).into_iter().flatten();
            for entry in listed.flatten() {
                seen += 1;
                if seen > LINKED_ENTRIES_MAX {
                    is_protected = true;
                    pending.clear();
                    break;
                }
                let Some(left) = self.entries_left.checked_sub(1) else {
                    self.found.is_complete = false;
                    return;
                };
                self.entries_left = left;
                let inner = inner.join(&entry.name);
                let at = real.join(&inner);
                let own = at.strip_prefix(self.root).ok();
                // What its own name protects needs no link for that.
                let by_itself = (self.kind)(own.unwrap_or(&inner));
                match (self.kind)(&path.join(&inner)).filter(|_| by_itself.is_none()) {
                    Some(kind) => {
                        is_protected = true;
                        let (led_to, masked) = (&mut self.found.led_to, &mut self.found.masked);
                        let list = if kind == ProtectedKind::Masked { masked } else { led_to };
                        list.extend(own.is_some().then_some(at.clone()));
                    }
                    None if entry.kind == FileType::Directory && depth + 1 < LINKED_DEPTH_MAX => {
                        pending.push((inner, depth + 1));
                    }
                    None => {}
                }
            }
        }
        if is_protected {
            self.found.protected.push(link);
        }
    }

    /// Takes note of a masked file that has other names, or looks for such in a masked directory.
    fn look_at_masked(
        &mut self,
        path: PathBuf,
        reached: &ReachedDirectory,
        entry: &ReachedName,
    ) -> io::Result<()> {
        if entry.kind == FileType::Directory {
            self.pending.push(Pending { path, around: Around::Masked });
            return Ok(());
        }
        let found = reached.stat(&entry.name)?;
        if found.kind == FileType::RegularFile && found.links > 1 {
            self.linked.insert((found.device, found.inode));
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
    fn a_link_to_what_a_protected_name_is_about_is_one_itself() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        for file in ["vs/tasks", "deep/a/b/conf", "plain/x", "sub/vs2/key.env"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        fs::write(elsewhere.path().join("tasks"), "").unwrap();
        for (link, target) in [
            (".tool", Path::new("vs")),
            (".deep", Path::new("deep")),
            (".plain", Path::new("plain")),
            ("sub/.tool", Path::new("vs2")),
            ("away/.tool", elsewhere.path()),
            (".loop", Path::new(".")),
        ] {
            fs::create_dir_all(root.join(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        let kind = |path: &Path| match path.to_str()? {
            path if path.ends_with(".env") => Some(ProtectedKind::Masked),
            path if path.ends_with(".tool/tasks") => Some(ProtectedKind::Protected),
            ".deep/a/b/conf" => Some(ProtectedKind::Protected),
            _ => None,
        };
        let mut found = find_protected(&root, 100, &kind);
        found.protected.sort();
        found.led_to.sort();
        // What `sub/.tool` leads to is masked by its own name.
        let links = [".deep", ".tool", "away/.tool"].map(|path| root.join(path));
        assert_eq!(found.protected, links);
        assert_eq!(found.led_to, ["deep/a/b/conf", "vs/tasks"].map(|path| root.join(path)));
        assert_eq!(found.masked, [root.join("sub/vs2/key.env")]);
        // Among more than are looked at anything may be.
        fs::create_dir(root.join("many")).unwrap();
        for number in 0..=LINKED_ENTRIES_MAX {
            fs::write(root.join(format!("many/{number}")), "").unwrap();
        }
        std::os::unix::fs::symlink("many", root.join(".many")).unwrap();
        let found = find_protected(&root, 10 * LINKED_ENTRIES_MAX, &kind);
        assert!(found.is_complete && found.protected.contains(&root.join(".many")));
        assert!(!find_protected(&root, LINKED_ENTRIES_MAX, &kind).is_complete);
    }

    #[test]
    fn no_depth_hides_a_name_or_what_lies_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("d/".repeat(300));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join(".env"), "").unwrap();
        fs::create_dir(root.path().join("beside")).unwrap();
        fs::write(root.path().join("beside/.env"), "").unwrap();
        let kind = |path: &Path| path.ends_with(".env").then_some(ProtectedKind::Masked);
        let mut found = find_protected(root.path(), 1_000, &kind);
        found.masked.sort();
        assert_eq!(found.masked, [root.path().join("beside/.env"), deep.join(".env")]);
        assert!(found.is_complete);
        // Deeper than any path: what is there cannot be looked at.
        let mut inner = deep.clone();
        let step = "n".repeat(250);
        while inner.as_os_str().len() + 251 < 4_000 {
            inner.push(&step);
        }
        fs::create_dir_all(&inner).unwrap();
        let made = std::process::Command::new("mkdir").arg(&step).current_dir(&inner).status();
        assert!(made.unwrap().success());
        let found = find_protected(root.path(), 1_000, &kind);
        assert_eq!(found.closed, BTreeSet::from([inner.clone()]), "{}", inner.display());
        let removed = std::process::Command::new("rmdir").arg(&step).current_dir(&inner).status();
        assert!(removed.unwrap().success());
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

    #[test]
    fn a_file_from_outside_is_found_by_all_its_names_but_those_of_git() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        let (secret, root) = (outside.path().join("secret"), root.path());
        fs::write(&secret, "x").unwrap();
        fs::create_dir_all(root.join("a/.git/objects")).unwrap();
        fs::write(root.join("a/other"), "x").unwrap();
        for name in ["one", "a/.git/two", "a/.git/objects/three"] {
            fs::hard_link(&secret, root.join(name)).unwrap();
        }
        let found = secret.metadata().unwrap();
        let mut masked = vec![root.join("known")];
        add_other_names(root, &[(found.dev(), found.ino())].into(), &mut masked);
        masked.sort();
        assert_eq!(masked, ["a/.git/two", "known", "one"].map(|name| root.join(name)));
    }
}
