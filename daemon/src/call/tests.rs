//! Tests of the module `call` against a daemon with workspaces of its own.

use std::sync::atomic::AtomicUsize;

use moss_config::DEPTH_MAX;
use moss_dispatch::{ApprovedDigests, ConfirmMode, EffectDenial, Reason, Role};
use moss_journal::audit::AuditFilter;
use moss_journal::redact::RedactedText;
use moss_journal::{AuditEvent, Durability, QUEUE_RECORDS_MAX, Record};
use moss_workspace::dirs::Dirs;
use serde_json::{Map, json};

use super::behalf::{Behalf, CallCount};
use super::*;
use crate::confirm::ConfirmationDecision;
use crate::setup::Setup;
use crate::state::WorkspaceState;

/// A daemon over empty workspaces, whose directories are removed after it.
pub(super) struct TestDaemon {
    pub(super) daemon: Arc<Daemon>,
    /// The roots of the workspaces, as they were asked for.
    roots: Vec<String>,
    _directory: tempfile::TempDir,
}

impl TestDaemon {
    /// Starts one over workspaces, each with a policy.
    pub(super) fn new(policies: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let workspaces: Vec<_> =
            (0..policies.len()).map(|number| root.join(format!("w{number}"))).collect();
        for (workspace, policy) in workspaces.iter().zip(policies) {
            std::fs::create_dir_all(workspace.join(".moss")).unwrap();
            let policy = format!("version = 1\n{policy}");
            std::fs::write(workspace.join(".moss/policy.toml"), policy).unwrap();
        }
        let roots = workspaces.iter().map(|path| path.display().to_string()).collect();
        let setup = Setup {
            dirs: Dirs::beneath(&root),
            workspaces,
            trial_list: None,
            plugin_lists: Vec::new(),
            config_file: None,
            admin_policies: Vec::new(),
            secrets: Vec::new(),
            collector: None,
            program: None,
            compilations: Default::default(),
        };
        let daemon = crate::start(&setup).unwrap().daemon;
        Self { daemon, roots, _directory: directory }
    }

    fn call(&self, tool: &str, arguments: Value) -> Call {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        Call {
            caller: Role::Caller.into(),
            workspace: self.roots[0].clone(),
            work: Work::Tool { name: tool.to_owned(), arguments: Ok(arguments) },
            confirm: ConfirmMode::Refuse,
            approved_digests: ApprovedDigests::default(),
            denial: None,
            dry_run: false,
            is_attended: false,
            session_id: None,
            further_workspaces: Vec::new(),
            expected_hashes: Default::default(),
            deadline: None,
            parent: None,
        }
    }

    fn workspace(&self) -> Arc<WorkspaceState> {
        self.daemon.workspace(&self.roots[0]).unwrap()
    }

    /// What a call of a tool may look at.
    pub(super) fn scope(&self, tool: &str) -> CallScope {
        let call = self.call(tool, json!({}));
        let weight = weight::CallWeight::new(&self.daemon, &call.caller, &call.work);
        let (daemon, workspace) = (Arc::clone(&self.daemon), self.workspace());
        let cancel = CancellationToken::new();
        CallScope::new(daemon, workspace, call, weight, Events::default(), cancel)
    }

    /// The records of calls of a tool.
    async fn recorded(&self, tool: &str) -> Vec<Value> {
        let (workspace, tool) = (self.workspace(), Some(tool.to_owned()));
        let read = move || workspace.journal.tail(&AuditFilter { tool, ..AuditFilter::default() });
        let entries = tokio::task::spawn_blocking(read).await.unwrap().unwrap();
        entries.into_iter().map(|entry| entry.record).collect()
    }

    async fn searched(&self, tool: &str, arguments: Value) -> Result<CallOutcome, CallError> {
        let call = Call { further_workspaces: vec!["*".to_owned()], ..self.call(tool, arguments) };
        Arc::clone(&self.daemon).start(call, Events::default()).await
    }
}

