//! The vectors of one workspace: what searches use, what is known of the endpoint that makes them, and
//! who may have it asked.
//!
//! It decides nothing and sends no text of a file: `embedding_keeping.rs` does that in the background, and
//! `call/meaning.rs` has the vector of a question asked for. An endpoint that fails is left alone for a while, longer each
//! time; meanwhile words alone count.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use moss_embeddings::{EmbeddingEndpoint, EndpointFault, RequestTimes, VectorFile};
use moss_network::Network;
use moss_policy::Policy;
use moss_ranking::{MeaningVector, VectorTable};
use moss_workspace::own::OwnDir;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long an endpoint is left alone that failed, first and at most; twice as long each time.
const REST_FIRST: Duration = Duration::from_secs(5);
const REST_MAX: Duration = Duration::from_secs(600);
/// Most questions whose vectors are asked for at once, and that are remembered.
const QUESTIONS_ASKED_MAX: usize = 4;
const QUESTIONS_KNOWN_MAX: usize = 64;
/// Most callers of whom it is remembered that a person let texts be sent, and that none did.
const APPROVED_MAX: usize = 64;
/// How long the endpoint may take for one question at most, also when nobody waits for it any more.
const QUESTION_TIMES: RequestTimes =
    RequestTimes { connect: Duration::from_secs(5), whole: Duration::from_secs(30) };

/// The vectors of one workspace, and what is known of their endpoint.
#[derive(Debug, Default)]
pub struct WorkspaceEmbeddings {
    /// The vector of each chunk that has one.
    pub vectors: RwLock<VectorTable>,
    inner: Mutex<EmbeddingState>,
    has_work: Notify,
    /// Held by the call that asks a person.
    pub asking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct EmbeddingState {
    /// The endpoint that may be asked and whose vectors there are.
    endpoint: Option<Arc<EmbeddingEndpoint>>,
    /// The endpoint that people decided about.
    decided: [u8; 32],
    /// The callers of whom a person let it be asked.
    approved: BTreeSet<String>,
    /// For which callers nobody is asked again, and under which policy.
    refused: BTreeMap<String, Arc<Policy>>,
    progress: EmbeddingProgress,
    rest: Option<EndpointRest>,
    /// How many questions in a row came too late, and until when none is asked for that.
    late: (u32, Option<Instant>),
    asked: usize,
    known: VecDeque<(String, MeaningVector)>,
    /// All vectors are to go.
    wants_anew: bool,
}

/// An endpoint that is left alone.
#[derive(Debug)]
struct EndpointRest {
    why: String,
    times: u32,
    until: Instant,
}

/// How far the vectors of a workspace are.
#[derive(Debug, Clone, Default)]
pub struct EmbeddingProgress {
    /// Why there are none and will be none.
    pub off: Option<String>,
    /// Files that are to have them.
    pub files: usize,
    /// Files of those that have none yet.
    pub missing: usize,
    /// Whether so many are there that they count.
    pub is_covered: bool,
    /// What they take on disk, in bytes.
    pub disk_bytes: u64,
}

/// How the vectors of a workspace are doing.
#[derive(Debug, Clone, Default)]
pub struct EmbeddingOverview {
    /// Why there are none and will be none.
    pub off: Option<String>,
    /// Whether searches use them.
    pub is_ready: bool,
    /// Files that are to have them.
    pub files: usize,
    /// Files that have them.
    pub files_embedded: usize,
    /// Chunks that have one.
    pub chunks: usize,
    /// What they take in memory, in bytes.
    pub memory_bytes: usize,
    /// What they take on disk, in bytes.
    pub disk_bytes: u64,
    /// What the endpoint did wrong, while it is left alone for that.
    pub problem: Option<String>,
}

/// A question that is to have a vector.
pub struct AskedVector<'a> {
    /// The endpoint that is configured.
    pub endpoint: [u8; 32],
    /// The question, as the caller put it.
    pub text: String,
    /// How long the question waits.
    pub wait: Duration,
    /// The door that the request goes through.
    pub network: Arc<Network>,
    /// Where the request runs on when nobody waits any more.
    pub tasks: &'a TaskTracker,
    /// Cancelled once the daemon drains: the request ends then.
    pub draining: CancellationToken,
}

/// Gives back the slot of a question.
struct AskedSlot(Arc<WorkspaceEmbeddings>);

/// Removes what is stored of the vectors of a workspace; returns how much that was, in bytes.
///
/// # Errors
///
/// Where it cannot be removed.
pub fn clear(directory: &Path) -> Result<u64, moss_workspace::Error> {
    VectorFile::remove(&OwnDir::create(directory)?)
}

