//! Tests of the module `answers`. Time is what they say it is.

use std::os::unix::fs::PermissionsExt as _;

use moss_sdk::{ContentHash, RelPath};
use tempfile::TempDir;

use super::*;
use moss_config::Config;
use moss_policy::Action;
use moss_policy::standing::{AskedEffect, narrowest};

const ASKER: Asker<'static> = Asker { tool: "replace_text", plugin: None, caller: "caller" };
const QUESTION: ContentHash = ContentHash::from_bytes([7; 32]);

fn now() -> Timestamp {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

fn later(hours: i64) -> Timestamp {
    now() + SignedDuration::from_hours(hours)
}

fn limits() -> moss_config::AnswersConfig {
    Config::default().approvals
}

fn open(state: &TempDir) -> StandingApprovals {
    StandingApprovals::open(state.path(), limits()).unwrap()
}

fn session(session_id: &str) -> SessionKey {
    SessionKey { caller: "caller".to_owned(), session_id: session_id.to_owned() }
}

fn situation(session: Option<&SessionKey>) -> Situation<'_> {
    Situation { asker: ASKER, component: None, session }
}

fn permissions(path: &str) -> Vec<Permission> {
    let path = RelPath::parse(path).unwrap();
    let asked = AskedEffect { action: Action::Modify, path: &path, size_bytes: Some(1) };
    narrowest(ASKER, &[asked]).unwrap()
}

/// Offers what is asked about a file, and keeps the approval.
fn remember(
    answers: &StandingApprovals,
    path: &str,
    key: Option<&SessionKey>,
) -> Arc<StandingApproval> {
    let offers = answers.offers(situation(key), &permissions(path), QUESTION, now());
    let wanted = if key.is_some() { "session" } else { "always" };
    let offer = offers.iter().find(|offer| offer.scope.as_str() == wanted).unwrap();
    answers.remember(offer, now()).unwrap()
}

fn in_effect(answers: &StandingApprovals, key: Option<&SessionKey>, at: Timestamp) -> usize {
    answers.in_effect(situation(key), at).len()
}

fn text(state: &TempDir) -> String {
    std::fs::read_to_string(state.path().join(FILE_NAME)).unwrap()
}

#[test]
fn a_stored_approval_survives_and_ends() {
    let state = TempDir::new().unwrap();
    let answers = open(&state);
    let answer = remember(&answers, "a", None);
    let file = state.path().join(FILE_NAME);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(text(&state).contains(&answer.id), "{}", text(&state));
    for answers in [answers, open(&state)] {
        let found = answers.in_effect(situation(None), later(24 * 30 - 1));
        assert_eq!(found.len(), 1);
        assert_eq!(*found[0], *answer);
        assert_eq!(in_effect(&answers, None, later(24 * 30)), 0, "it is over");
        assert_eq!(in_effect(&answers, None, later(-48)), 0, "it is not given yet");
        assert!(answers.list(later(24 * 30)).is_empty());
    }
    // What is over goes with the next change.
    let answers = open(&state);
    let offers = answers.offers(situation(None), &permissions("b"), QUESTION, later(24 * 40));
    answers.remember(&offers[0], later(24 * 40)).unwrap();
    assert!(!text(&state).contains(&answer.id), "{}", text(&state));
}

#[test]
fn an_approval_of_a_session_is_its_alone_and_is_not_stored() {
    let state = TempDir::new().unwrap();
    let answers = open(&state);
    let (one, other) = (session("one"), session("other"));
    remember(&answers, "a", Some(&one));
    assert_eq!(in_effect(&answers, Some(&one), later(11)), 1);
    assert_eq!(in_effect(&answers, Some(&one), later(12)), 0);
    assert_eq!(in_effect(&answers, Some(&other), now()), 0);
    assert_eq!(in_effect(&answers, None, now()), 0);
    let approver = SessionKey { caller: "approver".to_owned(), ..one.clone() };
    assert_eq!(in_effect(&answers, Some(&approver), now()), 0);
    assert!(!state.path().join(FILE_NAME).exists());
    assert_eq!(in_effect(&open(&state), Some(&one), now()), 0);
    // Without a session none is offered.
    let offers = answers.offers(situation(None), &permissions("a"), QUESTION, now());
    assert_eq!(offers.iter().map(|offer| offer.scope.as_str()).collect::<Vec<_>>(), ["always"]);
}

