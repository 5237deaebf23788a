//! The snapshots of the commands that run in this process. Each has what was before its command from the disk, where
//! another command may have changed it by then: whoever ends says to those that began later what was there before it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::aside::move_aside;
use crate::compare::{ComparedPaths, Snapshot};
use crate::ending::{CoverChange, Disturbance};
use crate::reached::real_of;
use crate::record::CommandRecord;
use crate::region::{HeldRegion, overlap};
use crate::snapshot_plan::SnapshotPlan;

/// Those of all workspaces, the oldest first: one may lie in another. It is locked for a moment only: who looks at
/// files or restores them has a [`HeldRegion`].
static RUNNING: Mutex<RunningSnapshots> =
    Mutex::new(RunningSnapshots { last: 0, all: Vec::new(), ended: BTreeMap::new() });
/// Longest time between the look at a workspace for a command and its start.
const PLANNED_MAX: Duration = Duration::from_secs(60);
/// How often the same is moved aside within [`AGAIN_WITHIN`] of the time before until it is a command that does not stop,
/// and no honest one that writes its settings: git writes some a few times, and again hours later.
const MOVED_MAX: u32 = 3;
const AGAIN_WITHIN: Duration = Duration::from_secs(10);
/// How often a directory is opened before those are ended that may close it.
const OPENED_TRIES: usize = 5;
/// How long one waits each time until they have ended.
const OPENED_PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug)]
struct RunningSnapshots {
    /// The number of the one that was taken last.
    last: u64,
    all: Vec<RunningSnapshot>,
    /// The workspaces of commands that ended, and what these were not to change: when the last of them did.
    ended: BTreeMap<(PathBuf, PathBuf), Instant>,
}

/// Clones share what was before.
#[derive(Debug, Clone)]
struct RunningSnapshot {
    number: u64,
    taken: Instant,
    /// The directories that what it has lies in.
    directories: Vec<PathBuf>,
    snapshot: Arc<Mutex<Snapshot>>,
    record: Option<CommandRecord>,
    made: watch::Sender<MadeMeanwhile>,
    /// What may not be made while its command runs.
    watched: Arc<BTreeSet<PathBuf>>,
}

/// What was made while a command ran, where it writes, and may not be there.
#[derive(Debug, Default)]
pub(crate) struct MadeMeanwhile {
    /// What it is ended for: it has done that, or it is one of those that may have and will not stop.
    pub(crate) ended: Option<Disturbance>,
    /// What was moved aside at once, when last and how often in a row: it or another one has made that.
    pub(crate) moved: BTreeMap<PathBuf, (Instant, u32)>,
}

/// What commands that run may write although it is protected or masked: it was not when they began.
#[derive(Debug, Default)]
pub(crate) struct LooseFiles(Vec<RunningSnapshot>);

