//! Files that git tracks and that are hidden from a command. Git takes what hides one for another file: `git status`
//! shows it as changed, `git diff` and `git add -A` fail. So a command that only reads is shown copies of the indexes
//! that say of such files that they are not looked for in the worktree. One that may write has to write the index
//! itself: where it runs git, moss marks them there meanwhile. Where it cannot, git refuses what it cannot do without
//! the file, and results say why. To have it look unchanged would have git replace the file, or what lies beside it,
//! unasked.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::command::{Profile, SandboxedCommand};
use crate::ending::SandboxFacts;
use crate::environment::GivenSetting;
use crate::git_index::{self, ChangedIndex, SkipChange};
use crate::index_file::{IndexFile, IndexStamp};
use crate::mount_index::MountIndex;
use crate::mounts::PlannedMount;
use crate::private::PrivateDirectory;
use crate::repository;
use crate::skip_marks::{SkipMarks, has_marks};

/// Most indexes that are known at a time.
const KNOWN_MAX: usize = 4;
/// The name of an index, and of the copy of one, in its directory.
const INDEX: &str = "index";

/// What is hidden of the files that git tracks, as git sees it.
#[derive(Debug, Default)]
pub(crate) struct TrackedMasks {
    /// What git takes for changed.
    pub(crate) noticed: Vec<PathBuf>,
    /// What it leaves alone.
    pub(crate) left_alone: Vec<PathBuf>,
    pub(crate) indexes: CommandIndexes,
}

/// What has to stay of indexes as long as a command runs.
#[derive(Debug, Default)]
pub(crate) struct CommandIndexes {
    /// Those of which it sees copies.
    copies: Vec<Arc<KnownIndex>>,
    /// The marks in others, and the roots of their worktrees.
    marks: Vec<(PathBuf, SkipMarks)>,
}

/// The last indexes that were read: as long as one stays as it is, it is not read again for each command.
#[derive(Debug, Default)]
pub(crate) struct KnownIndexes(Mutex<Vec<Arc<KnownIndex>>>);

/// What is hidden in an index.
#[derive(Debug)]
struct KnownIndex {
    of: HiddenNames,
    stamp: IndexStamp,
    /// The files that git would look for.
    hidden: Vec<PathBuf>,
    /// Where a copy is in which it does not; none where no command wanted one.
    copy: Option<PrivateDirectory>,
}

/// What is hidden in the worktree of an index.
#[derive(Debug, PartialEq, Eq)]
struct HiddenNames {
    index: PathBuf,
    tree: PathBuf,
    /// Files, and directories with all beneath them.
    names: HashSet<Vec<u8>>,
}

// === impl TrackedMasks ===

impl TrackedMasks {
    /// Finds what is hidden at these paths, and sees to it that git notices nothing of it, as far as that is possible.
    /// Without mounts it is the file itself that git sees.
    pub(crate) fn show(
        command: &SandboxedCommand,
        (known, has_mounts): (&KnownIndexes, bool),
        masked: &BTreeSet<PathBuf>,
        mounts: &mut Vec<PlannedMount>,
    ) -> Self {
        let mut masks = Self::default();
        // Nothing else is looked at where nothing of the workspace is hidden.
        let only_reads = command.profile == Profile::ReadOnly;
        let is_any = beneath(masked, &command.files.workspace).next().is_some();
        if !is_any || only_reads && !has_mounts {
            return masks;
        }
        let all = repository::all(&command.files);
        for names in all.iter().filter_map(|dot_git| HiddenNames::of(dot_git, masked)) {
            let Ok(index) = known.find(names, only_reads) else { continue };
            let is_kept = match command.profile {
                Profile::ReadOnly => masks.copied(&index, mounts),
                Profile::WorkspaceWrite | Profile::DangerFull => {
                    masks.mark(command, &index, mounts)
                }
            };
            if !is_kept && has_mounts {
                masks.noticed.extend(index.hidden.iter().cloned());
            }
        }
        masks
    }

    /// Shows the copy of an index. Returns whether the command sees it.
    fn copied(&mut self, index: &Arc<KnownIndex>, mounts: &mut Vec<PlannedMount>) -> bool {
        let place = MountIndex::of(mounts).find(&index.of.index);
        let is_seen = place.is_some_and(|place| mounts[place].shows_host());
        let Some(copy) = index.copy.as_ref().filter(|_| is_seen) else { return false };
        let at = index.of.index.clone();
        mounts.push(PlannedMount::Copy { from: copy.path().join(INDEX), at });
        self.indexes.copies.push(Arc::clone(index));
        true
    }

