//! How well commands have to be isolated.

use serde::{Deserialize, Serialize};

/// The least isolation of commands that is enough; a stricter one is greater.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMin {
    /// None: a command may do what the person may.
    None,
    /// Landlock and seccomp, which cannot protect a name beneath a writable directory.
    Landlock,
    /// Namespaces, seccomp and Landlock.
    #[default]
    Full,
}

// === impl SandboxMin ===

impl SandboxMin {
    /// Returns the word for it: `full`, `landlock` or `none`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Full => "full",
        }
    }
}
