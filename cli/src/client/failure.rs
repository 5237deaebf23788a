//! Why a request failed, as the status tells it: a stable reason, and what comes with it.

use std::collections::BTreeMap;

use moss_proto::v1;
use prost::Message as _;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

/// Reasons that have no status with a reason behind them, because no daemon spoke.
pub(crate) mod reason {
    /// No daemon answers.
    pub(crate) const DAEMON_UNREACHABLE: &str = "DAEMON_UNREACHABLE";
    /// Nobody listens where a daemon was named.
    pub(crate) const NO_DAEMON: &str = "NO_DAEMON";
    /// One side does not accept the other's certificate, or there is none.
    pub(crate) const CERTIFICATE_REFUSED: &str = "CERTIFICATE_REFUSED";
    /// A credential would be sent where others can read it.
    pub(crate) const CONNECTION_EXPOSED: &str = "CONNECTION_EXPOSED";
    /// A daemon answers and is another version.
    pub(crate) const DAEMON_INCOMPATIBLE: &str = "DAEMON_INCOMPATIBLE";
    /// The credentials cannot be read, or are not the daemon's.
    pub(crate) const CREDENTIAL_INVALID: &str = "CREDENTIAL_INVALID";
    /// The credential is known and does not allow that.
    pub(crate) const ROLE_MISSING: &str = "ROLE_MISSING";
    /// The request is malformed.
    pub(crate) const REQUEST_INVALID: &str = "REQUEST_INVALID";
    /// The time of the request is over.
    pub(crate) const CALL_TIMEOUT: &str = "CALL_TIMEOUT";
    /// The request was cancelled.
    pub(crate) const CALL_CANCELLED: &str = "CALL_CANCELLED";
    /// A limit of the transport was reached.
    pub(crate) const LIMIT_EXCEEDED: &str = "LIMIT_EXCEEDED";
    /// Something is broken.
    pub(crate) const INTERNAL: &str = "INTERNAL";
}

const CONFIRMATION: &str = "moss.v1.Confirmation";
const VIOLATION: &str = "moss.v1.Violation";
/// What the transport says when it gives up at the timeout of a request.
const TRANSPORT_TIMEOUT: &str = "Timeout expired";

/// A request that failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
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
fn message_of_transport(reason: &str, status: &Status) -> String {
    let message = status.message();
    match reason {
        reason::DAEMON_UNREACHABLE => format!("the connection to the daemon broke: {message}"),
        reason::CALL_TIMEOUT => "the time of the request is over".to_owned(),
        _ => message.to_owned(),
    }
}

/// The reason of a status that carries none: the transport made it, not a handler.
fn reason_of_code(status: &Status) -> &'static str {
    match status.code() {
        Code::DeadlineExceeded => reason::CALL_TIMEOUT,
        Code::Cancelled if status.message() == TRANSPORT_TIMEOUT => reason::CALL_TIMEOUT,
        Code::Cancelled => reason::CALL_CANCELLED,
        Code::Unavailable => reason::DAEMON_UNREACHABLE,
        // What hyper and h2 report of a connection that broke.
        Code::Unknown if std::error::Error::source(status).is_some() => reason::DAEMON_UNREACHABLE,
        Code::Unimplemented => reason::DAEMON_INCOMPATIBLE,
        Code::Unauthenticated => reason::CREDENTIAL_INVALID,
        Code::InvalidArgument | Code::OutOfRange => reason::REQUEST_INVALID,
        Code::ResourceExhausted => reason::LIMIT_EXCEEDED,
        _ => reason::INTERNAL,
    }
}

// === impl Failure ===

impl Failure {
    /// Makes a failure of a reason.
    pub(crate) fn new(reason: &str, message: impl Into<String>) -> Self {
        Self {
            reason: reason.to_owned(),
            message: message.into(),
            facts: BTreeMap::new(),
            violations: Vec::new(),
            confirmation: None,
        }
    }

    /// Says that an answer lacks something that belongs there.
    pub(super) fn incomplete(what: &str) -> Self {
        let message = format!("the daemon's answer has no {what}");
        Self::new(reason::DAEMON_INCOMPATIBLE, message)
    }

    /// Says that work in this process broke.
    pub(super) fn broken(error: tokio::task::JoinError) -> Self {
        Self::new(reason::INTERNAL, format!("starting broke, which is a defect of moss: {error}"))
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

impl From<&Status> for Failure {
    fn from(status: &Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info();
        let mut failure = match info {
            Some(info) => Self::new(&info.reason, status.message()),
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
        let failure = Failure::from(&status);
        assert_eq!(failure.reason, "CONFIRMATION_REQUIRED");
        assert_eq!(failure.code(), "confirmation_required");
        assert_eq!(failure.message, "not yet");
        assert_eq!(failure.facts["digest"], "ab");
    }

    #[test]
    fn statuses_of_the_transport_get_the_reason_of_their_code() {
        for (status, reason) in [
            (Status::deadline_exceeded(""), reason::CALL_TIMEOUT),
            (Status::cancelled("Timeout expired"), reason::CALL_TIMEOUT),
            (Status::cancelled("gone"), reason::CALL_CANCELLED),
            (Status::unavailable(""), reason::DAEMON_UNREACHABLE),
            (
                Status::from_error(Box::new(std::io::Error::other("reset"))),
                reason::DAEMON_UNREACHABLE,
            ),
            (Status::unimplemented(""), reason::DAEMON_INCOMPATIBLE),
            (Status::out_of_range("too large"), reason::REQUEST_INVALID),
            (Status::resource_exhausted(""), reason::LIMIT_EXCEEDED),
            (Status::data_loss(""), reason::INTERNAL),
        ] {
            assert_eq!(Failure::from(&status).reason, reason, "{status:?}");
        }
    }
}
