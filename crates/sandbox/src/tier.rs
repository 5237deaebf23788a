//! How well commands are isolated on this machine, and what would raise that.

use std::fmt;
use std::str::FromStr;

/// How well commands are isolated; a better tier is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Not at all: what a command starts is ended with it, and that is all.
    None,
    /// Landlock and seccomp. Names beneath a writable directory cannot be protected.
    Landlock,
    /// Namespaces, seccomp, and Landlock inside where the kernel has it.
    Full,
}

/// What makes the namespaces of the full tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LauncherKind {
    /// The launcher of moss itself.
    Own,
    /// `bwrap`, as the system has it.
    Bubblewrap,
}

/// What was found on this machine.
#[derive(Debug, Clone)]
pub struct SandboxReport {
    /// The best tier that works.
    pub tier: Tier,
    /// What it stands on, in one line.
    pub detail: String,
    /// Why no better one works; nothing on the full tier.
    pub missing: Vec<MissingPart>,
}

/// Why a tier does not work here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPart {
    /// The tier that it keeps from working.
    pub tier: Tier,
    /// What fails, as a sentence for people.
    pub reason: String,
    /// What a person types to change that, one command each; nothing where there is no such way.
    pub commands: Vec<String>,
}

/// A word that names none of the values there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is none of {expected}")]
pub struct UnknownWord {
    pub(crate) word: String,
    pub(crate) expected: &'static str,
}

// === impl LauncherKind ===

impl LauncherKind {
    /// All, the one that is preferred first: the other one has to start programs for each command.
    pub const ALL: &[Self] = &[Self::Own, Self::Bubblewrap];
}

// === impl Tier ===

impl Tier {
    /// Whether the kernel ends all processes of a command when its keeper ends.
    pub(crate) const fn ends_with_its_keeper(self) -> bool {
        match self {
            Self::Full => true,
            Self::None | Self::Landlock => false,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Full => "full",
        })
    }
}

impl FromStr for Tier {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let all = [Self::None, Self::Landlock, Self::Full];
        all.into_iter().find(|tier| tier.to_string() == word).ok_or_else(|| UnknownWord {
            word: word.to_owned(),
            expected: "`full`, `landlock`, `none`",
        })
    }
}

// === impl SandboxReport ===

impl fmt::Display for SandboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tier {} ({})", self.tier, self.detail)?;
        for part in &self.missing {
            write!(f, "; {}: {}", part.tier, part.reason)?;
            for command in &part.commands {
                write!(f, "; run `{command}`")?;
            }
        }
        Ok(())
    }
}
