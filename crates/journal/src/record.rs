//! What one record of the journal says.
//!
//! Free text enters only as [`RedactedText`] and arguments only as [`RedactedArguments`]: masked and bounded.

use moss_sdk::edit::MatchLevel;
use moss_sdk::{ContentHash, RelPath};
use serde::Serialize;

use super::redact::{RedactedArguments, RedactedText};
use moss_policy::{Action, Decision, Verdict};

/// One event in the life of a call.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// Id of the call, as in the journal.
    pub call_id: String,
    /// The tool, as the caller named it.
    pub tool: RedactedText,
    /// What happened to the call, with all that is kept of it.
    #[serde(flatten)]
    pub event: AuditEvent,
}

/// What the journal keeps a record of, by its kind.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AuditEvent {
    /// A call came in; a call that never runs is recorded too.
    CallStarted {
        /// The credential or the front that it came with.
        caller: RedactedText,
        /// The role of the credential.
        role: &'static str,
        /// Root directory of the workspace, absolute.
        workspace: String,
        /// The session that the caller names.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<RedactedText>,
        /// The arguments, without secrets and contents of files.
        arguments: RedactedArguments,
        /// The plugin that the tool belongs to.
        #[serde(skip_serializing_if = "Option::is_none")]
        plugin: Option<PluginDigest>,
        /// The digest of the catalog that the call keeps.
        #[serde(skip_serializing_if = "Option::is_none")]
        catalog: Option<String>,
        /// The call of a plugin that made this one, in the caller's name.
        #[serde(skip_serializing_if = "Option::is_none")]
        called_by: Option<CalledBy>,
    },
    /// The policy decided about the call or one of its effects.
    Decision {
        /// The kind of effect.
        action: Action,
        /// The file, where one is meant.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<RelPath>,
        /// The host that a plugin sends a request to, where that is meant.
        #[serde(skip_serializing_if = "Option::is_none")]
        host: Option<RedactedText>,
        /// How the locations of an edit were found, where they were searched for.
        #[serde(skip_serializing_if = "Option::is_none")]
        match_level: Option<MatchLevel>,
        /// How many lines an edit changes that are not as it says, where there are any.
        #[serde(skip_serializing_if = "Option::is_none")]
        drift_lines: Option<u64>,
        /// The command, where one is meant.
        #[serde(skip_serializing_if = "Option::is_none")]
        command: Option<RedactedText>,
        /// What was decided, and by which rule.
        #[serde(flatten)]
        decision: Decision,
    },
    /// A question was resolved, or ended without a decision.
    Confirmation {
        /// The digest of the exact effect.
        digest: String,
        /// How it ended: by a decision, by time, or because its call went.
        decision: AskOutcome,
        /// The credential that decided; none where nobody did.
        #[serde(skip_serializing_if = "Option::is_none")]
        decided_by: Option<RedactedText>,
        /// What the deciding person said.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<RedactedText>,
    },
    /// An approver gave a standing approval.
    ApprovalStored {
        /// Id of the standing approval.
        approval: String,
        /// How long it applies: `session` or `always`.
        scope: &'static str,
        /// The session that it applies to.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<RedactedText>,
        /// What it allows, in TOML.
        terms: RedactedText,
    },
    /// A standing approval allowed an effect without a question.
    ApprovalUsed {
        /// Id of the standing approval.
        approval: String,
    },
    /// An approver revoked a standing approval.
    ApprovalRevoked {
        /// Id of the standing approval.
        approval: String,
    },
    /// A change set is on disk.
    Committed {
        /// The number in the workspace's history.
        #[serde(skip_serializing_if = "Option::is_none")]
        history: Option<u64>,
        /// Its files, in the order of the change set.
        changes: Vec<RecordedChange>,
    },
    /// A command was left running in the background.
    JobStarted {
        /// Id of the job.
        job: String,
    },
    /// Such a command ended, long after its call as a rule.
    JobEnded {
        /// Id of the job.
        job: String,
        /// Its exit status, where it exited.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The signal that ended it, where one did.
        #[serde(skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
        /// Why it ended, where it did not end by itself; the credential that stopped it.
        #[serde(skip_serializing_if = "Option::is_none")]
        ended_by: Option<RedactedText>,
        /// How long it ran, in microseconds.
        duration_us: u64,
    },
    /// Calls that were refused, or failed without an effect, and are not recorded one by one: there were too many of
    /// them. The id is that of the last.
    CallsRefused {
        /// The credential or the front that they came with.
        caller: RedactedText,
        /// How they ended, for example `denied`.
        outcome: &'static str,
        /// Number of such calls.
        calls: u64,
        /// When the first of them ended.
        first_at: String,
        /// When the last of them did.
        last_at: String,
    },
    /// The call is over, whether or not it ever ran.
    CallFinished {
        /// The outcome, for example `ok` or `denied`.
        outcome: &'static str,
        /// The stable code of the error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_code: Option<String>,
        /// The message of the error; what a failed tool says is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<RedactedText>,
        /// How long it took, in microseconds.
        duration_us: u64,
    },
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AskOutcome {
    /// An approver said yes.
    Approved,
    /// An approver said no.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// The caller went away.
    Withdrawn,
}

/// A plugin as it was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PluginDigest {
    /// The name of the plugin in its list.
    pub name: String,
    /// The digest of its component.
    pub digest: String,
}

/// A call that made another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CalledBy {
    /// Id of the call, as in the journal.
    pub call_id: String,
    /// The plugin whose tool it runs.
    pub plugin: String,
}

/// A file of a change set, by its contents before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedChange {
    /// Path relative to the workspace root.
    pub path: RelPath,
    /// Its content before; none where it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<ContentHash>,
    /// Its content after; none where it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<ContentHash>,
}

// === impl AuditEvent ===

impl AuditEvent {
    /// Whether it says that something may have happened which no other record of the call says: a command that was
    /// allowed ran, a request was sent, an editor changed its text.
    pub fn reports_effect(&self) -> bool {
        match self {
            Self::Decision { action: Action::Call | Action::Read, .. } => false,
            // What is asked about is recorded with what came of the question.
            Self::Decision { decision, .. } => decision.verdict == Verdict::Allow,
            _ => true,
        }
    }
}

// === impl AskOutcome ===

impl AskOutcome {
    /// Returns the decision as a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}
