//! Tests of the module `audit`.

use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::AuditEvent;
use crate::redact::RedactedText;

/// Makes a journal of `count` ends of calls of the tools `t0`, `t1`, `t2`.
fn journal_of(count: usize) -> TempDir {
    let dir = TempDir::new().unwrap();
    let lines: Vec<_> = (0..count).map(line_of).collect();
    Log::open(dir.path())
        .unwrap()
        .append(lines.iter().map(String::as_str), Durability::Durable)
        .unwrap();
    dir
}

fn line_of(index: usize) -> String {
    let record = Record {
        call_id: format!("call-{index}"),
        tool: RedactedText::new(&format!("t{}", index % 3)),
        event: AuditEvent::CallFinished {
            outcome: if index.is_multiple_of(2) { "ok" } else { "failed" },
            error_code: None,
            message: None,
            duration_us: 7,
        },
    };
    line(Timestamp::from_millisecond(1_000).unwrap(), &record).unwrap()
}

/// Opens the database as an attacker who may write the file.
fn tamper(dir: &Path) -> Connection {
    let connection = Connection::open(dir.join(FILE_NAME)).unwrap();
    connection
        .execute_batch("DROP TRIGGER audit_next; DROP TRIGGER audit_keep; DROP TRIGGER audit_stay;")
        .unwrap();
    connection
}

fn seqs(dir: &Path, filter: &AuditFilter) -> Vec<u64> {
    tail(dir, filter).unwrap().iter().map(|entry| entry.seq).collect()
}

#[test]
fn a_record_is_one_line_of_json_with_its_time() {
    assert_eq!(
        line_of(0),
        "{\"time\":\"1970-01-01T00:00:01.000Z\",\"call_id\":\"call-0\",\"tool\":\"t0\",\
         \"kind\":\"call_finished\",\"outcome\":\"ok\",\"duration_us\":7}"
    );
}

#[test]
fn rows_come_back_newest_last_and_filtered() {
    let dir = journal_of(10);
    let all = AuditFilter::default();
    assert_eq!(seqs(dir.path(), &all), (1..=10).collect::<Vec<_>>());
    assert_eq!(seqs(dir.path(), &AuditFilter { limit: 2, ..all.clone() }), [9, 10]);
    assert_eq!(seqs(dir.path(), &AuditFilter { since: Some(4), limit: 2, ..all.clone() }), [5, 6]);
    assert_eq!(seqs(dir.path(), &AuditFilter { since: Some(u64::MAX), ..all.clone() }), [0; 0]);
    let tool = Some("t0".to_owned());
    assert_eq!(seqs(dir.path(), &AuditFilter { tool: tool.clone(), ..all.clone() }), [1, 4, 7, 10]);
    let outcome = Some("failed".to_owned());
    assert_eq!(seqs(dir.path(), &AuditFilter { tool, outcome, ..all.clone() }), [4, 10]);
    let newest = tail(dir.path(), &AuditFilter { limit: 1, ..all }).unwrap().remove(0);
    assert_eq!(newest.record["call_id"], "call-9");
    assert_eq!(newest.hash, verify(dir.path()).unwrap().head.unwrap());
}

#[test]
fn a_directory_without_a_journal_is_an_empty_one() {
    let dir = TempDir::new().unwrap();
    assert_eq!(tail(dir.path(), &AuditFilter::default()).unwrap(), []);
    let empty = Verification { rows: 0, head: None, broken_at: None, pruned: None };
    assert_eq!(verify(dir.path()).unwrap(), empty);
    drop(Log::open(dir.path()).unwrap());
    assert_eq!(verify(dir.path()).unwrap(), empty);
}

#[test]
fn the_chain_is_what_the_documentation_says() {
    let dir = journal_of(2);
    let first = blake3::hash(&[&[0; 32], &1_i64.to_le_bytes()[..], line_of(0).as_bytes()].concat());
    let second =
        blake3::hash(&[first.as_bytes(), &2_i64.to_le_bytes()[..], line_of(1).as_bytes()].concat());
    let head = Some(second.to_string());
    assert_eq!(
        verify(dir.path()).unwrap(),
        Verification { rows: 2, head, broken_at: None, pruned: None }
    );
}