/// The snapshot of a command that runs, until it is restored or dropped.
#[derive(Debug)]
pub(crate) struct HeldSnapshot {
    number: u64,
    made: watch::Sender<MadeMeanwhile>,
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The snapshots of commands that have something in these directories.
fn running_in(directories: &[PathBuf]) -> Vec<RunningSnapshot> {
    let running = lock(&RUNNING);
    let within = running.all.iter().filter(|one| overlap(&one.directories, directories));
    within.cloned().collect()
}

/// Moves away what is at a path, without a link being followed: to the same name with `.set-aside-by-moss` behind it,
/// in the place of what was there. No command that began since then restores it; without a time, none that runs.
///
/// # Errors
///
/// Where it cannot be renamed.
pub fn set_aside(path: &Path, since: Option<Instant>) -> io::Result<()> {
    let directories = vec![path.to_owned(), real_of(path)];
    let _region = HeldRegion::enter(directories.clone());
    set_aside_in_region(path, &directories, since)
}

/// The same where nobody else works there.
fn set_aside_in_region(
    path: &Path,
    directories: &[PathBuf],
    since: Option<Instant>,
) -> io::Result<()> {
    move_aside(path)?;
    for later in running_in(directories) {
        if since.is_none_or(|since| later.taken >= since) {
            later.learn(|held| held.forget(path));
        }
    }
    Ok(())
}

/// Gives back the permissions that commands which run took from directories above protected names, so that others can
/// look at these. Returns whether any were.
pub(crate) fn open_closed(workspace: &Path) -> bool {
    let running = running_in(&[workspace.to_owned()]);
    let opened = running.iter().map(|one| !lock(&one.snapshot).open_again().is_empty());
    opened.fold(false, |any, opened| any | opened)
}

/// Decides about what was made that may not be there. Where one command runs that may write there, that one has made
/// it, and is ended. Of several nobody knows: it is moved aside, and when it is made again and again those are ended
/// that ran each time. Where it stays all are.
pub(crate) fn settle_made(path: &Path) {
    let directories = vec![path.to_owned(), real_of(path)];
    // Whoever ends has restored by then what it made.
    let _region = HeldRegion::enter(directories.clone());
    if path.symlink_metadata().is_err() {
        return;
    }
    let mut writers = running_in(&directories);
    writers.retain(|one| lock(&one.snapshot).writes(path));
    if writers.is_empty() {
        return;
    }
    let moved = set_aside_in_region(path, &directories, None);
    // What stays is moved aside when they have ended.
    let is_there = moved.is_err() || path.symlink_metadata().is_ok();
    for one in &writers {
        one.made.send_modify(|made| {
            if moved.is_ok() && made.moves(path) >= MOVED_MAX || is_there || writers.len() == 1 {
                made.end(path, CoverChange::Made);
            }
        });
    }
}

/// Opens what keeps a command from being started, after so many tries. Whoever may close it again each time is ended.
/// Returns whether another try may find it open.
pub(crate) fn open_for(workspace: &Path, closed: &Path, tried: usize) -> bool {
    let may_open = open_closed(workspace) || LooseFiles::of(workspace).may_be();
    if may_open && tried >= OPENED_TRIES {
        end_closing(closed);
        std::thread::sleep(OPENED_PAUSE);
    }
    may_open
}

/// Ends the commands that may have closed a directory, which was open to them when they began: none that may write
/// there could start.
fn end_closing(closed: &Path) {
    for one in running_in(&[closed.to_owned()]) {
        if lock(&one.snapshot).found_open(closed) {
            one.made.send_modify(|made| made.end(closed, CoverChange::Closed));
        }
    }
}

/// Decides so about all that is there in a workspace, before a command is planned: covered, it would end that one
/// when it goes.
pub(crate) fn settle_watched(workspace: &Path) {
    let running = running_in(&[workspace.to_owned()]);
    let watched: BTreeSet<_> = running.iter().flat_map(|one| one.watched.iter()).collect();
    for path in watched {
        if path.symlink_metadata().is_ok() {
            settle_made(path);
        }
    }
}

// === impl RunningSnapshots ===

impl RunningSnapshots {
    /// What the commands of a workspace that ended since it was looked at for a plan were not to change, and the plan
    /// has not.
    fn ended_since(&mut self, plan: &SnapshotPlan) -> Vec<PathBuf> {
        self.ended.retain(|_, at| at.elapsed() < PLANNED_MAX);
        let ended = self.ended.iter().filter(|(_, at)| **at >= plan.looked);
        let of_workspace = ended.filter(|((workspace, _), _)| *workspace == plan.workspace);
        let unknown = of_workspace.filter(|((_, path), _)| !plan.has(path));
        unknown.map(|((_, path), _)| path.clone()).collect()
    }
}

/// Adds what is there and was not when a command was planned: another one had moved it away, and ended since. Of
/// what those have moved away that still run it is noted only.
fn add_moved(plan: &mut SnapshotPlan) {
    let ended = lock(&RUNNING).ended_since(plan);
    plan.compared.extend(ended.into_iter().filter(|path| path.symlink_metadata().is_ok()));
    for running in running_in(std::slice::from_ref(&plan.workspace)) {
        let gone: Vec<_> = lock(&running.snapshot).gone(plan).map(Path::to_owned).collect();
        plan.moved.extend(gone);
    }
}

// === impl MadeMeanwhile ===

impl MadeMeanwhile {
    /// Counts what is moved aside: how often it was in a row.
    fn moves(&mut self, path: &Path) -> u32 {
        let now = Instant::now();
        let (at, times) = self.moved.entry(path.to_owned()).or_insert((now, 0));
        *times = if now.duration_since(*at) < AGAIN_WITHIN { *times + 1 } else { 1 };
        *at = now;
        *times
    }

