//! What callers have read, by credential, session and path, so that a line-based edit on a file
//! that changed since is refused.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use moss_dispatch::SessionKey;
use moss_sdk::{ContentHash, RelPath};

/// What one remembered file, or one session, takes beside its name, in bytes.
const ENTRY_BYTES: usize = 128;

/// The reads of all sessions of a workspace; of the caller that has most of them the least recently used are
/// forgotten.
#[derive(Debug)]
pub struct Sessions {
    inner: Mutex<SessionTable>,
    sessions_max: usize,
    files_max: usize,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct SessionTable {
    clock: u64,
    /// What all sessions take.
    bytes: usize,
    sessions: HashMap<SessionKey, SessionReads>,
}

#[derive(Debug, Default)]
struct SessionReads {
    used: u64,
    /// What it takes with its files.
    bytes: usize,
    files: HashMap<RelPath, (u64, ContentHash)>,
}

// === impl Sessions ===

impl Sessions {
    /// Makes an empty memory for so many sessions with so many files each, which take so many bytes
    /// together.
    pub fn new(sessions_max: usize, files_max: usize, bytes_max: usize) -> Self {
        Self { inner: Mutex::default(), sessions_max, files_max, bytes_max }
    }

    /// Remembers what a session has seen of a file.
    pub fn note(&self, key: &SessionKey, path: &RelPath, hash: ContentHash) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let now = inner.clock;
        if !inner.sessions.contains_key(key) && inner.sessions.len() >= self.sessions_max {
            inner.forget_session(key, |_| 1);
        }
        let session = inner.enter(key, now);
        session.used = now;
        if !session.files.contains_key(path) && session.files.len() >= self.files_max {
            inner.forget_file(key);
        }
        inner.insert(key, path, (now, hash));
        while inner.bytes > self.bytes_max
            && (inner.forget_session(key, |session| session.bytes) || inner.forget_file(key))
        {
        }
    }

    /// Returns what a session has seen last of a file.
    pub fn last(&self, key: &SessionKey, path: &RelPath) -> Option<ContentHash> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.sessions.get(key)?.files.get(path).map(|(_, hash)| *hash)
    }

    /// Returns up to so many files that a session has seen, the last one first.
    pub fn recent(&self, key: &SessionKey, files_max: usize) -> Vec<RelPath> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = inner.sessions.get(key) else { return Vec::new() };
        let mut seen: Vec<_> = session.files.iter().map(|(path, (at, _))| (*at, path)).collect();
        seen.sort_unstable_by_key(|(at, _)| Reverse(*at));
        seen.into_iter().take(files_max).map(|(_, path)| path.clone()).collect()
    }

    /// Forgets a file that a session knows to be gone.
    pub fn forget(&self, key: &SessionKey, path: &RelPath) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.remove(key, path);
    }
}

// === impl SessionTable ===

impl SessionTable {
    /// Finds a session, or begins it.
    fn enter(&mut self, key: &SessionKey, used: u64) -> &mut SessionReads {
        let Self { bytes: all, sessions, .. } = self;
        sessions.entry(key.clone()).or_insert_with(|| {
            let bytes = key.caller.len() + key.session_id.len() + ENTRY_BYTES;
            *all += bytes;
            SessionReads { used, bytes, files: HashMap::new() }
        })
    }

    fn insert(&mut self, key: &SessionKey, path: &RelPath, seen: (u64, ContentHash)) {
        let session = self.enter(key, seen.0);
        if session.files.insert(path.clone(), seen).is_none() {
            let bytes = path.as_str().len() + ENTRY_BYTES;
            session.bytes += bytes;
            self.bytes += bytes;
        }
    }