#[test]
fn an_approval_is_bound_to_tool_caller_plugin_and_component() {
    let state = TempDir::new().unwrap();
    let answers = open(&state);
    let (asker, digest) = (Asker { plugin: Some("p"), ..ASKER }, "0a".repeat(32));
    let of = Situation { asker, component: Some(&digest), session: None };
    let path = RelPath::parse("a").unwrap();
    let asked = AskedEffect { action: Action::Modify, path: &path, size_bytes: Some(1) };
    let offers = answers.offers(of, &narrowest(asker, &[asked]).unwrap(), QUESTION, now());
    assert!(offers[0].terms.contains(&digest), "{}", offers[0].terms);
    answers.remember(&offers[0], now()).unwrap();
    for answers in [answers, open(&state)] {
        let count = |of| answers.in_effect(of, now()).len();
        assert_eq!(count(of), 1);
        assert_eq!(count(Situation { component: Some("0b"), ..of }), 0);
        assert_eq!(count(Situation { component: None, ..of }), 0);
        for other in [
            Asker { tool: "create_file", ..asker },
            Asker { plugin: None, ..asker },
            Asker { plugin: Some("q"), ..asker },
            Asker { caller: "approver", ..asker },
        ] {
            assert_eq!(count(Situation { asker: other, ..of }), 0, "{other:?}");
        }
    }
}

#[test]
fn a_revoked_approval_is_gone_at_once_and_for_good() {
    let state = TempDir::new().unwrap();
    let answers = open(&state);
    let key = session("s");
    let stored = remember(&answers, "a", None);
    let of_session = remember(&answers, "b", Some(&key));
    assert_eq!(in_effect(&answers, Some(&key), now()), 2);
    assert_eq!(answers.revoke(&stored.id, now()).unwrap().answer, stored);
    assert_eq!(in_effect(&answers, Some(&key), now()), 1);
    let listed = answers.revoke(&of_session.id, now()).unwrap();
    assert_eq!(listed.session.as_deref(), Some("s"));
    assert_eq!(in_effect(&answers, Some(&key), now()), 0);
    for id in [stored.id.as_str(), of_session.id.as_str(), ""] {
        assert!(matches!(answers.revoke(id, now()), Err(ApprovalsError::Unknown(_))), "{id}");
    }
    assert_eq!(in_effect(&open(&state), None, now()), 0);
}

#[test]
fn what_another_process_does_is_seen_and_kept() {
    let state = TempDir::new().unwrap();
    let (one, other) = (open(&state), open(&state));
    let first = remember(&one, "a", None);
    assert!(other.is_outdated() && !one.is_outdated());
    let second = remember(&other, "b", None);
    assert!(one.is_outdated() && !other.is_outdated());
    one.reload();
    assert_eq!(in_effect(&one, None, now()), 2);
    one.revoke(&first.id, now()).unwrap();
    other.reload();
    let left: Vec<_> = other.list(now()).iter().map(|listed| listed.answer.id.clone()).collect();
    assert_eq!(left, std::slice::from_ref(&second.id));
    std::fs::remove_file(state.path().join(FILE_NAME)).unwrap();
    assert!(other.is_outdated());
}