    fn end(&mut self, path: &Path, change: CoverChange) {
        self.ended.get_or_insert_with(|| Disturbance { path: path.to_owned(), change });
    }
}

// === impl LooseFiles ===

impl LooseFiles {
    /// Those of a workspace.
    pub(crate) fn of(workspace: &Path) -> Self {
        let mut running = running_in(&[workspace.to_owned()]);
        // What only reads makes nothing.
        running.retain(|one| lock(&one.snapshot).writes_in(workspace));
        Self(running)
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|one| lock(&one.snapshot).leaves(path))
    }

    /// Whether there may be any.
    pub(crate) fn may_be(&self) -> bool {
        !self.0.is_empty()
    }
}

// === impl HeldSnapshot ===

impl HeldSnapshot {
    /// Takes the snapshot of a command, and writes it down where there is a record for it. `check` looks at it before, and
    /// what it found comes with it.
    pub(crate) fn take<T, E: From<io::Error>>(
        plan: SnapshotPlan,
        record: Option<&CommandRecord>,
        check: impl FnOnce(&mut Snapshot) -> Result<T, E>,
    ) -> Result<(Self, T), E> {
        let mut directories = plan.directories();
        let (mut snapshot, _region) = loop {
            let region = HeldRegion::enter(directories.clone());
            let mut plan = plan.clone();
            add_moved(&mut plan);
            let snapshot = Snapshot::of(plan);
            // Links lead elsewhere, and what is shared with other workspaces lies there.
            let others = snapshot.roots().filter(|root| !directories.contains(root));
            let others: Vec<PathBuf> = others.collect();
            if others.is_empty() {
                break (snapshot, region);
            }
            directories.extend(others);
        };
        let found = check(&mut snapshot)?;
        if let Some(record) = record {
            record.write(&snapshot).map_err(|error| {
                io::Error::new(error.kind(), format!("the command cannot be recorded: {error}"))
            })?;
        }
        let (taken, record) = (Instant::now(), record.cloned());
        let snapshot = Arc::new(Mutex::new(snapshot));
        let made = watch::Sender::default();
        let mut running = lock(&RUNNING);
        running.last += 1;
        let number = running.last;
        let held = Self { number, made: made.clone() };
        running.all.push(RunningSnapshot {
            number,
            taken,
            directories,
            snapshot,
            record,
            made,
            watched: Arc::default(),
        });
        Ok((held, found))
    }

    /// Notes what may not be made while its command runs.
    pub(crate) fn watch(&self, paths: impl IntoIterator<Item = PathBuf>) {
        let watched = Arc::new(paths.into_iter().collect());
        if let Some(own) = lock(&RUNNING).all.iter_mut().find(|one| one.number == self.number) {
            own.watched = watched;
        }
    }

    /// What is made while its command runs.
    pub(crate) fn made(&self) -> watch::Sender<MadeMeanwhile> {
        self.made.clone()
    }

    /// Compares and restores, when the command has ended.
    pub(crate) fn restore(self) -> ComparedPaths {
        let is_own = |one: &&RunningSnapshot| one.number == self.number;
        let Some(ended) = lock(&RUNNING).all.iter().find(is_own).cloned() else {
            return ComparedPaths::default();
        };
        let _region = HeldRegion::enter(ended.directories.clone());
        lock(&RUNNING).all.retain(|one| one.number != self.number);
        let snapshot = std::mem::take(&mut *lock(&ended.snapshot));
        let compared = snapshot.restore();
        for later in running_in(&ended.directories) {
            if later.number > ended.number {
                later.learn(|held| held.learn(&snapshot, &compared));
            }
        }
        if let Some(plan) = snapshot.into_plan() {
            let (at, workspace) = (Instant::now(), plan.workspace);
            // Who finds it back has it restored, which nothing of others is.
            let known = plan.protected.into_iter().filter(|path| !plan.of_others.contains(path));
            let known = known.map(|path| ((workspace.clone(), path), at));
            lock(&RUNNING).ended.extend(known);
        }
        compared
    }
}

impl Drop for HeldSnapshot {
    fn drop(&mut self) {
        let dropped: Vec<_> =
            lock(&RUNNING).all.extract_if(.., |one| one.number == self.number).collect();
        // Large ones are freed without the lock.
        drop(dropped);
    }
}