#[test]
fn the_database_refuses_to_change_or_remove_rows() {
    let dir = journal_of(3);
    let connection = Connection::open(dir.path().join(FILE_NAME)).unwrap();
    for statement in [
        "UPDATE audit SET record = '{}' WHERE seq = 2",
        "DELETE FROM audit WHERE seq = 3",
        "INSERT OR REPLACE INTO audit VALUES (2, '{}', zeroblob(32))",
        "INSERT INTO audit VALUES (9, '{}', zeroblob(32))",
        "INSERT INTO audit VALUES (NULL, '{}', zeroblob(32))",
    ] {
        let error = connection.execute_batch(statement).unwrap_err().to_string();
        assert!(error.starts_with("audit rows are "), "{statement}: {error}");
    }
    assert_eq!(verify(dir.path()).unwrap().rows, 3);
}

#[test]
fn every_flipped_byte_is_found() {
    let dir = journal_of(8);
    let connection = tamper(dir.path());
    for seq in 1..=8_u64 {
        let (record, hash): (String, Vec<u8>) = connection
            .query_row("SELECT record, hash FROM audit WHERE seq = ?1", [seq as i64], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        let write = |record: &[u8], hash: &[u8]| {
            let sql = "UPDATE audit SET record = CAST(?1 AS TEXT), hash = ?2 WHERE seq = ?3";
            connection.execute(sql, params![record, hash, seq as i64]).unwrap();
        };
        for index in (0..record.len()).step_by(7) {
            let mut flipped = record.clone().into_bytes();
            flipped[index] ^= 0x80 >> (index % 8);
            write(&flipped, &hash);
            assert_eq!(verify(dir.path()).unwrap().broken_at, Some(seq), "byte {index}");
        }
        let mut flipped = hash.clone();
        flipped[31] ^= 1;
        write(record.as_bytes(), &flipped);
        assert_eq!(verify(dir.path()).unwrap().broken_at, Some(seq));
        write(record.as_bytes(), &hash);
    }
    assert_eq!(verify(dir.path()).unwrap().broken_at, None);
}

#[test]
fn removed_swapped_and_inserted_rows_are_found() {
    let cases = [
        ("DELETE FROM audit WHERE seq = 1", 1),
        ("DELETE FROM audit WHERE seq = 3", 3),
        (
            "UPDATE audit SET seq = -2 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 4;
             UPDATE audit SET seq = 4 WHERE seq = -2",
            2,
        ),
        ("DELETE FROM audit WHERE seq = 2; UPDATE audit SET seq = seq - 1 WHERE seq > 2", 2),
        ("INSERT INTO audit SELECT 6, record, hash FROM audit WHERE seq = 5", 6),
        ("INSERT INTO audit SELECT 0, record, hash FROM audit WHERE seq = 5", 1),
    ];
    for (statements, broken_at) in cases {
        let dir = journal_of(5);
        tamper(dir.path()).execute_batch(statements).unwrap();
        let verified = verify(dir.path()).unwrap();
        assert_eq!(verified.broken_at, Some(broken_at), "{statements}");
        assert_eq!(verified.rows, broken_at - 1, "{statements}");
    }
}

#[test]
fn rows_cut_off_the_end_change_the_head() {
    let dir = journal_of(5);
    let before = verify(dir.path()).unwrap();
    tamper(dir.path()).execute_batch("DELETE FROM audit WHERE seq = 5").unwrap();
    let after = verify(dir.path()).unwrap();
    assert_eq!((after.rows, after.broken_at), (4, None));
    assert_ne!(after.head, before.head);
}

#[test]
fn a_damaged_row_is_still_shown() {
    let dir = journal_of(3);
    tamper(dir.path()).execute_batch("UPDATE audit SET record = '{' WHERE seq = 2").unwrap();
    let entries = tail(dir.path(), &AuditFilter::default()).unwrap();
    assert_eq!(entries[1].record, json!("{"));
    let tool = Some("t2".to_owned());
    assert_eq!(seqs(dir.path(), &AuditFilter { tool, ..AuditFilter::default() }), [3]);
}

#[test]
fn what_cannot_be_opened_is_named() {
    let dir = TempDir::new().unwrap();
    let error = |dir: &Path| Log::open(dir).err().unwrap().to_string();
    let missing: PathBuf = dir.path().join("missing");
    assert!(error(&missing).contains("missing/audit.db cannot be opened: No such file"));

    std::os::unix::fs::symlink("elsewhere", dir.path().join(FILE_NAME)).unwrap();
    assert!(error(dir.path()).contains("Too many levels of symbolic links"));
    assert!(!dir.path().join("elsewhere").exists());

    let other = TempDir::new().unwrap();
    std::fs::write(other.path().join(FILE_NAME), "not a database at all, but long".repeat(40))
        .unwrap();
    let damaged = error(other.path());
    assert!(damaged.contains("audit.db is damaged: file is not a database; move it"), "{damaged}");

    let newer = journal_of(1);
    let connection = Connection::open(newer.path().join(FILE_NAME)).unwrap();
    connection.pragma_update(None, "user_version", opening::SCHEMA_VERSION + 1).unwrap();
    assert!(error(newer.path()).contains("written by a newer moss"));
}

#[test]
fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = TempDir::new().unwrap();
    let mut log = Log::open(dir.path()).unwrap();
    log.append([line_of(0).as_str()].into_iter(), Durability::Batched).unwrap();
    for name in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        let mode = std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_damaged_database_is_refused_with_the_next_step() {
    let damaged = |dir: &TempDir| match Log::open(dir.path()) {
        Err(error @ JournalError::Damaged { .. }) => error.to_string(),
        other => panic!("{:?}", other.err()),
    };
    // A page in the middle is overwritten.
    let dir = journal_of(400);
    let path = dir.path().join(FILE_NAME);
    Connection::open(&path).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 2048].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let error = damaged(&dir);
    assert!(error.contains(&format!("{} is damaged", path.display())), "{error}");
    assert!(error.ends_with("a new one is made"), "{error}");
    for name in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        let _ = std::fs::rename(dir.path().join(name), dir.path().join(format!("old-{name}")));
    }
    drop(Log::open(dir.path()).unwrap());

    for statements in [
        "UPDATE audit SET record = '{' WHERE seq = 3",
        "PRAGMA ignore_check_constraints = 1; UPDATE audit SET hash = x'00' WHERE seq = 3",
        "DROP TABLE audit",
    ] {
        let dir = journal_of(3);
        tamper(dir.path()).execute_batch(statements).unwrap();
        assert!(damaged(&dir).contains("is damaged"), "{statements}");
    }
}

