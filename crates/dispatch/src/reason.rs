//! Why a call did not run, or a request was not served: the stable names that programs read, each with
//! the status it travels as, how the call ended, and the error of a tool that made the call.

use moss_sdk::ErrorCode;

use crate::outcome::Outcome;

/// The codes of a status on the wire, with the numbers of `google.rpc.Code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum RpcCode {
    /// Somebody broke it off.
    Cancelled = 1,
    /// The request is wrong, whatever the state of things.
    InvalidArgument = 3,
    /// The time is over.
    DeadlineExceeded = 4,
    /// What is named is not there.
    NotFound = 5,
    /// The caller may not.
    PermissionDenied = 7,
    /// A limit is reached.
    ResourceExhausted = 8,
    /// Something has to happen first.
    FailedPrecondition = 9,
    /// Something else came in between.
    Aborted = 10,
    /// Larger than there may be.
    OutOfRange = 11,
    /// There is no such method, or not in this version.
    Unimplemented = 12,
    /// A defect, or a state directory that cannot be used.
    Internal = 13,
    /// The server is not reachable.
    Unavailable = 14,
    /// It is not known who asks.
    Unauthenticated = 16,
}

/// What a reason means to everybody who hears of it.
struct ReasonRow {
    name: &'static str,
    code: &'static str,
    status: RpcCode,
    outcome: Outcome,
    tool: ErrorCode,
    person: &'static str,
    model: &'static str,
}

/// What to do next, or `-` for nothing.
macro_rules! step {
    (-) => {
        ""
    };
    ($step:literal) => {
        $step
    };
}

/// Makes the reasons, a row each: the name on the wire and as programs see it, the status, the outcome,
/// the code of the error that a tool gets, and what to do next: a person at the command line, and a model whose
/// call did not run. Nothing to do (`-`) has a model where the message says all, as it does of arguments, where
/// nobody reads it, as of a cancelled call, and where no call meets the reason.
macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $name:literal $code:literal $status:ident $outcome:ident $tool:ident
        person $person:tt model $model:tt;)*) => {
        /// Why a call did not run, or a request was not served.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Reason {
            $($(#[$doc])* $reason,)*
        }

        impl Reason {
            /// Every reason, for tables that must cover them all.
            pub const ALL: &[Self] = &[$(Self::$reason),*];

            const fn row(self) -> ReasonRow {
                match self {
                    $(Self::$reason => ReasonRow {
                        name: $name,
                        code: $code,
                        status: RpcCode::$status,
                        outcome: Outcome::$outcome,
                        tool: ErrorCode::$tool,
                        person: step!($person),
                        model: step!($model),
                    },)*
                }
            }
        }
    };
}

