//! Tests of what is known of an endpoint: who it may be asked for, and how long it is left alone.

use super::*;

use moss_embeddings::EmbeddingApi;
use moss_policy::Sources;

fn endpoint(model: &str) -> Arc<EmbeddingEndpoint> {
    let url = "http://127.0.0.1:1";
    Arc::new(EmbeddingEndpoint::new(EmbeddingApi::Ollama, url, model, None).unwrap())
}

fn policy() -> Arc<Policy> {
    Arc::new(Policy::load(Sources::default()).unwrap())
}

fn failed(why: &str) -> Result<(), EndpointFault> {
    Err(EndpointFault::Unreachable(why.to_owned()))
}

#[test]
fn a_decision_is_about_one_endpoint_and_one_caller() {
    let embeddings = WorkspaceEmbeddings::default();
    let (one, other) = (endpoint("a").id(), endpoint("b").id());
    embeddings.approve(one, "ci");
    assert!(embeddings.is_approved(one, "ci"));
    assert!(!embeddings.is_approved(one, "caller") && !embeddings.is_approved(other, "ci"));
    assert_eq!(embeddings.approved(other), Vec::<String>::new());
    let (policy, policy_of_later) = (policy(), policy());
    embeddings.refuse(other, "ci", Arc::clone(&policy));
    assert!(embeddings.is_refused(other, "ci", &policy));
    assert!(!embeddings.is_refused(other, "caller", &policy), "nobody said no to that caller");
    assert!(!embeddings.is_refused(one, "ci", &policy));
    assert!(!embeddings.is_refused(other, "ci", &policy_of_later), "another policy");
    for number in 0..APPROVED_MAX + 10 {
        embeddings.refuse(other, &number.to_string(), Arc::clone(&policy));
    }
    assert_eq!(embeddings.lock().refused.len(), APPROVED_MAX);
    assert!(!embeddings.is_approved(one, "ci"), "it was about another endpoint");
    for number in 0..APPROVED_MAX + 10 {
        embeddings.approve(one, &number.to_string());
    }
    assert_eq!(embeddings.approved(one).len(), APPROVED_MAX);
}

#[test]
fn who_fails_is_left_alone_longer_each_time_and_at_most_so_long() {
    let embeddings = WorkspaceEmbeddings::default();
    let (one, other) = (endpoint("a").id(), endpoint("b").id());
    embeddings.use_endpoint(Some(endpoint("a")));
    assert_eq!(embeddings.rest(), None);
    embeddings.note_response(other, &failed("it was replaced meanwhile"));
    assert_eq!((embeddings.rest(), embeddings.overview().problem), (None, None));
    let mut before = Duration::ZERO;
    for _ in 0..40 {
        embeddings.note_response(one, &failed("it is closed"));
        let rest = embeddings.rest().unwrap();
        assert!(rest <= REST_MAX && rest + Duration::from_secs(2) > before, "{rest:?}");
        before = rest;
    }
    assert!(before > REST_MAX - Duration::from_secs(60));
    assert!(embeddings.overview().problem.unwrap().contains("it is closed"));
    assert!(!embeddings.lock().may_ask(Instant::now()));
    embeddings.note_response(other, &Ok(()));
    assert!(embeddings.rest().is_some(), "another endpoint works");
    embeddings.note_response(one, &Ok(()));
    assert_eq!((embeddings.rest(), embeddings.overview().problem), (None, None));
    embeddings.note_response(one, &failed("again"));
    embeddings.use_endpoint(Some(endpoint("b")));
    assert_eq!(embeddings.rest(), None, "another endpoint did nothing wrong");
}

#[tokio::test]
async fn a_question_has_no_vector_as_long_as_too_few_texts_have_one() {
    let embeddings = Arc::new(WorkspaceEmbeddings::default());
    embeddings.use_endpoint(Some(endpoint("a")));
    let (tasks, draining) = (TaskTracker::new(), CancellationToken::new());
    let asked = |id| AskedVector {
        endpoint: id,
        text: "question".to_owned(),
        wait: Duration::from_secs(20),
        network: Arc::default(),
        tasks: &tasks,
        draining: draining.clone(),
    };
    let id = endpoint("a").id();
    assert_eq!(embeddings.vector_of(asked(id)).await, None);
    assert!(tasks.is_empty(), "nobody was asked");
    embeddings.report(EmbeddingProgress { is_covered: true, ..EmbeddingProgress::default() });
    assert_eq!(embeddings.vector_of(asked(endpoint("b").id())).await, None);
    assert!(tasks.is_empty(), "another endpoint is configured by now");
    // It is closed: that is known before the time is over, and it is left alone.
    assert_eq!(embeddings.vector_of(asked(id)).await, None);
    assert!(embeddings.rest().is_some());
    embeddings.remember(id, "question".to_owned(), MeaningVector::of(&[1.0]).unwrap());
    assert!(embeddings.vector_of(asked(id)).await.is_some(), "it is known");
    for number in 0..QUESTIONS_KNOWN_MAX {
        embeddings.remember(id, number.to_string(), MeaningVector::of(&[1.0]).unwrap());
    }
    assert_eq!(embeddings.vector_of(asked(id)).await, None, "it was forgotten");
    assert!(!embeddings.is_asked());
}
