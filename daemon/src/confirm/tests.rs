//! Tests of the module `confirm`.

use super::*;

fn registry(pending_max: usize, expiry_ms: u64) -> Arc<Confirmations> {
    let limits = ConfirmationLimits { pending_max, ..ROOMY };
    Arc::new(Confirmations::new(limits, Duration::from_millis(expiry_ms)))
}

const ROOMY: ConfirmationLimits = ConfirmationLimits {
    pending_max: usize::MAX,
    caller_pending_max: usize::MAX,
    session_pending_max: usize::MAX,
    bytes_max: usize::MAX,
    caller_bytes_max: usize::MAX,
};

const DIGEST: ContentHash = ContentHash::from_bytes([7; 32]);

fn question() -> Question {
    Question {
        call_id: "call".into(),
        workspace: "/w".into(),
        tool: "create_file".into(),
        plugin: None,
        caller: "caller".into(),
        session: None,
        is_attended: false,
        held_bytes: 0,
        changes: Vec::new(),
        arguments: None,
        digest: DIGEST,
        rule: "default".into(),
        protected: false,
        for_person: false,
        drift: false,
        consent: None,
        command: None,
        embedding: None,
        offers: Vec::new(),
    }
}

#[tokio::test]
async fn answer_reaches_the_asker_and_is_taken_once() {
    let confirmations = registry(10, 60_000);
    let pending = confirmations.ask(question()).unwrap();
    let id = pending.confirmation().id.clone();
    let resolve = |verdict| confirmations.resolve(&id, DIGEST, verdict);
    assert_eq!(resolve(ConfirmationDecision::Approve).unwrap().state, ConfirmationState::Approved);
    assert_eq!(pending.outcome().await, WaitOutcome::Approved);
    assert_eq!(
        resolve(ConfirmationDecision::Deny(String::new())).unwrap_err().to_string(),
        format!("the confirmation `{id}` is over: it was approved")
    );
}

