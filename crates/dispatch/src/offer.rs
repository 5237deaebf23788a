//! What a person is offered besides a yes for once: the exact terms, and how long they hold.

use jiff::Timestamp;
use moss_sdk::ContentHash;

use crate::session::SessionKey;
use moss_policy::standing::{Permission, StandingApproval, file};

/// A decision that a person may give, with the text that the person reads before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The session of the call, or always.
    pub scope: ApprovalScope,
    /// The decision as it would be stored, in TOML.
    pub terms: String,
    /// When it expires, in UTC.
    pub expires_at: Timestamp,
    /// Names the offer; bound to the question, the scope and every word of the terms.
    pub digest: ContentHash,
    permissions: Vec<Permission>,
    component: Option<String>,
}

/// How long an approval applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalScope {
    /// For calls of this session, while the daemon runs.
    Session(SessionKey),
    /// Until it expires or is revoked.
    Always,
}

// === impl Offer ===

impl Offer {
    /// Puts an offer together; `question` is the digest of the effect that is asked about.
    pub fn new(
        scope: ApprovalScope,
        permissions: &[Permission],
        component: Option<&str>,
        expires_at: Timestamp,
        question: ContentHash,
    ) -> Self {
        // To the second: the text says all of it.
        let expires_at = Timestamp::from_second(expires_at.as_second()).unwrap_or(expires_at);
        let terms = file::terms(permissions, component, expires_at);
        let session = match &scope {
            ApprovalScope::Session(key) => key.session_id.as_str(),
            ApprovalScope::Always => "",
        };
        let mut hasher = blake3::Hasher::new();
        for part in [question.to_string().as_str(), scope.as_str(), session, &terms] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Self {
            scope,
            terms,
            expires_at,
            digest: ContentHash::from_bytes(hasher.finalize().into()),
            permissions: permissions.to_vec(),
            component: component.map(ToOwned::to_owned),
        }
    }

    /// Makes the decision; `file` is where it is stored, if it is.
    pub fn approval(
        &self,
        id: String,
        file: Option<String>,
        approved_at: Timestamp,
    ) -> StandingApproval {
        StandingApproval {
            rule: StandingApproval::rule_of(&id, self.scope.as_str(), file, self.expires_at),
            id,
            permissions: self.permissions.clone(),
            component: self.component.clone(),
            approved_at: Timestamp::from_second(approved_at.as_second()).unwrap_or(approved_at),
            expires_at: self.expires_at,
        }
    }

    /// Whether a decision allows the same.
    pub fn is_of(&self, answer: &StandingApproval) -> bool {
        answer.permissions == self.permissions && answer.component == self.component
    }
}

// === impl ApprovalScope ===

impl ApprovalScope {
    /// Returns the word for it: `session` or `always`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Always => "always",
        }
    }
}
