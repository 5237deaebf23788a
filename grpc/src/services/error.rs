//! Errors as statuses, by the table of reasons. Every status carries `google.rpc` details: a stable
//! reason, and what a program needs to correct itself.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;
use prost::Message as _;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use super::to_proto;
use moss_dispatch::{CallError, Reason, Role, Unconfirmed, blocking::Broken};
use moss_schema::Violation;

/// The domain of every reason.
const DOMAIN: &str = "moss.v1";
/// When a caller that met a full queue should try again.
const RETRY_AFTER: Duration = Duration::from_millis(500);
/// Largest effect that is put into a status, in bytes. Clients bound trailers, many at 8 KiB: all
/// that a status carries has to stay beneath that together.
const EFFECT_BYTES_MAX: usize = 3 * 1024;
/// Most bytes of violations in a status, in words and again as messages.
const VIOLATIONS_BYTES_MAX: usize = 1536;
/// Longest message of a status, in bytes.
const MESSAGE_BYTES_MAX: usize = 700;

/// Makes a status with a reason and pairs of facts.
pub(super) fn status(reason: Reason, message: &str, facts: &[(&str, &str)]) -> Status {
    Status::with_error_details(code(reason), bounded(message), details(reason, facts))
}

/// Writes a status behind the parts of a response.
pub(super) fn trailers(status: &Status) -> Result<Frame<Bytes>, Status> {
    let mut trailers = HeaderMap::new();
    status.add_header(&mut trailers)?;
    Ok(Frame::trailers(trailers))
}

/// The numbers are those of `google.rpc.Code` on both sides.
fn code(reason: Reason) -> Code {
    Code::from_i32(reason.status() as i32)
}

pub(super) fn unauthenticated(message: &str) -> Status {
    status(Reason::CredentialInvalid, message, &[])
}

pub(super) fn role_missing(method: &str, needed: Role) -> Status {
    status(
        Reason::RoleMissing,
        &format!("{method} needs the {} credential", needed.as_str()),
        &[("role", needed.as_str())],
    )
}

/// Makes the status of a request field that cannot be read.
pub(super) fn invalid_field(field: &str, message: &str) -> Status {
    let mut details = details(Reason::RequestInvalid, &[("field", field)]);
    details.add_bad_request_violation(field, message);
    let message = bounded(&format!("{field}: {message}"));
    Status::with_error_details(code(Reason::RequestInvalid), message, details)
}

/// Makes the status of a defect or a broken state directory. The cause is in the log.
pub(super) fn internal(message: &str) -> Status {
    tracing::error!(message, "a request failed");
    status(Reason::Internal, message, &[])
}

/// Makes the status of work that panicked.
pub(super) fn broken(broken: Broken) -> Status {
    internal(&broken.to_string())
}

/// Makes the status of a call that could not run.
pub(super) fn call(error: &CallError) -> Status {
    let (reason, message) = (error.reason(), error.to_string());
    match error {
        CallError::UnknownWorkspace(_) => status(reason, &message, &[]),
        CallError::UnknownTool(unknown) => {
            let nearest = unknown.nearest.join(",");
            status(reason, &message, &[("tool", &unknown.name), ("nearest", &nearest)])
        }
        CallError::Invalid(violations) => invalid(&message, violations),
        CallError::Denied { rule, .. } => {
            status(reason, &message, &[("rule", rule.as_deref().unwrap_or_default())])
        }
        CallError::Unconfirmed(unconfirmed) => unconfirmed_status(unconfirmed),
        CallError::QueueFull(_) | CallError::TooMuch(_) | CallError::TooManyConfirmations(_) => {
            exhausted(reason, &message)
        }
        CallError::Timeout { .. } | CallError::Cancelled => status(reason, &message, &[]),
        CallError::Internal(_) => internal(&message),
    }
}

fn invalid(message: &str, violations: &[Violation]) -> Status {
    let mut all = details(Reason::ArgumentsInvalid, &[]);
    let mut room = VIOLATIONS_BYTES_MAX;
    let fields = violations.iter().map_while(|violation| {
        let text = bounded(&violation.to_string());
        room = room.checked_sub(text.len() + violation.pointer.len())?;
        Some(FieldViolation::new(&violation.pointer, text))
    });
    all.set_bad_request(fields.collect::<Vec<_>>());
    let plain = Status::with_error_details(code(Reason::ArgumentsInvalid), bounded(message), all);
    let mut room = VIOLATIONS_BYTES_MAX;
    let attached = violations.iter().map(to_proto::violation).map_while(|violation| {
        room = room.checked_sub(violation.encoded_len())?;
        Some(attachment("moss.v1.Violation", &violation))
    });
    attach(plain, attached)
}

/// Makes the status of what a limit keeps out for now.
pub(super) fn exhausted(reason: Reason, message: &str) -> Status {
    let mut details = details(reason, &[]);
    details.set_retry_info(Some(RETRY_AFTER));
    Status::with_error_details(code(reason), bounded(message), details)
}

/// The exact effect travels as a `moss.v1.Confirmation` in the details, where it fits.
fn unconfirmed_status(unconfirmed: &Unconfirmed) -> Status {
    let digest = unconfirmed.digest().to_string();
    let mut confirmation = to_proto::confirmation(&unconfirmed.confirmation);
    if confirmation.encoded_len() > EFFECT_BYTES_MAX {
        // Its arguments say the same.
        confirmation.consent = None;
        confirmation.command = None;
    }
    let fits = confirmation.encoded_len() <= EFFECT_BYTES_MAX;
    let yes_or_no = |yes| if yes { "true" } else { "false" };
    let mut all = details(
        Reason::ConfirmationRequired,
        &[
            ("digest", &digest),
            ("rule", &confirmation.rule),
            ("protected", yes_or_no(confirmation.protected)),
            ("for_person", yes_or_no(confirmation.for_person)),
            ("drift", yes_or_no(confirmation.drift)),
            ("effect_attached", yes_or_no(fits)),
        ],
    );
    all.add_precondition_failure_violation("CONFIRMATION", &digest, &unconfirmed.message);
    let (code, message) = (code(Reason::ConfirmationRequired), bounded(&unconfirmed.message));
    let plain = Status::with_error_details(code, message, all);
    attach(plain, fits.then(|| attachment("moss.v1.Confirmation", &confirmation)))
}

/// Wraps a message of ours for the details of a status.
fn attachment(name: &str, message: &impl prost::Message) -> prost_types::Any {
    let type_url = format!("type.googleapis.com/{name}");
    prost_types::Any { type_url, value: message.encode_to_vec() }
}

/// Adds messages of ours to the details of a status.
fn attach(plain: Status, messages: impl IntoIterator<Item = prost_types::Any>) -> Status {
    let Ok(mut rich) = tonic_types::pb::Status::decode(plain.details()) else { return plain };
    rich.details.extend(messages);
    Status::with_details(plain.code(), plain.message(), rich.encode_to_vec().into())
}

fn details(reason: Reason, facts: &[(&str, &str)]) -> ErrorDetails {
    let facts: HashMap<String, String> = facts
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| ((*name).to_owned(), bounded(value)))
        .collect();
    ErrorDetails::with_error_info(reason.as_str(), DOMAIN, facts)
}

fn bounded(text: &str) -> String {
    if text.len() <= MESSAGE_BYTES_MAX {
        return text.to_owned();
    }
    let cut = text.floor_char_boundary(MESSAGE_BYTES_MAX);
    format!("{}…", &text[..cut])
}
