//! Whether a model is asked again, why, and with which words (requirement B6).
//!
//! A pure decision: what was asked and how the reply turned out go in, at most one more request
//! comes out. Asking again is for replies of which nothing was sent to the client.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::block::{action_block, fill};
use crate::conversation::ToolChoice;
use crate::diagnostic::DiagnosticCode;
use crate::event::{Finish, Reply};
use crate::language::{InLanguages, Language};
use crate::prompt::sample;
use crate::refusal::{RefusalVerdict, ReplyClass};
use crate::registry::{RegisteredTool, Registry};

/// How often a model is asked again for one reply.
pub const RETRIES_MAX: u8 = 2;
/// How many messages of the validator are passed on.
const MESSAGES_MAX: usize = 8;
/// The most bytes of one of them.
const MESSAGE_BYTES_MAX: usize = 2_000;

/// What was asked, and what happened since.
#[derive(Debug, Clone, Copy)]
pub struct RetryState<'a> {
    /// The tools that may be called.
    pub registry: &'a Registry,
    /// What had to be called.
    pub choice: &'a ToolChoice,
    /// The language of the conversation.
    pub language: Language,
    /// How often the model was asked again for this reply.
    pub retries: u8,
    /// Whether the client has got anything of the reply.
    pub has_sent: bool,
}

/// How a reply turned out.
#[derive(Debug, Clone, Copy)]
pub struct ReplyOutcome<'a> {
    /// The reply, as it was read.
    pub reply: &'a Reply,
    /// What it is, where it has no calls.
    pub verdict: Option<&'a RefusalVerdict>,
}

/// That the model is to be asked again, and what it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Retry {
    /// What was wrong with the reply.
    pub reason: RetryReason,
    /// The attempt, from 1.
    pub attempt: u8,
    /// What the validator said, word for word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What is appended to the conversation, as the user's turn behind the reply.
    #[serde(skip)]
    pub message: String,
}

