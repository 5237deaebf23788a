//! Commits side by side: what they share, what they wait for, and what is left of them where the
//! process or the machine stops between any two steps, in any order of the steps.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Retention};
use rusqlite::{Connection, OpenFlags};
use rustix::io::Errno;
use tempfile::TempDir;

use super::*;
use crate::history::{HistoryFilter, HistoryLimits};
use crate::options::WorkspaceOptions;

/// Commits that come together.
const COMMITS: usize = 16;
/// Longest wait for other threads.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// What stands in the database.
const DATABASE: &str = "history.sqlite";

struct Site {
    temp: TempDir,
    workspace: Workspace,
}

/// A directory in shared memory, or else an ordinary one: nothing here depends on the disk.
fn memory() -> TempDir {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap()
}

fn rel(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn create(path: &str, content: &str) -> Change {
    Change::new(rel(path), ChangeKind::Create { content: content.to_owned() })
}

fn write(path: &str, base: &str, content: &str) -> Change {
    let base = handle::hash(base.as_bytes());
    Change::new(rel(path), ChangeKind::Write { base, content: content.to_owned() })
}

fn delete(path: &str, base: &str) -> Change {
    let base = handle::hash(base.as_bytes());
    Change::new(rel(path), ChangeKind::Delete { base, retention: Retention::Recoverable })
}

/// How many entries of a history are committed or not, as another program sees it.
fn count(state: &Path, committed: bool) -> usize {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(state.join(DATABASE), flags).unwrap();
    let sql = "SELECT count(*) FROM entries WHERE committed = ?1";
    let found: u32 = connection.query_row(sql, [committed], |row| row.get(0)).unwrap();
    found as usize
}

/// How many files lie beside others.
fn temps(root: &Path) -> usize {
    let entries = fs::read_dir(root).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().path().extension().is_some()).count()
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < WAIT_MAX, "never: {what}");
        std::thread::yield_now();
    }
}

// === impl Site ===

impl Site {
    fn new() -> Self {
        let temp = memory();
        fs::create_dir(temp.path().join("root")).unwrap();
        let workspace =
            Workspace::open(&temp.path().join("root"), WorkspaceOptions::default()).unwrap();
        Self { temp, workspace }
    }

