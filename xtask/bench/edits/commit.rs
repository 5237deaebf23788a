//! Committing an edit of one file, with history and the record of the intent, against a write into
//! a temporary file, its fsync, the rename, and the fsync of the directory.
//!
//! Both sides wait for the disk twice, which is counted. moss syncs the write-ahead log of the history in each of
//! its waits as well: with the intent beside the temporary file, with the mark beside the directory.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use moss_sdk::RelPath;
use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Splice};
use moss_workspace::{
    History, HistoryLimits, Origin, Workspace, WorkspaceOptions, hash, sync_count,
};
use moss_xtask::rows::{Row, Spread};

/// Edits before any is measured.
const WARM_UP: usize = 20;
const EDITS: usize = 300;
/// How often the other side waits for the disk.
const BARE_WAITS: u64 = 2;
/// The size of the file, in bytes.
const FILE_BYTES: usize = 16 << 10;
pub(super) const FILE_NAME: &str = "edited.rs";

/// Measures both sides in turns: whatever else the machine does meets both.
pub(super) fn measure(directory: &Path) -> Result<[Row; 2]> {
    let place = tempfile::Builder::new().prefix("bench-edits-").tempdir_in(directory)?;
    let [root, state, bare] = ["work", "state", "bare"].map(|name| place.path().join(name));
    for directory in [&root, &bare] {
        fs::create_dir(directory)?;
        fs::write(directory.join(FILE_NAME), content(0))?;
    }
    let workspace = Workspace::open(&root, WorkspaceOptions::default())?;
    let history = History::open(&state, HistoryLimits::default())?;
    let (mut with, mut without) = (Vec::with_capacity(EDITS), Vec::with_capacity(EDITS));
    let mut waits = 0;
    for number in 1..=WARM_UP + EDITS {
        let before = sync_count();
        let moss = timed(|| edit(&workspace, &history, number))?;
        let bare = timed(|| replace(&bare, number))?;
        if number > WARM_UP {
            with.push(moss);
            without.push(bare);
            let after = sync_count();
            // The log of the history goes to disk while files wait.
            waits += (after.files - before.files).max(after.history - before.history);
        }
    }
    let waits = Row::count("waits for the disk of that commit", waits.div_ceil(EDITS as u64));
    Ok([
        Row::timed("commit of an edit, 16 KiB", with).against(Spread::of(without)),
        waits.against(Spread::single(BARE_WAITS)).wanted("≤ 2"),
    ])
}

/// Changes the first line.
pub(super) fn edit(workspace: &Workspace, history: &History, number: usize) -> Result<()> {
    let old = content(number - 1);
    let splice = Splice { range: 0..line(0).len(), text: line(number) };
    let kind = ChangeKind::Edit { base: hash(old.as_bytes()), splices: vec![splice] };
    let path = RelPath::parse(FILE_NAME)?;
    let plan =
        workspace.plan(&ChangeSet { changes: vec![Change { path, kind, matched: None }] })?;
    let origin = Origin {
        call_id: number.to_string(),
        tool: "bench".to_owned(),
        caller: "bench".to_owned(),
        summary: String::new(),
    };
    workspace.commit(&plan, history, &origin)?;
    Ok(())
}

fn replace(directory: &Path, number: usize) -> Result<()> {
    let old = fs::read_to_string(directory.join(FILE_NAME))?;
    let new = format!("{}{}", line(number), &old[line(0).len()..]);
    let temp = directory.join("edited.tmp");
    let mut file = fs::File::create(&temp)?;
    file.write_all(new.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temp, directory.join(FILE_NAME))?;
    fs::File::open(directory)?.sync_all()?;
    Ok(())
}

/// The file after so many edits.
pub(super) fn content(number: usize) -> String {
    let mut text = line(number);
    text.extend(std::iter::repeat_n("let value = compute(value);\n", FILE_BYTES / 28));
    text
}

/// Its first line, always of the same length.
fn line(number: usize) -> String {
    format!("// edit {number:06}\n")
}

pub(super) fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}
