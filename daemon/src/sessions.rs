//! What callers have read, by credential, session and path, so that a line-based edit on a file
//! that changed since is refused.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use moss_sdk::{ContentHash, RelPath};

/// Names a conversation: the credential and the caller's own name for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The credential.
    pub caller: String,
    /// The caller's name for the conversation.
    pub session_id: String,
}

/// The reads of all sessions of a workspace; the least recently used are forgotten.
#[derive(Debug)]
pub struct Sessions {
    inner: Mutex<Inner>,
    sessions_max: usize,
    files_max: usize,
}

#[derive(Debug, Default)]
struct Inner {
    clock: u64,
    sessions: HashMap<SessionKey, Session>,
}

#[derive(Debug, Default)]
struct Session {
    used: u64,
    files: HashMap<RelPath, (u64, ContentHash)>,
}

// === impl Sessions ===

impl Sessions {
    /// Makes an empty memory for so many sessions with so many files each.
    pub fn new(sessions_max: usize, files_max: usize) -> Self {
        Self { inner: Mutex::default(), sessions_max, files_max }
    }

    /// Remembers what a session has seen of a file.
    pub fn note(&self, key: &SessionKey, path: &RelPath, hash: ContentHash) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let now = inner.clock;
        if !inner.sessions.contains_key(key) && inner.sessions.len() >= self.sessions_max {
            forget_oldest(&mut inner.sessions, |session| session.used);
        }
        let session = inner.sessions.entry(key.clone()).or_default();
        session.used = now;
        if !session.files.contains_key(path) && session.files.len() >= self.files_max {
            forget_oldest(&mut session.files, |(used, _)| *used);
        }
        session.files.insert(path.clone(), (now, hash));
    }

    /// Returns what a session has seen last of a file.
    pub fn last(&self, key: &SessionKey, path: &RelPath) -> Option<ContentHash> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.sessions.get(key)?.files.get(path).map(|(_, hash)| *hash)
    }

    /// Forgets a file that a session knows to be gone.
    pub fn forget(&self, key: &SessionKey, path: &RelPath) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = inner.sessions.get_mut(key) {
            session.files.remove(path);
        }
    }
}

fn forget_oldest<K: Clone + Eq + std::hash::Hash, V>(
    map: &mut HashMap<K, V>,
    used: impl Fn(&V) -> u64,
) {
    let oldest = map.iter().min_by_key(|(_, value)| used(value)).map(|(key, _)| key.clone());
    if let Some(key) = oldest {
        map.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(session_id: &str) -> SessionKey {
        SessionKey { caller: "caller".into(), session_id: session_id.into() }
    }

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    const HASH: ContentHash = ContentHash::from_bytes([1; 32]);

    #[test]
    fn sessions_do_not_see_each_other() {
        let sessions = Sessions::new(8, 8);
        sessions.note(&key("a"), &path("x"), HASH);
        assert_eq!(sessions.last(&key("a"), &path("x")), Some(HASH));
        assert_eq!(sessions.last(&key("b"), &path("x")), None);
        sessions.forget(&key("a"), &path("x"));
        assert_eq!(sessions.last(&key("a"), &path("x")), None);
    }

    #[test]
    fn least_recently_used_are_forgotten() {
        let sessions = Sessions::new(2, 2);
        for name in ["a", "b", "a", "c"] {
            sessions.note(&key(name), &path("x"), HASH);
        }
        let known = ["a", "b", "c"].map(|name| sessions.last(&key(name), &path("x")).is_some());
        assert_eq!(known, [true, false, true]);
        for name in ["x", "y", "z"] {
            sessions.note(&key("c"), &path(name), HASH);
        }
        let known = ["x", "y", "z"].map(|name| sessions.last(&key("c"), &path(name)).is_some());
        assert_eq!(known, [false, true, true]);
    }
}