#[test]
fn the_file_of_an_older_version_is_read_and_replaced_by_the_next_change() {
    let state = TempDir::new().unwrap();
    let answers = open(&state);
    remember(&answers, "a", None);
    let (old, new) = (state.path().join(OLD_FILE_NAME), state.path().join(FILE_NAME));
    let older =
        text(&state).replace("[[approval", "[[answer").replace("approved_at", "answered_at");
    std::fs::remove_file(&new).unwrap();
    std::fs::write(&old, older).unwrap();
    assert!(answers.is_outdated());

    let answers = open(&state);
    assert_eq!(in_effect(&answers, None, now()), 1);
    assert!(!answers.is_outdated());
    assert_eq!(check(state.path()), Ok(1));
    remember(&answers, "b", None);
    assert!(new.exists() && !old.exists());
    assert_eq!(in_effect(&open(&state), None, now()), 2);
}

#[test]
fn a_change_that_is_stored_counts_though_the_file_of_an_older_version_stays() {
    let state = TempDir::new().unwrap();
    let answers = open(&state);
    let first = remember(&answers, "a", None);
    // Nothing that can be removed as a file is.
    std::fs::create_dir(state.path().join(OLD_FILE_NAME)).unwrap();
    remember(&answers, "b", None);
    assert_eq!(in_effect(&answers, None, now()), 2);
    answers.revoke(&first.id, now()).unwrap();
    for answers in [answers, open(&state)] {
        assert_eq!(in_effect(&answers, None, now()), 1);
    }
}

#[test]
fn a_broken_file_gives_nothing_and_is_left_alone() {
    let state = TempDir::new().unwrap();
    let answers = open(&state);
    let answer = remember(&answers, "a", None);
    let whole = text(&state);
    let offers = answers.offers(situation(None), &permissions("b"), QUESTION, now());
    for broken in ["nonsense", &whole.replace("\"a\"", "\"**\""), &whole[..whole.len() / 2]] {
        std::fs::write(state.path().join(FILE_NAME), broken).unwrap();
        assert!(answers.is_outdated());
        answers.reload();
        assert_eq!((in_effect(&answers, None, now()), answers.list(now()).len()), (0, 0));
        let problem = answers.problem().unwrap();
        assert!(problem.contains("approvals.toml:") && problem.contains("no stored approval"));
        assert!(check(state.path()).unwrap_err().contains("approvals.toml:"));
        assert!(answers.offers(situation(None), &permissions("b"), QUESTION, now()).is_empty());
        let refused = answers.remember(&offers[0], now()).unwrap_err();
        assert!(matches!(refused, ApprovalsError::Broken(_)), "{refused}");
        assert!(answers.revoke(&answer.id, now()).is_err());
        assert_eq!(text(&state), broken);
    }
    // Approvals of sessions do are not in it.
    let key = session("s");
    remember(&answers, "c", Some(&key));
    assert_eq!(in_effect(&answers, Some(&key), now()), 1);
    std::fs::write(state.path().join(FILE_NAME), &whole).unwrap();
    answers.reload();
    assert_eq!((in_effect(&answers, None, now()), answers.problem()), (1, None));
    assert_eq!(check(state.path()), Ok(1));
    let open_to_others = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(state.path().join(FILE_NAME), open_to_others).unwrap();
    answers.reload();
    assert_eq!(in_effect(&answers, None, now()), 0);
    assert!(answers.problem().unwrap().contains("can be written by other users"));
}