    /// Marks what is hidden in an index that the command may write. Returns whether all of it is marked.
    fn mark(
        &mut self,
        command: &SandboxedCommand,
        index: &KnownIndex,
        mounts: &[PlannedMount],
    ) -> bool {
        let names = &index.of;
        let Some(record) = command.record.as_ref().filter(|_| command.runs_git) else {
            return false;
        };
        let place = MountIndex::of(mounts).find(&names.index);
        let is_written = place.is_some_and(|place| mounts[place].is_writable());
        let is_any = !index.hidden.is_empty() || has_marks(&names.index);
        if !is_written || !is_any {
            return false;
        }
        // Marks could not be cleared in one that the person's git writes in parts meanwhile.
        if names.index.parent().is_none_or(repository::splits_index) {
            return false;
        }
        let set = SkipMarks::set(&names.index, record, |name| names.has(name));
        let Ok(Some(marks)) = set else { return false };
        self.left_alone.extend(marks.names().map(|name| names.tree.join(name)));
        self.indexes.marks.push((names.tree.clone(), marks));
        true
    }

    /// What git is to find beside its settings: where there are marks, it writes no index in parts.
    pub(crate) fn git_settings(&self) -> &'static [GivenSetting] {
        if self.indexes.marks.is_empty() { &[] } else { &[("core.splitIndex", "false")] }
    }
}

// === impl CommandIndexes ===

impl CommandIndexes {
    /// Clears the marks when the command has ended, notes what became of them, and returns what is still marked. Waits
    /// for whoever writes an index.
    pub(crate) fn settle(self, facts: &mut SandboxFacts) -> Vec<PathBuf> {
        let mut still_marked = Vec::new();
        for (tree, marks) in self.marks {
            let names: Vec<_> = marks.names().map(|name| (tree.join(name), name.clone())).collect();
            match marks.clear() {
                // Git itself has cleared some of them, and taken these files for changed.
                Ok(left) => {
                    let lost = names.into_iter().filter(|(_, name)| !left.contains(name));
                    let lost: BTreeSet<_> = lost.map(|(path, _)| path).collect();
                    facts.left_alone.retain(|path| !lost.contains(path));
                    facts.tracked_masks.extend(lost);
                }
                Err(_) => still_marked.extend(names.into_iter().map(|(path, _)| path)),
            }
        }
        still_marked
    }
}

// === impl KnownIndexes ===

impl KnownIndexes {
    /// What is hidden in an index, by names that are hidden in its worktree, with a copy where one is wanted.
    fn find(&self, names: HiddenNames, wants_copy: bool) -> io::Result<Arc<KnownIndex>> {
        let file = IndexFile::open(&names.index)?;
        let stamp = file.stamp();
        let is_same = |one: &&Arc<KnownIndex>| {
            let has_copy = one.copy.as_ref().is_some_and(|copy| copy.path().join(INDEX).exists());
            let is_enough = has_copy || !wants_copy || one.hidden.is_empty();
            one.of == names && one.stamp == stamp && is_enough
        };
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().iter().find(is_same) {
            return Ok(Arc::clone(found));
        }
        let read = Arc::new(KnownIndex::read(&file, stamp, names, wants_copy)?);
        let mut all = lock();
        all.retain(|one| one.of.index != read.of.index);
        if all.len() >= KNOWN_MAX {
            all.remove(0);
        }
        all.push(Arc::clone(&read));
        Ok(read)
    }
}

// === impl KnownIndex ===

impl KnownIndex {
    fn read(
        file: &IndexFile,
        stamp: IndexStamp,
        of: HiddenNames,
        wants_copy: bool,
    ) -> io::Result<Self> {
        let change = SkipChange::Set { written_s: file.written_s() };
        let changed = git_index::changed(&file.read()?, change, |name| of.has(name));
        let ChangedIndex { bytes, names } = changed.ok_or(io::ErrorKind::InvalidData)?;
        let is_copied = wants_copy && !names.is_empty();
        let copy = is_copied.then(|| write_copy(&bytes, file)).and_then(Result::ok);
        let hidden = names.iter().map(|name| of.tree.join(OsStr::from_bytes(name))).collect();
        Ok(Self { of, stamp, hidden, copy })
    }
}

