//! A process that commits is killed at random instants; recovery must find whole change sets.
//!
//! The writer is this test binary, started again with one test and a directory to work in. The
//! state lies in shared memory where there is such a file system: killing a process does not lose
//! what it has written, so nothing depends on the disk, and the kills come faster.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use moss_sdk::edit::{Change, ChangeSet, Retention};
use moss_workspace::{
    FileAction, History, HistoryFilter, HistoryLimits, Resolver, Workspace, hash, recover,
};

use crate::fixture::{create, delete, memory, open, origin, tree, write};

/// Names the directory in which a writer process works.
pub(crate) const DIRECTORY: &str = "MOSS_TEST_WRITER_DIRECTORY";
const KILLS: u64 = 320;
/// How often the time that a round takes is measured: as often as the machine's load may change.
const MEASURED_EVERY: u64 = 16;
const FILES: [&str; 4] = ["a.txt", "b.txt", "deep/c.txt", "deep/er/d.txt"];
/// Small, so that clearing old entries away is interrupted too.
const LIMITS: HistoryLimits =
    HistoryLimits { bytes_max: 256 << 10, age_max: Duration::from_secs(3600), entries_min: 3 };
/// Rounds of a writer that nobody kills.
const ROUNDS: u64 = 5;

/// The content of a file in a round; its length varies.
fn content(name: &str, round: u64) -> String {
    let lines = 1 + (round * 7 + name.len() as u64) % 50;
    (0..lines).map(|line| format!("{name} {round} {line}\n")).collect()
}

/// Replaces all files, makes one that is named after the round and removes that of the last one.
fn changes(root: &Path, round: u64) -> Vec<Change> {
    let mut changes: Vec<Change> = FILES
        .iter()
        .map(|name| match fs::read(root.join(name)) {
            Ok(base) => write(name, &base, &content(name, round)),
            Err(_) => create(name, &content(name, round)),
        })
        .collect();
    changes.push(create(&made(round), "made\n"));
    if round > 1 {
        changes.push(delete(&made(round - 1), b"made\n", Retention::Recoverable));
    }
    changes
}

fn made(round: u64) -> String {
    format!("made-{round}/in/here.txt")
}

/// The round that all files are of; 0 where there are none.
fn round_of(root: &Path) -> u64 {
    let rounds: Vec<u64> = FILES
        .iter()
        .map(|name| {
            let Ok(bytes) = fs::read(root.join(name)) else { return 0 };
            let text = String::from_utf8(bytes).unwrap();
            let round = text.split(' ').nth(1).and_then(|word| word.parse().ok());
            let round = round.unwrap_or_else(|| panic!("{name} holds neither version: {text:?}"));
            assert!(text == content(name, round), "{name} is torn: {text:?}");
            round
        })
        .collect();
    assert!(rounds.iter().all(|round| *round == rounds[0]), "a change set is cut: {rounds:?}");
    rounds[0]
}

fn parts(directory: &Path) -> (Workspace, History) {
    let root = directory.join("root");
    (open(&root, Resolver::Kernel), History::open(&directory.join("state"), LIMITS).unwrap())
}

/// Everything that must hold after recovery. Returns the round.
fn check(directory: &Path) -> u64 {
    let (_, history) = parts(directory);
    let root = directory.join("root");
    let round = round_of(&root);
    let names: Vec<String> =
        tree(&root).into_iter().map(|(path, _)| path.display().to_string()).collect();
    let files = if round == 0 { 0 } else { FILES.len() + 1 };
    let found = names.iter().filter(|name| name.ends_with(".txt")).count();
    assert_eq!(found, files, "{names:?}");
    assert!(round == 0 || root.join(made(round)).exists(), "{names:?}");
    assert!(!names.iter().any(|name| name.contains(".moss-")), "{names:?}");

    history.check_integrity().unwrap();
    let newest = history.list(&HistoryFilter { entries_max: 1, ..Default::default() }).unwrap();
    assert_eq!(newest.is_empty(), round == 0);
    for entry in newest {
        assert_eq!(entry.origin.summary, format!("round {round}"));
        for file in &entry.files {
            let present = fs::read(root.join(file.path.as_str())).ok();
            assert_eq!(present.as_deref().map(hash), file.after, "{}", file.path);
            for held in [file.before, file.after].into_iter().flatten() {
                let bytes = history.content(&held).unwrap().expect("the newest entry is whole");
                assert_eq!(hash(&bytes), held);
            }
            assert_eq!(file.action == FileAction::Delete, file.after.is_none());
        }
    }
    round
}