    fn state(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    fn history(&self) -> History {
        History::open(&self.state(), HistoryLimits::default()).unwrap()
    }

    /// A history whose waits for the disk are these.
    fn history_with(&self, sync: impl FnMut() -> Result<(), Errno> + Send + 'static) -> History {
        History::open_with(&self.state(), HistoryLimits::default(), sync).unwrap()
    }

    fn put(&self, name: &str, content: &str) {
        fs::write(self.workspace.root().join(name), content).unwrap();
    }

    fn get(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.workspace.root().join(name)).ok()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.workspace.root()).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries.map(|e| name(e).into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn plan(&self, changes: Vec<Change>) -> Plan {
        self.workspace.plan(&ChangeSet { changes }).unwrap()
    }
}

#[test]
fn commits_of_different_files_share_their_waits() {
    let site = Site::new();
    let (state, calls) = (site.state(), AtomicU64::new(0));
    let root = site.workspace.root().to_owned();
    // The first wait ends when all commits write beside their files, and the third when all have
    // made their marks: commits that took turns would never come to that.
    let history = site.history_with(move || {
        match calls.fetch_add(1, Ordering::Relaxed) {
            0 => eventually("all have begun", || temps(&root) == COMMITS),
            2 => eventually("all are marked", || count(&state, true) == COMMITS),
            _ => {}
        }
        Ok(())
    });
    std::thread::scope(|scope| {
        for number in 0..COMMITS {
            let (site, history) = (&site, &history);
            scope.spawn(move || {
                let plan = site.plan(vec![create(&format!("{number}"), "new\n")]);
                site.workspace.commit(&plan, history, &Origin::default()).unwrap();
            });
        }
    });
    assert_eq!(site.names().len(), COMMITS);
    assert_eq!(history.stats().unwrap().entries, COMMITS as u64);
    // One after the other they would have waited twice each.
    let syncs = history.syncs();
    assert!(syncs < 2 * COMMITS as u64, "{COMMITS} commits waited {syncs} times");
}

#[test]
fn what_is_durable_is_in_the_history_before_its_old_version_is_removed() {
    let site = Site::new();
    site.put("a", "old\n");
    let history = site.history_with(|| Ok(()));
    let plan = site.plan(vec![write("a", "old\n", "new\n")]);
    let durable =
        site.workspace.make_durable(&plan, &history, &Origin::default(), &NoBuffers, &|| false);
    let uncleared = durable.unwrap();
    assert_eq!(fs::read_to_string(site.workspace.root().join("a")).unwrap(), "new\n");
    assert_eq!((count(&site.state(), true), temps(site.workspace.root())), (1, 1));
    assert_eq!(uncleared.committed().number, 1);
    uncleared.clear();
    assert_eq!(temps(site.workspace.root()), 0);
    assert_eq!(history.settled_up_to(), 1);
}

#[test]
fn commits_of_one_file_take_turns_and_lose_nothing() {
    let site = Site::new();
    site.put("shared", "");
    let (state, most) = (site.state(), Arc::new(AtomicU64::new(0)));
    let seen = Arc::clone(&most);
    let history = site.history_with(move || {
        seen.fetch_max(count(&state, false) as u64, Ordering::Relaxed);
        Ok(())
    });
    std::thread::scope(|scope| {
        for number in 0..COMMITS {
            let (site, history) = (&site, &history);
            scope.spawn(move || {
                // A plan that another commit made stale is made anew.
                eventually("the line is in", || {
                    let text = site.get("shared").unwrap();
                    let changes = vec![write("shared", &text, &format!("{text}{number}\n"))];
                    let Ok(plan) = site.workspace.plan(&ChangeSet { changes }) else {
                        return false;
                    };
                    match site.workspace.commit(&plan, history, &Origin::default()) {
                        Ok(_) => true,
                        Err(Error::Changed { .. }) => false,
                        Err(error) => panic!("{error:?}"),
                    }
                });
            });
        }
    });
    let text = site.get("shared").unwrap();
    let mut lines: Vec<usize> = text.lines().map(|line| line.parse().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..COMMITS).collect::<Vec<_>>());
    assert_eq!(most.load(Ordering::Relaxed), 1, "two commits of one file ran at once");
    assert_eq!(history.stats().unwrap().entries, COMMITS as u64);
}

#[test]
fn commit_that_the_disk_refuses_changes_nothing() {
    // Each commit waits twice, and either wait may fail.
    for refused in 0..2 {
        let site = Site::new();
        site.put("a", "old\n");
        site.put("gone", "old\n");
        let (calls, refuses) = (AtomicU64::new(0), Arc::new(AtomicBool::new(true)));
        let still = Arc::clone(&refuses);
        let history = site.history_with(move || {
            let is_refused = calls.fetch_add(1, Ordering::Relaxed) == refused;
            if is_refused && still.load(Ordering::Relaxed) { Err(Errno::IO) } else { Ok(()) }
        });
        let changes =
            || vec![write("a", "old\n", "new\n"), create("d/b", "new\n"), delete("gone", "old\n")];
        let plan = site.plan(changes());
        let error = site.workspace.commit(&plan, &history, &Origin::default()).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        assert_eq!(site.names(), ["a", "gone"], "wait {refused}");
        assert_eq!(site.get("a").as_deref(), Some("old\n"));
        assert_eq!(history.stats().unwrap().entries + history.stats().unwrap().bytes, 0);
        assert_eq!(recover(&site.workspace, &history).unwrap(), Recovered::default());
        refuses.store(false, Ordering::Relaxed);
        let plan = site.plan(changes());
        site.workspace.commit(&plan, &history, &Origin::default()).unwrap();
        assert_eq!(site.names(), ["a", "d"]);
    }
}

