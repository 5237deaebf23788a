//! Tests of the module `journal`.

use std::sync::atomic::{AtomicUsize, Ordering};

use moss_sdk::edit::MatchLevel;
use moss_sdk::{ContentHash, Effect, RelPath};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::redact::{RedactedArguments, RedactedText};
use super::*;
use moss_policy::{Action, Policy, Sources, Subject, decide};

/// Longest wait for a condition.
const WAIT_MAX: Duration = Duration::from_secs(60);

fn record(call_id: impl ToString) -> Record {
    let event =
        AuditEvent::CallFinished { outcome: "ok", error_code: None, message: None, duration_us: 1 };
    Record { call_id: call_id.to_string(), tool: RedactedText::new("read_file"), event }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// Records something from a thread of its own.
fn write(journal: &Journal, record: Record, durability: Durability) -> Result<(), JournalError> {
    thread_local!(static RUNTIME: Runtime = runtime());
    RUNTIME.with(|runtime| runtime.block_on(journal.record(record, durability)))
}

/// Makes the database refuse every row until [`recover`].
fn refuse(dir: &TempDir) -> Connection {
    let other = Connection::open(dir.path().join(audit::FILE_NAME)).unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON audit
                  BEGIN SELECT RAISE(ABORT, 'disk on fire'); END";
    other.execute_batch(refuse).unwrap();
    other
}

fn recover(other: &Connection) {
    other.execute_batch("DROP TRIGGER refuse").unwrap();
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < WAIT_MAX, "{what}");
        std::thread::yield_now();
    }
}

/// The calls on disk, in order, without asking the writer.
fn on_disk(dir: &TempDir) -> Vec<String> {
    let all = AuditFilter { since: Some(0), limit: audit::TAIL_ROWS_MAX, ..AuditFilter::default() };
    let entries = audit::tail(dir.path(), &all).unwrap();
    entries.iter().map(|entry| entry.record["call_id"].as_str().unwrap().to_owned()).collect()
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|index| index.to_string()).collect()
}

#[test]
fn a_durable_record_is_on_disk_after_those_before_it() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    for call_id in 0..99 {
        write(&journal, record(call_id), Durability::Batched).unwrap();
    }
    write(&journal, record(99), Durability::Durable).unwrap();
    assert_eq!(on_disk(&dir), numbers(100));
    assert_eq!(journal.verify().unwrap().rows, 100);
}

#[test]
fn batched_records_get_to_disk_by_themselves() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    write(&journal, record(0), Durability::Batched).unwrap();
    wait_until("the batch is never written", || on_disk(&dir) == ["0"]);
}

#[test]
fn reading_back_includes_what_was_just_recorded() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    write(&journal, record("a"), Durability::Batched).unwrap();
    assert_eq!(journal.tail(&AuditFilter::default()).unwrap()[0].record["call_id"], "a");
}

#[test]
fn closing_writes_what_is_queued_and_ends_the_journal() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    for call_id in 0..1000 {
        write(&journal, record(call_id), Durability::Batched).unwrap();
    }
    journal.close();
    assert_eq!(on_disk(&dir), numbers(1000));
    for durability in [Durability::Batched, Durability::Durable] {
        let refused = write(&journal, record(0), durability);
        assert!(matches!(refused, Err(JournalError::Closed)));
    }
    journal.close();
    drop(journal);

    let journal = Journal::open(dir.path()).unwrap();
    write(&journal, record(1000), Durability::Batched).unwrap();
    drop(journal);
    assert_eq!(on_disk(&dir), numbers(1001));
}

#[test]
fn journals_of_several_processes_keep_one_chain() {
    const EACH: usize = 100;
    let dir = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for process in 0..4 {
            let dir = dir.path();
            scope.spawn(move || {
                let journal = Journal::open(dir).unwrap();
                for index in 0..EACH {
                    let durable = index % 10 == 9;
                    let durability =
                        if durable { Durability::Durable } else { Durability::Batched };
                    write(&journal, record(process), durability).unwrap();
                }
            });
        }
    });
    let verified = audit::verify(dir.path()).unwrap();
    assert_eq!((verified.rows, verified.broken_at), (4 * EACH as u64, None));
    let calls = on_disk(&dir);
    for process in 0..4 {
        assert_eq!(calls.iter().filter(|call| **call == process.to_string()).count(), EACH);
    }
}