reasons! {
    /// There is no such tool.
    ToolUnknown = "TOOL_UNKNOWN" "tool_unknown" NotFound Invalid NotFound
        person "see what there is with `moss tools`" model -;
    /// The arguments break the tool's schema.
    ArgumentsInvalid = "ARGUMENTS_INVALID" "arguments_invalid" InvalidArgument Invalid InvalidArguments
        person "see the parameters of a tool with `moss tools TOOL`" model -;
    /// A rule says no.
    DeniedByPolicy = "DENIED_BY_POLICY" "denied_by_policy" PermissionDenied Denied Denied
        person "see the rules with `moss policy explain TOOL KEY=VALUE…`"
        model "do without it, or ask the person to change the rule: the same call is denied again";
    /// A person said no.
    DeniedByPerson = "DENIED_BY_PERSON" "denied_by_person" PermissionDenied Denied Denied
        person - model "do without it, or ask the person what to do instead";
    /// A decision is needed and nobody gave one.
    ConfirmationRequired = "CONFIRMATION_REQUIRED" "confirmation_required" FailedPrecondition Unconfirmed Unconfirmed
        person "run it on a terminal, or approve exactly this effect with `--confirm DIGEST`; with a caller's \
                token, run it with `--wait`, and an approver decides with `moss confirm`"
        model "ask the person to approve it in moss, then send the same call again";
    /// Too many calls wait.
    QueueFull = "QUEUE_FULL" "queue_full" ResourceExhausted Failed LimitExceeded
        person "try again in a moment" model "try again in a moment";
    /// What calls came with takes too much memory.
    CallsTooLarge = "CALLS_TOO_LARGE" "calls_too_large" ResourceExhausted Failed LimitExceeded
        person "try again in a moment" model "try again in a moment";
    /// Too many questions wait.
    ConfirmationsFull = "CONFIRMATIONS_FULL" "confirmations_full" ResourceExhausted Failed LimitExceeded
        person "try again in a moment" model "try again in a moment";
    /// The time of the call is over.
    CallTimeout = "CALL_TIMEOUT" "call_timeout" DeadlineExceeded Timeout Timeout
        person "give it more time with `--timeout`" model "ask for less at once";
    /// The caller went away, or the daemon stops.
    CallCancelled = "CALL_CANCELLED" "call_cancelled" Cancelled Cancelled Cancelled
        person - model -;
    /// A defect of moss, or a state directory that cannot be used.
    Internal = "INTERNAL" "internal" Internal Failed Internal
        person "look for the cause with `moss doctor`"
        model "ask the person to look for the cause with `moss doctor`";

    /// A field of the request cannot be read.
    RequestInvalid = "REQUEST_INVALID" "request_invalid" InvalidArgument Invalid InvalidArguments
        person - model -;
    /// A request is larger than one may be.
    RequestTooLarge = "REQUEST_TOO_LARGE" "request_too_large" OutOfRange Failed TooLarge
        person "send less at once, or raise the limit that the message names in config.toml"
        model "send less at once: create the file with the first part of the text, then insert the others";
    /// The tools of a request cannot be read.
    ToolsInvalid = "TOOLS_INVALID" "tools_invalid" InvalidArgument Failed InvalidArguments
        person - model -;
    /// A reply of a model is larger than one may be.
    ReplyTooLarge = "REPLY_TOO_LARGE" "reply_too_large" InvalidArgument Failed TooLarge
        person - model -;
    /// The response would be larger than one may be.
    ResponseTooLarge = "RESPONSE_TOO_LARGE" "response_too_large" OutOfRange Failed TooLarge
        person - model "ask for less at once";
    /// No such workspace is served.
    WorkspaceUnknown = "WORKSPACE_UNKNOWN" "workspace_unknown" NotFound Invalid NotFound
        person - model "ask the person to run `moss serve` in the project, then send the call again";
    /// There is no such entry in the history.
    HistoryEntryUnknown = "HISTORY_ENTRY_UNKNOWN" "history_entry_unknown" NotFound Failed NotFound
        person "see the numbers with `moss history list`" model -;
    /// No question has this name.
    ConfirmationUnknown = "CONFIRMATION_UNKNOWN" "confirmation_unknown" NotFound Failed NotFound
        person "see what waits with `moss confirm list`" model -;
    /// The question is resolved, withdrawn or expired.
    ConfirmationOver = "CONFIRMATION_OVER" "confirmation_over" FailedPrecondition Failed Conflict
        person "see what waits with `moss confirm list`" model -;
    /// Not all of the question was shown yet.
    ConfirmationNotShown = "CONFIRMATION_NOT_SHOWN" "confirmation_not_shown" FailedPrecondition Failed Conflict
        person - model -;
    /// The decision is for another effect than what is asked about.
    DigestChanged = "DIGEST_CHANGED" "digest_changed" Aborted Failed Conflict
        person - model -;
    /// The decision is none of those that are offered.
    ApprovalNotOffered = "APPROVAL_NOT_OFFERED" "approval_not_offered" FailedPrecondition Failed Conflict
        person "see what is offered with `moss confirm show ID`" model -;
    /// There is no such standing approval.
    ApprovalUnknown = "APPROVAL_UNKNOWN" "approval_unknown" NotFound Failed NotFound
        person "see the standing approvals with `moss approvals list`" model -;
    /// The standing approvals cannot be read.
    ApprovalsUnusable = "APPROVALS_UNUSABLE" "approvals_unusable" FailedPrecondition Failed Io
        person "look for the cause with `moss doctor`"
        model "ask the person to look for the cause with `moss doctor`";
    /// No job of the caller has this id.
    JobUnknown = "JOB_UNKNOWN" "job_unknown" NotFound Failed NotFound
        person "see the jobs with `moss jobs list`" model -;
    /// Nothing is kept of the files of the workspace.
    IndexUnavailable = "INDEX_UNAVAILABLE" "index_unavailable" FailedPrecondition Failed Io
        person "see how it is doing with `moss index status`" model -;
    /// Another editor replaced this one.
    EditorReplaced = "EDITOR_REPLACED" "editor_replaced" Aborted Failed Conflict
        person - model -;

    /// Too many editors are attached.
    EditorsFull = "EDITORS_FULL" "editors_full" ResourceExhausted Failed LimitExceeded
        person - model -;
    /// All connections are taken.
    ConnectionsFull = "CONNECTIONS_FULL" "connections_full" ResourceExhausted Failed LimitExceeded
        person - model "try again in a moment";
    /// Requests that are not whole yet take too much memory.
    RequestsFull = "REQUESTS_FULL" "requests_full" ResourceExhausted Failed LimitExceeded
        person - model "try again in a moment";
    /// Replies that are being written take too much memory.
    RepliesFull = "REPLIES_FULL" "replies_full" ResourceExhausted Failed LimitExceeded
        person "try again in a moment" model "try again in a moment";
    /// A request did not become whole in time.
    SenderStalled = "SENDER_STALLED" "sender_stalled" Aborted Failed Timeout
        person - model "ask for less at once";
    /// A response was not read in time.
    ReaderStalled = "READER_STALLED" "reader_stalled" Aborted Failed Timeout
        person - model "ask for less at once";
    /// A limit of the transport was reached.
    LimitExceeded = "LIMIT_EXCEEDED" "limit_exceeded" ResourceExhausted Failed LimitExceeded
        person - model "try again in a moment";

    /// The credential is missing, not known, or cannot be read.
    CredentialInvalid = "CREDENTIAL_INVALID" "credential_invalid" Unauthenticated Unavailable Denied
        person "look for the cause with `moss doctor`"
        model "ask the person to look for the cause with `moss doctor`";
    /// The credential is known and does not allow that.
    RoleMissing = "ROLE_MISSING" "role_missing" PermissionDenied Denied Denied
        person "name the approver's credential with `--approver-token-file`"
        model "ask the person to look for the cause with `moss doctor`";
    /// One side does not accept the other's certificate, or there is no certificate.
    CertificateRefused = "CERTIFICATE_REFUSED" "certificate_refused" Unavailable Unavailable Io
        person "compare --tls-ca, --tls-cert and --tls-key with those of the daemon"
        model "ask the person to look for the cause with `moss doctor`";
    /// A credential would be sent where others can read it.
    ConnectionExposed = "CONNECTION_EXPOSED" "connection_exposed" InvalidArgument Invalid InvalidArguments
        person - model -;
    /// Nobody listens where a daemon was named.
    NoDaemon = "NO_DAEMON" "no_daemon" Unavailable Unavailable Io
        person "start one with `moss serve`, or name one on another socket with `--server ADDRESS`"
        model "ask the person to run `moss serve` in the project, then send the call again";
    /// A daemon does not respond, or the connection to it was lost.
    DaemonUnreachable = "DAEMON_UNREACHABLE" "daemon_unreachable" Unavailable Unavailable Io
        person "see what is wrong with `moss doctor`"
        model "send the call again: moss looks for another daemon";
    /// A daemon responds and is another version.
    DaemonIncompatible = "DAEMON_INCOMPATIBLE" "daemon_incompatible" Unimplemented Unavailable Io
        person "restart the daemon with this version of moss"
        model "ask the person to restart `moss serve` and this client with one version of moss";
}

