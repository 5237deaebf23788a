//! The snapshots of the commands that run in this process. Each has what was before its command from the disk, where
//! another command may have changed it by then: whoever ends says to those that began later what was there before it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::compare::{ComparedPaths, Snapshot, SnapshotPlan, move_aside};
use crate::record::CommandRecord;

/// Those of all workspaces, the oldest first: one may lie in another. It is locked while one is taken, and
/// while anything is restored.
static RUNNING: Mutex<RunningSnapshots> =
    Mutex::new(RunningSnapshots { last: 0, all: Vec::new(), ended: BTreeMap::new() });
/// Longest time between the look at a workspace for a command and its start.
const PLANNED_MAX: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct RunningSnapshots {
    /// The number of the one that was taken last.
    last: u64,
    all: Vec<RunningSnapshot>,
    /// The workspaces of commands that ended, and what these were not to change: when the last of them did.
    ended: BTreeMap<(PathBuf, PathBuf), Instant>,
}

#[derive(Debug)]
struct RunningSnapshot {
    number: u64,
    taken: Instant,
    snapshot: Snapshot,
    record: Option<CommandRecord>,
}

/// The snapshot of a command that runs, until it is restored or dropped.
#[derive(Debug)]
pub(crate) struct HeldSnapshot {
    number: u64,
}

fn lock() -> MutexGuard<'static, RunningSnapshots> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Moves away what is at a path, without a link being followed: to the same name with `.set-aside-by-moss` behind it,
/// in the place of what was there. No command that began since then restores it; without a time, none that runs.
///
/// # Errors
///
/// Where it cannot be renamed.
pub fn set_aside(path: &Path, since: Option<Instant>) -> io::Result<()> {
    let mut running = lock();
    move_aside(path)?;
    for later in running.all.iter_mut().filter(|one| since.is_none_or(|since| one.taken >= since)) {
        later.learn(|held| held.forget(path));
    }
    Ok(())
}

// === impl RunningSnapshots ===

impl RunningSnapshots {
    /// Adds what is there and was not when a command was planned: another one had moved it away, and ended since. Of
    /// what those have moved away that still run it is noted only.
    fn add_moved(&mut self, plan: &mut SnapshotPlan) {
        self.ended.retain(|_, at| at.elapsed() < PLANNED_MAX);
        let ended = self.ended.iter().filter(|(_, at)| **at >= plan.looked);
        let ended: Vec<_> = ended.map(|((workspace, path), _)| (workspace, path)).collect();
        for (workspace, path) in ended {
            let is_new = *workspace == plan.workspace && !plan.has(path);
            if is_new && path.symlink_metadata().is_ok() {
                plan.compared.push(path.clone());
            }
        }
        let running = self.all.iter();
        let gone = running.flat_map(|one| one.snapshot.gone(plan).map(Path::to_owned)).collect();
        plan.moved = gone;
    }
}

// === impl HeldSnapshot ===

impl HeldSnapshot {
    /// Takes the snapshot of a command, and writes it down where there is a record for it. `check` looks at it before.
    pub(crate) fn take<E: From<io::Error>>(
        mut plan: SnapshotPlan,
        record: Option<&CommandRecord>,
        check: impl FnOnce(&mut Snapshot) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut running = lock();
        running.add_moved(&mut plan);
        let mut snapshot = Snapshot::of(plan);
        check(&mut snapshot)?;
        if let Some(record) = record {
            record.write(&snapshot).map_err(|error| {
                io::Error::new(error.kind(), format!("the command cannot be recorded: {error}"))
            })?;
        }
        running.last += 1;
        let (number, taken, record) = (running.last, Instant::now(), record.cloned());
        running.all.push(RunningSnapshot { number, taken, snapshot, record });
        Ok(Self { number })
    }

    /// Compares and restores, when the command has ended.
    pub(crate) fn restore(self) -> ComparedPaths {
        let mut running = lock();
        let Some(place) = running.all.iter().position(|one| one.number == self.number) else {
            return ComparedPaths::default();
        };
        let ended = running.all.remove(place);
        let compared = ended.snapshot.restore();
        for later in &mut running.all[place..] {
            later.learn(|held| held.learn(&ended.snapshot, &compared));
        }
        if let Some(SnapshotPlan { workspace, protected, .. }) = ended.snapshot.into_plan() {
            let at = Instant::now();
            let known = protected.into_iter().map(|path| ((workspace.clone(), path), at));
            running.ended.extend(known);
        }
        drop(running);
        compared
    }
}

impl Drop for HeldSnapshot {
    fn drop(&mut self) {
        let dropped: Vec<_> = lock().all.extract_if(.., |one| one.number == self.number).collect();
        // Large ones are freed without the lock.
        drop(dropped);
    }
}

// === impl RunningSnapshot ===

impl RunningSnapshot {
    /// Has it learn something, and writes that down: this moss may be killed before its command ends.
    fn learn(&mut self, learn: impl FnOnce(&mut Snapshot) -> bool) {
        let has_changed = learn(&mut self.snapshot);
        if let Some(record) = self.record.as_ref().filter(|_| has_changed) {
            record.rewrite(&self.snapshot);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
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
        let paths: Vec<_> = names.iter().map(|name| root.join(name)).collect();
        let check = |_: &mut Snapshot| Ok::<_, io::Error>(());
        let plan = SnapshotPlan {
            workspace: root.to_owned(),
            protected: paths.iter().cloned().collect(),
            compared: paths,
            written: vec![root.to_owned()],
            looked,
            moved: BTreeSet::new(),
        };
        HeldSnapshot::take(plan, record, check).unwrap()
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
