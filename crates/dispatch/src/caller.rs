//! Who calls.

use std::fmt;
use std::sync::Arc;

use moss_sdk::ContentHash;

/// What a credential allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// May call tools and look at things.
    Caller,
    /// May also decide confirmations.
    Approver,
}

/// Who calls: a role, and the named token that it came with, where it came with one.
#[derive(Debug, Clone)]
pub struct Caller {
    role: Role,
    token: Option<NamedToken>,
}

/// Reports whether a credential still counts.
pub trait Standing: fmt::Debug + Send + Sync {
    /// Which credential it is: a later one of the same name is another.
    fn id(&self) -> ContentHash;

    /// Whether it was revoked since it was shown.
    fn is_revoked(&self) -> bool;
}

/// A credential with a name of its own.
#[derive(Debug, Clone)]
struct NamedToken {
    name: String,
    standing: Arc<dyn Standing>,
}

// === impl Role ===

impl Role {
    /// Returns the role's name, which is also the name of its credential.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Approver => "approver",
        }
    }
}

// === impl Caller ===

impl Caller {
    /// Somebody with the rights of a role and a name of its own, for as long as that stands.
    pub fn named(role: Role, name: String, standing: Arc<dyn Standing>) -> Self {
        Self { role, token: Some(NamedToken { name, standing }) }
    }

    /// What it may do.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The name by which rules, records and questions know it: that of its token, or of its role.
    pub fn name(&self) -> &str {
        self.token.as_ref().map_or(self.role.as_str(), |token| &token.name)
    }

    /// Whether it showed a token that can be revoked.
    pub fn is_revocable(&self) -> bool {
        self.token.is_some()
    }

    /// Which token it showed, of all that had or will have its name; none where it showed none.
    pub fn token_id(&self) -> Option<ContentHash> {
        self.token.as_ref().map(|token| token.standing.id())
    }

    /// Whether both showed the same credential: a later token of the same name is another.
    pub fn is_same(&self, other: &Self) -> bool {
        self.name() == other.name() && self.token_id() == other.token_id()
    }

    /// Whether its token was revoked since it was shown.
    pub fn is_revoked(&self) -> bool {
        self.token.as_ref().is_some_and(|token| token.standing.is_revoked())
    }

    /// Returns the message for a revoked token.
    pub fn revoked(&self) -> String {
        format!("the token `{}` was revoked", self.name())
    }
}

impl From<Role> for Caller {
    fn from(role: Role) -> Self {
        Self { role, token: None }
    }
}
