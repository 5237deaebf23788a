//! Why a request failed, as the status reports it: a stable reason, and what comes with it.

use std::collections::BTreeMap;

use moss_dispatch::Reason;
use moss_proto::v1;
use prost::Message as _;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

const CONFIRMATION: &str = "moss.v1.Confirmation";
const VIOLATION: &str = "moss.v1.Violation";
/// What the transport says when it gives up at the timeout of a request.
const TRANSPORT_TIMEOUT: &str = "Timeout expired";

/// A request that failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct RequestFailure {
    /// The stable reason, for example `TOOL_UNKNOWN`.
    pub(crate) reason: String,
    /// What went wrong, for people.
    pub(crate) message: String,
    /// Facts that come with the reason, by name.
    pub(crate) facts: BTreeMap<String, String>,
    /// How arguments break the schema.
    pub(crate) violations: Vec<v1::Violation>,
    /// The effect that needs a confirmation, where it fitted into the status.
    pub(crate) confirmation: Option<Box<v1::Confirmation>>,
}

/// Puts the reason of the transport into words of ours.
fn message_of_transport(reason: Reason, status: &Status) -> String {
    let message = status.message();
    match reason {
        Reason::DaemonUnreachable => format!("the connection to the daemon was lost: {message}"),
        Reason::CallTimeout => "the request timed out".to_owned(),
        _ => message.to_owned(),
    }
}

/// The reason of a status that carries none: the transport made it, not a handler.
fn reason_of_code(status: &Status) -> Reason {
    match status.code() {
        Code::DeadlineExceeded => Reason::CallTimeout,
        Code::Cancelled if status.message() == TRANSPORT_TIMEOUT => Reason::CallTimeout,
        Code::Cancelled => Reason::CallCancelled,
        Code::Unavailable => Reason::DaemonUnreachable,
        // What hyper and h2 report of a connection that broke.
        Code::Unknown if std::error::Error::source(status).is_some() => Reason::DaemonUnreachable,
        Code::Unimplemented => Reason::DaemonIncompatible,
        Code::Unauthenticated => Reason::CredentialInvalid,
        Code::InvalidArgument | Code::OutOfRange => Reason::RequestInvalid,
        Code::ResourceExhausted => Reason::LimitExceeded,
        _ => Reason::Internal,
    }
}

// === impl RequestFailure ===

impl RequestFailure {
    /// Makes a failure of a reason.
    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason: reason.as_str().to_owned(),
            message: message.into(),
            facts: BTreeMap::new(),
            violations: Vec::new(),
            confirmation: None,
        }
    }

    /// Whether this is why.
    pub(crate) fn is(&self, reason: Reason) -> bool {
        self.reason == reason.as_str()
    }

    /// Says that a response lacks something that belongs there.
    pub(super) fn incomplete(what: &str) -> Self {
        let message = format!("the response of the daemon has no {what}");
        Self::new(Reason::DaemonIncompatible, message)
    }

    /// Says that work in this process broke.
    pub(super) fn broken(error: tokio::task::JoinError) -> Self {
        Self::new(Reason::Internal, format!("internal error: starting panicked: {error}"))
    }

    /// The stable code that programs see: the reason in snake case.
    pub(crate) fn code(&self) -> String {
        self.reason.to_ascii_lowercase()
    }

    /// Takes our own messages out of the details.
    fn take_details(&mut self, status: &Status) {
        let Ok(rich) = tonic_types::pb::Status::decode(status.details()) else { return };
        for any in rich.details {
            let name = any.type_url.rsplit('/').next().unwrap_or_default();
            if name == CONFIRMATION {
                self.confirmation = v1::Confirmation::decode(&*any.value).ok().map(Box::new);
            } else if name == VIOLATION {
                self.violations.extend(v1::Violation::decode(&*any.value));
            }
        }
    }
}

impl From<&Status> for RequestFailure {
    fn from(status: &Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info();
        let mut failure = match info {
            // A newer daemon may have reasons that are not known here.
            Some(info) => Self {
                reason: info.reason.clone(),
                ..Self::new(Reason::Internal, status.message())
            },
            None => {
                let reason = reason_of_code(status);
                Self::new(reason, message_of_transport(reason, status))
            }
        };
        failure.facts.extend(info.into_iter().flat_map(|info| info.metadata.clone()));
        failure.take_details(status);
        failure
    }
}

#[cfg(test)]
mod tests {
    use tonic_types::ErrorDetails;

    use super::*;

    #[test]
    fn statuses_of_handlers_keep_their_reason_and_facts() {
        let facts = [("digest".to_owned(), "ab".to_owned())];
        let details = ErrorDetails::with_error_info("CONFIRMATION_REQUIRED", "moss.v1", facts);
        let status = Status::with_error_details(Code::FailedPrecondition, "not yet", details);
        let failure = RequestFailure::from(&status);
        assert_eq!(failure.reason, "CONFIRMATION_REQUIRED");
        assert_eq!(failure.code(), "confirmation_required");
        assert_eq!(failure.message, "not yet");
        assert_eq!(failure.facts["digest"], "ab");
    }

    #[test]
    fn statuses_of_the_transport_get_the_reason_of_their_code() {
        for (status, reason) in [
            (Status::deadline_exceeded(""), Reason::CallTimeout),
            (Status::cancelled("Timeout expired"), Reason::CallTimeout),
            (Status::cancelled("gone"), Reason::CallCancelled),
            (Status::unavailable(""), Reason::DaemonUnreachable),
            (
                Status::from_error(Box::new(std::io::Error::other("reset"))),
                Reason::DaemonUnreachable,
            ),
            (Status::unimplemented(""), Reason::DaemonIncompatible),
            (Status::out_of_range("too large"), Reason::RequestInvalid),
            (Status::resource_exhausted(""), Reason::LimitExceeded),
            (Status::data_loss(""), Reason::Internal),
        ] {
            assert!(RequestFailure::from(&status).is(reason), "{status:?}");
        }
    }
}