#[tokio::test]
async fn a_search_of_several_workspaces_that_is_refused_leaves_a_record() {
    let site = TestDaemon::new(&["", ""]);
    let refused = site.searched("read_file", json!({ "path": "a" })).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::ArgumentsInvalid);
    let recorded = site.recorded("read_file").await;
    assert_eq!(recorded.len(), 2, "{recorded:?}");
    assert_eq!(recorded[1]["outcome"], Reason::ArgumentsInvalid.outcome().as_str());
}

#[tokio::test]
async fn what_came_with_a_refused_search_is_shown_bounded_and_escaped() {
    let site = TestDaemon::new(&["", ""]);
    let path = "\u{202e}".repeat(10_000);
    let refused = site.searched("grep_search", json!({ "pattern": "x", "path": path })).await;
    let Err(CallError::Invalid(violations)) = refused else { panic!("{refused:?}") };
    assert_eq!(violations[0].pointer, "/path");
    assert!(violations[0].got.len() < 1_000);
    let message = violations[0].to_string();
    assert!(message.len() < 2_000 && !message.contains('\u{202e}'), "{message}");
}

#[tokio::test]
async fn an_error_of_one_of_several_workspaces_names_it() {
    let deny = "[[rule]]\ntools = [\"grep_search\"]\ndecision = \"deny\"\n";
    let site = TestDaemon::new(&["", deny]);
    let denied = site.searched("grep_search", json!({ "pattern": "x" })).await.unwrap_err();
    assert_eq!(denied.reason(), Reason::DeniedByPolicy);
    let message = denied.to_string();
    assert!(message.starts_with(&format!("{}: grep_search is denied", site.roots[1])), "{message}");
}

#[tokio::test]
async fn calls_of_plugins_that_are_refused_leave_a_record() {
    let site = TestDaemon::new(&[""]);
    let called = async |scope: CallScope, made: usize, tool: &str| {
        let made = CallCount(Arc::new(AtomicUsize::new(made)));
        let called = nested::call(&Arc::new(scope), "probe", &made, tool, "{}".to_owned()).await;
        called.unwrap_err().code
    };
    let first = site.scope("nothing");
    assert_eq!(called(first, 0, "create_file").await, ErrorCode::Denied);
    let mut deep = site.scope("nothing");
    let plugins = vec!["probe".to_owned(); DEPTH_MAX];
    let on_record = record::release(&deep).await.unwrap();
    deep.behalf = Some(Behalf::new(on_record, "0".to_owned(), plugins, CallCount::default()));
    assert_eq!(called(deep, 0, "list_directory").await, ErrorCode::LimitExceeded);
    let (last, more) = (site.scope("nothing"), site.scope("nothing"));
    assert_eq!(called(last, nested::CALLS_MAX, "read_file").await, ErrorCode::LimitExceeded);
    assert_eq!(called(more, nested::CALLS_MAX + 1, "read_file").await, ErrorCode::LimitExceeded);
    for (tool, code) in [
        ("create_file", ErrorCode::Denied),
        ("list_directory", ErrorCode::LimitExceeded),
        ("read_file", ErrorCode::LimitExceeded),
    ] {
        let recorded = site.recorded(tool).await;
        assert_eq!(recorded.len(), 2, "{recorded:?}");
        assert_eq!(recorded[0]["called_by"]["plugin"], "probe");
        assert_eq!(recorded[1]["error_code"], code.as_str());
    }
}

