//! Who calls: one of two credentials, each a file that only the user can read.
//!
//! Callers call; approvers decide questions as well. An unsandboxed program of the same user could
//! read both files: what that means is said in `docs/security.md`. Over the network other
//! credentials count, which a person names one by one: see [`RemoteTokens`]. On either way in, a
//! named token makes a caller with a name of its own: see [`tokens`].

pub mod tokens;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use moss_dispatch::{Caller, Role, Standing};
use moss_sdk::ContentHash;
use moss_workspace::{
    Error,
    own::{self, OwnDir},
};
use rustix::fs::Mode;
use subtle::ConstantTimeEq as _;

use self::tokens::{TokenRecord, Tokens};

/// Largest credential file, in bytes.
const TOKEN_BYTES_MAX: u64 = 4096;
/// Shortest credential that opens a port, in characters, and how many of them must differ.
const REMOTE_TOKEN_CHARS_MIN: usize = 32;
const REMOTE_TOKEN_VARIETY_MIN: usize = 8;
/// How often moss looks whether a token is still in effect for which something runs or waits.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The two secrets of a daemon.
#[derive(Clone)]
pub struct Credentials {
    /// The text of `caller.token`.
    pub caller: String,
    /// The text of `approver.token`.
    pub approver: String,
}

/// The secrets that are accepted over the network: no others are.
#[derive(Clone)]
pub struct RemoteTokens(Credentials);

/// A named token that was shown, and those among which it must still be.
#[derive(Debug)]
struct PresentedToken {
    token: TokenRecord,
    tokens: Arc<Tokens>,
}

/// What somebody who got a connection has to show.
#[derive(Debug, Clone)]
pub struct Access {
    credentials: Credentials,
    tokens: Option<Arc<Tokens>>,
    /// Whether who shows nothing may ask what there is.
    is_open: bool,
}

/// Waits until the token of a caller is revoked, which is seen within a second; for ever where it showed no such token.
pub(crate) async fn until_revoked(caller: &Caller) {
    if !caller.is_revocable() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        if caller.is_revoked() {
            return;
        }
    }
}

// === impl PresentedToken ===

impl Standing for PresentedToken {
    fn id(&self) -> ContentHash {
        self.token.id()
    }

    fn is_revoked(&self) -> bool {
        !self.tokens.has(&self.token)
    }
}

// === impl Credentials ===

impl Credentials {
    /// Reads `caller.token` and `approver.token` in a state directory, making what is missing.
    ///
    /// # Errors
    ///
    /// Where a file belongs to somebody else, is empty or others may read it, or cannot be made,
    /// or both hold the same.
    pub fn load_or_create(state: &OwnDir) -> Result<Self, Error> {
        let caller = load_or_create(state, Role::Caller)?;
        let approver = load_or_create(state, Role::Approver)?;
        if caller == approver {
            let reason = "is the same as `caller.token`: remove it, and a new one is made";
            return Err(refused(state, &file_name(Role::Approver), reason));
        }
        Ok(Self { caller, approver })
    }

    /// Returns the role of a presented secret. The time does not reveal how much of it fits.
    pub fn role_of(&self, secret: &str) -> Option<Role> {
        let fits = |known: &str| {
            !known.is_empty() && bool::from(known.as_bytes().ct_eq(secret.as_bytes()))
        };
        let (caller, approver) = (fits(&self.caller), fits(&self.approver));
        match (caller, approver) {
            (_, true) => Some(Role::Approver),
            (true, false) => Some(Role::Caller),
            (false, false) => None,
        }
    }
}

// === impl RemoteTokens ===

impl RemoteTokens {
    /// Reads the caller's credential, and the approver's where one is named: without it, nobody
    /// decides confirmations over the network.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, others may read it, it holds nothing that is hard to guess, or
    /// both hold the same.
    pub fn load(caller: &Path, approver: Option<&Path>) -> Result<Self, Error> {
        let credentials = Credentials {
            caller: read_token(caller)?,
            approver: approver.map(read_token).transpose()?.unwrap_or_default(),
        };
        if let Some(approver) = approver
            && credentials.caller == credentials.approver
        {
            return Err(unfit(approver, "is the same as the caller's: name another file"));
        }
        Ok(Self(credentials))
    }

    /// Accepts the approver's credential where one is named, and no caller's: named tokens open the
    /// port.
    ///
    /// # Errors
    ///
    /// As [`RemoteTokens::load`].
    pub fn without_caller(approver: Option<&Path>) -> Result<Self, Error> {
        let approver = approver.map(read_token).transpose()?.unwrap_or_default();
        Ok(Self(Credentials { caller: String::new(), approver }))
    }