#[test]
fn waiting_records_share_a_commit_and_keep_the_order_of_each_thread() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let journal = &journal;
            scope.spawn(move || {
                for index in 0..20 {
                    let call_id = format!("{thread} {index}");
                    write(journal, record(call_id), Durability::Durable).unwrap();
                }
            });
        }
    });
    let calls = on_disk(&dir);
    for thread in 0..8 {
        let prefix = format!("{thread} ");
        let own = calls.iter().filter_map(|call| call.strip_prefix(&prefix).map(str::to_owned));
        assert_eq!(own.collect::<Vec<_>>(), numbers(20));
    }
}

#[test]
fn a_kill_loses_at_most_batched_records() {
    for batched in [0, 1, 50] {
        let dir = TempDir::new().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        for call_id in 0..10 {
            write(&journal, record(call_id), Durability::Batched).unwrap();
        }
        write(&journal, record(10), Durability::Durable).unwrap();
        for call_id in 11..11 + batched {
            write(&journal, record(call_id), Durability::Batched).unwrap();
        }
        // What a killed process leaves are its files as they are now, without any clean-up.
        let left = TempDir::new().unwrap();
        for name in ["audit.db", "audit.db-wal"] {
            std::fs::copy(dir.path().join(name), left.path().join(name)).unwrap();
        }
        let calls = on_disk(&left);
        assert!((11..=11 + batched).contains(&calls.len()), "{}", calls.len());
        assert_eq!(calls, numbers(calls.len()));
        let after = Journal::open(left.path()).unwrap();
        write(&after, record(calls.len()), Durability::Durable).unwrap();
        assert_eq!(after.verify().unwrap().broken_at, None);
        assert_eq!(on_disk(&left), numbers(calls.len() + 1));
    }
}

#[test]
fn a_full_queue_makes_callers_wait_lets_their_thread_go_on_and_loses_nothing() {
    const COUNT: usize = 2 * QUEUE_RECORDS_MAX + 1000;
    let dir = TempDir::new().unwrap();
    let journal = Arc::new(Journal::open(dir.path()).unwrap());
    let other = Connection::open(dir.path().join(audit::FILE_NAME)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    // One thread does everything: it gets to the end only if no caller keeps it.
    runtime().block_on(async {
        let mut callers = tokio::task::JoinSet::new();
        for call_id in 0..COUNT {
            let (journal, sent) = (Arc::clone(&journal), Arc::clone(&sent));
            callers.spawn(async move {
                journal.record(record(call_id), Durability::Batched).await.unwrap();
                sent.fetch_add(1, Ordering::SeqCst);
            });
        }
        let start = Instant::now();
        while journal.sender.capacity() > 0 || sent.load(Ordering::SeqCst) < QUEUE_RECORDS_MAX {
            assert!(start.elapsed() < WAIT_MAX, "the queue never fills");
            tokio::task::yield_now().await;
        }
        assert!(sent.load(Ordering::SeqCst) < COUNT, "nothing made a caller wait");
        other.execute_batch("COMMIT").unwrap();
        while let Some(ended) = callers.join_next().await {
            ended.unwrap();
        }
    });
    journal.flush().unwrap();
    // Callers at the same time have no order among each other.
    let mut kept = on_disk(&dir);
    kept.sort_by_key(|call_id| call_id.parse::<usize>().unwrap());
    assert!(kept == numbers(COUNT), "records are lost or doubled");
}

#[test]
fn a_caller_that_stops_waiting_leaves_its_record() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    runtime().block_on(async {
        tokio::select! {
            biased;
            _ = journal.record(record(0), Durability::Durable) => {}
            () = async {} => {}
        }
    });
    journal.flush().unwrap();
    assert_eq!(on_disk(&dir), numbers(1));
}

#[test]
fn while_the_disk_refuses_nothing_is_accepted_and_nothing_accepted_is_lost() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    write(&journal, record(0), Durability::Durable).unwrap();
    let other = refuse(&dir);
    write(&journal, record(1), Durability::Batched).unwrap();
    for awaited in 2..5 {
        let error = write(&journal, record(awaited), Durability::Durable).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the audit journal cannot be written: disk on fire; check disk space and permissions"
        );
    }
    let refused = write(&journal, record("refused"), Durability::Batched);
    assert!(matches!(refused, Err(JournalError::Write(_))));

    recover(&other);
    // A caller that got the error has its record all the same: once, and in its place.
    wait_until("the journal never recovers", || on_disk(&dir) == numbers(5));
    wait_until("the error stays", || write(&journal, record("late"), Durability::Batched).is_ok());
    journal.flush().unwrap();
    assert_eq!(on_disk(&dir)[5..], ["late"]);
    assert_eq!(journal.verify().unwrap().broken_at, None);
}

