//! The one mapping of errors to statuses. Every status carries `google.rpc` details: a stable
//! reason, and what a program needs to correct itself.

use std::collections::HashMap;
use std::time::Duration;

use prost::Message as _;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use super::to_proto;
use crate::call::{CallError, Unconfirmed};
use crate::caller::Role;
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
pub(super) fn status(code: Code, reason: &str, message: &str, facts: &[(&str, &str)]) -> Status {
    Status::with_error_details(code, bounded(message), details(reason, facts))
}

pub(super) fn unauthenticated(message: &str) -> Status {
    status(Code::Unauthenticated, "CREDENTIAL_INVALID", message, &[])
}

pub(super) fn role_missing(method: &str, needed: Role) -> Status {
    status(
        Code::PermissionDenied,
        "ROLE_MISSING",
        &format!("{method} needs the {} credential", needed.as_str()),
        &[("role", needed.as_str())],
    )
}

/// Makes the status of a request field that cannot be read.
pub(super) fn invalid_field(field: &str, message: &str) -> Status {
    let mut details = details("REQUEST_INVALID", &[("field", field)]);
    details.add_bad_request_violation(field, message);
    Status::with_error_details(
        Code::InvalidArgument,
        bounded(&format!("{field}: {message}")),
        details,
    )
}

/// Makes the status of a thing that there is not.
pub(super) fn not_found(reason: &str, message: &str) -> Status {
    status(Code::NotFound, reason, message, &[])
}

/// Makes the status of a defect or a broken state directory. The cause is in the log.
pub(super) fn internal(message: &str) -> Status {
    tracing::error!(message, "a request failed");
    status(Code::Internal, "INTERNAL", message, &[])
}

/// Makes the status of a call that could not run.
pub(super) fn call(error: &CallError) -> Status {
    let message = error.to_string();
    match error {
        CallError::UnknownTool(unknown) => status(
            Code::NotFound,
            "TOOL_UNKNOWN",
            &message,
            &[("tool", &unknown.name), ("nearest", &unknown.nearest.join(","))],
        ),
        CallError::Invalid(violations) => invalid(&message, violations),
        CallError::Denied { rule, .. } => status(
            Code::PermissionDenied,
            if rule.is_some() { "DENIED_BY_POLICY" } else { "DENIED_BY_PERSON" },
            &message,
            &[("rule", rule.as_deref().unwrap_or_default())],
        ),
        CallError::Unconfirmed(unconfirmed) => unconfirmed_status(unconfirmed),
        CallError::QueueFull(_) => exhausted("QUEUE_FULL", &message),
        CallError::TooMuch(_) => exhausted("CALLS_TOO_LARGE", &message),
        CallError::TooManyConfirmations(_) => exhausted("CONFIRMATIONS_FULL", &message),
        CallError::Timeout { .. } => status(Code::DeadlineExceeded, "CALL_TIMEOUT", &message, &[]),
        CallError::Cancelled => status(Code::Cancelled, "CALL_CANCELLED", &message, &[]),
        CallError::Internal(_) => internal(&message),
    }
}

fn invalid(message: &str, violations: &[Violation]) -> Status {
    let mut all = details("ARGUMENTS_INVALID", &[]);
    let mut room = VIOLATIONS_BYTES_MAX;
    let fields = violations.iter().map_while(|violation| {
        let text = bounded(&violation.to_string());
        room = room.checked_sub(text.len() + violation.pointer.len())?;
        Some(FieldViolation::new(&violation.pointer, text))
    });
    all.set_bad_request(fields.collect::<Vec<_>>());
    let plain = Status::with_error_details(Code::InvalidArgument, bounded(message), all);
    let mut room = VIOLATIONS_BYTES_MAX;
    let attached = violations.iter().map(to_proto::violation).map_while(|violation| {
        room = room.checked_sub(violation.encoded_len())?;
        Some(attachment("moss.v1.Violation", &violation))
    });
    attach(plain, attached)
}

/// Makes the status of what a limit keeps out for now.
pub(super) fn exhausted(reason: &str, message: &str) -> Status {
    let mut details = details(reason, &[]);
    details.set_retry_info(Some(RETRY_AFTER));
    Status::with_error_details(Code::ResourceExhausted, bounded(message), details)
}

/// The exact effect travels as a `moss.v1.Confirmation` in the details, where it fits.
fn unconfirmed_status(unconfirmed: &Unconfirmed) -> Status {
    let digest = unconfirmed.digest().to_string();
    let mut confirmation = to_proto::confirmation(&unconfirmed.confirmation);
    if confirmation.encoded_len() > EFFECT_BYTES_MAX {
        // Its arguments say the same.
        confirmation.consent = None;
    }
    let fits = confirmation.encoded_len() <= EFFECT_BYTES_MAX;
    let yes_or_no = |yes| if yes { "true" } else { "false" };
    let mut all = details(
        "CONFIRMATION_REQUIRED",
        &[
            ("digest", &digest),
            ("rule", &confirmation.rule),
            ("protected", yes_or_no(confirmation.protected)),
            ("drift", yes_or_no(confirmation.drift)),
            ("effect_attached", yes_or_no(fits)),
        ],
    );
    all.add_precondition_failure_violation("CONFIRMATION", &digest, &unconfirmed.message);
    let plain =
        Status::with_error_details(Code::FailedPrecondition, bounded(&unconfirmed.message), all);
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

fn details(reason: &str, facts: &[(&str, &str)]) -> ErrorDetails {
    let facts: HashMap<String, String> = facts
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| ((*name).to_owned(), bounded(value)))
        .collect();
    ErrorDetails::with_error_info(reason, DOMAIN, facts)
}

fn bounded(text: &str) -> String {
    if text.len() <= MESSAGE_BYTES_MAX {
        return text.to_owned();
    }
    let cut = text.floor_char_boundary(MESSAGE_BYTES_MAX);
    format!("{}…", &text[..cut])
}