/// Drops a call, whose caller is gone, and returns what it recorded of a decision.
async fn decision_recorded(site: &TestDaemon, running: RunningCall) -> Value {
    drop(running);
    loop {
        let mut recorded = site.recorded("create_file").await;
        if recorded.pop_if(|last| last["kind"] == "call_finished").is_some() {
            return recorded.pop().unwrap();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_no_whose_caller_is_gone_is_recorded_as_one() {
    let create =
        |site: &TestDaemon| site.call("create_file", json!({ "path": "a.txt", "content": "x\n" }));
    let mut decided = Vec::new();
    let mut digest = None;
    // Of the last one the stream is full once it says that the call has started.
    let (full, _unread) = Events::channel(1);
    for events in [Events::default(), full] {
        let asking = TestDaemon::new(&[""]);
        let mut watch = asking.daemon.confirmations.watch(None);
        let call = Call { confirm: ConfirmMode::Wait, ..create(&asking) };
        let mut running = Arc::clone(&asking.daemon).start(call, events);
        let asked = tokio::select! {
            asked = watch.next() => asked,
            ended = &mut running => panic!("{ended:?}"),
        };
        let no = ConfirmationDecision::Deny("not now".to_owned());
        asking.daemon.confirmations.resolve(&asked.id, asked.question.digest, no).unwrap();
        digest = Some(asked.question.digest);
        decided.push(decision_recorded(&asking, running).await);
    }

    // A form that the client showed has decided.
    let site = TestDaemon::new(&[""]);
    let denial = EffectDenial { digest: digest.unwrap(), reason: "not now".to_owned() };
    let call = Call { denial: Some(denial), is_attended: true, ..create(&site) };
    let running = Arc::clone(&site.daemon).start(call, Events::default());
    decided.push(decision_recorded(&site, running).await);
    for recorded in decided {
        assert_eq!(recorded["decision"], "denied", "{recorded}");
        assert_eq!(recorded["decided_by"], "approver", "{recorded}");
        assert_eq!(recorded["reason"], "not now", "{recorded}");
    }
}

#[tokio::test]
async fn a_decision_that_nobody_comes_back_for_is_recorded_with_the_call_that_asked() {
    let site = TestDaemon::new(&[""]);
    let arguments = json!({ "path": "a.txt", "content": "x\n" });
    let call = Call { confirm: ConfirmMode::Leave, ..site.call("create_file", arguments) };
    let left = Arc::clone(&site.daemon).start(call, Events::default()).await.unwrap_err();
    assert_eq!(left.reason(), Reason::ConfirmationRequired);
    let [asked] = &site.daemon.confirmations.pending()[..] else { panic!("one question waits") };
    let no = ConfirmationDecision::Deny("not now".to_owned());
    site.daemon.confirmations.resolve(&asked.id, asked.question.digest, no).unwrap();
    let recorded = async {
        loop {
            let recorded = site.recorded("create_file").await;
            let found = recorded.into_iter().find(|record| record["kind"] == "confirmation");
            if let Some(found) = found {
                break found;
            }
            tokio::task::yield_now().await;
        }
    };
    let decided = tokio::time::timeout(Duration::from_secs(60), recorded).await.unwrap();
    assert_eq!(decided["call_id"], asked.question.call_id);
    assert_eq!((&decided["decision"], &decided["reason"]), (&json!("denied"), &json!("not now")));
}

#[tokio::test]
async fn a_call_whose_records_cannot_be_written_is_not_on_record() {
    let site = TestDaemon::new(&[""]);
    let scope = site.scope("nothing");
    record::started(&scope).await.unwrap();
    let workspace = site.workspace();
    tokio::task::spawn_blocking(move || workspace.journal.close()).await.unwrap();
    for _ in 0..2 {
        assert!(record::release(&scope).await.is_err());
        assert!(scope.held.released().is_none());
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_the_journal_is_full_is_recorded_later() {
    let site = TestDaemon::new(&[""]);
    let (workspace, scope) = (site.workspace(), site.scope("nothing"));
    record::started(&scope).await.unwrap();
    let other = || Record {
        call_id: "other".to_owned(),
        tool: RedactedText::new("other"),
        event: AuditEvent::JobStarted { job: "1".to_owned() },
    };
    let journal = &workspace.journal;
    let records = (0..8 * QUEUE_RECORDS_MAX).map(|_| journal.record(other(), Durability::Batched));
    let mut waiting: Vec<_> = records.map(Box::pin).collect();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    // Those that find no slot wait for the next ones.
    waiting.retain_mut(|record| record.as_mut().poll(&mut cx).is_pending());
    let mut release = Box::pin(record::release(&scope));
    assert!(release.as_mut().poll(&mut cx).is_pending());
    drop(release);
    assert!(scope.held.released().is_none());
    for record in waiting {
        record.await.unwrap();
    }
    record::release(&scope).await.unwrap();
    assert!(scope.held.released().is_some());
    assert_eq!(site.recorded("nothing").await.len(), 1);
}

#[tokio::test]
async fn a_call_is_on_record_before_one_that_is_made_in_its_behalf() {
    let site = TestDaemon::new(&[""]);
    let scope = Arc::new(site.scope("nothing"));
    record::started(&scope).await.unwrap();
    assert!(site.recorded("nothing").await.is_empty() && scope.held.released().is_none());
    let (made, arguments) = (CallCount::default(), json!({ "path": "." }).to_string());
    let called = nested::call(&scope, "probe", &made, "list_directory", arguments).await;
    assert!(called.is_ok(), "{called:?}");
    assert_eq!(site.recorded("nothing").await.len(), 1);
    let by = site.recorded("list_directory").await[0]["called_by"]["call_id"].clone();
    assert_eq!(by, scope.call_id);
}

#[tokio::test]
async fn an_error_does_not_say_whether_what_is_denied_is_there() {
    let deny = "[[rule]]\neffects = [\"read\"]\npaths = [\"deny*.rs\", \"secrets/**\"]\ndecision = \"deny\"\n";
    let site = TestDaemon::new(&[deny]);
    let root = std::path::Path::new(&site.roots[0]);
    for directory in ["lib", "secrets"] {
        std::fs::create_dir(root.join(directory)).unwrap();
    }
    for file in ["deny1.rs", "secrets/there", "free.rs"] {
        std::fs::write(root.join(file), "text\n").unwrap();
    }
    for (link, target) in
        [("lib/d1", "../secrets/there"), ("lib/d2", "../secrets/not"), ("lib/e", "../not")]
    {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    let reason = async |tool: &str, arguments: Value| {
        let call = site.call(tool, arguments);
        let ended = Arc::clone(&site.daemon).start(call, Events::default()).await;
        ended
            .map(|ended| ended.result.err().map(|error| error.code.as_str().to_owned()))
            .map_err(|error| error.reason())
    };
    for path in ["deny1.rs/x", "deny2.rs/x", "lib/d1", "lib/d2", "lib/d1/x", "lib/d2/x"] {
        for (tool, arguments) in [
            ("read_file", json!({ "path": path })),
            ("list_directory", json!({ "path": path })),
            ("create_file", json!({ "path": path, "content": "" })),
            ("delete_file", json!({ "path": path })),
            ("grep_search", json!({ "pattern": "x", "path": path })),
            ("find_code_location", json!({ "search": "x", "path": path })),
            ("lint_check", json!({ "path": path })),
        ] {
            let ended = reason(tool, arguments).await;
            assert_eq!(ended, Err(Reason::DeniedByPolicy), "{tool} {path}");
        }
        let arguments = Map::from_iter([("path".to_owned(), json!(path))]);
        let workspace = site.workspace();
        let explained =
            crate::explain::call((&workspace, None), "read_file", arguments, "caller", None);
        let last = explained.unwrap().pop().unwrap();
        assert_eq!(last.decision.verdict, moss_policy::Verdict::Deny, "{path}");
    }
    for path in ["not.rs/x", "lib/e", "free.rs/x"] {
        let ended = reason("read_file", json!({ "path": path })).await;
        assert_ne!(ended, Err(Reason::DeniedByPolicy), "{path}");
    }
}

#[tokio::test]
async fn work_of_a_call_that_panics_is_a_defect() {
    let site = TestDaemon::new(&[""]);
    let broken = site.scope("read_file").heavy(|| -> u8 { panic!("a defect") }).await;
    assert_eq!(CallError::from(broken.unwrap_err()).reason(), Reason::Internal);
}

#[tokio::test]
async fn a_plugin_change_that_a_rule_refuses_by_itself_is_not_worked_out() {
    let deny = "[[rule]]\neffects = [\"register\"]\ndecision = \"deny\"\n";
    let change = || PluginChange::Accept { list: None, name: "missing".to_owned() };
    for (policy, is_denied) in [("", false), (deny, true)] {
        let site = TestDaemon::new(&[policy]);
        let call = Call { work: Work::ChangePlugins(change()), ..site.call("", json!({})) };
        let ended = Arc::clone(&site.daemon).start(call, Events::default()).await;
        let reason = ended.as_ref().map_err(CallError::reason).err();
        assert_eq!(reason, is_denied.then_some(Reason::DeniedByPolicy), "{ended:?}");
    }
}