#[test]
fn what_is_acknowledged_after_a_failed_sync_outlives_a_power_cut() {
    let site = Site::new();
    let (state, copy) = (site.state(), site.temp.path().join("copy"));
    let name = format!("{DATABASE}-wal");
    let (log, kept) = (state.join(&name), copy.clone());
    let (mut syncs, mut durable, mut lost) = (0, 0, Vec::new());
    // The first commit waits twice.
    let history = site.history_with(move || {
        syncs += 1;
        let mut written = fs::read(&log).unwrap();
        if syncs == 3 {
            // From now on the system takes this for written.
            lost = written.split_off(durable);
            return Err(Errno::IO);
        }
        keep_copy(&state, &kept);
        if lost.is_empty() {
            durable = written.len();
        } else if written.get(durable..durable + lost.len()) == Some(&lost[..]) {
            written[durable..durable + lost.len()].fill(0);
            fs::write(kept.join(&name), written).unwrap();
        }
        Ok(())
    });
    for (path, is_refused) in [("a", false), ("b", true), ("c", false)] {
        let plan = site.plan(vec![create(path, "new\n")]);
        let outcome = site.workspace.commit(&plan, &history, &Origin::default());
        assert_eq!(outcome.is_err(), is_refused, "{path}: {outcome:?}");
    }
    drop(history);
    let history = reopened(&copy);
    assert_eq!(fs::metadata(copy.join(format!("{DATABASE}-wal"))).unwrap().len(), 0);
    recover(&site.workspace, &history).unwrap();
    let entries = history.list(&HistoryFilter::default()).unwrap();
    let changed: Vec<&str> = entries.iter().map(|entry| entry.files[0].path.as_str()).collect();
    assert_eq!((changed, site.names()), (vec!["c", "a"], vec!["a".to_owned(), "c".to_owned()]));
    history.check_integrity().unwrap();
}

#[test]
fn what_another_program_writes_after_a_rollback_outlives_a_power_cut() {
    for is_crash in [false, true] {
        let site = Site::new();
        lay(&site);
        let (state, copy) = (site.state(), site.temp.path().join("copy"));
        let kept = copy.clone();
        let history = site.history_with(move || {
            keep_copy(&state, &kept);
            Ok(())
        });
        if is_crash {
            make(&site, &history, &[0, 0, 0]);
            assert_eq!(recover(&site.workspace, &history).unwrap().rolled_back, 1);
        } else {
            let plan = site.plan(sets()[0].clone());
            let editor = TakenUpAfter(Mutex::new(1));
            let refused = site.workspace.commit_over(&plan, &history, &Origin::default(), &editor);
            assert!(matches!(refused, Err(Error::Unsaved { .. })), "{refused:?}");
        }
        assert_eq!(held(&site, 0), expected(0, false), "{is_crash}");
        // Just what the change would have left.
        site.put("a", "new\n");
        fs::create_dir(site.workspace.root().join("d")).unwrap();
        site.put("d/a", "new\n");
        drop(history);
        recover(&site.workspace, &reopened(&copy)).unwrap();
        assert_eq!(held(&site, 0), expected(0, true), "{is_crash}");
    }
}

#[test]
fn a_change_no_longer_counts_as_committed_before_it_is_rolled_back() {
    let site = Site::new();
    site.put("a", "old\n");
    let file = site.workspace.root().join("a");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let state = site.state();
    let history = site.history_with(move || {
        let now = (fs::read_to_string(&file).unwrap(), count(&state, true));
        noted.lock().unwrap().push(now);
        Ok(())
    });
    let plan = site.plan(vec![write("a", "old\n", "new\n")]);
    let (spots, directories) = hold(&site.workspace, &plan, CancelCheck::NEVER).unwrap();
    let origin = Origin::default();
    let begun = Commit::begin(&site.workspace, &history, &plan, &origin, spots, &directories);
    let mut commit = begun.unwrap();
    commit.run(&NoBuffers).unwrap();
    commit.roll_back().unwrap();
    let expected = [("old\n", 0), ("new\n", 1), ("new\n", 0), ("old\n", 0)];
    let seen = seen.lock().unwrap();
    let seen: Vec<_> = seen.iter().map(|(text, committed)| (text.as_str(), *committed)).collect();
    assert_eq!(seen, expected);
}

