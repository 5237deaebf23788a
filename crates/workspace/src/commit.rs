//! Carrying out a plan: all files or none, across crashes too.
//!
//! Order: take a turn at the files; lock; finish what a crashed process left; hold and check every
//! file; write the intent with all contents; write the new versions beside the files; wait until
//! both are durable; exchange the versions, one by one, looking at what came out; mark the entry
//! committed; wait until the directories and the mark are durable; remove what came out, for which
//! nobody has to wait. Until the mark, any failure rolls everything back; so does recovery. Commits
//! of different files make these steps side by side and share the waits: `history/group_sync.rs` says
//! how.

mod metadata;
mod recover;
mod spot;
mod stage;
mod swap;
mod uncleared;

use moss_sdk::RelPath;
use moss_sdk::context::AppliedFile;
use rustix::fs::AtFlags;

use crate::buffers::{Buffers, NoBuffers};
use crate::changes::{FileAction, Plan, PlannedFile};
use crate::error::Error;
use crate::handle::{self, CancelCheck, Identity};
use crate::history::{History, IntentFile, PendingSync, Touched, store};
use crate::origin::Origin;
use crate::root::Workspace;
use crate::temp_name::temp_name;

pub use recover::{Recovered, recover};
use spot::Spot;
pub use uncleared::Uncleared;

/// How often a commit begins anew because directories above its files went away.
const ATTEMPTS_MAX: usize = 16;

/// What became of a committed plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The number in the workspace's history.
    pub number: u64,
    /// The files after the change, in the order of the plan.
    pub files: Vec<AppliedFile>,
    /// Whether every file was replaced by an atomic exchange. Where the file system lacks that, a
    /// short window remains in which another program's write could be overwritten.
    pub exchanged: bool,
}

/// A change set that is being carried out.
struct Commit<'a> {
    workspace: &'a Workspace,
    history: &'a History,
    number: u64,
    files: Vec<FileCommit<'a>>,
    /// Directories that were made: where, and under which name. Parents first.
    directories: Vec<Spot>,
    /// Directories that the undone changes made: those that are empty go, too. Parents first.
    undone_directories: Vec<RelPath>,
    exchanged: bool,
    /// Makes the intent durable; none once that was waited for.
    intent_sync: Option<PendingSync>,
    is_marked: bool,
}

/// The files of a plan, each with its spot.
type Spots<'a> = Vec<(&'a PlannedFile, Spot)>;

/// One file of it.
struct FileCommit<'a> {
    planned: &'a PlannedFile,
    intent: IntentFile,
    spot: Spot,
    /// The file that holds the new version.
    staged: Option<Identity>,
}

// === impl Workspace ===

impl Workspace {
    /// Carries out a plan: all of its files or none. On return the change is durable and in the
    /// history; on an error nothing has changed.
    ///
    /// Commits of other files continue at the same time; one of the same file is waited for, and so
    /// are other processes that use the same state directory. Programs that know
    /// nothing of moss are noticed: where one has changed a file since the plan was made, up to
    /// the instant of the exchange, the change is refused and their version stays.
    ///
    /// # Errors
    ///
    /// `Changed` where a file is no longer what the plan was made for; what planning can meet;
    /// `Busy` where the lock is held for long; `History`; `Io`.
    pub fn commit(
        &self,
        plan: &Plan,
        history: &History,
        origin: &Origin,
    ) -> Result<Committed, Error> {
        self.commit_over(plan, history, origin, &NoBuffers)
    }

    /// As [`Workspace::commit`], where a file that an editor holds unsaved by the instant of the
    /// exchange stays as it is: the lock may have been waited for.
    ///
    /// # Errors
    ///
    /// As [`Workspace::commit`]; `Unsaved` where an editor holds one of the files.
    pub fn commit_over(
        &self,
        plan: &Plan,
        history: &History,
        origin: &Origin,
        buffers: &dyn Buffers,
    ) -> Result<Committed, Error> {
        let uncleared = self.make_durable(plan, history, origin, buffers, &|| false)?;
        let committed = uncleared.committed();
        uncleared.clear();
        Ok(committed)
    }

