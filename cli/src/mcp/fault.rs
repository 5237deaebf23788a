//! Why a call over MCP did not run, and what to do next, from what the daemon said.

use moss_dispatch::Reason;
use moss_mcp::{CallFault, QuestionShown};

use super::calling::{self, Denial};
use crate::client::RequestFailure;
use crate::error::CliError;

/// What to do after the no of a person.
const AFTER_A_NO: &str = "do without it, or ask the person what to do instead";

/// What a model can do about a request that failed; nothing where its message says all, or nobody reads it.
fn next_step(code: &str, is_alone: bool) -> &'static str {
    match code {
        "confirmation_required" if is_alone => {
            "ask the person to approve it in moss, which takes `moss serve` in the project; then send the \
             same call again"
        }
        "confirmation_required" => {
            "ask the person to approve it in moss, then send the same call again"
        }
        "daemon_unreachable" => "send the call again: moss looks for another daemon",
        "request_too_large" => {
            "send less at once: create the file with the first part of the text, then insert the others"
        }
        "queue_full" | "calls_too_large" | "confirmations_full" | "requests_full"
        | "replies_full" | "connections_full" | "limit_exceeded" => "try again in a moment",
        "denied_by_policy" => {
            "do without it, or ask the person to change the rule: the same call is denied again"
        }
        "denied_by_person" => AFTER_A_NO,
        "call_timeout" | "response_too_large" | "sender_stalled" | "reader_stalled" => {
            "ask for less at once"
        }
        "workspace_unknown" | "no_daemon" => {
            "ask the person to run `moss serve` in the project, then send the call again"
        }
        "daemon_incompatible" => {
            "ask the person to restart `moss serve` and this client with one version of moss"
        }
        "internal"
        | "credential_invalid"
        | "certificate_refused"
        | "role_missing"
        | "approvals_unusable" => "ask the person to look for the cause with `moss doctor`",
        // Why no daemon starts in this process.
        "workspace_unusable" => {
            "ask the person to start this client in a project, or moss with --workspace DIR"
        }
        "config_invalid"
        | "admin_policy_invalid"
        | "plugin_list_missing"
        | "state_unusable"
        | "io" => "ask the person to fix it: `moss doctor` in the project says more",
        _ => "",
    }
}

/// Makes a fault of a request that failed. `is_alone` means that nobody else reaches the daemon.
pub(super) fn of_failure(failure: RequestFailure, is_alone: bool) -> CallFault {
    let code = failure.code();
    let hint = next_step(&code, is_alone);
    let mut fault = CallFault::new(code, failure.message).hint(hint);
    fault.question = failure.confirmation.map(|asked| {
        let is_for_forms = calling::is_for_forms(&asked);
        let session_rule = calling::session_rule(&asked);
        let (text, digest) = (calling::shown(&asked), asked.digest);
        Box::new(QuestionShown { text, digest, is_for_forms, session_rule })
    });
    fault
}

/// How a call ends that the person denied. The no stands, whatever became of its record: nobody is to send the
/// call again or to ask for another decision.
pub(super) fn of_denial(fault: CallFault, denial: Denial) -> CallFault {
    let denied = RequestFailure::new(Reason::DeniedByPerson, "").code();
    if fault.code == denied {
        return fault;
    }
    let known = match denial {
        Denial::Recorded => "how the call ended is not known",
        Denial::Unrecorded => "nothing was changed, and it is not recorded",
        Denial::Unknown => "nothing was changed, and whether it is recorded is not known",
    };
    CallFault::new(denied, format!("the person denied it; {known}: {}", fault.message))
        .hint(AFTER_A_NO)
}

pub(super) fn of_cli(error: &CliError) -> CallFault {
    let view = &error.error;
    let hint = view.hint.as_deref().unwrap_or_else(|| next_step(&view.code, false));
    CallFault::new(&view.code, &view.message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_that_a_call_can_meet_has_a_next_step() {
        // Their messages say what to do; a cancelled call has no reader.
        let said = [Reason::ToolUnknown, Reason::ArgumentsInvalid, Reason::RequestInvalid];
        let unread = [Reason::CallCancelled];
        // What requests meet that are no calls.
        let of_others = [
            Reason::ToolsInvalid,
            Reason::ReplyTooLarge,
            Reason::HistoryEntryUnknown,
            Reason::ConfirmationUnknown,
            Reason::ConfirmationOver,
            Reason::ConfirmationNotShown,
            Reason::DigestChanged,
            Reason::ApprovalNotOffered,
            Reason::ApprovalUnknown,
            Reason::JobUnknown,
            Reason::IndexUnavailable,
            Reason::EditorReplaced,
            Reason::EditorsFull,
            Reason::ConnectionExposed,
        ];
        let without = [&said[..], &unread, &of_others].concat();
        for reason in Reason::ALL {
            for is_alone in [false, true] {
                let has_step = !next_step(reason.code(), is_alone).is_empty();
                assert_eq!(has_step, !without.contains(reason), "{reason:?}");
            }
        }
    }

    #[test]
    fn a_no_stands_whatever_became_of_its_record() {
        for reason in [Reason::DaemonUnreachable, Reason::ConfirmationRequired, Reason::QueueFull] {
            let fault = of_failure(RequestFailure::new(reason, "why"), false);
            assert!(!fault.hint.is_empty());
            let unrecorded =
                "the person denied it; nothing was changed, and it is not recorded: why";
            let recorded = "the person denied it; how the call ended is not known: why";
            let unknown = "the person denied it; nothing was changed, and whether it is recorded is not \
                           known: why";
            for (denial, message) in [
                (Denial::Unrecorded, unrecorded),
                (Denial::Recorded, recorded),
                (Denial::Unknown, unknown),
            ] {
                let expected = CallFault::new("denied_by_person", message).hint(AFTER_A_NO);
                assert_eq!(of_denial(fault.clone(), denial), expected);
            }
        }
        let denied = CallFault::new("denied_by_person", "a person said no").hint("ask why");
        for denial in [Denial::Recorded, Denial::Unrecorded] {
            assert_eq!(of_denial(denied.clone(), denial), denied);
        }
    }
}