/// Writes a copy that is as old as the index: git compares the content of files that are as new.
fn write_copy(bytes: &[u8], of: &IndexFile) -> io::Result<PrivateDirectory> {
    let directory = PrivateDirectory::new()?;
    let mut copy = File::create(directory.path().join(INDEX))?;
    copy.write_all(bytes)?;
    copy.set_modified(of.written()?)?;
    Ok(directory)
}

// === impl HiddenNames ===

impl HiddenNames {
    /// What is hidden in the worktree of a `.git`; none where nothing is.
    fn of(dot_git: &Path, masked: &BTreeSet<PathBuf>) -> Option<Self> {
        let tree = dot_git.parent()?;
        let names = beneath(masked, tree)
            .filter_map(|path| Some(path.strip_prefix(tree).ok()?.as_os_str().as_bytes()))
            .filter(|name| !name.is_empty());
        let names: HashSet<Vec<u8>> = names.map(<[u8]>::to_vec).collect();
        let index = repository::directory(dot_git).filter(|_| !names.is_empty())?.join(INDEX);
        Some(Self { index, tree: tree.to_owned(), names })
    }

    /// Whether a name is hidden, or lies in a directory that is.
    fn has(&self, name: &[u8]) -> bool {
        let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut ends = slashes.map(|(end, _)| end).chain([name.len()]);
        ends.any(|end| self.names.contains(&name[..end]))
    }
}

/// What lies beneath a directory.
fn beneath<'m>(
    masked: &'m BTreeSet<PathBuf>,
    directory: &Path,
) -> impl Iterator<Item = &'m PathBuf> {
    let (start, directory) = (directory.to_owned(), directory.to_owned());
    masked.range(start..).take_while(move |path| path.starts_with(&directory))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn git(directory: &Path, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    }

    /// A repository with a file that is hidden, which git tracks.
    fn repository(root: &Path) -> HiddenNames {
        fs::create_dir(root).unwrap();
        fs::write(root.join(".env"), "secret").unwrap();
        git(root, &["init", "-q"]);
        git(root, &["add", "."]);
        let masked = BTreeSet::from([root.join(".env")]);
        HiddenNames::of(&root.join(".git"), &masked).unwrap()
    }

    #[test]
    fn an_index_is_read_once_as_long_as_it_and_what_is_hidden_stay() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap().join("a");
        let known = KnownIndexes::default();
        let names = repository(&root);
        let find = |names: &[&str], wants_copy| {
            let masked = names.iter().map(|name| root.join(name)).collect();
            known.find(HiddenNames::of(&root.join(".git"), &masked).unwrap(), wants_copy).unwrap()
        };
        let without = known.find(names, false).unwrap();
        assert!(without.copy.is_none() && without.hidden == [root.join(".env")]);
        let first = find(&[".env"], true);
        let copy = first.copy.as_ref().unwrap().path().to_owned();
        for wants_copy in [false, true] {
            assert!(Arc::ptr_eq(&first, &find(&[".env"], wants_copy)));
        }
        let others = find(&[".env", "other"], true);
        assert!(!Arc::ptr_eq(&first, &others) && copy.join(INDEX).exists(), "it is still used");
        drop(first);
        assert!(!copy.exists());
        fs::remove_dir_all(others.copy.as_ref().unwrap().path()).unwrap();
        let again = find(&[".env", "other"], true);
        assert!(again.copy.as_ref().unwrap().path().join(INDEX).exists(), "it was removed");
        fs::write(root.join("new"), "").unwrap();
        git(&root, &["add", "new"]);
        let changed = find(&[".env", "other"], true);
        assert!(!Arc::ptr_eq(&again, &changed) && changed.stamp != again.stamp);
    }

    #[test]
    fn few_indexes_are_known_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let known = KnownIndexes::default();
        for number in 0..=KNOWN_MAX {
            known.find(repository(&root.join(number.to_string())), true).unwrap();
        }
        let all = known.0.lock().unwrap();
        assert_eq!(all.len(), KNOWN_MAX);
        assert_eq!(all[0].of.tree, root.join("1"));
    }
}