// === impl Reason ===

impl Reason {
    /// Returns the name on the wire, for example `TOOL_UNKNOWN`: the `reason` of `google.rpc.ErrorInfo`.
    pub const fn as_str(self) -> &'static str {
        self.row().name
    }

    /// Returns the code that programs see, for example `tool_unknown`.
    pub const fn code(self) -> &'static str {
        self.row().code
    }

    /// Returns the code of the status that it travels as.
    pub const fn status(self) -> RpcCode {
        self.row().status
    }

    /// Returns how a call ended that it stopped.
    pub const fn outcome(self) -> Outcome {
        self.row().outcome
    }

    /// Returns the code of the error that a tool gets whose effect or call it stopped.
    pub const fn of_tool(self) -> ErrorCode {
        self.row().tool
    }

    /// Returns what a person at the command line does next; nothing where there is no one thing to do.
    pub const fn for_person(self) -> &'static str {
        self.row().person
    }

    /// Returns what a model does next whose call did not run; nothing where the message says it, or no call ends so.
    pub const fn for_model(self) -> &'static str {
        self.row().model
    }

    /// Finds a reason by the code that programs see.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.code() == code)
    }
}

/// Returns how a call ended by a code that programs see: a reason's, or that of a tool's error. A code
/// that is not known is a failure.
pub fn outcome_of(code: &str) -> Outcome {
    if let Some(reason) = Reason::of_code(code) {
        return reason.outcome();
    }
    let code = ErrorCode::ALL.iter().find(|known| known.as_str() == code);
    code.map_or(Outcome::Failed, |code| Outcome::of_tool(*code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_names_in_small_letters_and_none_stands_twice() {
        let mut codes: Vec<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
        for reason in Reason::ALL {
            assert_eq!(reason.as_str().to_ascii_lowercase(), reason.code());
            assert_eq!(Reason::of_code(reason.code()), Some(*reason));
        }
    }

    /// Programs decide by the exit code: what they rely on stays.
    #[test]
    fn reasons_that_programs_distinguish_have_their_outcomes() {
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
        for code in ErrorCode::ALL {
            assert_eq!(outcome_of(code.as_str()), Outcome::of_tool(*code), "{code}");
        }
    }
}
