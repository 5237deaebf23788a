//! Why a call could not run. A tool that ran and failed is not an error of the call.

use std::sync::Arc;
use std::time::Duration;

use moss_schema::Violation;
use moss_sdk::{ContentHash, ToolError};

use crate::blocking::Broken;
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

    /// Names the workspace that it is about, where a call is about several: unless it is about all of them.
    #[must_use]
    pub fn in_workspace(self, root: &str) -> Self {
        let named = |message: &str| format!("{root}: {message}");
        match self {
            Self::Denied { message, rule } => Self::Denied { message: named(&message), rule },
            Self::Unconfirmed(unconfirmed) => {
                let message = named(&unconfirmed.message);
                Self::Unconfirmed(Box::new(Unconfirmed { message, ..*unconfirmed }))
            }
            Self::Internal(message) => Self::Internal(named(&message)),
            of_all => of_all,
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

impl From<Broken> for CallError {
    fn from(broken: Broken) -> Self {
        Self::Internal(broken.to_string())
    }
}

fn what_stays(what: Option<&str>) -> String {
    format!("; {}", what.unwrap_or("nothing was changed"))
}

fn join(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocking::blocking;

    #[tokio::test]
    async fn work_that_panics_is_no_mistake_of_the_caller() {
        let broken = blocking(|| -> u8 { panic!("a defect") }).await.unwrap_err();
        let error = CallError::from(broken);
        assert_eq!(error.reason(), Reason::Internal);
        assert_eq!(error.to_string(), "internal error: a task panicked");
    }

    #[test]
    fn an_error_names_its_workspace_and_stays_what_it_is() {
        let denied = CallError::Denied { message: "no".to_owned(), rule: Some("r".to_owned()) };
        let (reason, named) = (denied.reason(), denied.in_workspace("/w"));
        assert_eq!((named.reason(), named.to_string().as_str()), (reason, "/w: no"));
        let broken = CallError::Internal("broken".to_owned()).in_workspace("/w");
        assert_eq!(broken.to_string(), "/w: broken");
        assert_eq!(CallError::Cancelled.in_workspace("/w").to_string(), "the call was cancelled");
    }
}
