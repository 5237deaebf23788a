//! The mounts that cover what a command may not change, or not read, and what is only compared afterwards.
//!
//! What is covered is all that there is of it: a command for which there are not enough mounts is not run.
//! Only what says so itself, [`FileView::protected_last`](crate::FileView::protected_last), is compared then.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, FileType};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use crate::bound_sockets::is_socket;
use crate::command::{Profile, SandboxedCommand};
use crate::hindered::HinderingPaths;
use crate::mount_index::MountIndex;
use crate::mounts::PlannedMount;
use crate::order::CoverOrder;
use crate::real_paths::RealPaths;
use crate::repository::GitAccess;
use crate::running_snapshots::LooseFiles;

/// How many names of many an error shows.
const EXAMPLES_MAX: usize = 3;

/// More is to be covered than there are mounts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooManyMounts {
    /// How many mounts a command would need.
    pub needed: usize,
    /// How many it can have.
    pub mounts_max: usize,
    /// The directory that most of what is to be covered lies in.
    pub beneath: PathBuf,
    /// Some of it, from there.
    pub examples: Vec<PathBuf>,
}

/// What covers what a command may not read or change.
#[derive(Debug)]
pub(crate) struct Covering {
    /// To be mounted after all others, in their order.
    pub(crate) mounts: Vec<PlannedMount>,
    /// What is protected, by one or by none, what matters most first.
    pub(crate) ranked: Vec<PathBuf>,
    /// What is protected by none.
    pub(crate) compared: Vec<PathBuf>,
    /// What has to stay as it is.
    pub(crate) covers: CoverOrder,
    /// What git rewrites of other worktrees.
    pub(crate) of_others: BTreeSet<PathBuf>,
    /// What decides about code in that, as far as the same mount covers it.
    pub(crate) inner: BTreeSet<PathBuf>,
    /// What programs write names of that cannot change it.
    pub(crate) hindering: HinderingPaths,
    /// The repositories of which something is protected.
    pub(crate) repositories: Vec<PathBuf>,
}

/// The paths that a command sees covered, and how.
#[derive(Debug, Default)]
struct Cover {
    /// Cannot be renamed or removed.
    pinned: BTreeSet<PathBuf>,
    read_only: BTreeSet<PathBuf>,
    compared: Vec<PathBuf>,
    /// Both, what matters most first.
    ranked: Vec<PathBuf>,
    /// What others may replace meanwhile: a command goes on then.
    replaceable: BTreeSet<PathBuf>,
    /// What lies in that and is covered with it.
    inner: BTreeSet<PathBuf>,
    repositories: Vec<PathBuf>,
}

/// Where a plan has which mounts, before it covers something.
struct Seen<'a> {
    mounts: &'a [PlannedMount],
    index: MountIndex,
    /// What is not protected by mounts. What is masked is masked whoever may write it: it may be a person's.
    loose: &'a LooseFiles,
    real: &'a RealPaths,
}

/// Covers what a command may not read; and what it may not change, where its profile lets it write. `mounts` are
/// those by which it sees files, and `repositories` its `.git`s.
pub(crate) fn cover(
    mounts: &[PlannedMount],
    command: &SandboxedCommand,
    (masked, repositories): (BTreeSet<PathBuf>, Vec<(PathBuf, GitAccess)>),
    real: &RealPaths,
    (loose, mounts_max): (&LooseFiles, usize),
) -> Result<Covering, TooManyMounts> {
    let seen = Seen { mounts, index: MountIndex::of(mounts), loose, real };
    let (masks, sockets) = seen.masks(masked);
    let mut cover = Cover::default();
    match command.profile {
        Profile::ReadOnly => {}
        Profile::WorkspaceWrite => cover.protect(&seen, command, &masks, repositories),
        Profile::DangerFull => cover.pin_above(&seen, &masks),
    }
    let needed = cover.count() + masks.len();
    if needed > mounts_max {
        let covered = masks.iter().map(PlannedMount::at);
        let covered = covered.chain(cover.read_only.iter().map(PathBuf::as_path));
        return Err(TooManyMounts::of(&command.files.workspace, covered, needed, mounts_max));
    }
    let is_kept = |path: &&PathBuf| !cover.replaceable.contains(*path);
    let is_read_only = |path: &&PathBuf| cover.read_only.contains(*path);
    let covers = CoverOrder {
        // Whoever has a socket makes it anew when it starts again, which ends no command.
        masked: masks
            .iter()
            .map(PlannedMount::at)
            .filter(|at| !sockets.contains(*at))
            .map(Path::to_owned)
            .collect(),
        protected: cover.ranked.iter().filter(is_read_only).filter(is_kept).cloned().collect(),
        missing: cover.compared.iter().filter(is_kept).cloned().collect(),
    };
    if command.profile == Profile::WorkspaceWrite {
        cover.protect_last(&seen, command, mounts_max - masks.len());
    }
    let hindering = cover.read_only.iter().map(PathBuf::as_path);
    let hindering = hindering.chain(masks.iter().map(PlannedMount::at)).map(Path::to_owned);
    let hindering = HinderingPaths::of(command, hindering, &cover.repositories);
    let pinned = cover.pinned.into_iter().map(PlannedMount::Writable);
    let read_only = cover.read_only.into_iter().map(PlannedMount::Readable);
    Ok(Covering {
        mounts: pinned.chain(read_only).chain(masks).collect(),
        ranked: cover.ranked,
        of_others: cover.replaceable,
        inner: cover.inner,
        repositories: cover.repositories,
        compared: cover.compared,
        covers,
        hindering,
    })
}

