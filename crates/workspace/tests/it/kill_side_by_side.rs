//! A process that commits on several threads at once is killed at random instants; recovery must
//! find the change sets of each of them whole, and those that were acknowledged there.
//!
//! As in [`crate::kill`], the writer is this test binary, started again.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use moss_sdk::edit::{Change, ChangeSet, Retention};
use moss_workspace::{History, HistoryFilter, HistoryLimits, Resolver, Workspace, hash, recover};

use crate::fixture::{create, delete, memory, open, origin, tree, write};
use crate::kill::{DIRECTORY, Writer};

/// How often the process is killed, where nobody says so.
const KILLS: u64 = 80;
/// The variable that says so.
const KILLS_SAID: &str = "MOSS_TEST_KILLS";
/// Threads that commit at once.
const THREADS: usize = 6;
/// Rounds of each thread of a process that nobody kills.
const ROUNDS: u64 = 4;
/// Longest time from the first acknowledged round to the kill.
const LIFE_MAX: Duration = Duration::from_millis(40);

fn names(thread: usize) -> [String; 2] {
    [format!("{thread}-a.txt"), format!("{thread}/b.txt")]
}

/// In a directory that all threads make in the same round.
fn made(thread: usize, round: u64) -> String {
    format!("made-{round}/{thread}.txt")
}

fn content(name: &str, round: u64) -> String {
    let lines = 1 + (round * 7 + name.len() as u64) % 50;
    (0..lines).map(|line| format!("{name} {round} {line}\n")).collect()
}

/// Replaces the files of a thread, makes one that is named after the round and removes that of the
/// last one.
fn changes(root: &Path, thread: usize, round: u64) -> Vec<Change> {
    let replaced = names(thread).map(|name| match fs::read(root.join(&name)) {
        Ok(base) => write(&name, &base, &content(&name, round)),
        Err(_) => create(&name, &content(&name, round)),
    });
    let mut changes = Vec::from(replaced);
    changes.push(create(&made(thread, round), "made\n"));
    if round > 1 {
        changes.push(delete(&made(thread, round - 1), b"made\n", Retention::Recoverable));
    }
    changes
}

/// The round that all files of a thread are of; 0 where there are none.
fn round_of(root: &Path, thread: usize) -> u64 {
    let rounds = names(thread).map(|name| {
        let Ok(text) = fs::read_to_string(root.join(&name)) else { return 0 };
        let round = text.split(' ').nth(1).and_then(|word| word.parse().ok());
        let round = round.unwrap_or_else(|| panic!("{name} holds neither version: {text:?}"));
        assert!(text == content(&name, round), "{name} is torn: {text:?}");
        round
    });
    assert_eq!(rounds[0], rounds[1], "a change set is cut");
    rounds[0]
}

fn parts(directory: &Path) -> (Workspace, History) {
    let root = directory.join("root");
    let history = History::open(&directory.join("state"), HistoryLimits::default()).unwrap();
    (open(&root, Resolver::Kernel), history)
}

/// Everything that must hold after recovery. Returns the rounds.
fn check(directory: &Path, history: &History) -> [u64; THREADS] {
    let root = directory.join("root");
    let rounds = std::array::from_fn(|thread| round_of(&root, thread));
    let mut expected: Vec<String> = Vec::new();
    for (thread, round) in rounds.iter().enumerate().filter(|(_, round)| **round > 0) {
        expected.extend(names(thread));
        expected.push(made(thread, *round));
    }
    expected.sort();
    let found = tree(&root).into_iter().filter(|(_, content)| content.is_some());
    let mut found: Vec<String> = found.map(|(path, _)| path.display().to_string()).collect();
    found.sort();
    assert_eq!(found, expected);
    let entries = history.stats().unwrap().entries;
    assert_eq!(entries, rounds.iter().sum::<u64>(), "entries of the history");
    let newest = HistoryFilter { entries_max: 4 * THREADS, ..HistoryFilter::default() };
    let listed = history.list(&newest).unwrap();
    for (thread, round) in rounds.iter().enumerate().filter(|(_, round)| **round > 0) {
        let summary = format!("{thread} {round}");
        let entry = listed.iter().find(|entry| entry.origin.summary == summary);
        // Others may have made many changes since.
        for file in entry.iter().flat_map(|entry| &entry.files) {
            let present = fs::read(root.join(file.path.as_str())).ok();
            assert_eq!(present.as_deref().map(hash), file.after, "{}", file.path);
        }
    }
    rounds
}

/// Reads what a line acknowledges: a thread and its round.
fn acknowledged(line: &str) -> (usize, u64) {
    let (thread, round) = line.split_once(' ').unwrap();
    (thread.parse().unwrap(), round.parse().unwrap())
}

/// Both a test by itself and the process that the other test kills.
#[test]
fn threads_commit_whole_change_sets() {
    let temp = memory();
    let killed = env::var_os(DIRECTORY);
    let directory = killed.as_ref().map_or(temp.path(), Path::new);
    fs::create_dir_all(directory.join("root")).unwrap();
    let (workspace, history) = parts(directory);
    recover(&workspace, &history).unwrap();
    let rounds = if killed.is_some() { u64::MAX } else { ROUNDS };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (workspace, history) = (&workspace, &history);
            scope.spawn(move || {
                for round in round_of(workspace.root(), thread) + 1..=rounds {
                    let changes = changes(workspace.root(), thread, round);
                    let plan = workspace.plan(&ChangeSet { changes }).unwrap();
                    let origin = origin(&format!("{thread} {round}"));
                    workspace.commit(&plan, history, &origin).unwrap();
                    let mut output = std::io::stdout().lock();
                    writeln!(output, "committed {thread} {round}").unwrap();
                    output.flush().unwrap();
                }
            });
        }
    });
    assert_eq!(check(directory, &history), [ROUNDS; THREADS]);
}

#[test]
fn killed_among_commits_of_many_threads_a_process_leaves_whole_change_sets() {
    let temp = memory();
    let directory = temp.path();
    fs::create_dir(directory.join("root")).unwrap();
    let kills = env::var(KILLS_SAID).map_or(KILLS, |said| said.parse().unwrap());
    let mut rounds = [0; THREADS];
    let (mut rolled_back, mut at_once) = (0, 0);
    for kill in 0..kills {
        let mut told = rounds;
        let mut hear = |line: String| {
            let (thread, round) = acknowledged(&line);
            told[thread] = round;
        };
        let mut writer =
            Writer::start("kill_side_by_side::threads_commit_whole_change_sets", directory);
        hear(writer.acknowledged().unwrap());
        let life = LIFE_MAX.mul_f64(f64::from(kill as u32 * 7 % 50) / 50.0);
        let start = Instant::now();
        while start.elapsed() < life {
            std::thread::yield_now();
        }
        writer.kill().into_iter().for_each(hear);
        let (workspace, history) = parts(directory);
        let recovered = recover(&workspace, &history).unwrap();
        let found = check(directory, &history);
        for thread in 0..THREADS {
            let (told, found) = (told[thread], found[thread]);
            assert!((told..=told + 1).contains(&found), "{thread}: told {told}, found {found}");
        }
        history.check_integrity().unwrap();
        rolled_back += recovered.rolled_back;
        at_once += u64::from(recovered.rolled_back > 1);
        rounds = found;
    }
    assert!(rolled_back > 0, "no kill fell into a commit");
    assert!(at_once > 0, "no kill fell into several commits");
    println!("{kills} kills, {rolled_back} change sets rolled back, {rounds:?} rounds");
}
