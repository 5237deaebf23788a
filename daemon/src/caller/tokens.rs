//! Named tokens: callers that rules and records know by name. `tokens.json` in the state directory
//! keeps their hashes; the secrets are not stored.
//!
//! The file is replaced as a whole under a lock between processes. A daemon looks at it whenever a
//! token is shown or used: what was revoked is refused from then on. In a broken file no token is in
//! effect, and none is added.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use moss_sdk::ContentHash;
use moss_workspace::own::{FileVersion, OwnDir};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::Role;

/// The file in the state directory.
pub const FILE_NAME: &str = "tokens.json";
const LOCK_NAME: &str = "tokens.lock";
/// The one layout that there is.
const VERSION: u32 = 1;
/// Largest file, in bytes.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Most tokens that there are at once: a revoked one makes room.
const TOKENS_MAX: usize = 256;
/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 64;
/// Longest wait for another process that changes the file.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// The named tokens of a state directory.
#[derive(Debug)]
pub struct Tokens {
    directory: OwnDir,
    loaded: Mutex<Arc<LoadedTokens>>,
}

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRecord {
    /// The name of whoever shows it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The BLAKE3 hash of the secret.
    blake3: ContentHash,
}

/// Why a token cannot be made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// No name for a token.
    #[error(
        "`{0}` cannot be the name of a token: use 1 to {NAME_CHARS_MAX} lowercase letters, digits, \
         `-`, `_` and `.`, with a letter or a digit first"
    )]
    Name(String),
    /// The name of one of moss's own credentials.
    #[error("`{0}` is the name of moss's own credential: choose another name")]
    Reserved(String),
    /// The name of another token.
    #[error("there is a token `{0}` already: revoke it first, or choose another name")]
    Taken(String),
    /// There are too many.
    #[error("there are {TOKENS_MAX} tokens already: revoke one first")]
    Full,
    /// There is no such token.
    #[error("there is no token `{0}`: `moss token list` lists them")]
    Unknown(String),
    /// The file is broken: whatever is in it is not written over.
    #[error("{file}: {reason}; no named token is in effect until the file is fixed or removed")]
    Broken {
        /// The path of the file, for the message.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file cannot be read or written.
    #[error(transparent)]
    State(#[from] moss_workspace::Error),
}

#[derive(Debug, Default)]
struct LoadedTokens {
    version: Option<FileVersion>,
    tokens: Vec<TokenRecord>,
    problem: Option<String>,
    /// Whether the log has the problem.
    is_logged: AtomicBool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensFileForm {
    version: u32,
    tokens: Vec<TokenRecord>,
}

/// Says whether a name is fit for a token.
fn check_name(name: &str) -> Result<(), TokensError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let begins = name.starts_with(is_plain);
    let is_fit = name.chars().all(|c| is_plain(c) || "-_.".contains(c));
    if !begins || !is_fit || name.len() > NAME_CHARS_MAX {
        return Err(TokensError::Name(name.escape_debug().take(NAME_CHARS_MAX).collect()));
    }
    match [Role::Caller, Role::Approver].iter().any(|role| role.as_str() == name) {
        true => Err(TokensError::Reserved(name.to_owned())),
        false => Ok(()),
    }
}

fn hash(secret: &str) -> ContentHash {
    ContentHash::from_bytes(blake3::hash(secret.as_bytes()).into())
}

fn parse(bytes: &[u8]) -> Result<Vec<TokenRecord>, String> {
    let form: TokensFileForm = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if form.version != VERSION {
        return Err(format!("version {}, where this moss knows {VERSION}", form.version));
    }
    for (at, token) in form.tokens.iter().enumerate() {
        check_name(&token.name).map_err(|error| error.to_string())?;
        if form.tokens[..at].iter().any(|other| other.name == token.name) {
            return Err(format!("several tokens have the name `{}`", token.name));
        }
    }
    Ok(form.tokens)
}

// === impl TokenRecord ===

impl TokenRecord {
    /// What distinguishes it from all others, those of its name included.
    pub fn id(&self) -> ContentHash {
        self.blake3
    }
}

// === impl Tokens ===

impl Tokens {
    /// Opens the tokens in a state directory. Waits for the disk.
    pub fn open(directory: OwnDir) -> Self {
        let tokens = Self { directory, loaded: Mutex::default() };
        tokens.current();
        tokens
    }

    /// Lists them, the oldest first.
    ///
    /// # Errors
    ///
    /// `Broken`.
    pub fn list(&self) -> Result<Vec<TokenRecord>, TokensError> {
        let loaded = self.current();
        match &loaded.problem {
            None => Ok(loaded.tokens.clone()),
            Some(reason) => Err(self.broken(reason.clone())),
        }
    }

    /// Whether there are some, or were.
    pub fn are_kept(&self) -> bool {
        self.current().version.is_some()
    }

    /// Finds the token with a secret. The time does not reveal how much of it fits.
    pub fn find(&self, secret: &str) -> Option<TokenRecord> {
        let loaded = self.current();
        if let Some(problem) = &loaded.problem
            && !loaded.is_logged.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(problem, "the file of named tokens is invalid: none is in effect");
        }
        if loaded.tokens.is_empty() {
            return None;
        }
        let shown = hash(secret);
        let fits =
            |token: &&TokenRecord| bool::from(token.blake3.as_bytes().ct_eq(shown.as_bytes()));
        loaded.tokens.iter().find(fits).cloned()
    }

    /// Whether a token that was found is still in effect.
    pub fn has(&self, token: &TokenRecord) -> bool {
        self.current().tokens.contains(token)
    }

    /// Makes a token. Returns it with its secret, which is not stored.
    ///
    /// # Errors
    ///
    /// `Name`, `Reserved`, `Taken`, `Full`, `Broken`, `State`.
    pub fn create(&self, name: &str, now: Timestamp) -> Result<(TokenRecord, String), TokensError> {
        check_name(name)?;
        let secret = crate::ids::secret();
        let created_at = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let token = TokenRecord { name: name.to_owned(), created_at, blake3: hash(&secret) };
        self.change(|all| {
            if all.iter().any(|other| other.name == name) {
                return Err(TokensError::Taken(name.to_owned()));
            }
            if all.len() >= TOKENS_MAX {
                return Err(TokensError::Full);
            }
            all.push(token.clone());
            Ok(token)
        })
        .map(|token| (token, secret))
    }

    /// Revokes a token: when this returns, no daemon accepts it.
    ///
    /// # Errors
    ///
    /// `Unknown`, `Broken`, `State`.
    pub fn revoke(&self, name: &str) -> Result<TokenRecord, TokensError> {
        self.change(|all| {
            let at = all.iter().position(|token| token.name == name);
            let at = at.ok_or_else(|| {
                TokensError::Unknown(name.escape_debug().take(NAME_CHARS_MAX).collect())
            })?;
            Ok(all.remove(at))
        })
    }

    /// Changes the file, under its lock.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<TokenRecord>) -> Result<T, TokensError>,
    ) -> Result<T, TokensError> {
        let _lock = self.directory.lock(LOCK_NAME, LOCK_WAIT)?;
        let mut tokens = self.list()?;
        let changed = change(&mut tokens)?;
        let mut text = serde_json::to_vec_pretty(&TokensFileForm { version: VERSION, tokens })
            .expect("names, times and hashes are JSON");
        text.push(b'\n');
        self.directory.write(FILE_NAME, &text)?;
        Ok(changed)
    }

    /// What the file says now. It is read where it is another one than was read last.
    fn current(&self) -> Arc<LoadedTokens> {
        // First: what changes while it is read is read again.
        let version = self.directory.version(FILE_NAME);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = matches!(&version, Ok(version) if *version == loaded.version);
        if !is_current {
            *loaded = Arc::new(self.load(version));
        }
        Arc::clone(&loaded)
    }

    fn load(&self, version: Result<Option<FileVersion>, moss_workspace::Error>) -> LoadedTokens {
        let read = || match self.directory.read(FILE_NAME, FILE_BYTES_MAX) {
            Ok(None) => Ok(Vec::new()),
            Ok(Some(bytes)) => parse(&bytes),
            Err(error) => Err(error.to_string()),
        };
        let (version, tokens) = match version {
            // One that comes meanwhile is there the next time.
            Ok(None) => (None, Ok(Vec::new())),
            Ok(version) => (version, read()),
            Err(error) => (None, Err(error.to_string())),
        };
        match tokens {
            Ok(tokens) => LoadedTokens { version, tokens, ..LoadedTokens::default() },
            Err(problem) => {
                LoadedTokens { version, problem: Some(problem), ..LoadedTokens::default() }
            }
        }
    }

    fn broken(&self, reason: String) -> TokensError {
        let file = self.directory.path().join(FILE_NAME).display().to_string();
        TokensError::Broken { file, reason }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn open(state: &std::path::Path) -> Tokens {
        Tokens::open(OwnDir::create(state).unwrap())
    }

    #[test]
    fn a_token_is_known_by_its_secret_until_it_is_revoked() {
        let temp = tempfile::tempdir().unwrap();
        let (here, elsewhere) = (open(temp.path()), open(temp.path()));
        let (token, secret) = here.create("ci", Timestamp::now()).unwrap();
        assert_eq!(elsewhere.find(&secret), Some(token.clone()));
        assert_eq!(elsewhere.find(&secret[1..]), None);
        assert_eq!(elsewhere.find(""), None);
        assert!(elsewhere.has(&token));
        here.revoke("ci").unwrap();
        assert_eq!((elsewhere.find(&secret), elsewhere.has(&token)), (None, false));
        // Another token of the name does not bring it back.
        let (again, _) = here.create("ci", Timestamp::now()).unwrap();
        assert_eq!((elsewhere.find(&secret), elsewhere.has(&token)), (None, false));
        assert_eq!(elsewhere.list().unwrap(), [again]);
    }

    #[test]
    fn the_file_is_private_and_holds_no_secret() {
        let temp = tempfile::tempdir().unwrap();
        let (_, secret) = open(temp.path()).create("ci", Timestamp::now()).unwrap();
        let file = temp.path().join(FILE_NAME);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!std::fs::read_to_string(file).unwrap().contains(&secret));
    }

    #[test]
    fn names_are_plain_and_not_those_of_moss() {
        let temp = tempfile::tempdir().unwrap();
        let tokens = open(temp.path());
        let long = "a".repeat(NAME_CHARS_MAX + 1);
        for name in ["", "-a", ".a", "A", "a b", "a*", "a\n", "ä", "a/b", &long] {
            let error = tokens.create(name, Timestamp::now()).unwrap_err();
            assert!(matches!(error, TokensError::Name(_)), "{name}: {error}");
        }
        for name in ["caller", "approver"] {
            let error = tokens.create(name, Timestamp::now()).unwrap_err();
            assert!(matches!(error, TokensError::Reserved(_)), "{name}: {error}");
        }
        tokens.create("a", Timestamp::now()).unwrap();
        tokens.create("0.build_x-86", Timestamp::now()).unwrap();
        let error = tokens.create("a", Timestamp::now()).unwrap_err();
        assert!(matches!(error, TokensError::Taken(_)), "{error}");
        let error = tokens.revoke("b").unwrap_err();
        assert!(error.to_string().contains("moss token list"), "{error}");
    }

    #[test]
    fn in_a_broken_file_no_token_is_in_effect_and_nothing_is_written_over() {
        let temp = tempfile::tempdir().unwrap();
        let tokens = open(temp.path());
        let (token, secret) = tokens.create("ci", Timestamp::now()).unwrap();
        let file = temp.path().join(FILE_NAME);
        let good = std::fs::read_to_string(&file).unwrap();
        let posing = good.replace("\"ci\"", "\"caller\"");
        let later = good.replace("\"version\": 1", "\"version\": 2");
        for broken in [&good[..good.len() / 2], "", "{}", &posing, &later] {
            std::fs::write(&file, broken).unwrap();
            assert_eq!((tokens.find(&secret), tokens.has(&token)), (None, false), "{broken}");
            let error = tokens.create("other", Timestamp::now()).unwrap_err();
            assert!(matches!(error, TokensError::Broken { .. }), "{error}");
            assert!(matches!(tokens.revoke("ci"), Err(TokensError::Broken { .. })), "{broken}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), broken);
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(tokens.find(&secret), None);
        tokens.create("ci", Timestamp::now()).unwrap();
    }
}
