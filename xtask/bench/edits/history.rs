//! Committing an edit beside long histories, against the same beside a short one, in turns.

use std::path::Path;

use anyhow::Result;
use moss_workspace::{History, HistoryLimits, Workspace, WorkspaceOptions};
use moss_xtask::rows::{Row, Spread, grouped};
use rusqlite::{Connection, params};

use super::commit::{FILE_NAME, content, edit, timed};

/// Entries of the histories; the first is the one that the others are measured against.
const ENTRIES: [u32; 3] = [10, 10_000, 1_000_000];
/// Edits before any is measured.
const WARM_UP: usize = 20;
const EDITS: usize = 300;

/// A workspace whose history has so many entries already.
struct FilledHistory {
    workspace: Workspace,
    history: History,
}

/// Measures all of them.
pub(super) fn measure(directory: &Path) -> Result<Vec<Row>> {
    let temp = tempfile::Builder::new().prefix("bench-history-").tempdir_in(directory)?;
    let places = ENTRIES.map(|entries| {
        let name = entries.to_string();
        FilledHistory::new(&temp.path().join(name), entries)
    });
    let places = places.into_iter().collect::<Result<Vec<_>>>()?;
    let mut durations = vec![Vec::with_capacity(EDITS); places.len()];
    for number in 1..=WARM_UP + EDITS {
        for (FilledHistory { workspace, history }, durations) in places.iter().zip(&mut durations) {
            let duration = timed(|| edit(workspace, history, number))?;
            if number > WARM_UP {
                durations.push(duration);
            }
        }
    }
    let short = Spread::of(durations[0].clone());
    let rows = ENTRIES.into_iter().zip(durations).map(|(entries, durations)| {
        let entries = u64::from(entries);
        let name = format!("commit beside {} changes", grouped(entries));
        let row = Row::timed(name, durations).against(short);
        row.wanted("ratio ≤ 1.2").at("history", entries)
    });
    Ok(rows.collect())
}

/// Writes entries as edits of one file would have left them, each with a content of its own.
fn fill(database: &Path, root: &Path, entries: u32) -> Result<()> {
    let mut connection = Connection::open(database)?;
    let transaction = connection.transaction()?;
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)";
    transaction.execute(
        &format!(
            "{numbers} INSERT INTO entries
             (number, committed, root, at_ms, call_id, tool, caller, summary, directories)
             SELECT i, 1, ?2, unixepoch() * 1000, 'call ' || i, 'bench', 'bench', '', '' FROM n"
        ),
        params![entries, root.as_os_str().as_encoded_bytes()],
    )?;
    transaction.execute(
        &format!(
            "{numbers} INSERT INTO blobs (rowid, hash, size, content)
             SELECT i, randomblob(32), 40, randomblob(40) FROM n"
        ),
        [entries],
    )?;
    transaction.execute(
        "INSERT INTO files (entry, position, path, real, action, before, after, before_bytes,
                            after_bytes, permanent, added, removed, temp)
         SELECT number, 0, ?1, ?1, 'modify',
                (SELECT hash FROM blobs WHERE rowid = max(1, number - 1)),
                (SELECT hash FROM blobs WHERE rowid = number), 40, 40, 0, 1, 1, '.moss-0.tmp'
         FROM entries",
        [FILE_NAME],
    )?;
    // Nothing lies beside the file.
    transaction.execute("INSERT INTO marks (name, value) VALUES ('swept', ?1)", [entries])?;
    Ok(transaction.commit()?)
}

// === impl FilledHistory ===

impl FilledHistory {
    fn new(directory: &Path, entries: u32) -> Result<Self> {
        let (root, state) = (directory.join("work"), directory.join("state"));
        std::fs::create_dir_all(&root)?;
        std::fs::write(root.join(FILE_NAME), content(0))?;
        let workspace = Workspace::open(&root, WorkspaceOptions::default())?;
        drop(History::open(&state, HistoryLimits::default())?);
        fill(&state.join("history.sqlite"), workspace.root(), entries)?;
        let history = History::open(&state, HistoryLimits::default())?;
        Ok(Self { workspace, history })
    }
}