    /// As [`Workspace::commit_over`], but returns as soon as the change is durable: its old versions
    /// are still to be removed, by [`Uncleared::clear`]. Where that does not come to pass, the next
    /// recovery does it.
    ///
    /// Whoever cancels is heard while the files are held against the plan, and no more once the first version
    /// is written.
    ///
    /// # Errors
    ///
    /// As [`Workspace::commit_over`]; `Cancelled`.
    pub fn make_durable<'a>(
        &'a self,
        plan: &'a Plan,
        history: &'a History,
        origin: &Origin,
        buffers: &dyn Buffers,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Uncleared<'a>, Error> {
        if plan.root != self.path {
            let reason = "the change was planned for another workspace".to_owned();
            return Err(Error::Root { path: self.path.display().to_string(), reason });
        }
        if plan.files.is_empty() {
            return Err(Error::NoChange { path: RelPath::root() });
        }
        if let Some(file) = plan.files.iter().find(|file| file.unsaved) {
            let reason = "was planned in an editor's buffer and is not written to disk";
            return Err(Error::Unsaved { path: file.path.clone(), reason });
        }
        self.check_root()?;
        let mut touched: Touched = plan.files.iter().map(|file| file.real.clone()).collect();
        for _ in 0..ATTEMPTS_MAX {
            let claim = history.claim(touched.clone())?;
            let lease = history.join(|| recover::resume(self, history).map(drop))?;
            let (held, directories) = hold(self, plan, CancelCheck(cancelled))?;
            if !directories.is_subset(&touched) {
                touched.extend(directories);
                continue;
            }
            let mut commit = Commit::begin(self, history, plan, origin, held, &directories)?;
            commit.run(buffers).inspect_err(|_| {
                // The files are as before either way. Where the rollback fails too, the intent stays
                // and recovery continues from there; the first failure is the one to report.
                if commit.roll_back().is_err() {
                    lease.close();
                }
            })?;
            return Ok(Uncleared::new(commit, lease, claim));
        }
        Err(Error::Busy { what: "directories come and go above what is changed".to_owned() })
    }
}

/// Holds and checks every file. Returns the directories that are missing above them.
fn hold<'a>(
    workspace: &Workspace,
    plan: &'a Plan,
    stop: CancelCheck<'_>,
) -> Result<(Spots<'a>, Touched), Error> {
    let mut held = Vec::with_capacity(plan.files.len());
    let mut directories = Touched::new();
    for planned in &plan.files {
        let (spot, missing) = stage::hold(workspace, planned, stop)?;
        directories.extend(missing);
        held.push((planned, spot));
    }
    Ok((held, directories))
}

// === impl Commit ===

