//! Files that git tracks and that are hidden from a command. Git takes what hides one for another file: `git status`
//! shows it as changed, `git diff` and `git add -A` fail. So a command that only reads is shown copies of the indexes
//! that say of such files that they are not looked for in the worktree. One that may write has to write the index
//! itself: there git goes on to refuse what it cannot do without the file, and results say why. To have it look
//! unchanged would have git replace the file, or what lies beside it, unasked.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::command::{FileView, Profile};
use crate::git_index::{self, SkippingIndex};
use crate::mount_index::MountIndex;
use crate::mounts::PlannedMount;
use crate::private::PrivateDirectory;
use crate::repository;

/// Longest index that is read, in bytes.
const INDEX_BYTES_MAX: u64 = 256 << 20;

/// What is hidden of the files that git tracks, as git sees it.
#[derive(Debug, Default)]
pub(crate) struct TrackedMasks {
    /// What git takes for changed.
    pub(crate) noticed: Vec<PathBuf>,
    /// Where the files are that are shown; removed at the end.
    pub(crate) directory: Option<PrivateDirectory>,
}

/// An index with files that are hidden.
struct FoundIndex {
    at: PathBuf,
    copy: Vec<u8>,
    hidden: Vec<PathBuf>,
}

// === impl TrackedMasks ===

impl TrackedMasks {
    /// Finds what is hidden at these paths, and changes mounts so that git notices nothing of it, as far as that is
    /// possible.
    pub(crate) fn show(
        files: &FileView,
        profile: Profile,
        masked: &BTreeSet<PathBuf>,
        mounts: &mut Vec<PlannedMount>,
    ) -> Self {
        let mut masks = Self::default();
        for found in find(files, masked) {
            // A command that may write has to write the index itself.
            let mount = match profile {
                Profile::ReadOnly => masks.copied(&found, mounts),
                Profile::WorkspaceWrite | Profile::DangerFull => None,
            };
            match mount {
                Some(mount) => mounts.push(mount),
                None => masks.noticed.extend(found.hidden),
            }
        }
        masks
    }

    /// A mount that shows the copy of an index; none where the command does not see that, or the copy cannot be written.
    fn copied(&mut self, found: &FoundIndex, mounts: &[PlannedMount]) -> Option<PlannedMount> {
        let place = MountIndex::of(mounts).find(&found.at)?;
        if !mounts[place].shows_host() {
            return None;
        }
        let from = self.place(mounts.len()).ok()?;
        fs::write(&from, &found.copy).ok()?;
        Some(PlannedMount::Copy { from, at: found.at.clone() })
    }

    /// A path for a file that is shown.
    fn place(&mut self, number: usize) -> io::Result<PathBuf> {
        let directory = match self.directory.take() {
            Some(directory) => directory,
            None => PrivateDirectory::new()?,
        };
        let directory = self.directory.insert(directory);
        Ok(directory.path().join(number.to_string()))
    }
}

/// The indexes of the repositories of a command in which there are files that are hidden.
fn find(files: &FileView, masked: &BTreeSet<PathBuf>) -> Vec<FoundIndex> {
    // Nothing else is looked at where nothing of the workspace is hidden.
    if beneath(masked, &files.workspace).next().is_none() {
        return Vec::new();
    }
    let all = repository::all(files);
    all.iter().filter_map(|dot_git| FoundIndex::of(dot_git, masked)).collect()
}

/// What lies beneath a directory.
fn beneath<'m>(
    masked: &'m BTreeSet<PathBuf>,
    directory: &Path,
) -> impl Iterator<Item = &'m PathBuf> {
    let (start, directory) = (directory.to_owned(), directory.to_owned());
    masked.range(start..).take_while(move |path| path.starts_with(&directory))
}

// === impl FoundIndex ===

impl FoundIndex {
    fn of(dot_git: &Path, masked: &BTreeSet<PathBuf>) -> Option<Self> {
        let tree = dot_git.parent()?;
        let hidden: HashSet<&[u8]> = beneath(masked, tree)
            .filter_map(|path| Some(path.strip_prefix(tree).ok()?.as_os_str().as_bytes()))
            .filter(|name| !name.is_empty())
            .collect();
        if hidden.is_empty() {
            return None;
        }
        let is_hidden = |name: &[u8]| {
            let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let mut ends = slashes.map(|(end, _)| end).chain([name.len()]);
            ends.any(|end| hidden.contains(&name[..end]))
        };
        let at = repository::directory(dot_git)?.join("index");
        let SkippingIndex { bytes, skipped } = git_index::skipping(&read(&at)?, is_hidden)?;
        let hidden = skipped.iter().map(|name| tree.join(OsStr::from_bytes(name))).collect();
        Some(Self { at, copy: bytes, hidden })
    }
}

/// Reads an index, if it is a file of a bounded size.
fn read(index: &Path) -> Option<Vec<u8>> {
    // What a command put there is not waited for, and no link followed.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(index, flags, Mode::empty()).ok().map(File::from)?;
    let found = file.metadata().ok().filter(|found| found.is_file())?;
    if found.len() > INDEX_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(INDEX_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
