//! What tools keep for the sessions of callers until the daemon ends, in memory: what a linter found the
//! last time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Most bytes of one value.
const VALUE_BYTES_MAX: usize = 8 << 20;
/// Most bytes of all values of a workspace, and of those of one caller.
const BYTES_MAX: usize = 64 << 20;
const CALLER_BYTES_MAX: usize = 32 << 20;
/// What one value takes beside its bytes.
const ENTRY_BYTES: usize = 256;

/// Whose value it is, and which.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RememberedKey {
    /// Name of the credential.
    pub caller: String,
    /// The caller's name for the conversation; none for what it keeps without one.
    pub session: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// The tool's name for it.
    pub name: String,
}

/// The values of a workspace; those that were kept longest ago are forgotten first.
#[derive(Debug, Default)]
pub struct Remembered {
    inner: Mutex<RememberedTable>,
}

#[derive(Debug, Default)]
struct RememberedTable {
    clock: u64,
    bytes: usize,
    values: HashMap<RememberedKey, (u64, Vec<u8>)>,
}

// === impl Remembered ===

impl Remembered {
    /// Returns a copy of the value under a key.
    pub fn get(&self, key: &RememberedKey) -> Option<Vec<u8>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.values.get(key).map(|(_, value)| value.clone())
    }

    /// Keeps a value, and returns the one before. One that is too large is not kept.
    pub fn replace(&self, key: RememberedKey, value: Vec<u8>) -> Option<Vec<u8>> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let before = inner.remove(&key);
        if value.len() <= VALUE_BYTES_MAX {
            let caller = key.caller.clone();
            inner.insert(key, value);
            while inner.bytes_of(&caller) > CALLER_BYTES_MAX {
                inner.forget(|key| key.caller == caller);
            }
            while inner.bytes > BYTES_MAX {
                inner.forget(|_| true);
            }
        }
        before
    }
}

// === impl RememberedTable ===

impl RememberedTable {
    fn insert(&mut self, key: RememberedKey, value: Vec<u8>) {
        self.clock += 1;
        self.bytes += key.bytes() + value.len();
        self.values.insert(key, (self.clock, value));
    }

    fn remove(&mut self, key: &RememberedKey) -> Option<Vec<u8>> {
        let (_, value) = self.values.remove(key)?;
        self.bytes -= key.bytes() + value.len();
        Some(value)
    }

    fn bytes_of(&self, caller: &str) -> usize {
        let own = self.values.iter().filter(|(key, _)| key.caller == caller);
        own.map(|(key, (_, value))| key.bytes() + value.len()).sum()
    }

    /// Forgets the oldest of those that are chosen.
    fn forget(&mut self, is_chosen: impl Fn(&RememberedKey) -> bool) {
        let chosen = self.values.iter().filter(|(key, _)| is_chosen(key));
        let oldest = chosen.min_by_key(|(_, (clock, _))| *clock).map(|(key, _)| key.clone());
        if let Some(key) = oldest {
            self.remove(&key);
        }
    }
}

// === impl RememberedKey ===

impl RememberedKey {
    fn bytes(&self) -> usize {
        let session = self.session.as_ref().map_or(0, String::len);
        self.caller.len() + session + self.tool.len() + self.name.len() + ENTRY_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(caller: &str, name: &str) -> RememberedKey {
        RememberedKey { caller: caller.into(), session: None, tool: "t".into(), name: name.into() }
    }

    #[test]
    fn a_value_replaces_the_one_of_the_same_caller_session_and_name() {
        let kept = Remembered::default();
        assert_eq!(kept.replace(key("a", "x"), vec![1]), None);
        assert_eq!(kept.replace(key("b", "x"), vec![2]), None);
        let other = RememberedKey { session: Some("s".into()), ..key("a", "x") };
        assert_eq!(kept.replace(other, vec![3]), None);
        assert_eq!(kept.replace(key("a", "x"), vec![4]), Some(vec![1]));
        assert_eq!(kept.get(&key("a", "x")), Some(vec![4]));
    }

    #[test]
    fn what_takes_too_much_is_forgotten_the_oldest_of_the_caller_first() {
        let kept = Remembered::default();
        kept.replace(key("b", "small"), vec![0; 1 << 20]);
        for name in 0..5 {
            kept.replace(key("a", &name.to_string()), vec![0; VALUE_BYTES_MAX - 1024]);
        }
        assert_eq!(kept.get(&key("a", "0")), None);
        assert!(kept.get(&key("a", "4")).is_some() && kept.get(&key("b", "small")).is_some());
        kept.replace(key("a", "4"), vec![0; VALUE_BYTES_MAX + 1]);
        assert_eq!(kept.get(&key("a", "4")), None, "too large, and the older one is not of now");
        let inner = kept.inner.lock().unwrap();
        let sum: usize =
            inner.values.iter().map(|(key, (_, value))| key.bytes() + value.len()).sum();
        assert_eq!(inner.bytes, sum);
    }
}