#[test]
fn an_entry_beside_whose_files_something_lies_is_not_dropped_for_room() {
    let site = Site::new();
    site.put("a", "old\n");
    site.put("b", "old\n");
    let limits = HistoryLimits { bytes_max: 1, ..HistoryLimits::default() };
    let open = || History::open(&site.state(), limits).unwrap();
    let numbers = |history: &History| -> Vec<u64> {
        let entries = history.list(&HistoryFilter::default()).unwrap();
        entries.iter().map(|entry| entry.number).collect()
    };
    let history = open();
    let plan = site.plan(vec![write("a", "old\n", "new\n")]);
    let durable =
        site.workspace.make_durable(&plan, &history, &Origin::default(), &NoBuffers, &|| false);
    let uncleared = durable.unwrap();
    let other = site.plan(vec![write("b", "old\n", "new\n")]);
    site.workspace.commit(&other, &history, &Origin::default()).unwrap();
    assert_eq!((numbers(&history), temps(site.workspace.root())), (vec![2, 1], 1));
    // It is killed before it clears.
    drop(uncleared);
    drop(history);
    let history = open();
    recover(&site.workspace, &history).unwrap();
    assert_eq!(site.names(), ["a", "b"]);
    let last = site.plan(vec![write("a", "new\n", "newer\n")]);
    site.workspace.commit(&last, &history, &Origin::default()).unwrap();
    assert_eq!(numbers(&history), [3]);
}

/// The steps of a commit, between any two of which it may be cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The intent is written.
    Begin,
    /// The new versions lie beside the files.
    Stage,
    /// The first file is exchanged.
    ExchangeOne,
    /// The second file is exchanged.
    ExchangeOther,
    /// The history has the change as committed.
    Mark,
    /// The old versions are removed.
    Clear,
}

/// The steps of either change set. Those of the second are larger: the orders are many.
const STEPS: [&[&[Step]]; 2] = [
    &[
        &[Step::Begin],
        &[Step::Stage],
        &[Step::ExchangeOne],
        &[Step::ExchangeOther],
        &[Step::Mark],
        &[Step::Clear],
    ],
    &[
        &[Step::Begin],
        &[Step::Stage, Step::ExchangeOne],
        &[Step::ExchangeOther, Step::Mark],
        &[Step::Clear],
    ],
];

/// An editor that takes up a file after so many were looked at.
struct TakenUpAfter(Mutex<usize>);

impl Buffers for TakenUpAfter {
    fn unsaved(&self, _: &RelPath) -> Option<Arc<str>> {
        None
    }

    fn unsaved_paths(&self) -> Vec<RelPath> {
        Vec::new()
    }

    fn holds(&self, _: &RelPath) -> bool {
        let mut left = self.0.lock().unwrap();
        let holds = *left == 0;
        *left = left.saturating_sub(1);
        holds
    }
}

/// Two change sets that do not touch.
fn sets() -> [Vec<Change>; 2] {
    [
        vec![write("a", "old\n", "new\n"), create("d/a", "new\n")],
        vec![delete("b", "old\n"), write("c", "old\n", "new\n")],
    ]
}

/// What the files of each change set hold, before it or after it.
fn held(site: &Site, set: usize) -> [Option<String>; 2] {
    [["a", "d/a"], ["b", "c"]][set].map(|name| site.get(name))
}

fn expected(set: usize, is_done: bool) -> [Option<String>; 2] {
    let [old, new] = ["old\n", "new\n"].map(|text| Some(text.to_owned()));
    match (set, is_done) {
        (0, false) => [old, None],
        (0, true) => [new.clone(), new],
        (_, false) => [old.clone(), old],
        (_, true) => [None, new],
    }
}

/// Makes one step of a commit that has begun.
fn make_step(commit: &mut Commit<'_>, step: Step) {
    match step {
        Step::Begin => unreachable!("it has begun"),
        Step::Stage => commit.stage().unwrap(),
        Step::ExchangeOne => {
            commit.exchange(&TakenUpAfter(Mutex::new(1))).unwrap_err();
        }
        Step::ExchangeOther => {
            let step = &commit.files[1];
            let (history, workspace) = (commit.history, commit.workspace);
            swap::put_in(&step.spot, &step.intent, step.staged, history, workspace).unwrap();
        }
        Step::Mark => commit.mark().unwrap(),
        Step::Clear => commit.remove_displaced(),
    }
}

/// Every order in which the steps of two commits can be made, cut off anywhere.
fn orders(made: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    all.push(made.clone());
    for (set, steps) in STEPS.iter().enumerate() {
        if made.iter().filter(|other| **other == set).count() < steps.len() {
            made.push(set);
            orders(made, all);
            made.pop();
        }
    }
}

/// The last step that a change set makes in an order; none where it makes none.
fn last_step(order: &[usize], set: usize) -> Option<Step> {
    let made = order.iter().filter(|other| **other == set).count();
    STEPS[set][..made].last().and_then(|steps| steps.last()).copied()
}

