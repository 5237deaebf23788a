//! Which sessions there are, and whose: so many at once, each used by who opened it alone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::refusal::HttpRefusal;
use crate::in_flight::InFlight;

/// The header that names a session.
pub(super) const SESSION_HEADER: &str = "Mcp-Session-Id";
/// Most sessions at once.
const SESSIONS_MAX: usize = 1_000;
/// The part of them that one caller has at most: one in so many.
const SHARE_PARTS: usize = 2;
/// How long a session may rest.
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);

/// Who may use a session, and with which tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionOwner {
    pub(super) caller: String,
    pub(super) set: String,
}

/// A session that is open.
#[derive(Debug, Clone)]
pub(super) struct OpenSession {
    owner: SessionOwner,
    /// Its requests that have no response yet.
    pub(super) in_flight: InFlight,
}

/// The sessions of a port.
#[derive(Debug)]
pub(super) struct HttpSessions {
    manager: Arc<LocalSessionManager>,
    open: Mutex<HashMap<String, OpenSession>>,
    opening: Arc<AtomicUsize>,
}

/// A slot for a session that is being opened.
#[derive(Debug)]
pub(super) struct OpeningSlot(Arc<AtomicUsize>);

// === impl HttpSessions ===

impl Default for HttpSessions {
    fn default() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE_MAX);
        Self { manager: Arc::new(manager), open: Mutex::default(), opening: Arc::default() }
    }
}

impl HttpSessions {
    /// Who carries the messages of sessions.
    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// The session that a request names; none where it names none.
    ///
    /// # Errors
    ///
    /// Where there is no such session of this owner: whether somebody else has it is not said.
    pub(super) fn of(
        &self,
        headers: &HeaderMap,
        owner: &SessionOwner,
    ) -> Result<Option<OpenSession>, HttpRefusal> {
        let Some(id) = headers.get(SESSION_HEADER) else { return Ok(None) };
        let session = id.to_str().ok().and_then(|id| self.open().get(id).cloned());
        match session {
            Some(session) if session.owner == *owner => Ok(Some(session)),
            _ => Err(HttpRefusal::unknown_session()),
        }
    }

    /// Takes a slot for one more.
    pub(super) async fn reserve(&self, owner: &SessionOwner) -> Result<OpeningSlot, HttpRefusal> {
        let full = |message: String| HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, message);
        let alive = self.manager.sessions.read().await;
        let mut open = self.open();
        open.retain(|id, _| alive.contains_key(id.as_str()));
        drop(alive);
        if open.len() + self.opening.load(Ordering::Relaxed) >= SESSIONS_MAX {
            return Err(full(format!(
                "{SESSIONS_MAX} sessions are open already: end one with DELETE, or use revision \
                 2026-07-28, which needs none"
            )));
        }
        let share = SESSIONS_MAX / SHARE_PARTS;
        let own = open.values().filter(|session| session.owner.caller == owner.caller).count();
        if own >= share {
            return Err(full(format!(
                "this credential has {share} sessions, as many as one gets: end one with DELETE, or \
                 use revision 2026-07-28, which needs none"
            )));
        }
        self.opening.fetch_add(1, Ordering::Relaxed);
        Ok(OpeningSlot(Arc::clone(&self.opening)))
    }

    /// Notes whose session was opened, where one was.
    pub(super) fn opened(&self, headers: &HeaderMap, owner: SessionOwner) {
        if let Some(id) = headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()) {
            let session = OpenSession { owner, in_flight: InFlight::default() };
            self.open().insert(id.to_owned(), session);
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, OpenSession>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl OpeningSlot ===

impl Drop for OpeningSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
