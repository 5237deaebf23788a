//! The words by which a policy file names kinds of effects.

use serde::Deserialize;

use super::Action;

/// A word of `effects` or of an example: one kind of effect, or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EffectWord {
    Read,
    Create,
    Modify,
    Write,
    Delete,
    Exec,
    Network,
    Register,
    Configure,
}

// === impl EffectWord ===

impl EffectWord {
    pub(super) const fn actions(self) -> &'static [Action] {
        match self {
            Self::Read => &[Action::Read],
            Self::Create => &[Action::Create],
            Self::Modify => &[Action::Modify],
            Self::Write => &[Action::Create, Action::Modify],
            Self::Delete => &[Action::Delete],
            Self::Exec => &[Action::Exec],
            Self::Network => &[Action::Network],
            Self::Register => &[Action::Register],
            Self::Configure => &[Action::Configure],
        }
    }
}