fn is_done(order: &[usize], set: usize) -> bool {
    last_step(order, set) >= Some(Step::Mark)
}

/// Makes the steps of an order.
fn make(site: &Site, history: &History, order: &[usize]) {
    let plans = sets().map(|changes| site.plan(changes));
    let mut commits: BTreeMap<usize, Commit<'_>> = BTreeMap::new();
    let mut rest = STEPS.map(|steps| steps.iter());
    for set in order.iter().copied() {
        for step in *rest[set].next().unwrap() {
            if let Some(commit) = commits.get_mut(&set) {
                make_step(commit, *step);
                continue;
            }
            let (held, directories) =
                hold(&site.workspace, &plans[set], CancelCheck::NEVER).unwrap();
            let origin = Origin::default();
            let begun =
                Commit::begin(&site.workspace, history, &plans[set], &origin, held, &directories);
            commits.insert(set, begun.unwrap());
        }
    }
}

fn lay(site: &Site) {
    for name in ["a", "b", "c"] {
        site.put(name, "old\n");
    }
    let _ = fs::remove_dir_all(site.workspace.root().join("d"));
}

#[test]
fn commits_that_are_cut_at_any_steps_in_any_order_are_whole_or_absent() {
    let site = Site::new();
    let history = site.history_with(|| Ok(()));
    let mut all = Vec::new();
    orders(&mut Vec::new(), &mut all);
    assert_eq!(all.len(), 791, "all beginnings of 210 orders");
    let mut entries = 0;
    for order in &all {
        lay(&site);
        make(&site, &history, order);
        let recovered = recover(&site.workspace, &history).unwrap();
        let begun = (0..2).filter(|set| order.contains(set) && !is_done(order, *set)).count();
        assert_eq!(recovered.rolled_back, begun as u64, "{order:?}");
        for set in 0..2 {
            let is_done = is_done(order, set);
            assert_eq!(held(&site, set), expected(set, is_done), "set {set} of {order:?}");
            entries += u64::from(is_done);
        }
        assert_eq!(history.stats().unwrap().entries, entries, "{order:?}");
        assert!(site.names().iter().all(|name| name.len() == 1), "{order:?}: {:?}", site.names());
    }
}

/// What a power cut leaves of the state directory: what was written when the last sync began.
fn keep_copy(state: &Path, copy: &Path) {
    let _ = fs::remove_dir_all(copy);
    fs::create_dir(copy).unwrap();
    for name in [DATABASE.to_owned(), format!("{DATABASE}-wal")] {
        fs::copy(state.join(&name), copy.join(name)).unwrap();
    }
}

/// The history that a power cut left.
fn reopened(copy: &Path) -> History {
    fs::set_permissions(copy, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    History::open(copy, HistoryLimits::default()).unwrap()
}

#[test]
fn commits_whose_unsynced_records_are_lost_are_whole_or_absent() {
    let mut all = Vec::new();
    orders(&mut Vec::new(), &mut all);
    // Each alone and both in turns: here every order needs a history of its own.
    all.retain(|order| {
        order.iter().all(|set| *set == 0)
            || order.iter().all(|set| *set == 1)
            || order.iter().enumerate().all(|(at, set)| at % 2 == *set)
    });
    for order in &all {
        let site = Site::new();
        lay(&site);
        let (state, copy) = (site.state(), site.temp.path().join("copy"));
        drop(site.history());
        fs::create_dir(&copy).unwrap();
        fs::copy(state.join(DATABASE), copy.join(DATABASE)).unwrap();
        let kept = copy.clone();
        let history = site.history_with(move || {
            keep_copy(&state, &kept);
            Ok(())
        });
        make(&site, &history, order);
        // What was asked for last may still be under way.
        drop(history);
        let history = reopened(&copy);
        recover(&site.workspace, &history).unwrap();
        let listed = history.list(&HistoryFilter::default()).unwrap().len();
        let done = (0..2).filter(|set| is_done(order, *set)).count();
        assert_eq!(listed, done, "{order:?}");
        for set in 0..2 {
            assert_eq!(held(&site, set), expected(set, is_done(order, set)), "{order:?}");
        }
        history.check_integrity().unwrap();
    }
}