// === impl WorkspaceEmbeddings ===

impl WorkspaceEmbeddings {
    /// Waits until there may be something to do.
    pub async fn wait_for_work(&self) {
        self.has_work.notified().await;
    }

    /// Says that there may be something to do: texts, rules or decisions have changed.
    pub fn note_work(&self) {
        self.has_work.notify_one();
    }

    /// Puts an endpoint into effect; none where it may not be asked.
    pub fn use_endpoint(&self, endpoint: Option<Arc<EmbeddingEndpoint>>) {
        let mut inner = self.lock();
        let id = |endpoint: &Option<Arc<EmbeddingEndpoint>>| endpoint.as_ref().map(|one| one.id());
        if id(&inner.endpoint) != id(&endpoint) {
            inner.known.clear();
            inner.rest = None;
            inner.late = (0, None);
            inner.progress = EmbeddingProgress::default();
        }
        inner.endpoint = endpoint;
    }

    /// Notes how far the vectors are.
    pub fn report(&self, progress: EmbeddingProgress) {
        self.lock().progress = progress;
    }

    /// Whether a person let an endpoint be asked for a caller.
    pub fn is_approved(&self, endpoint: [u8; 32], caller: &str) -> bool {
        let inner = self.lock();
        inner.decided == endpoint && inner.approved.contains(caller)
    }

    /// The callers for whom a person let an endpoint be asked.
    pub fn approved(&self, endpoint: [u8; 32]) -> Vec<String> {
        let inner = self.lock();
        let is_it = inner.decided == endpoint;
        inner.approved.iter().filter(|_| is_it).cloned().collect()
    }

    /// Notes that a person let an endpoint be asked for a caller, as long as this daemon runs.
    pub fn approve(&self, endpoint: [u8; 32], caller: &str) {
        let mut inner = self.lock();
        inner.decide_about(endpoint);
        if inner.approved.len() < APPROVED_MAX {
            inner.approved.insert(caller.to_owned());
        }
        drop(inner);
        self.note_work();
    }

    /// Notes that nobody is asked again about an endpoint for a caller while a policy is in effect.
    pub fn refuse(&self, endpoint: [u8; 32], caller: &str, policy: Arc<Policy>) {
        let mut inner = self.lock();
        inner.decide_about(endpoint);
        inner.refused.retain(|_, known| Arc::ptr_eq(known, &policy));
        if inner.refused.len() < APPROVED_MAX {
            inner.refused.insert(caller.to_owned(), policy);
        }
    }

    /// Whether nobody is to be asked about an endpoint for a caller under a policy.
    pub fn is_refused(&self, endpoint: [u8; 32], caller: &str, policy: &Arc<Policy>) -> bool {
        let inner = self.lock();
        let of_policy = |refused: &Arc<Policy>| Arc::ptr_eq(refused, policy);
        inner.decided == endpoint && inner.refused.get(caller).is_some_and(of_policy)
    }

    /// How long the endpoint is still left alone.
    pub fn rest(&self) -> Option<Duration> {
        let until = self.lock().rest.as_ref()?.until;
        Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }

    /// Whether a question is being asked for, which goes first.
    pub fn is_asked(&self) -> bool {
        self.lock().asked > 0
    }

    /// Takes note of what an endpoint did: where it failed it is left alone, longer each time. What one did that is in
    /// use no more counts for no other.
    pub fn note_response<T>(&self, endpoint: [u8; 32], response: &Result<T, EndpointFault>) {
        let mut inner = self.lock();
        if !inner.uses(endpoint) {
            return;
        }
        let url = inner.endpoint.as_ref().map(|one| one.url().to_owned()).unwrap_or_default();
        match response {
            Ok(_) => {
                if let Some(rest) = inner.rest.take() {
                    tracing::info!(
                        url,
                        times = rest.times,
                        "the endpoint of embeddings responds again"
                    );
                }
            }
            Err(fault) => {
                let times = inner.rest.as_ref().map_or(0, |rest| rest.times);
                let why = fault.to_string();
                if inner.rest.as_ref().is_none_or(|rest| rest.why != why) {
                    tracing::warn!(url, why, "the endpoint of embeddings fails: words alone count");
                }
                let rest = REST_FIRST.saturating_mul(1 << times.min(16)).min(REST_MAX);
                let until = Instant::now() + rest;
                inner.rest = Some(EndpointRest { why, times: times + 1, until });
            }
        }
    }