fn round(line: &str) -> u64 {
    line.parse().unwrap()
}

/// The process that is killed.
pub(crate) struct Writer {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Writer {
    /// Starts this binary again with one test.
    pub(crate) fn start(test: &str, directory: &Path) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(DIRECTORY, directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits until the next round is acknowledged, and returns how it is named; none where the
    /// writer has ended.
    pub(crate) fn acknowledged(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            if let Some(round) = line.trim_end().strip_prefix("committed ") {
                return Some(round.to_owned());
            }
            line.clear();
        }
        None
    }

    /// Kills the writer and returns the rounds that it acknowledged since.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.acknowledged()).collect()
    }
}

/// Both a test by itself and the process that the other test kills.
#[test]
fn a_writer_commits_whole_change_sets() {
    let temp = tempfile::tempdir().unwrap();
    let killed = env::var_os(DIRECTORY);
    let directory = killed.as_ref().map_or(temp.path(), Path::new);
    fs::create_dir_all(directory.join("root")).unwrap();
    let (workspace, history) = parts(directory);
    recover(&workspace, &history).unwrap();
    let first = round_of(workspace.root()) + 1;
    for round in first.. {
        if killed.is_none() && round == ROUNDS {
            break;
        }
        let changes = changes(workspace.root(), round);
        let plan = workspace.plan(&ChangeSet { changes }).unwrap();
        workspace.commit(&plan, &history, &origin(&format!("round {round}"))).unwrap();
        let mut output = std::io::stdout().lock();
        writeln!(output, "committed {round}").unwrap();
        output.flush().unwrap();
    }
    drop(history);
    assert_eq!(check(directory), ROUNDS - 1);
}

#[test]
fn a_writer_that_is_killed_leaves_whole_change_sets() {
    let temp = memory();
    let directory = temp.path();
    fs::create_dir(directory.join("root")).unwrap();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let (mut acknowledged, mut untold, mut rolled_back) = (0, 0, 0);
    let mut round_time = Duration::ZERO;
    for kill in 0..KILLS {
        let mut writer = Writer::start("kill::a_writer_commits_whole_change_sets", directory);
        // Some writers are killed before their first commit, perhaps while they recover.
        let heard = kill % MEASURED_EVERY == 0 || next() % 4 != 0;
        if heard {
            acknowledged = round(&writer.acknowledged().unwrap());
        }
        if kill % MEASURED_EVERY == 0 {
            let start = Instant::now();
            acknowledged = round(&writer.acknowledged().unwrap());
            round_time = start.elapsed();
        }
        let after = round_time.mul_f64((next() % 1_000) as f64 / 800.0);
        let start = Instant::now();
        while start.elapsed() < after {
            std::thread::yield_now();
        }
        let last = writer.kill().last().map(|line| round(line));
        // Each writer may have committed one round that it no longer told of.
        untold = if last.is_some() || heard { 1 } else { untold + 1 };
        acknowledged = last.unwrap_or(acknowledged);
        // Otherwise the next writer finds what this one left.
        if kill % 3 != 0 {
            let (workspace, history) = parts(directory);
            rolled_back += recover(&workspace, &history).unwrap().rolled_back;
            let round = check(directory);
            let rounds = acknowledged..=acknowledged + untold;
            assert!(rounds.contains(&round), "{round} is not in {rounds:?}");
            assert_eq!(recover(&workspace, &history).unwrap().rolled_back, 0);
        }
    }
    assert!(rolled_back > 0, "no kill fell into a commit");
    println!("{KILLS} kills, {rolled_back} change sets rolled back, {acknowledged} rounds");
}