#[test]
fn what_waits_for_a_disk_that_refuses_is_bounded() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let other = refuse(&dir);
    for call_id in 0..QUEUE_RECORDS_MAX + 10 {
        write(&journal, record(call_id), Durability::Durable).unwrap_err();
    }
    recover(&other);
    wait_until("the journal never recovers", || on_disk(&dir) == numbers(QUEUE_RECORDS_MAX));
    journal.flush().unwrap();
    assert_eq!(on_disk(&dir).len(), QUEUE_RECORDS_MAX);
}

#[test]
fn a_database_that_is_removed_is_noticed() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    write(&journal, record(0), Durability::Durable).unwrap();
    std::fs::remove_file(dir.path().join(audit::FILE_NAME)).unwrap();
    for durability in [Durability::Durable, Durability::Batched] {
        let refused = write(&journal, record(1), durability);
        assert!(matches!(refused, Err(JournalError::Replaced { .. })), "{refused:?}");
    }
}

#[test]
fn every_kind_of_record_reads_back() {
    let dir = TempDir::new().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let path = RelPath::parse("src/a.rs").unwrap();
    let subject = Subject {
        action: Action::Modify,
        tool: "replace_text",
        tool_effect: Effect::Write,
        plugin: None,
        caller: "caller",
        path: Some(&path),
        protection: None,
        size_bytes: Some(1),
        match_level: None,
        drift: false,
        command: None,
        answers: &[],
    };
    let policy = Policy::load(Sources::default()).unwrap();
    let hash = ContentHash::from_bytes([1; 32]);
    let events = [
        AuditEvent::CallStarted {
            caller: RedactedText::new("caller"),
            role: "caller",
            workspace: "/w".to_owned(),
            session: Some(RedactedText::new("s")),
            arguments: RedactedArguments::new(&json!({ "path": "src/a.rs", "newText": "x" })),
            plugin: Some(PluginDigest { name: "p".to_owned(), digest: "d".to_owned() }),
            catalog: Some("c".to_owned()),
            called_by: None,
        },
        AuditEvent::Decision {
            action: Action::Modify,
            path: Some(path.clone()),
            host: None,
            match_level: None,
            drift_lines: None,
            command: None,
            decision: decide(&policy, &subject),
        },
        AuditEvent::Decision {
            action: Action::Modify,
            path: Some(path.clone()),
            host: None,
            match_level: Some(MatchLevel::BlockAnchor),
            drift_lines: Some(2),
            command: None,
            decision: decide(&policy, &Subject { drift: true, ..subject }),
        },
        AuditEvent::Confirmation {
            digest: "e".to_owned(),
            decision: AskOutcome::Denied,
            decided_by: Some(RedactedText::new("approver")),
            reason: Some(RedactedText::new("not today")),
        },
        AuditEvent::ApprovalStored {
            approval: "a1".to_owned(),
            scope: "session",
            session: Some(RedactedText::new("s")),
            terms: RedactedText::new("decision = \"allow\""),
        },
        AuditEvent::ApprovalUsed { approval: "a1".to_owned() },
        AuditEvent::ApprovalRevoked { approval: "a1".to_owned() },
        AuditEvent::Committed {
            history: Some(4),
            changes: vec![RecordedChange { path, before: None, after: Some(hash) }],
        },
        AuditEvent::JobStarted { job: "j".to_owned() },
        AuditEvent::JobEnded {
            job: "j".to_owned(),
            exit_code: None,
            signal: Some(15),
            ended_by: Some(RedactedText::new("stopped by caller")),
            duration_us: 9,
        },
        AuditEvent::CallsRefused {
            caller: RedactedText::new("caller"),
            outcome: "denied",
            calls: 3,
            first_at: "f".to_owned(),
            last_at: "l".to_owned(),
        },
    ];
    for event in events {
        let record =
            Record { call_id: "1".to_owned(), tool: RedactedText::new("replace_text"), event };
        write(&journal, record, Durability::Batched).unwrap();
    }
    let entries = journal.tail(&AuditFilter::default()).unwrap();
    let records: Vec<_> = entries
        .into_iter()
        .map(|mut entry| {
            entry.record.as_object_mut().unwrap().remove("time").unwrap();
            entry.record
        })
        .collect();
    let x = blake3::hash(b"x").to_string();
    let common = |kind: &str| json!({ "call_id": "1", "tool": "replace_text", "kind": kind });
    let with = |kind: &str, rest: serde_json::Value| {
        let mut all = common(kind);
        all.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        all
    };
    let expected = [
        with(
            "call_started",
            json!({
                "caller": "caller", "role": "caller", "workspace": "/w", "session": "s",
                "arguments": { "path": "src/a.rs", "newText": { "bytes": 1, "hash": x } },
                "plugin": { "name": "p", "digest": "d" }, "catalog": "c",
            }),
        ),
        with(
            "decision",
            json!({
                "action": "modify", "path": "src/a.rs", "verdict": "ask", "protected": false,
                "rule": { "layer": "default", "reason": "no rule allows it" },
            }),
        ),
        with(
            "decision",
            json!({
                "action": "modify", "path": "src/a.rs", "match_level": "block_anchor",
                "drift_lines": 2, "verdict": "ask", "protected": false,
                "rule": {
                    "layer": "drift",
                    "reason": "the edit changes lines that differ from what it expects; \
                               no rule and no standing approval allows that unseen",
                },
            }),
        ),
        with(
            "confirmation",
            json!({
                "digest": "e", "decision": "denied", "decided_by": "approver",
                "reason": "not today",
            }),
        ),
        with(
            "approval_stored",
            json!({
                "approval": "a1", "scope": "session", "session": "s",
                "terms": "decision = \"allow\"",
            }),
        ),
        with("approval_used", json!({ "approval": "a1" })),
        with("approval_revoked", json!({ "approval": "a1" })),
        with(
            "committed",
            json!({ "history": 4, "changes": [{ "path": "src/a.rs", "after": hash }] }),
        ),
        with("job_started", json!({ "job": "j" })),
        with(
            "job_ended",
            json!({ "job": "j", "signal": 15, "ended_by": "stopped by caller", "duration_us": 9 }),
        ),
        with(
            "calls_refused",
            json!({
                "caller": "caller", "outcome": "denied", "calls": 3, "first_at": "f",
                "last_at": "l",
            }),
        ),
    ];
    assert_eq!(records, expected);
}