    /// Whether who may only call would be an approver on the daemon's own sockets.
    pub fn hands_out(&self, local: &Credentials) -> bool {
        local.role_of(&self.0.caller) == Some(Role::Approver)
    }

    /// The named token whose secret is among them, if one is: revoking it would shut nobody out.
    pub fn named_in(&self, tokens: &Tokens) -> Option<TokenRecord> {
        let Credentials { caller, approver } = &self.0;
        [caller, approver].into_iter().find_map(|secret| tokens.find(secret))
    }

    /// Whether there is no caller's credential among them.
    pub fn lack_a_caller(&self) -> bool {
        self.0.caller.is_empty()
    }

    /// The secrets, for who shows them to a daemon.
    pub fn into_credentials(self) -> Credentials {
        self.0
    }
}

/// Reads a credential that somebody could guess at from anywhere.
fn read_token(path: &Path) -> Result<String, Error> {
    let bytes = own::read_secret(path, TOKEN_BYTES_MAX)?;
    let text = String::from_utf8_lossy(&bytes);
    let token = text.trim();
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unfit(path, "has more than one word of plain characters"));
    }
    let mut seen: Vec<u8> = token.bytes().collect();
    seen.sort_unstable();
    seen.dedup();
    if token.len() < REMOTE_TOKEN_CHARS_MIN || seen.len() < REMOTE_TOKEN_VARIETY_MIN {
        return Err(unfit(
            path,
            &format!(
                "is too easy to guess: a token has at least {REMOTE_TOKEN_CHARS_MIN} random \
                 characters, as `openssl rand -hex 32` prints"
            ),
        ));
    }
    Ok(token.to_owned())
}

fn unfit(path: &Path, reason: &str) -> Error {
    Error::Own { path: path.display().to_string(), reason: reason.to_owned() }
}

impl std::fmt::Debug for RemoteTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RemoteTokens")
    }
}

// === impl Access ===

impl Access {
    /// For processes of the same user.
    pub fn local(credentials: Credentials) -> Self {
        Self { credentials, tokens: None, is_open: true }
    }

    /// For whoever can reach a port: without a credential there is nothing, not even health.
    pub fn remote(tokens: RemoteTokens) -> Self {
        Self { credentials: tokens.0, tokens: None, is_open: false }
    }

    /// The same, and for who shows a named token.
    pub fn and_named(self, tokens: Arc<Tokens>) -> Self {
        Self { tokens: Some(tokens), ..self }
    }

    /// Returns who shows a secret.
    pub fn caller_of(&self, secret: &str) -> Option<Caller> {
        let own = self.credentials.role_of(secret).map(Caller::from);
        own.or_else(|| {
            let tokens = self.tokens.as_ref()?;
            let token = tokens.find(secret)?;
            let name = token.name.clone();
            let standing = PresentedToken { token, tokens: Arc::clone(tokens) };
            Some(Caller::named(Role::Caller, name, Arc::new(standing)))
        })
    }

    /// Whether who shows nothing may ask what there is.
    pub fn is_open(&self) -> bool {
        self.is_open
    }
}

/// Of two processes that make a credential at once, one wins and both use its.
fn load_or_create(state: &OwnDir, role: Role) -> Result<String, Error> {
    let name = file_name(role);
    loop {
        if let Some(bytes) = state.read(&name, TOKEN_BYTES_MAX)? {
            if is_open_to_others(state, &name)? {
                let reason = "can be read by other users: remove it, and a new one is made";
                return Err(refused(state, &name, reason));
            }
            let token = String::from_utf8_lossy(&bytes).trim().to_owned();
            if token.is_empty() {
                let reason = "is empty: remove it, and a new one is made";
                return Err(refused(state, &name, reason));
            }
            return Ok(token);
        }
        let token = crate::ids::secret();
        if state.create_new(&name, token.as_bytes())? {
            return Ok(token);
        }
    }
}

fn file_name(role: Role) -> String {
    format!("{}.token", role.as_str())
}

/// The directory is the user's own: nobody else can put another file in its place meanwhile.
fn is_open_to_others(state: &OwnDir, name: &str) -> Result<bool, Error> {
    let path = state.path().join(name);
    let stat = rustix::fs::lstat(&path).map_err(|errno| Error::Io {
        path: path.display().to_string(),
        action: "look at",
        source: errno.into(),
    })?;
    Ok(Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXG | Mode::RWXO))
}

fn refused(state: &OwnDir, name: &str, reason: &str) -> Error {
    Error::Own { path: state.path().join(name).display().to_string(), reason: reason.to_owned() }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look from outside")]
mod tests;