// === impl RunningSnapshot ===

impl RunningSnapshot {
    /// Has it learn something, and writes that down: this moss may be killed before its command ends.
    fn learn(&self, learn: impl FnOnce(&mut Snapshot) -> bool) {
        let mut snapshot = lock(&self.snapshot);
        let has_changed = learn(&mut snapshot);
        if let Some(record) = self.record.as_ref().filter(|_| has_changed) {
            record.rewrite(&snapshot);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::record::LeftCommand;

    fn take(root: &Path, names: &[&str], record: Option<&CommandRecord>) -> HeldSnapshot {
        looked_at(Instant::now(), root, names, record)
    }

    fn looked_at(
        looked: Instant,
        root: &Path,
        names: &[&str],
        record: Option<&CommandRecord>,
    ) -> HeldSnapshot {
        let check = |_: &mut Snapshot| Ok::<_, io::Error>(());
        HeldSnapshot::take(plan(looked, root, names), record, check).unwrap().0
    }

    fn plan(looked: Instant, root: &Path, names: &[&str]) -> SnapshotPlan {
        let paths: Vec<_> = names.iter().map(|name| root.join(name)).collect();
        SnapshotPlan {
            workspace: root.to_owned(),
            protected: paths.iter().cloned().collect(),
            masked: [root.join("secret")].into(),
            compared: paths,
            of_others: BTreeSet::new(),
            written: vec![root.to_owned()],
            looked,
            moved: BTreeSet::new(),
        }
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_an_earlier_command_held_counts_above_and_beneath_it_too() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let path = |name: &str| root.join(name);
        write(&path("tool/tasks"), "old");
        write(&path("hooks/sample"), "old");
        let earlier = take(&root, &["tool/tasks", "tool/made", "hooks", "gone/x"], None);
        write(&path("tool/tasks"), "evil");
        write(&path("tool/made"), "evil");
        write(&path("hooks/sample"), "evil");
        write(&path("hooks/new"), "evil");
        write(&path("gone/x"), "evil");
        let later = take(&root, &["tool", "hooks/sample", "hooks/new", "gone/x/deep"], None);
        earlier.restore();
        for name in ["tool/tasks", "tool/made", "hooks/sample", "hooks/new"] {
            write(&path(name), "evil again");
        }
        let compared = later.restore();
        assert_eq!(compared.changed, [""; 0].map(PathBuf::from));
        for (name, expected) in [
            ("tool/tasks", Some("old")),
            ("tool/made", None),
            ("hooks/sample", Some("old")),
            ("hooks/new", None),
        ] {
            assert_eq!(fs::read_to_string(path(name)).ok().as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn what_no_earlier_command_could_restore_is_restored_by_none() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let path = root.join("config");
        fs::File::create(&path).unwrap().set_len(2 << 20).unwrap();
        let earlier = take(&root, &["config"], None);
        write(&path, "evil");
        let later = take(&root, &["config"], None);
        assert_eq!(earlier.restore().changed, std::slice::from_ref(&path));
        write(&path, "of the person");
        assert_eq!(later.restore().changed, std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "of the person");
    }

    #[test]
    fn what_was_moved_away_while_a_command_was_planned_is_held_by_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let path = |name: &str| root.join(name);
        write(&path("sub/hooks"), "old");
        let earlier = take(&root, &["sub/hooks", "sub/config", "kept"], None);
        fs::rename(path("sub"), path("moved")).unwrap();
        // As somebody plans the next command now, to whom it is not there.
        let looked = Instant::now();
        fs::rename(path("moved"), path("sub")).unwrap();
        assert_eq!(earlier.restore(), ComparedPaths::default());
        let later = looked_at(looked, &root, &["kept"], None);
        write(&path("sub/hooks"), "evil");
        write(&path("sub/config"), "of its own");
        assert_eq!(later.restore().restored, [path("sub/hooks")]);
        assert_eq!(fs::read_to_string(path("sub/hooks")).unwrap(), "old");
        assert!(path("sub/config").exists(), "it was not there");
    }

    #[test]
    fn what_rules_allow_by_now_is_left_to_the_command_that_may_write_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let path = |name: &str| root.join(name);
        write(&path("settings"), "old");
        // One has ended, another one still runs, and both were planned by the rules of before.
        take(&root, &["settings"], None).restore();
        let running = take(&root, &["settings"], None);
        let allowed = take(&root, &["kept"], None);
        write(&path("settings"), "new");
        drop(running);
        assert_eq!(allowed.restore(), ComparedPaths::default());
        let running = take(&root, &["settings"], None);
        let allowed = take(&root, &["kept"], None);
        assert_eq!(running.restore(), ComparedPaths::default());
        write(&path("settings"), "newer");
        assert_eq!(allowed.restore(), ComparedPaths::default());
        assert_eq!(fs::read_to_string(path("settings")).unwrap(), "newer");
    }

    #[test]
    fn a_command_of_another_workspace_changes_nothing_of_what_is_known() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let [one, two] = ["one", "two"].map(|name| root.join(name));
        write(&one.join("sub/hooks"), "old");
        write(&two.join("config"), "old");
        let earliest = take(&one, &["sub/hooks"], None);
        fs::rename(one.join("sub"), one.join("moved")).unwrap();
        let other = take(&two, &["config"], None);
        let later = take(&one, &["kept"], None);
        other.restore();
        fs::rename(one.join("moved"), one.join("sub")).unwrap();
        earliest.restore();
        write(&one.join("sub/hooks"), "evil");
        assert_eq!(later.restore().restored, [one.join("sub/hooks")]);
    }

    #[test]
    fn a_command_waits_for_no_other_workspace() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let [one, two] = ["one", "two"].map(|name| root.join(name));
        write(&one.join("config"), "old");
        write(&two.join("config"), "old");
        let beside = || {
            let held = take(&two, &["config"], None);
            write(&two.join("config"), "evil");
            let restored = held.restore().restored;
            write(&two.join("made"), "evil");
            set_aside(&two.join("made"), None).unwrap();
            restored
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            // As long as it takes in one, all of another one goes on.
            let check = |_: &mut Snapshot| {
                scope.spawn(move || sender.send(beside()));
                receiver.recv_timeout(Duration::from_secs(30)).map_err(io::Error::other)
            };
            let mut restored = Vec::new();
            let check = |snapshot: &mut Snapshot| {
                restored = check(snapshot)?;
                Ok::<_, io::Error>(())
            };
            HeldSnapshot::take(plan(Instant::now(), &one, &["config"]), None, check).unwrap();
            assert_eq!(restored, [two.join("config")]);
        });
    }

    #[test]
    fn what_was_made_is_moved_aside_and_made_again_and_again_ends_all_that_ran_each_time() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let made = root.join("made");
        let ended = |held: &HeldSnapshot| held.made().borrow().ended.clone().map(|end| end.path);
        let first = take(&root, &["made"], None);
        let second = take(&root, &["made"], None);
        settle_made(&made);
        write(&made, "evil");
        settle_watched(&root);
        assert!(made.exists(), "nobody watches it");
        first.watch([made.clone()]);
        settle_watched(&root);
        assert!(!made.exists() && root.join("made.set-aside-by-moss").exists());
        assert_eq!([ended(&first), ended(&second)], [None, None]);
        let third = take(&root, &["made"], None);
        // Long after it was made last, nothing is made again.
        let long_ago = Instant::now().checked_sub(AGAIN_WITHIN).unwrap();
        second.made.send_modify(|seen| seen.moved.values_mut().for_each(|last| last.0 = long_ago));
        write(&made, "evil");
        settle_watched(&root);
        assert_eq!([ended(&first), ended(&second), ended(&third)], [None, None, None]);
        write(&made, "evil");
        settle_watched(&root);
        assert!(!made.exists());
        let again = Some(made.clone());
        assert_eq!([ended(&first), ended(&second), ended(&third)], [again.clone(), None, None]);
        write(&made, "evil");
        settle_watched(&root);
        assert_eq!(
            [ended(&first), ended(&second), ended(&third)],
            [again.clone(), again.clone(), again]
        );
        drop((first, second, third));
        // One alone has made it.
        let alone = take(&root, &["made"], None);
        write(&made, "evil");
        settle_made(&made);
        assert!(!made.exists() && ended(&alone).is_some());
        drop(alone);
        // A link above it, which is nobody's to follow.
        let [one, other] = ["sub/made"; 2].map(|name| take(&root, &[name], None));
        std::os::unix::fs::symlink("elsewhere", root.join("sub")).unwrap();
        write(&root.join("elsewhere/made"), "evil");
        settle_made(&root.join("sub/made"));
        assert!(ended(&one).is_some() && ended(&other).is_some());
        assert!(one.made().borrow().moved.is_empty() && root.join("elsewhere/made").exists());
    }

    #[test]
    fn what_a_command_that_runs_did_not_find_is_its_own_and_what_it_closed_is_opened() {
        use std::os::unix::fs::PermissionsExt as _;

        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        write(&root.join("sub/config"), "old");
        let names = ["sub/config", "sub/config/inner", "secret", "made/config"];
        let paths = names.map(|name| root.join(name));
        let loose = || paths.iter().map(|path| LooseFiles::of(&root).has(path)).collect::<Vec<_>>();
        assert_eq!(loose(), [false; 4], "nobody runs");
        let held = take(&root, &["sub/config"], None);
        assert_eq!(loose(), [false, false, false, true]);
        let mode = |mode| fs::set_permissions(root.join("sub"), fs::Permissions::from_mode(mode));
        mode(0o000).unwrap();
        assert!(open_closed(&root) && !open_closed(&root));
        assert!(root.join("sub").metadata().unwrap().permissions().mode() & 0o700 == 0o700);
        // Who found it closed has not closed it.
        mode(0o000).unwrap();
        let later = take(&root, &["sub/config"], None);
        end_closing(&root.join("sub"));
        let changes = [&held, &later].map(|held| held.made().borrow().ended.clone());
        let path = root.join("sub");
        assert_eq!(changes, [Some(Disturbance { path, change: CoverChange::Closed }), None]);
        drop((held, later));
        assert!(!open_closed(&root));
        mode(0o700).unwrap();
    }

    #[test]
    fn a_workspace_in_another_one_learns_what_was_before_there() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let inner = root.join("inner");
        write(&inner.join("config"), "old");
        let earlier = take(&root, &["inner/config"], None);
        write(&inner.join("config"), "evil");
        let later = take(&inner, &["config"], None);
        assert_eq!(earlier.restore().restored, [inner.join("config")]);
        write(&inner.join("config"), "evil again");
        assert_eq!(later.restore().restored, [inner.join("config")]);
        assert_eq!(fs::read_to_string(inner.join("config")).unwrap(), "old");
    }

    #[test]
    fn what_was_set_aside_is_made_again_by_no_command_that_began_since() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let path = root.join("made");
        for is_older in [true, false] {
            write(&path, "old");
            let older = is_older.then(|| take(&root, &["made"], None));
            fs::remove_file(&path).unwrap();
            let since = Instant::now();
            write(&path, "evil");
            let later = (!is_older).then(|| take(&root, &["made"], None));
            set_aside(&path, Some(since)).unwrap();
            assert!(!path.exists());
            let restored = older.or(later).unwrap().restore().restored;
            assert_eq!(restored.len(), usize::from(is_older));
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), is_older.then_some("old"));
        }
    }

    #[test]
    fn a_record_has_what_was_before_the_commands_that_began_earlier() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (workspace, records) = (root.join("workspace"), root.join("records"));
        fs::create_dir(&records).unwrap();
        let path = workspace.join("config");
        write(&path, "old");
        let earlier = take(&workspace, &["config"], None);
        write(&path, "evil");
        let record = CommandRecord::new(records.clone(), None);
        let later = take(&workspace, &["config"], Some(&record));
        let started = fs::read_dir(&records).unwrap().next().unwrap().unwrap().metadata().unwrap();
        assert_eq!(earlier.restore().restored, std::slice::from_ref(&path));
        assert!(LeftCommand::find(&records).unwrap().is_empty(), "its moss lives");
        // As where moss is killed.
        drop((later, record));
        let left = LeftCommand::find(&records).unwrap().pop().unwrap();
        assert_eq!(left.started, started.modified().unwrap());
        assert_eq!(left.restore(), ComparedPaths::default());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        left.settled();
        assert_eq!(fs::read_dir(&records).unwrap().count(), 0);
    }
}
