//! Files that git tracks and that are hidden from a command. Git takes what hides one for another file: `git status`
//! shows it as changed, `git diff` and `git add -A` fail. So
//!
//! * a command that only reads is shown copies of the indexes that say of such files that they are not looked for in
//!   the worktree;
//! * to one that may write, which has to write the index itself, such a file looks as git knows it, by its size and its
//!   time. Nobody can read it, and nothing is in it.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::command::{FileView, Profile};
use crate::git_index::{self, SkippedEntry, SkippingIndex};
use crate::mount_index::MountIndex;
use crate::mounts::PlannedMount;
use crate::private::PrivateDirectory;
use crate::repository;

/// Longest index that is read, in bytes.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// The bit by which git distinguishes programs.
const IS_PROGRAM: u32 = 0o100;
/// A setting by which git knows files by their sizes and times alone: what has the place of one is another file.
const SETTING: [(&str, &str); 3] = [
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "core.checkStat"),
    ("GIT_CONFIG_VALUE_0", "minimal"),
];

/// What is hidden of the files that git tracks.
#[derive(Debug, Default)]
pub(crate) struct TrackedMasks {
    /// What git takes for changed.
    pub(crate) noticed: Vec<PathBuf>,
    /// Variables with which it takes nothing else for changed.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Where the files are that are shown; removed at the end.
    pub(crate) directory: Option<PrivateDirectory>,
}

/// An index with files that are hidden.
struct FoundIndex {
    at: PathBuf,
    copy: Vec<u8>,
    /// When it was written, in seconds.
    written: i64,
    hidden: Vec<(PathBuf, SkippedEntry)>,
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
            match profile {
                Profile::ReadOnly => match masks.copied(&found, mounts) {
                    Some(mount) => mounts.push(mount),
                    None => masks.noticed.extend(found.hidden.into_iter().map(|(path, _)| path)),
                },
                Profile::WorkspaceWrite => masks.look_alike(found, mounts),
                // What it may do without a sandbox it may do here: nothing says that it cannot read what it owns.
                Profile::DangerFull => {
                    masks.noticed.extend(found.hidden.into_iter().map(|(path, _)| path));
                }
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

    /// Has what hides files look as those do.
    fn look_alike(&mut self, found: FoundIndex, mounts: &mut [PlannedMount]) {
        for (path, entry) in found.hidden {
            let hidden = PlannedMount::MaskedFile(path.clone());
            let place = mounts.iter().position(|mount| *mount == hidden);
            let alike = place.and_then(|place| {
                let there = fs::symlink_metadata(&path).ok()?;
                let from = self.place(place).ok()?;
                make_alike(&from, &there).ok()?;
                mounts[place] = PlannedMount::Copy { from, at: path.clone() };
                self.variables = &SETTING;
                Some(there)
            });
            // What was changed in the second in which the index was written, or after it, is compared by its content.
            let is_known = |there: &Metadata| {
                there.mtime() < found.written
                    && lower_half(there.mtime().cast_unsigned()) == entry.modified
                    && lower_half(there.len()) == entry.size
            };
            if !alike.as_ref().is_some_and(is_known) {
                self.noticed.push(path);
            }
        }
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

/// Makes a file of the size and time of another one, without its content, that nobody can read.
fn make_alike(at: &Path, other: &Metadata) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(other.mode() & IS_PROGRAM);
    let file = options.open(at)?;
    file.set_len(other.len())?;
    file.set_times(FileTimes::new().set_modified(other.modified()?))
}

/// As an index has numbers.
fn lower_half(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default()
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
        let (index, written) = read(&at)?;
        let SkippingIndex { bytes, skipped } = git_index::skipping(&index, is_hidden)?;
        let named = |entry: SkippedEntry| (tree.join(OsStr::from_bytes(&entry.name)), entry);
        let hidden: Vec<_> = skipped.into_iter().map(named).collect();
        (!hidden.is_empty()).then_some(Self { at, copy: bytes, written, hidden })
    }
}

/// Reads an index. Returns it with when it was written, in seconds.
fn read(index: &Path) -> Option<(Vec<u8>, i64)> {
    // What a command put there is not waited for, and no link followed.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(index, flags, Mode::empty()).ok().map(File::from)?;
    let found = file.metadata().ok().filter(|found| found.is_file())?;
    if found.len() > INDEX_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(INDEX_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some((bytes, found.mtime()))
}