// === impl Seen ===

impl Seen<'_> {
    fn mount_of(&self, path: &Path) -> Option<&PlannedMount> {
        self.index.find(path).map(|place| &self.mounts[place])
    }

    /// What hides files and directories, as far as they are seen, and which of them are sockets.
    fn masks(&self, masked: BTreeSet<PathBuf>) -> (Vec<PlannedMount>, BTreeSet<PathBuf>) {
        let mut masks: Vec<PlannedMount> = Vec::new();
        let mut sockets = BTreeSet::new();
        for path in masked {
            let is_seen = self.mount_of(&path).is_some_and(PlannedMount::shows_host);
            // In their order, what lies in a directory comes right behind it.
            let is_covered = masks.last().is_some_and(|mask| path.starts_with(mask.at()));
            if !is_seen || is_covered {
                continue;
            }
            let kind = fs::metadata(&path).map(|found| found.file_type());
            // Most are no sockets, and a link to one counts as a file.
            let is_one = kind.as_ref().is_ok_and(FileType::is_socket) && is_socket(&path);
            if is_one {
                sockets.insert(path.clone());
            }
            masks.push(if kind.is_ok_and(|kind| kind.is_dir()) {
                PlannedMount::MaskedDirectory(path)
            } else if is_one && self.writable_above(&path).is_none() {
                PlannedMount::MaskedSocket(path)
            } else {
                PlannedMount::MaskedFile(path)
            });
        }
        (masks, sockets)
    }

    /// The innermost writable mount that a path lies in.
    fn writable_above(&self, path: &Path) -> Option<&Path> {
        self.mount_of(path).filter(|mount| mount.is_writable()).map(PlannedMount::at)
    }

    /// A directory and those above it, up to the root of the writable mount that it lies in.
    fn above(&self, directory: &Path) -> Vec<PathBuf> {
        let Some(root) = self.writable_above(directory) else { return Vec::new() };
        directory.ancestors().take_while(|above| *above != root).map(Path::to_owned).collect()
    }
}

// === impl Cover ===

impl Cover {
    fn count(&self) -> usize {
        self.pinned.len() + self.read_only.len()
    }

    /// Makes read-only what is protected, git's own first, and every directory above it a mount of its own: one
    /// that cannot be renamed or removed.
    ///
    /// So is every directory above what is masked: while one command starts, another could move what
    /// the first is not to read.
    fn protect(
        &mut self,
        seen: &Seen<'_>,
        command: &SandboxedCommand,
        masks: &[PlannedMount],
        repositories: Vec<(PathBuf, GitAccess)>,
    ) {
        let (repositories, all): (Vec<PathBuf>, Vec<GitAccess>) = repositories.into_iter().unzip();
        self.repositories = repositories;
        let own = all.iter().filter_map(|access| access.own.clone()).collect();
        for access in all.into_iter().map(|access| access.without(&own)) {
            let is_loose = access.protected.iter().all(|path| seen.loose.has(path));
            for directory in access.writable.iter().filter(|_| !is_loose) {
                self.pinned.extend(seen.above(directory));
            }
            self.replaceable.extend(access.of_others.iter().cloned());
            let all = access.protected.into_iter().chain(access.of_others);
            for path in all.collect::<BTreeSet<_>>() {
                let mut around = path.ancestors().skip(1);
                let is_inner = around.any(|around| self.replaceable.contains(around));
                if is_inner && self.is_covered(&path) {
                    self.inner.insert(path);
                } else {
                    self.add(seen, path, usize::MAX);
                }
            }
        }
        for path in command.files.protected.iter().collect::<BTreeSet<_>>() {
            self.add(seen, path.clone(), usize::MAX);
        }
        self.pin_above(seen, masks);
        self.settle();
    }

    /// Makes every directory above what is masked a mount of its own: a command that renames one would have what lies in
    /// it by a name that the next command's masks do not have.
    fn pin_above(&mut self, seen: &Seen<'_>, masks: &[PlannedMount]) {
        for around in masks.iter().filter_map(|mask| mask.at().parent()) {
            self.pinned.extend(seen.above(around));
        }
    }

