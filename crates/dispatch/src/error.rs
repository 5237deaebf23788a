//! Why a call could not run. A tool that ran and failed is not an error of the call.

use std::sync::Arc;
use std::time::Duration;

use moss_schema::Violation;
use moss_sdk::{ContentHash, ToolError};

use crate::confirmation::Confirmation;
use crate::reason::Reason;
use crate::refused::{QueueFull, TooManyConfirmations, TooMuch};
use crate::unknown::{UnknownTool, UnknownWorkspace};

/// Why a call could not run.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// There is no such workspace.
    #[error(transparent)]
    UnknownWorkspace(#[from] UnknownWorkspace),
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
    /// A decision is needed and nobody made one.
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
    TooManyConfirmations(TooManyConfirmations),
    /// The time is over.
    #[error("the call took longer than {} ms{}", .after.as_millis(), what_stays(.stays.as_deref()))]
    Timeout {
        /// The time that it had.
        after: Duration,
        /// What it did by then and is not undone, as a clause.
        stays: Option<String>,
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
    /// The question that was not decided, with the effect and the digest that approves exactly it.
    pub confirmation: Arc<Confirmation>,
}

// === impl CallError ===

impl CallError {
    /// Returns which reason it is, with all that fronts, tools and the journal show of it.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::UnknownWorkspace(_) => Reason::WorkspaceUnknown,
            Self::UnknownTool(_) => Reason::ToolUnknown,
            Self::Invalid(_) => Reason::ArgumentsInvalid,
            Self::Denied { rule: Some(_), .. } => Reason::DeniedByPolicy,
            Self::Denied { rule: None, .. } => Reason::DeniedByPerson,
            Self::Unconfirmed(_) => Reason::ConfirmationRequired,
            Self::QueueFull(_) => Reason::QueueFull,
            Self::TooMuch(_) => Reason::CallsTooLarge,
            Self::TooManyConfirmations(_) => Reason::ConfirmationsFull,
            Self::Timeout { .. } => Reason::CallTimeout,
            Self::Cancelled => Reason::CallCancelled,
            Self::Internal(_) => Reason::Internal,
        }
    }

    /// Returns the error of a tool whose effect or call it stopped.
    pub fn as_tool_error(&self) -> ToolError {
        ToolError::new(self.reason().of_tool(), self.to_string())
    }
}

// === impl Unconfirmed ===

impl Unconfirmed {
    /// What a decision would be bound to.
    pub fn digest(&self) -> ContentHash {
        self.confirmation.question.digest
    }
}

fn what_stays(what: Option<&str>) -> String {
    format!("; {}", what.unwrap_or("nothing was changed"))
}

fn join(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
