//! What there is in a workspace at one moment, for whoever compares it with another one: a command may change which names
//! ignore files leave out, and give files names that no path can have.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::command::FileFate;
use moss_sdk::file::EntryKind;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::Error;
use crate::file_look::FileLook;
use crate::handle;
use crate::ignoring::GIT;
use crate::look::LastLink;
use crate::mount::Mount;
use crate::names::each_name;
use crate::root::Workspace;
use crate::tree::{Extent, TreeStep, WalkControl};

/// How deep a directory is looked into whose name no path can have.
const ODD_DEPTH_MAX: usize = 128;

/// The files of a workspace at one moment.
#[derive(Debug, Default)]
pub struct WorkspaceMoment {
    /// Files, links and others, no directories, but for those that ignore files leave out.
    pub files: BTreeMap<RelPath, FileLook>,
    /// The same of names that no path can have, and beneath such: line breaks, bytes that are no UTF-8, too many directories.
    pub odd: BTreeMap<PathBuf, FileLook>,
    /// What ignore files leave out, and whether it is a directory, which was not entered.
    pub ignored: Arc<BTreeMap<RelPath, bool>>,
    /// How many files and directories were left out that no ignore file names any more.
    pub unignored_count: usize,
    /// Whether there is more than was looked at.
    pub is_cut: bool,
}

/// Whether a file of two moments is another one, by how it looked and looks.
pub type IsModified<'a> = &'a dyn Fn(&RelPath, (&FileLook, &FileLook)) -> bool;

/// A look at names that no path can have.
struct OddNames<'a> {
    workspace: &'a Workspace,
    looks: BTreeMap<PathBuf, FileLook>,
    /// How many entries may still be looked at.
    left: usize,
    is_cut: bool,
}

// === impl Workspace ===

impl Workspace {
    /// Looks at all files, at most so many entries. What ignore files left out at an `earlier` moment is left out now, too,
    /// whatever they say: nothing is known of it.
    ///
    /// # Errors
    ///
    /// As [`Workspace::list`] of the root.
    pub fn moment(
        &self,
        entries_max: usize,
        earlier: &BTreeMap<RelPath, bool>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<WorkspaceMoment, Error> {
        let (mut files, mut ignored) = (BTreeMap::new(), BTreeMap::new());
        let mut unignored_count = 0;
        let mut odd =
            OddNames { workspace: self, looks: BTreeMap::new(), left: entries_max, is_cut: false };
        let extent = Extent { recursive: true, entries_max, cancelled };
        let left_out = self.walk(&RelPath::root(), extent, |step| {
            match step {
                TreeStep::Entry(found) => {
                    let is_directory = found.stat.kind == EntryKind::Directory;
                    if earlier.get(found.real) == Some(&is_directory) {
                        unignored_count += 1;
                        return WalkControl::Past;
                    }
                    if !is_directory {
                        files.insert(found.real.clone(), FileLook::of(found.stat));
                    }
                }
                TreeStep::Ignored(real, is_directory) => {
                    ignored.insert(real.clone(), is_directory);
                }
                TreeStep::Odd(directory, real, name) => {
                    let around = if real.is_root() { "" } else { real.as_str() };
                    odd.look(directory, (Path::new(around), name), ODD_DEPTH_MAX);
                }
            }
            WalkControl::On
        })?;
        let is_cut = left_out.truncated || odd.is_cut;
        let (odd, ignored) = (odd.looks, Arc::new(ignored));
        Ok(WorkspaceMoment { files, odd, ignored, unignored_count, is_cut })
    }
}

// === impl WorkspaceMoment ===

impl WorkspaceMoment {
    /// Whether an ignore file leaves a path out, or a directory around it.
    pub fn ignores(&self, path: &RelPath) -> bool {
        let mut around = std::iter::successors(Some(path.clone()), RelPath::parent);
        around.any(|path| self.ignored.contains_key(&path))
    }

    /// Finds the files of a workspace that are others than at an earlier moment, in their order, and how many are as they
    /// were that an ignore file names since then. None where there are too many to compare.
    pub fn changed_since(
        &self,
        before: &Self,
        files: &Workspace,
        is_modified: IsModified<'_>,
    ) -> Option<(Vec<(RelPath, FileFate)>, usize)> {
        if self.is_cut || before.is_cut {
            return None;
        }
        let fate_here = |path: &RelPath, now: &FileLook| match before.files.get(path) {
            None => Some(FileFate::Created),
            Some(was) => is_modified(path, (was, now)).then_some(FileFate::Modified),
        };
        let here = self.files.iter().filter_map(|(path, now)| Some((path, fate_here(path, now)?)));
        let mut all: Vec<_> = here.collect();
        let mut ignored_count = 0;
        for (path, was) in before.files.iter().filter(|(path, _)| !self.files.contains_key(*path)) {
            match fate_of_unlisted(files, (path, was), is_modified) {
                Some(fate) => all.push((path, fate)),
                None => ignored_count += usize::from(self.ignores(path)),
            }
        }
        all.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        let all = all.into_iter().map(|(path, fate)| (path.clone(), fate));
        Some((all.collect(), ignored_count))
    }