impl<'a> Commit<'a> {
    /// Writes the intent and asks that it goes to disk.
    fn begin(
        workspace: &'a Workspace,
        history: &'a History,
        plan: &'a Plan,
        origin: &Origin,
        held: Spots<'a>,
        directories: &Touched,
    ) -> Result<Self, Error> {
        let mut directories: Vec<RelPath> = directories.iter().cloned().collect();
        directories.sort_by_key(|path| path.components().count());
        let temps = plan.files.iter().map(|_| temp_name()).collect::<Result<Vec<_>, _>>()?;
        let undone_directories = history.directories_of(&plan.undo_of)?;
        let number = history.begin(plan, origin, &directories, &temps)?;
        let step = |((planned, spot), temp): ((&'a PlannedFile, Spot), String)| FileCommit {
            planned,
            intent: IntentFile {
                real: planned.real.clone(),
                action: planned.action,
                before: planned.before,
                after: planned.after,
                temp,
            },
            spot,
            staged: None,
        };
        Ok(Self {
            workspace,
            history,
            number,
            files: held.into_iter().zip(temps).map(step).collect(),
            directories: Vec::new(),
            undone_directories,
            exchanged: true,
            intent_sync: Some(history.request_sync()),
            is_marked: false,
        })
    }

    fn run(&mut self, buffers: &dyn Buffers) -> Result<(), Error> {
        self.stage()?;
        self.exchange(buffers)?;
        self.mark()
    }

    /// Writes the new versions beside the files; on return they and the intent are durable.
    fn stage(&mut self) -> Result<(), Error> {
        // Nothing but the intent knows of a directory that a power cut leaves empty.
        if self.files.iter().any(|step| !step.spot.is_complete()) {
            self.wait_for_intent()?;
        }
        for index in 0..self.files.len() {
            self.make_directories(index)?;
            let step = &mut self.files[index];
            step.staged = stage::write(&step.spot, step.planned, &step.intent.temp)?;
        }
        self.wait_for_intent()
    }

    fn wait_for_intent(&mut self) -> Result<(), Error> {
        self.intent_sync.take().map_or(Ok(()), |sync| self.history.wait_for(sync))
    }

    /// Puts the new versions in, one by one.
    fn exchange(&mut self, buffers: &dyn Buffers) -> Result<(), Error> {
        self.check_surroundings(|_| true)?;
        for step in &self.files {
            step.spot.check(self.workspace)?;
            if buffers.holds(&step.planned.real) {
                let path = step.planned.path.clone();
                return Err(Error::Unsaved { path, reason: "is being changed in an editor" });
            }
            let exchanged =
                swap::put_in(&step.spot, &step.intent, step.staged, self.history, self.workspace)?;
            self.exchanged &= exchanged;
        }
        Ok(())
    }

    /// Marks the change as committed; on return the mark and the directories are durable.
    fn mark(&mut self) -> Result<(), Error> {
        // What a power cut loses of a deletion cannot be determined from a file that came back
        // since.
        let deletes = self.files.iter().any(|step| step.intent.action == FileAction::Delete);
        if deletes {
            self.sync()?;
        }
        for step in &self.files {
            step.spot.check(self.workspace)?;
            swap::check_displaced(&step.spot, &step.intent, self.workspace)?;
        }
        // Of several that would make a repository together, the last one sees the others here.
        self.check_surroundings(|action| action == FileAction::Create)?;
        let finished = store::finish(&mut self.history.connection(), self.number);
        // The mark may have been made and only a later step have failed.
        finished.or_else(|error| {
            let marked = store::is_committed(&self.history.connection(), self.number);
            if matches!(marked, Ok(true)) { Ok(()) } else { Err(error) }
        })?;
        self.is_marked = true;
        let mark_sync = self.history.request_sync();
        if !deletes {
            self.sync()?;
        }
        self.history.wait_for(mark_sync)
    }

    /// Fails where a file would be, or become, a part of a repository and was not when it was planned:
    /// then other rules hold for it.
    fn check_surroundings(&self, is_meant: impl Fn(FileAction) -> bool) -> Result<(), Error> {
        let made = self.files.iter().map(|step| step.planned);
        let made: Vec<&RelPath> =
            made.filter(|file| file.action == FileAction::Create).map(|file| &file.real).collect();
        for FileCommit { planned, .. } in &self.files {
            let is_new = planned.around.is_none() && is_meant(planned.action);
            if is_new && self.workspace.protection_around(&planned.real, &made).is_some() {
                return Err(Error::Changed {
                    path: planned.path.clone(),
                    expected: "no repository of git around it".to_owned(),
                    found: "a part of one".to_owned(),
                });
            }
        }
        Ok(())
    }

    fn committed(&self) -> Committed {
        let files = self
            .files
            .iter()
            .map(|step| AppliedFile { path: step.planned.path.clone(), hash: step.planned.after });
        Committed { number: self.number, files: files.collect(), exchanged: self.exchanged }
    }

    /// Makes the missing directories above a file and moves its spot into the last one.
    fn make_directories(&mut self, index: usize) -> Result<(), Error> {
        let step = &mut self.files[index];
        while let Some(name) = step.spot.take_missing() {
            let directory = step.spot.sibling(&name)?;
            if directory.make_directory()? {
                self.directories.push(directory);
            }
            step.spot.enter(&name)?;
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), Error> {
        let mut synced: Vec<Identity> = Vec::new();
        for step in &self.files {
            let failed = |errno| Error::io(&step.planned.real, "make durable", errno);
            let identity = handle::stat(&step.spot.parent).map_err(failed)?.identity;
            if !synced.contains(&identity) {
                handle::sync_directory(&step.spot.parent).map_err(failed)?;
                synced.push(identity);
            }
        }
        Ok(())
    }

    fn roll_back(&self) -> Result<(), Error> {
        if self.is_marked {
            store::unmark(&self.history.connection(), self.number)?;
            // The mark may be on disk: what is no longer in the files must not count as committed. Where the log
            // fails, the files are rolled back all the same, and the last wait reports it.
            let _ = self.history.make_durable();
        }
        for step in self.files.iter().rev().filter(|step| step.spot.is_complete()) {
            swap::roll_back(&step.spot, &step.intent, self.history, self.workspace)?;
        }
        for spot in self.directories.iter().rev() {
            spot.remove_directory()?;
        }
        self.sync()?;
        store::remove(&mut self.history.connection(), self.number)?;
        self.history.settle(self.number);
        // Another program may write from now on just what this would have left: nobody rolls that back.
        self.history.make_durable()
    }

    fn remove_displaced(&self) {
        let discard = |step: &FileCommit<'_>| {
            swap::discard(&step.spot, &step.intent, self.history, self.workspace).is_ok()
        };
        // What stays here is swept by the next recovery.
        if self.files.iter().filter(|step| !discard(step)).count() == 0 {
            self.history.settle(self.number);
        }
        // An empty directory that stays is no loss.
        let _ = recover::remove_directories(self.workspace, &self.undone_directories);
    }
}

/// Removes a name from a held directory; a missing one is fine.
pub(crate) fn unlink(spot: &Spot, name: &str) -> Result<(), Error> {
    match rustix::fs::unlinkat(&spot.parent, name, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(errno) => Err(Error::io(&spot.path, "remove the temporary file of", errno)),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at files from outside")]
mod tests;