    /// Has all vectors made anew.
    pub fn rebuild(&self) {
        self.lock().wants_anew = true;
        self.note_work();
    }

    /// Whether that is wanted; asked once.
    pub fn takes_anew(&self) -> bool {
        std::mem::take(&mut self.lock().wants_anew)
    }

    /// How they are doing.
    pub fn overview(&self) -> EmbeddingOverview {
        let (chunks, memory_bytes) = {
            let vectors = self.vectors.read().unwrap_or_else(PoisonError::into_inner);
            (vectors.chunks(), vectors.memory_bytes())
        };
        let inner = self.lock();
        let EmbeddingProgress { off, files, missing, is_covered, disk_bytes } =
            inner.progress.clone();
        EmbeddingOverview {
            off,
            is_ready: is_covered,
            files,
            files_embedded: files.saturating_sub(missing),
            chunks,
            memory_bytes,
            disk_bytes,
            problem: inner.rest.as_ref().map(|rest| rest.why.clone()),
        }
    }

    /// The vector of a question, in the time that it has. None where it has not arrived by then: it may be there for the
    /// same question of later.
    pub async fn vector_of(self: &Arc<Self>, asked: AskedVector<'_>) -> Option<MeaningVector> {
        let AskedVector { endpoint: id, text, wait, network, tasks, draining } = asked;
        let endpoint = {
            let mut inner = self.lock();
            let endpoint = inner.endpoint.clone().filter(|endpoint| endpoint.id() == id)?;
            if !inner.progress.is_covered {
                return None;
            }
            if let Some((_, known)) = inner.known.iter().find(|(known, _)| *known == text) {
                return Some(known.clone());
            }
            if !inner.may_ask(Instant::now()) {
                return None;
            }
            inner.asked += 1;
            endpoint
        };
        let dimensions = self.vectors.read().unwrap_or_else(PoisonError::into_inner).dimensions();
        let (sender, made) = oneshot::channel();
        let slot = AskedSlot(Arc::clone(self));
        tasks.spawn(async move {
            let texts = [text];
            let asking = endpoint.embed_if_it_can(&network, &texts, dimensions, QUESTION_TIMES);
            let response = tokio::select! {
                () = draining.cancelled() => return,
                response = asking => response,
            };
            slot.0.note_response(id, &response);
            // One of which it makes none is no reason to ask no other.
            let (Ok(Some(mut vectors)), [text]) = (response, texts) else { return };
            let Some(vector) = vectors.pop() else { return };
            slot.0.remember(id, text, vector.clone());
            // Whoever asked may have gone on without it.
            let _ = sender.send(vector);
        });
        match tokio::time::timeout(wait, made).await {
            Ok(Ok(vector)) => {
                self.lock().late = (0, None);
                Some(vector)
            }
            Ok(Err(_)) => None,
            Err(_) => {
                let mut inner = self.lock();
                if inner.uses(id) {
                    let times = inner.late.0 + 1;
                    let rest = Duration::from_secs(1 << times.min(16)).min(REST_MAX);
                    inner.late = (times, Some(Instant::now() + rest));
                }
                None
            }
        }
    }

    fn remember(&self, endpoint: [u8; 32], text: String, vector: MeaningVector) {
        let mut inner = self.lock();
        if !inner.uses(endpoint) {
            return;
        }
        inner.known.push_back((text, vector));
        if inner.known.len() > QUESTIONS_KNOWN_MAX {
            inner.known.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, EmbeddingState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl EmbeddingState ===

impl EmbeddingState {
    /// Begins anew with what people decided, where it is about another endpoint.
    fn decide_about(&mut self, endpoint: [u8; 32]) {
        if self.decided != endpoint {
            self.decided = endpoint;
            self.approved.clear();
            self.refused.clear();
        }
    }

    fn uses(&self, endpoint: [u8; 32]) -> bool {
        self.endpoint.as_ref().is_some_and(|known| known.id() == endpoint)
    }

    /// Whether the endpoint is asked for a question now: it is not left alone, and was not too slow lately.
    fn may_ask(&self, now: Instant) -> bool {
        let rests = self.rest.as_ref().is_some_and(|rest| now < rest.until);
        let is_late = self.late.1.is_some_and(|until| now < until);
        !rests && !is_late && self.asked < QUESTIONS_ASKED_MAX
    }
}

impl Drop for AskedSlot {
    fn drop(&mut self) {
        self.0.lock().asked -= 1;
    }
}

#[cfg(test)]
mod tests;