#[test]
fn a_database_that_lost_its_name_is_not_written_to() {
    let dir = journal_of(1);
    let mut log = Log::open(dir.path()).unwrap();
    let path = dir.path().join(FILE_NAME);
    let aside = dir.path().join("aside");
    let mut append = || log.append([line_of(1).as_str()].into_iter(), Durability::Durable);

    std::fs::rename(&path, &aside).unwrap();
    let error = append().unwrap_err();
    assert!(matches!(error, JournalError::Replaced { .. }), "{error}");
    assert!(error.to_string().contains("audit.db was moved, removed or replaced"), "{error}");
    std::fs::copy(&aside, &path).unwrap();
    assert!(matches!(append(), Err(JournalError::Replaced { .. })));

    std::fs::rename(&aside, &path).unwrap();
    append().unwrap();
    assert_eq!(verify(dir.path()).unwrap().rows, 2);
}

/// As a database of the first layout, from before rows could be cut off.
fn as_first_layout(dir: &Path) {
    let connection = Connection::open(dir.join(FILE_NAME)).unwrap();
    connection
        .execute_batch(
            "DROP TABLE checkpoint; DROP TRIGGER audit_stay; PRAGMA user_version = 1;
             CREATE TRIGGER audit_stay BEFORE DELETE ON audit
                 BEGIN SELECT RAISE(ABORT, 'audit rows are never removed'); END;",
        )
        .unwrap();
}

fn bounds(bytes_max: u64, days_max: u64) -> pruning::PruningBounds {
    pruning::PruningBounds { bytes_max, days_max, rows_min: 0 }
}

#[test]
fn a_clock_that_was_set_wrong_leaves_the_newest_rows() {
    let dir = journal_of(10);
    let mut log = Log::open(dir.path()).unwrap();
    let bounds = pruning::PruningBounds { rows_min: 4, ..bounds(1 << 30, 30) };
    assert_eq!(log.prune(bounds, at(10_000)).unwrap(), 6);
    assert_eq!(verify(dir.path()).unwrap().broken_at, None);
    assert_eq!(seqs(dir.path(), &AuditFilter::default()), [7, 8, 9, 10, 11]);
}

fn at(days: i64) -> Timestamp {
    Timestamp::from_second(1 + days * 24 * 3600).unwrap()
}