    /// Finds the files that look otherwise than at an earlier moment, and have names that no path can have.
    pub fn odd_changed_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Path> {
        let here = self.odd.iter().filter(|(path, look)| before.odd.get(*path) != Some(*look));
        let gone = before.odd.keys().filter(|path| !self.odd.contains_key(*path));
        here.map(|(path, _)| path).chain(gone).map(PathBuf::as_path)
    }
}

/// What became of a file that is no longer listed: it is gone, or an ignore file that changed meanwhile names it. None
/// where it is as it was, or nobody can look at it.
fn fate_of_unlisted(
    files: &Workspace,
    (path, was): (&RelPath, &FileLook),
    is_modified: IsModified<'_>,
) -> Option<FileFate> {
    match files.look(path, LastLink::Keep) {
        Err(Error::Io { .. }) => None,
        Ok(now) if now.real == *path && now.kind != EntryKind::Directory => {
            is_modified(path, (was, &now.look)).then_some(FileFate::Modified)
        }
        // What is listed by another name, or is a directory now, is another one.
        _ => Some(FileFate::Deleted),
    }
}

// === impl OddNames ===

impl OddNames<'_> {
    fn look(&mut self, directory: &OwnedFd, (around, name): (&Path, &[u8]), depth_left: usize) {
        if self.left == 0 {
            self.is_cut = true;
            return;
        }
        self.left -= 1;
        // What nobody can look at is left out, as it is of other names.
        let Ok(found) = handle::stat_at(directory, name) else { return };
        let path = around.join(OsStr::from_bytes(name));
        if found.kind != EntryKind::Directory {
            self.looks.insert(path, FileLook::of(&found));
        } else if depth_left > 0 {
            let _ = self.enter(directory, (&path, name), depth_left - 1);
        }
    }

    fn enter(
        &mut self,
        directory: &OwnedFd,
        (path, name): (&Path, &[u8]),
        depth_left: usize,
    ) -> Result<(), Errno> {
        let opened = handle::open_at(directory, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        if !self.workspace.reaches(Mount::of(&opened)?) {
            return Err(Errno::XDEV);
        }
        let mut names = Vec::new();
        each_name(&opened, |name, _| {
            if !matches!(name, b"." | b"..") && name != GIT.as_bytes() {
                names.push(name.to_owned());
            }
            // One more than there is room for shows that there are more.
            names.len() <= self.left
        })?;
        for name in names {
            self.look(&opened, (path, &name), depth_left);
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at files from outside")]
mod tests {
    use std::fs;

    use super::*;
    use crate::options::WorkspaceOptions;

    fn moment(files: &Workspace, earlier: &WorkspaceMoment) -> WorkspaceMoment {
        files.moment(1_000, &earlier.ignored, &|| false).unwrap()
    }

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let files = Workspace::open(folder.path(), WorkspaceOptions::default()).unwrap();
        (folder, files)
    }

    fn names(moment: &WorkspaceMoment) -> Vec<&str> {
        moment.files.keys().map(RelPath::as_str).collect()
    }

    #[test]
    fn what_was_ignored_at_an_earlier_moment_is_left_out() {
        let (folder, files) = workspace();
        let root = folder.path();
        fs::create_dir_all(root.join("built/deep")).unwrap();
        for file in ["built/deep/a", "own.log", "kept", "src"] {
            fs::write(root.join(file), "x").unwrap();
        }
        fs::write(root.join(".gitignore"), "built/\n*.log\nnext/\n").unwrap();
        let before = moment(&files, &WorkspaceMoment::default());
        assert_eq!(names(&before), [".gitignore", "kept", "src"]);
        assert!(before.ignores(&RelPath::parse("built/deep/a").unwrap()));
        fs::rename(root.join(".gitignore"), root.join("moved")).unwrap();
        fs::write(root.join("new.log"), "x").unwrap();
        let after = moment(&files, &before);
        assert_eq!(names(&after), ["kept", "moved", "new.log", "src"]);
        assert_eq!((after.unignored_count, after.ignored.len()), (2, 0));
        // A file in the place of a directory is another thing.
        fs::remove_dir_all(root.join("built")).unwrap();
        fs::write(root.join("built"), "x").unwrap();
        let after = moment(&files, &before);
        assert_eq!(names(&after), ["built", "kept", "moved", "new.log", "src"]);
        let later = moment(&files, &WorkspaceMoment::default());
        assert_eq!((names(&later).len(), later.unignored_count), (6, 0));
    }

    #[test]
    fn files_with_names_that_no_path_can_have_are_seen() {
        let (folder, files) = workspace();
        let at = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
        fs::create_dir_all(at(b"n\xff/in/.git")).unwrap();
        fs::create_dir(at(b"plain")).unwrap();
        for name in [&b"a\nb"[..], b"plain/\xfe", b"n\xff/in/x", b"n\xff/in/.git/y", b"gone\x01"] {
            fs::write(at(name), "x").unwrap();
        }
        let before = moment(&files, &WorkspaceMoment::default());
        let seen: Vec<_> = before.odd.keys().map(|path| path.as_os_str().as_bytes()).collect();
        assert_eq!(seen, [&b"a\nb"[..], b"gone\x01", b"n\xff/in/x", b"plain/\xfe"]);
        assert!(before.files.is_empty() && !before.is_cut);
        assert_eq!(moment(&files, &before).odd_changed_since(&before).count(), 0);
        fs::write(at(b"a\nb"), "longer").unwrap();
        fs::remove_file(at(b"gone\x01")).unwrap();
        fs::write(at(b"n\xff/in/\r"), "x").unwrap();
        let after = moment(&files, &before);
        let changed = after.odd_changed_since(&before).map(|path| path.as_os_str().as_bytes());
        assert_eq!(changed.collect::<Vec<_>>(), [&b"a\nb"[..], b"n\xff/in/\r", b"gone\x01"]);
        assert!(files.moment(3, &BTreeMap::new(), &|| false).unwrap().is_cut);
    }
}