#[tokio::test]
async fn answer_with_another_digest_is_refused_and_the_question_waits_on() {
    let confirmations = registry(10, 60_000);
    let pending = confirmations.ask(question()).unwrap();
    let id = pending.confirmation().id.clone();
    let other = ContentHash::from_bytes([8; 32]);
    let error = confirmations.resolve(&id, other, ConfirmationDecision::Approve).unwrap_err();
    assert_eq!(error, ResolveError::OtherDigest(id));
    assert_eq!(confirmations.pending().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn question_expires() {
    let confirmations = registry(10, 1_000);
    let pending = confirmations.ask(question()).unwrap();
    let id = pending.confirmation().id.clone();
    assert_eq!(pending.outcome().await, WaitOutcome::Expired);
    assert_eq!(
        confirmations.resolve(&id, DIGEST, ConfirmationDecision::Approve).unwrap_err(),
        ResolveError::Over { id, state: "expired" }
    );
}

#[tokio::test]
async fn dropping_the_asker_withdraws() {
    let confirmations = registry(10, 60_000);
    let mut watch = confirmations.watch(None);
    drop(confirmations.ask(question()).unwrap());
    assert_eq!(watch.next().await.state, ConfirmationState::Pending);
    assert_eq!(watch.next().await.state, ConfirmationState::Withdrawn);
    assert!(confirmations.pending().is_empty());
}

#[tokio::test]
async fn watch_starts_with_what_waits() {
    let confirmations = registry(10, 60_000);
    let pending = confirmations.ask(question()).unwrap();
    assert!(!confirmations.is_watched("/w"));
    let mut watch = confirmations.watch(Some("/w".into()));
    assert!(confirmations.is_watched("/w"));
    assert!(!confirmations.is_watched("/other"));
    assert_eq!(watch.next().await.id, pending.confirmation().id);
    drop(watch);
    assert!(!confirmations.is_watched("/w"));
}

#[tokio::test]
async fn watch_of_a_workspace_does_not_see_others() {
    let confirmations = registry(10, 60_000);
    let mut watch = confirmations.watch(Some("/w".into()));
    let other = Question { workspace: "/other".into(), ..question() };
    let _other = confirmations.ask(other).unwrap();
    let ours = confirmations.ask(question()).unwrap();
    assert_eq!(watch.next().await.id, ours.confirmation().id);
}

#[tokio::test]
async fn more_questions_than_the_limit_are_refused() {
    let confirmations = registry(1, 60_000);
    let _pending = confirmations.ask(question()).unwrap();
    let (whose, limit) = ("of all callers", "confirmations.pending_max");
    let full = TooManyConfirmations::Pending { max: 1, whose, limit };
    assert_eq!(confirmations.ask(question()).unwrap_err(), full);
}

#[test]
fn unknown_id_is_said_to_be_unknown() {
    let error = registry(1, 1).resolve("x", DIGEST, ConfirmationDecision::Approve).unwrap_err();
    assert_eq!(error, ResolveError::Unknown("x".into()));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_still_being_stored_at_the_expiry_counts() {
    let confirmations = registry(10, 1_000);
    let pending = confirmations.ask(question()).unwrap();
    let id = pending.confirmation().id.clone();
    let taken = confirmations.take(&id, DIGEST, ConfirmationDecision::Approve).unwrap();
    assert!(matches!(
        confirmations.resolve(&id, DIGEST, ConfirmationDecision::Deny(String::new())),
        Err(ResolveError::Over { state: "approved", .. })
    ));
    let mut answer = Box::pin(pending.outcome());
    let waited = tokio::time::timeout(Duration::from_secs(60), &mut answer).await;
    assert!(waited.is_err(), "{waited:?}");
    taken.deliver();
    assert_eq!(answer.await, WaitOutcome::Approved);
}

#[tokio::test(start_paused = true)]
async fn a_question_whose_call_can_do_without_expires_sooner_and_a_decision_before_that_counts() {
    let (soon, confirmations) = (Duration::from_secs(60), registry(10, 600_000));
    let unresolved = confirmations.ask(question()).unwrap();
    let id = unresolved.confirmation().id.clone();
    let begun = tokio::time::Instant::now();
    assert_eq!(unresolved.outcome_within(soon).await, WaitOutcome::Expired);
    assert!(begun.elapsed() < Duration::from_secs(600));
    assert_eq!(confirmations.end_of(&id), Some(ConfirmationState::Expired));

    let resolved = confirmations.ask(question()).unwrap();
    let id = resolved.confirmation().id.clone();
    let taken = confirmations.take(&id, DIGEST, ConfirmationDecision::Approve).unwrap();
    let mut outcome = Box::pin(resolved.outcome_within(soon));
    assert!(tokio::time::timeout(2 * soon, &mut outcome).await.is_err(), "it is being stored");
    taken.deliver();
    assert_eq!(outcome.await, WaitOutcome::Approved);
}

#[tokio::test]
async fn an_answer_that_was_not_offered_is_refused_and_the_question_waits_on() {
    let confirmations = registry(10, 60_000);
    let pending = confirmations.ask(question()).unwrap();
    let id = pending.confirmation().id.clone();
    let error =
        confirmations.resolve(&id, DIGEST, ConfirmationDecision::Remember(DIGEST)).unwrap_err();
    assert_eq!(error, ResolveError::NotOffered(id));
    assert_eq!(confirmations.pending().len(), 1);
}

#[test]
fn each_share_is_bounded_and_whoever_answers_has_no_part_in_them() {
    let limits = ConfirmationLimits {
        pending_max: 5,
        caller_pending_max: 3,
        session_pending_max: 2,
        bytes_max: 100,
        caller_bytes_max: 60,
    };
    let of = |caller: &str, session: Option<&str>, held_bytes| Question {
        caller: caller.into(),
        session: session.map(Into::into),
        held_bytes,
        ..question()
    };
    let limit_of = |waiting: &[Question], asked: &Question| {
        limits.admit(asked, waiting.iter()).err().map(|error| match error {
            TooManyConfirmations::Pending { limit, .. }
            | TooManyConfirmations::Bytes { limit, .. } => limit,
        })
    };
    let (one, two) = (of("a", Some("1"), 0), of("a", Some("2"), 0));
    let full = [one.clone(), one.clone()];
    assert_eq!(limit_of(&full, &one), Some("confirmations.session_pending_max"));
    assert_eq!(limit_of(&full, &two), None);
    assert_eq!(limit_of(&full, &of("b", Some("1"), 0)), None, "it is another caller's session");
    let full = [&full[..], std::slice::from_ref(&two)].concat();
    assert_eq!(limit_of(&full, &of("a", None, 0)), Some("confirmations.caller_pending_max"));
    let full = [&full[..], &[of("b", None, 0), of("c", None, 0)]].concat();
    assert_eq!(limit_of(&full, &of("d", None, 0)), Some("confirmations.pending_max"));
    let person = Question { is_attended: true, ..of("a", Some("1"), 1_000) };
    assert_eq!(limit_of(&full, &person), None);

    let held = [of("a", None, 50), person];
    assert_eq!(limit_of(&held, &of("a", None, 11)), Some("confirmations.caller_bytes_max"));
    assert_eq!(limit_of(&held, &of("a", None, 10)), None);
    let held = [of("a", None, 50), of("b", None, 45)];
    assert_eq!(limit_of(&held, &of("c", None, 6)), Some("confirmations.bytes_max"));
    assert_eq!(limit_of(&held, &of("c", None, usize::MAX)), Some("confirmations.caller_bytes_max"));
}
