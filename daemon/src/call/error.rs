//! Why a call could not run. A tool that ran and failed is not an error of the call.

use std::sync::Arc;
use std::time::Duration;

use moss_sdk::ContentHash;

use super::weight::TooMuch;
use crate::catalog::UnknownTool;
use crate::confirm::Confirmation;
use crate::permits::QueueFull;
use moss_schema::Violation;

/// Why a call could not run.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// There is no such tool.
    #[error("{0}")]
    UnknownTool(UnknownTool),
    /// The arguments break the tool's schema.
    #[error("the arguments do not fit: {}", join(.0))]
    Invalid(Vec<Violation>),
    /// Policy or a person said no.
    #[error("{message}")]
    Denied {
        /// Who said no and why.
        message: String,
        /// The rule, where one decided.
        rule: Option<String>,
    },
    /// An answer is needed and nobody gave one.
    #[error("{}", .0.message)]
    Unconfirmed(Box<Unconfirmed>),
    /// Too many calls wait.
    #[error("too many calls: {0}")]
    QueueFull(QueueFull),
    /// What calls came with takes too much memory.
    #[error("{0}")]
    TooMuch(TooMuch),
    /// Too many questions wait.
    #[error("too many confirmations: {0}")]
    TooManyConfirmations(crate::confirm::TooMany),
    /// The time is over.
    #[error("the call took longer than {} ms{}", .after.as_millis(), kept(.committed.as_deref()))]
    Timeout {
        /// The time that it had.
        after: Duration,
        /// What it had committed by then.
        committed: Option<String>,
    },
    /// The caller went away, or the daemon stops.
    #[error("the call was cancelled")]
    Cancelled,
    /// A defect of moss, or a state directory that cannot be written.
    #[error("{0}")]
    Internal(String),
}

/// An effect that nobody confirmed.
#[derive(Debug, Clone)]
pub struct Unconfirmed {
    /// What to do next.
    pub message: String,
    /// The exact effect.
    pub confirmation: Arc<Confirmation>,
}

// === impl CallError ===

impl CallError {
    /// Returns the outcome as one word, the same on every front.
    pub const fn outcome(&self) -> &'static str {
        match self {
            Self::UnknownTool(_) | Self::Invalid(_) => "invalid",
            Self::Denied { .. } => "denied",
            Self::Unconfirmed(_) => "unconfirmed",
            Self::QueueFull(_)
            | Self::TooMuch(_)
            | Self::TooManyConfirmations(_)
            | Self::Internal(_) => "failed",
            Self::Timeout { .. } => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

// === impl Unconfirmed ===

impl Unconfirmed {
    /// What an answer would be bound to.
    pub fn digest(&self) -> ContentHash {
        self.confirmation.question.digest
    }
}

fn kept(what: Option<&str>) -> String {
    match what {
        Some(what) => format!("; its change was committed before that, as {what}"),
        None => "; nothing was changed".to_owned(),
    }
}

fn join(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