#[test]
fn what_is_forbidden_is_neither_offered_nor_in_effect() {
    let state = TempDir::new().unwrap();
    let key = session("s");
    remember(&open(&state), "a", None);
    let with = |limits| StandingApprovals::open(state.path(), limits).unwrap();
    let scopes = |answers: &StandingApprovals| {
        let offers = answers.offers(situation(Some(&key)), &permissions("b"), QUESTION, now());
        offers.iter().map(|offer| offer.scope.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(scopes(&open(&state)), ["session", "always"]);
    let without_always = with(moss_config::AnswersConfig { always: false, ..limits() });
    assert_eq!(scopes(&without_always), ["session"]);
    assert_eq!(in_effect(&without_always, None, now()), 0);
    assert!(without_always.list(now()).is_empty());
    assert_eq!(
        scopes(&with(moss_config::AnswersConfig { session: false, ..limits() })),
        ["always"]
    );
    assert_eq!(
        scopes(&with(moss_config::AnswersConfig { approvals_max: 1, ..limits() })),
        ["session"]
    );
    // A shorter time holds for what was stored under a longer one.
    let short = with(moss_config::AnswersConfig { always_days: 2, ..limits() });
    assert_eq!(in_effect(&short, None, later(47)), 1);
    assert_eq!(in_effect(&short, None, later(48)), 0);
    assert_eq!(short.list(now())[0].ends_at, later(48));
}

#[test]
fn other_limits_take_effect_at_once_for_what_was_answered_before() {
    let state = TempDir::new().unwrap();
    let answers = open(&state);
    let key = session("s");
    remember(&answers, "a", None);
    remember(&answers, "b", Some(&key));
    assert_eq!(in_effect(&answers, Some(&key), later(3)), 2);
    answers.limit(moss_config::AnswersConfig { session_hours: 2, always_days: 1, ..limits() });
    assert_eq!(in_effect(&answers, Some(&key), later(3)), 1);
    assert_eq!(in_effect(&answers, Some(&key), later(24)), 0);
    answers.limit(moss_config::AnswersConfig { always: false, session: false, ..limits() });
    assert_eq!((in_effect(&answers, Some(&key), now()), answers.list(now()).len()), (0, 0));
    answers.limit(limits());
    assert_eq!(in_effect(&answers, Some(&key), later(3)), 2);
}

#[test]
fn the_same_approval_given_again_replaces_the_first() {
    let state = TempDir::new().unwrap();
    let answers = StandingApprovals::open(
        state.path(),
        moss_config::AnswersConfig { approvals_max: 2, ..limits() },
    );
    let answers = answers.unwrap();
    let key = session("s");
    for path in ["a", "a", "b"] {
        if path == "b" {
            remember(&answers, path, None);
        }
        remember(&answers, path, Some(&key));
    }
    let first = remember(&answers, "a", None);
    assert_eq!(answers.list(now()).len(), 4);
    let offers = open(&state).offers(situation(None), &permissions("c"), QUESTION, now());
    let full = answers.remember(&offers[0], now()).unwrap_err();
    assert!(matches!(full, ApprovalsError::Full(2)), "{full}");
    let same = open(&state).offers(situation(None), &permissions("a"), QUESTION, now());
    let second = answers.remember(&same[0], now()).unwrap();
    assert_ne!(first.id, second.id);
    assert!(answers.list(now()).iter().all(|listed| listed.answer.id != first.id));
    // Of sessions the oldest is forgotten: it asks again.
    remember(&answers, "c", Some(&key));
    let of_session = answers.list(now()).into_iter().filter(|listed| listed.session.is_some());
    let paths: Vec<_> = of_session
        .flat_map(|listed| listed.answer.permissions[0].paths.clone())
        .map(|path| path.to_string())
        .collect();
    assert_eq!(paths, ["b", "c"]);
}

#[test]
fn an_offer_is_bound_to_its_question_and_to_every_word() {
    let state = TempDir::new().unwrap();
    let answers = open(&state);
    let key = session("s");
    let digests = |path: &str, key: &SessionKey, question, at| -> Vec<_> {
        let offers = answers.offers(situation(Some(key)), &permissions(path), question, at);
        offers.iter().map(|offer| offer.digest).collect()
    };
    let mut all = digests("a", &key, QUESTION, now());
    all.extend(digests("b", &key, QUESTION, now()));
    all.extend(digests("a", &key, ContentHash::from_bytes([8; 32]), now()));
    all.extend(digests("a", &key, QUESTION, later(1)));
    all.push(digests("a", &session("t"), QUESTION, now())[0]);
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    assert_eq!(digests("a", &key, QUESTION, now()), all[..2]);
}
