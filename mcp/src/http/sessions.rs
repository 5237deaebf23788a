//! Which sessions there are, and whose: so many at once, each used by who opened it alone.

use std::collections::HashMap;
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

/// Who may use a session, where, and with which tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionOwner {
    pub(super) caller: String,
    pub(super) workspace: String,
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
    opening: OpeningSessions,
}

/// How many sessions each caller is opening.
#[derive(Debug, Clone, Default)]
struct OpeningSessions(Arc<Mutex<HashMap<String, usize>>>);

/// A slot for a session that is being opened.
#[derive(Debug)]
pub(super) struct OpeningSlot {
    opening: OpeningSessions,
    caller: String,
}

// === impl HttpSessions ===

impl Default for HttpSessions {
    fn default() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE_MAX);
        // What was sent on a stream that has ended is not kept, for nothing would bound it: a result whose connection
        // broke is not sent again. Only a stream of a call that still runs can be resumed.
        manager.session_config.completed_cache_ttl = Duration::ZERO;
        Self {
            manager: Arc::new(manager),
            open: Mutex::default(),
            opening: OpeningSessions::default(),
        }
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
        let mut opening = self.opening.lock();
        if open.len() + opening.values().sum::<usize>() >= SESSIONS_MAX {
            return Err(full(format!(
                "{SESSIONS_MAX} sessions are open already: end one with DELETE, or use revision \
                 2026-07-28, which needs none"
            )));
        }
        let share = SESSIONS_MAX / SHARE_PARTS;
        let own = open.values().filter(|session| session.owner.caller == owner.caller).count();
        let also = opening.get(&owner.caller).copied().unwrap_or_default();
        if own + also >= share {
            return Err(full(format!(
                "this credential has {share} sessions, as many as one gets: end one with DELETE, or \
                 use revision 2026-07-28, which needs none"
            )));
        }
        *opening.entry(owner.caller.clone()).or_default() += 1;
        drop(opening);
        Ok(OpeningSlot { opening: self.opening.clone(), caller: owner.caller.clone() })
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

// === impl OpeningSessions ===

impl OpeningSessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl OpeningSlot ===

impl Drop for OpeningSlot {
    fn drop(&mut self) {
        let mut opening = self.opening.lock();
        if let Some(count) = opening.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                opening.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sessions_that_are_being_opened_count_to_the_share_of_their_caller() {
        let sessions = HttpSessions::default();
        let owner = |caller: &str| SessionOwner {
            caller: caller.to_owned(),
            workspace: String::new(),
            set: String::new(),
        };
        let (alice, bob, carol) = (owner("alice"), owner("bob"), owner("carol"));
        let mut slots = Vec::new();
        for _ in 0..SESSIONS_MAX / SHARE_PARTS {
            slots.push(sessions.reserve(&alice).await.unwrap());
        }
        assert!(sessions.reserve(&alice).await.is_err());
        for _ in 0..SESSIONS_MAX / SHARE_PARTS {
            slots.push(sessions.reserve(&bob).await.unwrap());
        }
        assert!(sessions.reserve(&carol).await.is_err(), "all are taken");
        slots.clear();
        assert!(sessions.opening.lock().is_empty());
        assert!(sessions.reserve(&alice).await.is_ok());
    }
}