    fn remove(&mut self, key: &SessionKey, path: &RelPath) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if session.files.remove(path).is_some() {
            let bytes = path.as_str().len() + ENTRY_BYTES;
            session.bytes -= bytes;
            self.bytes -= bytes;
        }
    }

    /// Forgets a session of the caller that has most: the one that was not used for longest. One is in use, whose
    /// caller is chosen among equals, else the one with the oldest session; `false` if it is the only one of its caller.
    fn forget_session(&mut self, in_use: &SessionKey, size: fn(&SessionReads) -> usize) -> bool {
        let mut callers: HashMap<&str, (usize, Reverse<u64>)> = HashMap::new();
        for (key, session) in &self.sessions {
            let used = Reverse(session.used);
            let (held, oldest) = callers.entry(&key.caller).or_insert((0, used));
            *held += size(session);
            *oldest = used.max(*oldest);
        }
        let most = callers
            .into_iter()
            .max_by_key(|(name, (held, oldest))| (*held, *name == in_use.caller, *oldest));
        let others = self
            .sessions
            .iter()
            .filter(|(key, _)| most.is_some_and(|(name, _)| name == key.caller) && *key != in_use);
        let oldest = others.min_by_key(|(_, session)| session.used).map(|(key, _)| key.clone());
        let forgotten = oldest.and_then(|key| self.sessions.remove(&key));
        self.bytes -= forgotten.as_ref().map_or(0, |session| session.bytes);
        forgotten.is_some()
    }

    /// Forgets the file of a session that was not used for longest; `false` if no session has a file.
    fn forget_file(&mut self, key: &SessionKey) -> bool {
        let Some(session) = self.sessions.get(key) else { return false };
        let oldest = session.files.iter().min_by_key(|(_, (used, _))| *used);
        let Some(path) = oldest.map(|(path, _)| path.clone()) else { return false };
        self.remove(key, &path);
        true
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
        let sessions = Sessions::new(8, 8, usize::MAX);
        sessions.note(&key("a"), &path("x"), HASH);
        assert_eq!(sessions.last(&key("a"), &path("x")), Some(HASH));
        assert_eq!(sessions.last(&key("b"), &path("x")), None);
        sessions.forget(&key("a"), &path("x"));
        assert_eq!(sessions.last(&key("a"), &path("x")), None);
    }

    #[test]
    fn least_recently_used_are_forgotten() {
        let sessions = Sessions::new(2, 2, usize::MAX);
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

    #[test]
    fn who_names_many_sessions_keeps_those_of_others() {
        let of = |caller: &str, session: usize| SessionKey {
            caller: caller.into(),
            session_id: session.to_string(),
        };
        let bytes_max = 64 * ENTRY_BYTES;
        for sessions in [Sessions::new(8, 8, usize::MAX), Sessions::new(64, 64, bytes_max)] {
            for session in 0..3 {
                sessions.note(&of("you", session), &path("x"), HASH);
            }
            for session in 0..100 {
                sessions.note(&of("me", session), &path("x"), HASH);
            }
            for file in 0..100 {
                sessions.note(&of("me", 100), &path(&file.to_string()), HASH);
            }
            let is_known = |caller, session| sessions.last(&of(caller, session), &path("x"));
            assert!((0..3).all(|session| is_known("you", session).is_some()));
            assert!(is_known("me", 0).is_none());
            assert!(sessions.last(&of("me", 100), &path("99")).is_some());
        }
    }

    #[test]
    fn among_callers_that_hold_as_much_the_oldest_session_goes() {
        let of = |caller: &str, session: &str| SessionKey {
            caller: caller.into(),
            session_id: session.into(),
        };
        let sessions = Sessions::new(8, 8, usize::MAX);
        let is_known = |caller: &str| sessions.last(&of(caller, "1"), &path("x")).is_some();
        let callers = ["h", "c", "a", "f", "b", "g", "e", "d"];
        // The first one is used again: it is the newest then.
        for caller in callers.into_iter().chain(["h"]) {
            sessions.note(&of(caller, "1"), &path("x"), HASH);
        }
        let by_age = ["c", "a", "f", "b", "g", "e", "d", "h"];
        for (number, oldest) in by_age.into_iter().enumerate() {
            assert!(is_known(oldest), "{oldest}");
            sessions.note(&of(&format!("new {number}"), "1"), &path("x"), HASH);
            assert!(!is_known(oldest), "{oldest}");
            assert!(by_age[number + 1..].iter().all(|later| is_known(later)), "{oldest}");
        }
        // Among equals the caller in use gives up its own.
        sessions.note(&of("new 7", "2"), &path("x"), HASH);
        assert!(is_known("new 0") && !is_known("new 7"));
    }

    #[test]
    fn recent_files_come_the_last_one_first() {
        let sessions = Sessions::new(8, 8, usize::MAX);
        for name in ["x", "y", "z", "x"] {
            sessions.note(&key("a"), &path(name), HASH);
        }
        assert_eq!(sessions.recent(&key("a"), 2), [path("x"), path("z")]);
        assert_eq!(sessions.recent(&key("a"), 9).len(), 3);
        assert_eq!(sessions.recent(&key("b"), 9), []);
    }

    #[test]
    fn sessions_take_so_many_bytes_and_those_in_use_stay() {
        let bytes_max = 100 * (1000 + ENTRY_BYTES);
        let sessions = Sessions::new(64, 4096, bytes_max);
        let long = |index: usize| {
            path(&format!("{}{index:0>200}", format!("{}/", "d".repeat(199)).repeat(4)))
        };
        for session in 0..50 {
            for index in 0..40 {
                sessions.note(&key(&session.to_string()), &long(index), HASH);
                let inner = sessions.inner.lock().unwrap();
                let held: usize = inner.sessions.values().map(|session| session.bytes).sum();
                assert!(inner.bytes <= bytes_max && held == inner.bytes);
            }
        }
        assert_eq!(sessions.last(&key("49"), &long(0)), Some(HASH));
        assert_eq!(sessions.last(&key("0"), &long(39)), None);
        for index in 0..4000 {
            sessions.note(&key("one"), &long(index), HASH);
        }
        assert_eq!(sessions.last(&key("one"), &long(3999)), Some(HASH));
        assert!(sessions.inner.lock().unwrap().bytes <= bytes_max);
    }
}