#[test]
fn rows_that_are_too_old_are_cut_off_and_the_chain_still_verifies() {
    let dir = journal_of(10);
    as_first_layout(dir.path());
    assert_eq!(verify(dir.path()).unwrap().rows, 10, "also before anything is opened");
    let mut log = Log::open(dir.path()).unwrap();
    assert_eq!(log.prune(bounds(1 << 30, 30), at(29)).unwrap(), 0);
    let before = tail(dir.path(), &AuditFilter::default()).unwrap();
    assert_eq!(log.prune(bounds(1 << 30, 30), at(31)).unwrap(), 9, "the last row stays");
    let verified = verify(dir.path()).unwrap();
    assert_eq!((verified.rows, verified.broken_at), (2, None));
    let pruned = Pruned { through: 9, hash: before[8].hash.clone() };
    assert_eq!(verified.pruned, Some(pruned));
    assert_eq!(seqs(dir.path(), &AuditFilter::default()), [10, 11]);
    log.append([line_of(11)].iter().map(String::as_str), Durability::Durable).unwrap();
    assert_eq!(log.prune(bounds(1 << 30, 30), at(90)).unwrap(), 2);
    let verified = verify(dir.path()).unwrap();
    assert_eq!((verified.rows, verified.broken_at), (2, None));
    assert_eq!(verified.pruned.unwrap().through, 11);
}

#[test]
fn a_journal_that_is_too_large_loses_its_oldest_rows_and_stops_growing() {
    let dir = journal_of(10);
    let mut log = Log::open(dir.path()).unwrap();
    let wide = |index: usize| line_of(index).replace("call-", &"c".repeat(1_000));
    let used = |log: &Log| {
        let value =
            |name| log.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        value("page_count").unwrap() * value("page_size").unwrap()
    };
    let mut last = 0;
    for round in 0..20 {
        let lines: Vec<_> = (0..500).map(wide).collect();
        log.append(lines.iter().map(String::as_str), Durability::Batched).unwrap();
        let rows = log.prune(bounds(1_000_000, 365), at(0)).unwrap();
        assert!(round < 3 || rows > 0);
        let verified = verify(dir.path()).unwrap();
        assert_eq!(verified.broken_at, None);
        last = verified.rows;
    }
    assert!(last > 400, "{last} rows are left");
    assert!(used(&log) < 2_500_000, "{} bytes", used(&log));
}

#[test]
fn rows_that_moss_did_not_cut_off_are_missed() {
    let dir = journal_of(20);
    let mut log = Log::open(dir.path()).unwrap();
    log.append([line_of(20)].iter().map(String::as_str), Durability::Durable).unwrap();
    drop(log);
    for statements in [
        // Who cuts off more, and says that it was moss.
        "INSERT INTO checkpoint SELECT 1, seq, hash FROM audit WHERE seq = 5;
         DELETE FROM audit WHERE seq <= 5",
        "INSERT INTO checkpoint VALUES (1, 5, zeroblob(32)); DELETE FROM audit WHERE seq <= 5",
        "DELETE FROM audit WHERE seq <= 5",
    ] {
        let copy = TempDir::new().unwrap();
        std::fs::copy(dir.path().join(FILE_NAME), copy.path().join(FILE_NAME)).unwrap();
        tamper(copy.path()).execute_batch(statements).unwrap();
        assert!(verify(copy.path()).unwrap().broken_at.is_some(), "{statements}");
    }
    let mut log = Log::open(dir.path()).unwrap();
    log.prune(bounds(1 << 30, 30), at(40)).unwrap();
    drop(log);
    let forgotten = tamper(dir.path());
    forgotten.execute_batch("DELETE FROM checkpoint").unwrap();
    assert!(verify(dir.path()).unwrap().broken_at.is_some());
}

#[test]
fn uses_of_approvals_are_counted() {
    let dir = TempDir::new().unwrap();
    let used = |answer: &str, second: i64| {
        let event = AuditEvent::ApprovalUsed { approval: answer.to_owned() };
        let record =
            Record { call_id: "c".to_owned(), tool: RedactedText::new("write_file"), event };
        line(Timestamp::from_second(second).unwrap(), &record).unwrap()
    };
    // As 0.1 wrote it.
    let old_use =
        used("b", 4).replace("approval_used", "answer_used").replace("approval", "answer");
    // A name that only looks like a use.
    let other = line_of(0).replace("call-0", "\\\"approval_used\\\"");
    let lines = [used("a", 1), used("b", 2), used("a", 3), old_use, other];
    let mut log = Log::open(dir.path()).unwrap();
    log.append(lines.iter().map(String::as_str), Durability::Durable).unwrap();
    let uses = uses::approval_uses(dir.path()).unwrap();
    let last_at = |second| Some(Timestamp::from_second(second).unwrap());
    let expected = [("a", 2, last_at(3)), ("b", 2, last_at(4))];
    let expected =
        expected.map(|(id, count, last_at)| (id.to_owned(), uses::ApprovalUses { count, last_at }));
    assert_eq!(uses, std::collections::HashMap::from(expected));
    assert!(uses::approval_uses(TempDir::new().unwrap().path()).unwrap().is_empty());
}
