//! What a client carries for us from one attempt of a call to the next: sealed, for this one call, for a
//! while, once.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a person may take with a form: longer than a question of moss waits by default.
const VALID_FOR: Duration = Duration::from_secs(900);
/// Most states that were used and are remembered; beyond that nothing new is sealed until some expire.
const USED_MAX: usize = 4_096;
/// Most digests in a state: as many questions as one call may ask.
const DIGESTS_MAX: usize = 32;
/// Longest state that is looked at, in bytes.
const STATE_BYTES_MAX: usize = 4_096;
/// Begins a state, and says how it is written.
const VERSION: &str = "moss1";

/// Seals states and opens them again.
pub(crate) struct StateSeal {
    key: [u8; blake3::KEY_LEN],
    /// What times are counted from.
    begun: Instant,
    /// The marks of states that were used, and when they expire.
    used: Mutex<HashMap<String, Duration>>,
}

/// The effects of one call that a person was asked about: all but the last are approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedEffects {
    /// The digest of each, in the order in which they were asked about.
    pub(crate) digests: Vec<String>,
    /// Whether the last may be allowed for the rest of the session.
    pub(crate) offers_session: bool,
}

/// What a state holds whose seal is ours.
struct OpenState<'a> {
    asked: AskedEffects,
    /// Distinguishes it from others.
    mark: &'a str,
    expires: Duration,
}

/// Why a state is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrokenSeal {
    /// It is none of ours, or of another call.
    Foreign,
    /// It is too old, or was used.
    Spent,
}

// === impl StateSeal ===

impl StateSeal {
    /// Makes one with a key of its own.
    ///
    /// # Errors
    ///
    /// Where the system has no random bytes.
    pub(crate) fn new() -> io::Result<Self> {
        let mut key = [0; blake3::KEY_LEN];
        getrandom::fill(&mut key)?;
        Ok(Self { key, begun: Instant::now(), used: Mutex::default() })
    }

    /// Seals which digests were asked about in a call, which `call` names exactly. None where there are
    /// too many of them, or too many states were used: it could not be opened.
    pub(crate) fn seal(&self, asked: &AskedEffects, call: &[&str]) -> Option<String> {
        let mut mark = [0; 16];
        getrandom::fill(&mut mark).ok()?;
        let is_digest = |text: &String| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if asked.digests.len() > DIGESTS_MAX || !asked.digests.iter().all(is_digest) {
            return None;
        }
        let used = self.unexpired();
        if used.len() >= USED_MAX {
            return None;
        }
        drop(used);
        let expires_ms = (self.begun.elapsed() + VALID_FOR).as_millis();
        let mark = u128::from_le_bytes(mark);
        let (digests, offer) = (asked.digests.join(","), u8::from(asked.offers_session));
        let text = format!("{VERSION}.{expires_ms}.{mark:032x}.{digests}.{offer}");
        let mac = self.mac(&text, call);
        Some(format!("{text}.{mac}"))
    }

    /// Looks into a state of a call, which can be opened after it.
    ///
    /// # Errors
    ///
    /// See [`BrokenSeal`].
    pub(crate) fn look(&self, state: &str, call: &[&str]) -> Result<AskedEffects, BrokenSeal> {
        let OpenState { asked, mark, expires } = self.read(state, call)?;
        let used = self.lock();
        match expires <= self.begun.elapsed() || used.contains_key(mark) {
            true => Err(BrokenSeal::Spent),
            false => Ok(asked),
        }
    }

    /// Opens a state of a call. It is used up by that.
    ///
    /// # Errors
    ///
    /// See [`BrokenSeal`].
    pub(crate) fn open(&self, state: &str, call: &[&str]) -> Result<AskedEffects, BrokenSeal> {
        let OpenState { asked, mark, expires } = self.read(state, call)?;
        self.spend(mark, expires)?;
        Ok(asked)
    }