    /// Protects so what is protected as far as there is room.
    fn protect_last(&mut self, seen: &Seen<'_>, command: &SandboxedCommand, mounts_max: usize) {
        for path in command.files.protected_last.iter().collect::<BTreeSet<_>>() {
            self.add(seen, path.clone(), mounts_max);
        }
        self.settle();
    }

    /// Protects a path where that needs no more mounts than there may be.
    fn add(&mut self, seen: &Seen<'_>, path: PathBuf, mounts_max: usize) {
        // What a link leads to lies where commands write as well, or it is nobody's to compare and to restore.
        let is_written = |path: &Path| seen.writable_above(path).is_some();
        if self.is_covered(&path) || !is_written(&path) || !is_written(&seen.real.above(&path)) {
            return;
        }
        let parent = path.parent().unwrap_or(&path);
        let mut pins = if seen.real.is_real(parent) { seen.above(parent) } else { Vec::new() };
        pins.retain(|pin| !self.pinned.contains(pin));
        let has_room = self.count() + pins.len() < mounts_max && !seen.loose.has(&path);
        if has_room {
            self.pinned.extend(pins);
        }
        self.ranked.push(path.clone());
        if has_room && seen.real.is_real(&path) {
            self.read_only.insert(path);
        } else {
            // It is not there, or a link leads to it: that can be replaced.
            self.compared.push(path);
        }
    }

    /// Whether a path lies in what is protected, or is that.
    fn is_covered(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.read_only.contains(above))
    }

    /// Leaves out what lies in what is protected: all of that stays as it is.
    fn settle(&mut self) {
        let inner = |path: &PathBuf| path.parent().is_some_and(|above| self.is_covered(above));
        let covered: Vec<_> = self.read_only.iter().filter(|path| inner(path)).cloned().collect();
        for path in &covered {
            self.read_only.remove(path);
        }
        let Self { pinned, read_only, .. } = self;
        pinned.retain(|path| !path.ancestors().any(|above| read_only.contains(above)));
    }
}

// === impl TooManyMounts ===

impl TooManyMounts {
    fn of<'a>(
        workspace: &Path,
        covered: impl Iterator<Item = &'a Path>,
        needed: usize,
        mounts_max: usize,
    ) -> Self {
        let mut inner: Vec<&Path> =
            covered.filter_map(|path| path.strip_prefix(workspace).ok()).collect();
        inner.sort();
        let mut beneath = PathBuf::new();
        // Down to where no directory has more than half of it.
        while let Some(most) = half(&inner, &beneath) {
            beneath = most;
            inner.retain(|path| path.starts_with(&beneath));
        }
        let from_there = |path: &Path| path.strip_prefix(&beneath).map(Path::to_owned);
        let examples = inner.iter().filter_map(|path| from_there(path).ok());
        let examples = examples.take(EXAMPLES_MAX).collect();
        Self { needed, mounts_max, beneath: workspace.join(beneath), examples }
    }
}

/// The directory in another that more than half of sorted paths lie in.
fn half(paths: &[&Path], directory: &Path) -> Option<PathBuf> {
    let middle = paths.get(paths.len() / 2)?.strip_prefix(directory).ok()?;
    let mut names = middle.iter();
    let child = directory.join(names.next()?);
    names.next()?;
    let within = paths.iter().filter(|path| path.starts_with(&child)).count();
    (within * 2 > paths.len()).then_some(child)
}

impl fmt::Display for TooManyMounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, mounts_max, beneath, examples } = self;
        let shown = |path: &PathBuf| format!("`{}`", path.display());
        let examples = examples.iter().map(shown).collect::<Vec<_>>().join(", ");
        write!(
            f,
            "keeping what is protected or secret out of a command's reach would take {needed} mounts, and it can have \
             {mounts_max}: most of that lies in {}, such as {examples}",
            beneath.display()
        )
    }
}

impl std::error::Error for TooManyMounts {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_that_has_most_is_named() {
        let deep: Vec<PathBuf> = (0..9).map(|n| format!("/w/n/modules/a{n}/.env").into()).collect();
        let others =
            [Path::new("/w/.git/config"), Path::new("/w/z/.env"), Path::new("/etc/shadow")];
        let covered = deep.iter().map(PathBuf::as_path).chain(others);
        let too_many = TooManyMounts::of(Path::new("/w"), covered, 11, 10);
        assert_eq!(too_many.beneath, Path::new("/w/n/modules"));
        assert_eq!(too_many.examples[0], Path::new("a0/.env"));
        let said = too_many.to_string();
        assert!(said.contains("11 mounts") && said.contains("`a2/.env`"), "{said}");
        let wide: Vec<PathBuf> = (0..9).map(|n| format!("/w/s{n}/.env").into()).collect();
        let covered = wide.iter().map(PathBuf::as_path);
        assert_eq!(TooManyMounts::of(Path::new("/w"), covered, 9, 8).beneath, Path::new("/w/"));
    }
}
