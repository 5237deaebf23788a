//! Why a call over MCP did not run, and what to do next, from what the daemon said.

use moss_dispatch::Reason;
use moss_mcp::{CallFault, QuestionShown};

use super::calling::{self, Denial};
use crate::client::RequestFailure;
use crate::error::CliError;
use crate::next_step::next_step_of_model;

/// What a model does about a question where no other process could show it.
const SERVE_TO_ASK: &str = "ask the person to approve it in moss, which takes `moss serve` in the \
                            project (one on a socket of its own is found by --server ADDRESS of `moss \
                            mcp`, or MOSS_SERVER); then send the same call again";

/// Makes a fault of a request that failed. `is_alone` means that nobody else reaches the daemon.
pub(super) fn of_failure(failure: RequestFailure, is_alone: bool) -> CallFault {
    let code = failure.code();
    let hint = if is_alone && code == Reason::ConfirmationRequired.code() {
        SERVE_TO_ASK
    } else {
        next_step_of_model(&code)
    };
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
        .hint(Reason::DeniedByPerson.for_model())
}

pub(super) fn of_cli(error: &CliError) -> CallFault {
    let view = &error.error;
    let hint = view.hint.as_deref().unwrap_or_else(|| next_step_of_model(&view.code));
    CallFault::new(&view.code, &view.message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_nobody_else_can_ask_is_sent_to_a_daemon() {
        let asked = |is_alone| {
            of_failure(RequestFailure::new(Reason::ConfirmationRequired, ""), is_alone).hint
        };
        assert!(asked(true).contains("`moss serve`") && asked(true).contains("MOSS_SERVER"));
        assert_eq!(asked(false), Reason::ConfirmationRequired.for_model());
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
                let expected = CallFault::new("denied_by_person", message)
                    .hint(Reason::DeniedByPerson.for_model());
                assert_eq!(of_denial(fault.clone(), denial), expected);
            }
        }
        let denied = CallFault::new("denied_by_person", "a person said no").hint("ask why");
        for denial in [Denial::Recorded, Denial::Unrecorded] {
            assert_eq!(of_denial(denied.clone(), denial), denied);
        }
    }
}