    fn read<'a>(&self, state: &'a str, call: &[&str]) -> Result<OpenState<'a>, BrokenSeal> {
        if state.len() > STATE_BYTES_MAX {
            return Err(BrokenSeal::Foreign);
        }
        let (text, mac) = state.rsplit_once('.').ok_or(BrokenSeal::Foreign)?;
        let mac = blake3::Hash::from_hex(mac).map_err(|_| BrokenSeal::Foreign)?;
        // Comparing hashes takes the same time wherever they differ.
        if mac != self.mac(text, call) {
            return Err(BrokenSeal::Foreign);
        }
        let mut parts = text.split('.').skip(1);
        let mut part = || parts.next().ok_or(BrokenSeal::Foreign);
        let (expires_ms, mark, digests, offer) = (part()?, part()?, part()?, part()?);
        let expires = Duration::from_millis(expires_ms.parse().map_err(|_| BrokenSeal::Foreign)?);
        let digests = digests.split(',').map(ToOwned::to_owned).collect();
        let asked = AskedEffects { digests, offers_session: offer == "1" };
        Ok(OpenState { asked, mark, expires })
    }

    fn spend(&self, mark: &str, expires: Duration) -> Result<(), BrokenSeal> {
        let mut used = self.unexpired();
        if expires <= self.begun.elapsed() || used.len() >= USED_MAX || used.contains_key(mark) {
            return Err(BrokenSeal::Spent);
        }
        used.insert(mark.to_owned(), expires);
        Ok(())
    }

    /// The states that were used and could be opened once more by their time.
    fn unexpired(&self) -> MutexGuard<'_, HashMap<String, Duration>> {
        let now = self.begun.elapsed();
        let mut used = self.lock();
        used.retain(|_, expires| *expires > now);
        used
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Duration>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mac(&self, text: &str, call: &[&str]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in [text].iter().chain(call) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize()
    }
}

impl std::fmt::Debug for StateSeal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateSeal")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: [&str; 2] = ["create_file", "{}"];

    fn asked(digests: &[&str]) -> AskedEffects {
        let digests = digests.iter().map(ToString::to_string).collect();
        AskedEffects { digests, offers_session: false }
    }

    #[test]
    fn a_state_opens_once_for_its_own_call() {
        let seal = StateSeal::new().unwrap();
        let asked = asked(&["0a", "ff"]);
        let state = seal.seal(&asked, &CALL).unwrap();
        for other in [&["create_file", "{ }"][..], &["create_file{}"], &["create_fil", "e{}"], &[]]
        {
            assert_eq!(seal.open(&state, other), Err(BrokenSeal::Foreign), "{other:?}");
        }
        assert_eq!(StateSeal::new().unwrap().open(&state, &CALL), Err(BrokenSeal::Foreign));
        assert_eq!(seal.look(&state, &[]), Err(BrokenSeal::Foreign));
        // Looking does not use it up.
        for _ in 0..2 {
            assert_eq!(seal.look(&state, &CALL), Ok(asked.clone()));
        }
        assert_eq!(seal.open(&state, &CALL), Ok(asked.clone()));
        assert_eq!(seal.look(&state, &CALL), Err(BrokenSeal::Spent));
        assert_eq!(seal.open(&state, &CALL), Err(BrokenSeal::Spent));
        let asked = AskedEffects { offers_session: true, ..asked };
        let state = seal.seal(&asked, &CALL).unwrap();
        assert_eq!(seal.open(&state, &CALL), Ok(asked));
    }

    #[test]
    fn a_state_that_was_changed_is_none_of_ours() {
        let seal = StateSeal::new().unwrap();
        let state = seal.seal(&asked(&["0a"]), &CALL).unwrap();
        for at in 0..state.len() {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(seal.open(&changed, &CALL), Err(BrokenSeal::Foreign), "{changed}");
        }
        for broken in ["", ".", "moss1", "moss1.1.2.3", &state[1..], &"x".repeat(10_000)] {
            assert_eq!(seal.open(broken, &CALL), Err(BrokenSeal::Foreign), "{broken}");
        }
    }

    #[test]
    fn a_state_expires() {
        let mut seal = StateSeal::new().unwrap();
        let state = seal.seal(&asked(&["0a"]), &CALL).unwrap();
        let Some(earlier) = seal.begun.checked_sub(VALID_FOR + Duration::from_secs(1)) else {
            // A machine that has just started has no such time.
            return;
        };
        seal.begun = earlier;
        assert_eq!(seal.look(&state, &CALL), Err(BrokenSeal::Spent));
        assert_eq!(seal.open(&state, &CALL), Err(BrokenSeal::Spent));
    }

    #[test]
    fn nothing_is_sealed_that_could_not_be_opened() {
        let seal = StateSeal::new().unwrap();
        for _ in 0..USED_MAX {
            let state = seal.seal(&asked(&["0a"]), &CALL).unwrap();
            seal.open(&state, &CALL).unwrap();
        }
        assert_eq!(seal.seal(&asked(&["0a"]), &CALL), None);
        // They expire.
        seal.lock().values_mut().for_each(|expires| *expires = Duration::ZERO);
        assert!(seal.seal(&asked(&["0a"]), &CALL).is_some());
    }

    #[test]
    fn what_is_no_digest_or_too_much_is_not_sealed() {
        let seal = StateSeal::new().unwrap();
        assert_eq!(seal.seal(&asked(&["0a.1"]), &CALL), None);
        assert_eq!(seal.seal(&asked(&["0a"; DIGESTS_MAX + 1]), &CALL), None);
    }
}