#[test]
fn no_secret_gets_into_the_files() {
    let dir = TempDir::new().unwrap();
    let canary = |prefix: &str| format!("{prefix}CANARY{}", "x9".repeat(16));
    let secrets = [
        canary("ghp_"),
        canary("glpat-"),
        canary("sk-ant-"),
        format!("https://u:{}@h/", canary("")),
        format!("password = \"{}\"", canary("")),
        format!("Authorization: Bearer {}", canary("")),
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", canary("")),
    ];
    let journal = Journal::open(dir.path()).unwrap();
    for secret in &secrets {
        let arguments = RedactedArguments::new(&json!({
            "content": canary(""), "newText": canary(""), "api_key": canary(""),
            "command": format!("curl {secret}"), "list": [secret, { "token": [canary("")] }],
            secret: 1,
        }));
        let session = Some(RedactedText::new(secret));
        let started = AuditEvent::CallStarted {
            caller: RedactedText::new(secret),
            role: "caller",
            workspace: "/w".to_owned(),
            session,
            arguments,
            plugin: None,
            catalog: None,
            called_by: None,
        };
        let finished = AuditEvent::CallFinished {
            outcome: "failed",
            error_code: None,
            message: Some(RedactedText::new(&format!("bad {secret} here"))),
            duration_us: 1,
        };
        for event in [started, finished] {
            let record = Record { call_id: "1".to_owned(), tool: RedactedText::new(secret), event };
            write(&journal, record, Durability::Durable).unwrap();
        }
    }
    for file in std::fs::read_dir(dir.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"CANARY"));
    }
    assert_eq!(journal.verify().unwrap().rows, 2 * secrets.len() as u64);
}
