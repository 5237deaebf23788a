//! How a command ended: one word for programs, one exit code, and the one mapping to them.

use serde::Serialize;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// Done, or shown.
    Ok,
    /// It ran and failed.
    Failed,
    /// It makes no sense: usage, an unknown tool, arguments that break the schema.
    Invalid,
    /// Policy or a person said no.
    Denied,
    /// It needs an answer that nobody can give here.
    Unconfirmed,
    /// No daemon answers.
    Unavailable,
    /// Its time is over.
    Timeout,
    /// Somebody broke it off.
    Cancelled,
}

/// Returns the outcome that a code stands for: of a tool's error, or the reason of a status in
/// snake case. A code that is not known is a failure.
pub(super) fn outcome_of(code: &str) -> Outcome {
    match code {
        "tool_unknown" | "arguments_invalid" | "invalid_arguments" | "request_invalid"
        | "workspace_unknown" | "connection_exposed" => Outcome::Invalid,
        "denied" | "denied_by_policy" | "denied_by_person" | "role_missing" => Outcome::Denied,
        "unconfirmed" | "confirmation_required" => Outcome::Unconfirmed,
        "no_daemon"
        | "daemon_unreachable"
        | "daemon_incompatible"
        | "credential_invalid"
        | "certificate_refused" => Outcome::Unavailable,
        "timeout" | "call_timeout" => Outcome::Timeout,
        "cancelled" | "call_cancelled" => Outcome::Cancelled,
        _ => Outcome::Failed,
    }
}

/// Returns what to do next about an error, where there is one thing to do.
pub(super) fn next_step(code: &str) -> Option<&'static str> {
    match code {
        "tool_unknown" => Some("list the tools with `moss tools`"),
        // What a tool itself says of its arguments says it all.
        "arguments_invalid" => Some("see the parameters of every tool with `moss tools --json`"),
        "denied_by_policy" => Some("see the rules with `moss policy explain TOOL KEY=VALUE…`"),
        "confirmation_required" => {
            Some("run it on a terminal, or approve exactly this effect with `--confirm DIGEST`")
        }
        "role_missing" => Some("name the approver's credential with `--approver-token-file`"),
        "certificate_refused" => {
            Some("compare --tls-ca, --tls-cert and --tls-key with those of the daemon")
        }
        "daemon_unreachable" => Some("see what is wrong with `moss doctor`"),
        "no_daemon" => Some("start one with `moss serve`"),
        "daemon_incompatible" => Some("restart the daemon with this version of moss"),
        "credential_invalid" | "state_unusable" | "internal" => {
            Some("look for the cause with `moss doctor`")
        }
        "call_timeout" => Some("give it more time with `--timeout`"),
        "queue_full" | "confirmations_full" | "calls_too_large" | "replies_full" => {
            Some("try again in a moment")
        }
        "admin_policy_invalid" | "policy_invalid" => {
            Some("mend the file, then check it with `moss policy check`")
        }
        "plugin_unknown" => Some("see what is listed with `moss plugin list`"),
        "answer_unknown" => Some("see the answers in force with `moss answers list`"),
        "answers_unusable" => Some("look for the cause with `moss doctor`"),
        "answer_not_offered" => Some("see what is offered with `moss confirm show ID`"),
        "confirmation_unknown" | "confirmation_over" => {
            Some("see what waits with `moss confirm list`")
        }
        _ => None,
    }
}

// === impl Outcome ===

impl Outcome {
    /// Returns the code that the process ends with.
    pub(super) const fn exit_code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
            Self::Denied => 3,
            Self::Unconfirmed => 4,
            Self::Unavailable => 5,
            Self::Timeout => 124,
            Self::Cancelled => 130,
        }
    }
}

#[cfg(test)]
mod tests {
    use moss_sdk::ErrorCode;

    use super::*;

    #[test]
    fn exit_codes_and_words_are_those_of_the_table() {
        for (outcome, word, code) in [
            (Outcome::Ok, "ok", 0),
            (Outcome::Failed, "failed", 1),
            (Outcome::Invalid, "invalid", 2),
            (Outcome::Denied, "denied", 3),
            (Outcome::Unconfirmed, "unconfirmed", 4),
            (Outcome::Unavailable, "unavailable", 5),
            (Outcome::Timeout, "timeout", 124),
            (Outcome::Cancelled, "cancelled", 130),
        ] {
            assert_eq!(serde_json::to_value(outcome).unwrap(), word);
            assert_eq!(outcome.exit_code(), code);
        }
    }

    #[test]
    fn every_reason_of_a_status_has_its_outcome() {
        for (code, outcome) in [
            ("tool_unknown", Outcome::Invalid),
            ("arguments_invalid", Outcome::Invalid),
            ("request_invalid", Outcome::Invalid),
            ("workspace_unknown", Outcome::Invalid),
            ("denied_by_policy", Outcome::Denied),
            ("denied_by_person", Outcome::Denied),
            ("role_missing", Outcome::Denied),
            ("confirmation_required", Outcome::Unconfirmed),
            ("queue_full", Outcome::Failed),
            ("confirmations_full", Outcome::Failed),
            ("calls_too_large", Outcome::Failed),
            ("call_timeout", Outcome::Timeout),
            ("call_cancelled", Outcome::Cancelled),
            ("no_daemon", Outcome::Unavailable),
            ("daemon_unreachable", Outcome::Unavailable),
            ("daemon_incompatible", Outcome::Unavailable),
            ("credential_invalid", Outcome::Unavailable),
            ("certificate_refused", Outcome::Unavailable),
            ("connection_exposed", Outcome::Invalid),
            ("confirmation_unknown", Outcome::Failed),
            ("internal", Outcome::Failed),
            ("of_tomorrow", Outcome::Failed),
        ] {
            assert_eq!(outcome_of(code), outcome, "{code}");
        }
    }

    #[test]
    fn every_code_of_a_tool_has_its_outcome() {
        for code in ErrorCode::ALL {
            let expected = match code {
                ErrorCode::InvalidArguments => Outcome::Invalid,
                ErrorCode::Denied => Outcome::Denied,
                ErrorCode::Unconfirmed => Outcome::Unconfirmed,
                ErrorCode::Timeout => Outcome::Timeout,
                ErrorCode::Cancelled => Outcome::Cancelled,
                _ => Outcome::Failed,
            };
            assert_eq!(outcome_of(code.as_str()), expected, "{code}");
        }
    }
}