/// Why a model is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryReason {
    /// A call was required and is missing.
    NoCall,
    /// A call of one tool was required and is missing.
    NamedCall,
    /// A call of one tool was required and another tool was called.
    WrongTool,
    /// The model says that it cannot.
    CapabilityRefusal,
    /// It talks instead of looking.
    SoftLimitation,
    /// It asks the user to do it.
    DelegatesToUser,
    /// It says that it acts, and does not.
    Announced,
    /// A call's JSON cannot be read.
    MalformedJson,
    /// A call's parameters do not fit the tool.
    SchemaInvalid,
    /// A call names a tool that does not exist.
    UnknownTool,
    /// A frame for a call has none inside.
    EmptyAction,
    /// The reply ended inside of a call.
    Truncated,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RetryTexts {
    mild: String,
    strict: String,
    form: String,
    problems: String,
    reason: Reasons,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasons {
    no_call: String,
    named_call: String,
    wrong_tool: String,
    capability_refusal: String,
    soft_limitation: String,
    delegates_to_user: String,
    announced: String,
    malformed_json: String,
    schema_invalid: String,
    unknown_tool: String,
    empty_action: String,
    truncated: String,
}

static TEXTS: LazyLock<InLanguages<RetryTexts>> = LazyLock::new(|| {
    InLanguages::read(include_str!("retry/en.toml"), include_str!("retry/zh.toml"))
});

/// What is wrong with frames for calls, the gravest first.
const BROKEN: &[(DiagnosticCode, RetryReason)] = &[
    (DiagnosticCode::TruncatedCall, RetryReason::Truncated),
    (DiagnosticCode::UnknownTool, RetryReason::UnknownTool),
    (DiagnosticCode::SchemaInvalid, RetryReason::SchemaInvalid),
    (DiagnosticCode::MalformedJson, RetryReason::MalformedJson),
    (DiagnosticCode::EmptyAction, RetryReason::EmptyAction),
];

/// Decides whether the model is asked again.
///
/// Not where something was sent, where it was asked [`RETRIES_MAX`] times, where there is nothing to
/// call or nothing may be called, and never after a refusal to do harm. Calls that can be made are
/// made: beside them a broken one is no reason, since its result informs the model.
pub fn next(state: &RetryState<'_>, outcome: &ReplyOutcome<'_>) -> Option<Retry> {
    let may_call = *state.choice != ToolChoice::None && state.registry.tools().len() > 0;
    if state.has_sent || state.retries >= RETRIES_MAX || !may_call {
        return None;
    }
    let (reason, problems) = reason(state, outcome)?;
    let attempt = state.retries + 1;
    let message = message(state, reason, attempt, &problems);
    Some(Retry { reason, attempt, problems, message })
}

fn reason(
    state: &RetryState<'_>,
    outcome: &ReplyOutcome<'_>,
) -> Option<(RetryReason, Vec<String>)> {
    let reply = outcome.reply;
    if !reply.calls.is_empty() {
        let ToolChoice::Tool(named) = state.choice else { return None };
        let is_called = reply.calls.iter().any(|call| call.name == *named);
        return (!is_called).then(|| (RetryReason::WrongTool, Vec::new()));
    }
    if let Some(RefusalVerdict { class: ReplyClass::SafetyRefusal, .. }) = outcome.verdict {
        return None;
    }
    if reply.finish == Finish::ContentFilter {
        return None;
    }
    let broken =
        BROKEN.iter().find(|(code, _)| reply.diagnostics.iter().any(|one| one.code == *code));
    if let Some((_, reason)) = broken {
        return Some((*reason, problems(reply)));
    }
    let verdict = outcome.verdict.filter(|verdict| verdict.retry);
    let by_words = verdict.and_then(|verdict| match verdict.class {
        ReplyClass::CapabilityRefusal => Some(RetryReason::CapabilityRefusal),
        ReplyClass::SoftLimitation => Some(RetryReason::SoftLimitation),
        ReplyClass::DelegatesToUser => Some(RetryReason::DelegatesToUser),
        ReplyClass::AnnouncedNotCalled => Some(RetryReason::Announced),
        ReplyClass::NoCall => Some(RetryReason::NoCall),
        ReplyClass::SafetyRefusal | ReplyClass::Answer | ReplyClass::FinalAfterTool => None,
    });
    let reason = match (by_words, state.choice) {
        (Some(RetryReason::NoCall) | None, ToolChoice::Tool(_)) => RetryReason::NamedCall,
        (None, ToolChoice::Any) => RetryReason::NoCall,
        (by_words, _) => by_words?,
    };
    Some((reason, Vec::new()))
}

/// What the validator says of the calls that are none.
fn problems(reply: &Reply) -> Vec<String> {
    let broken =
        reply.diagnostics.iter().filter(|one| BROKEN.iter().any(|(code, _)| *code == one.code));
    let cut = |text: &str| text[..text.floor_char_boundary(MESSAGE_BYTES_MAX)].to_owned();
    broken.take(MESSAGES_MAX).map(|one| cut(&one.message)).collect()
}

fn message(
    state: &RetryState<'_>,
    reason: RetryReason,
    attempt: u8,
    problems: &[String],
) -> String {
    let texts = TEXTS.of(state.language);
    let named = match state.choice {
        ToolChoice::Tool(name) => name.as_str(),
        _ => "",
    };
    let is_last = attempt >= RETRIES_MAX;
    let opening = if is_last { &texts.strict } else { &texts.mild };
    let mut parts = vec![opening.clone(), fill(texts.reason.text(reason), &[("tool", named)])];
    if !problems.is_empty() {
        let lines = problems.iter().map(|line| format!("- {line}")).collect::<Vec<_>>();
        parts.push(format!("{}\n{}", texts.problems, lines.join("\n")));
    }
    if let Some(tool) = is_last.then(|| shown(state.registry, named)).flatten() {
        let block = action_block(tool.name(), &sample(tool), None);
        parts.push(format!("{}\n{block}", texts.form));
    }
    parts.join("\n")
}

/// The tool to show: the named one, or the first.
fn shown<'r>(registry: &'r Registry, named: &str) -> Option<&'r RegisteredTool> {
    registry.tool(named).or_else(|| registry.tools().next())
}

// === impl Reasons ===

impl Reasons {
    fn text(&self, reason: RetryReason) -> &str {
        match reason {
            RetryReason::NoCall => &self.no_call,
            RetryReason::NamedCall => &self.named_call,
            RetryReason::WrongTool => &self.wrong_tool,
            RetryReason::CapabilityRefusal => &self.capability_refusal,
            RetryReason::SoftLimitation => &self.soft_limitation,
            RetryReason::DelegatesToUser => &self.delegates_to_user,
            RetryReason::Announced => &self.announced,
            RetryReason::MalformedJson => &self.malformed_json,
            RetryReason::SchemaInvalid => &self.schema_invalid,
            RetryReason::UnknownTool => &self.unknown_tool,
            RetryReason::EmptyAction => &self.empty_action,
            RetryReason::Truncated => &self.truncated,
        }
    }
}

// === impl RetryReason ===

impl RetryReason {
    /// Returns the stable code, for example `schema_invalid`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoCall => "no_call",
            Self::NamedCall => "named_call",
            Self::WrongTool => "wrong_tool",
            Self::CapabilityRefusal => "capability_refusal",
            Self::SoftLimitation => "soft_limitation",
            Self::DelegatesToUser => "delegates_to_user",
            Self::Announced => "announced",
            Self::MalformedJson => "malformed_json",
            Self::SchemaInvalid => "schema_invalid",
            Self::UnknownTool => "unknown_tool",
            Self::EmptyAction => "empty_action",
            Self::Truncated => "truncated",
        }
    }
}

#[cfg(test)]
mod tests;
