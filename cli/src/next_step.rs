//! What to do next about an error, by its code.

/// Returns what to do next about an error, where there is one thing to do.
pub(super) fn next_step(code: &str) -> Option<&'static str> {
    match code {
        // What a tool itself says of its arguments says it all.
        "arguments_invalid" => Some("see the parameters of a tool with `moss tools TOOL`"),
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
        "request_too_large" => {
            Some("send less at once, or raise the limit that the message names in config.toml")
        }
        "admin_policy_invalid" | "policy_invalid" => {
            Some("fix the file, then check it with `moss policy check`")
        }
        "tool_unknown" => Some("see what there is with `moss tools`"),
        "plugin_unknown" => Some("see what is listed with `moss plugin list`"),
        "approval_unknown" => Some("see the standing approvals with `moss approvals list`"),
        "history_entry_unknown" => Some("see the numbers with `moss history list`"),
        "job_unknown" => Some("see the jobs with `moss jobs list`"),
        "index_unavailable" => Some("see how it is doing with `moss index status`"),
        "approvals_unusable" => Some("look for the cause with `moss doctor`"),
        "approval_not_offered" => Some("see what is offered with `moss confirm show ID`"),
        "confirmation_unknown" | "confirmation_over" => {
            Some("see what waits with `moss confirm list`")
        }
        _ => None,
    }
}
