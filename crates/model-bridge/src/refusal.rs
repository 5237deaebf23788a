//! Distinguishes replies that fulfil a request from replies that talk instead of acting (requirement B7).
//!
//! What counts is who speaks and of what: code and quotes are taken out, a sentence refuses only
//! where the model speaks of itself, and a request that needs nothing of the workspace is fulfilled
//! in words. The phrases are data: `en.toml` and `zh.toml`, and
//! `fold.toml` has the ways of writing.
//!
//! The tables grow only by what callers meet. A reply that was judged wrongly joins
//! `testdata/refusals-tuning.json` with what it is, and a phrase stays only where a case of that
//! file has it. Precision and recall are measured on `testdata/refusals-holdout.json`, to which
//! nothing is tuned. Most of its cases were part of the tuning before they were set apart, so it is
//! independent only of what changed since; `tests/measured.rs` says which.

mod folding;
mod judge;
mod phrases;
mod request;
mod sentences;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::conversation::{Conversation, Message, MessagePart, ToolChoice};
use crate::language::Language;

/// What a reply without calls is judged by.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusalContext<'a> {
    /// What the user said last.
    pub request: Cow<'a, str>,
    /// Who spoke right before the reply.
    pub last_role: LastRole,
    /// What the model had to call.
    pub choice: &'a ToolChoice,
    /// Whether it had anything to call.
    pub tools_available: bool,
    /// Whether a call of the last turn failed, where somebody knows. Without it the reply's words
    /// decide.
    pub result_failed: Option<bool>,
    /// Whether earlier turns brought results: what they say may be the reply.
    pub has_results: bool,
}

/// Who spoke right before a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastRole {
    /// The user wrote a message.
    User,
    /// A tool gave its result.
    Tool,
}

/// What a reply without calls is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyClass {
    /// The model says that it cannot do what its tools do.
    CapabilityRefusal,
    /// It talks of what could be instead of looking, with its limits as the excuse.
    SoftLimitation,
    /// It asks the user to fetch, to paste or to do what it has tools for.
    DelegatesToUser,
    /// It says that it acts, or has acted, and did not.
    AnnouncedNotCalled,
    /// It declines what does harm. Never asked again.
    SafetyRefusal,
    /// A call was required, and a right reply in words came.
    NoCall,
    /// A reply, a question back or an offer.
    Answer,
    /// What it makes of results, failures among them.
    FinalAfterTool,
}

/// What a reply without calls is, and what speaks for that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusalVerdict {
    /// What the reply is.
    pub class: ReplyClass,
    /// Whether to ask again.
    pub retry: bool,
    /// The words that decided, in lower case with `§` for code and paths; none where nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phrase: Option<String>,
}

/// Judges a reply that has no calls.
pub fn classify(context: &RefusalContext<'_>, text: &str) -> RefusalVerdict {
    let (mut class, phrase) = judge::judge(context, text);
    let is_required = matches!(context.choice, ToolChoice::Any | ToolChoice::Tool(_));
    let may_call = context.tools_available && *context.choice != ToolChoice::None;
    // Words that nothing was found against but that no call came are right for nobody here.
    if may_call && is_required && phrase.is_none() && class != ReplyClass::SafetyRefusal {
        class = ReplyClass::NoCall;
    }
    RefusalVerdict { class, retry: may_call && class.is_worth_asking_again(), phrase }
}

/// The language in which to speak to a model about its reply: that of the request, or of the reply
/// where the request says too little.
pub fn language_between(request: &str, reply: &str) -> Language {
    match Language::of(request) {
        Language::Zh => Language::Zh,
        Language::En if request.chars().any(|c| c.is_ascii_alphabetic()) => Language::En,
        Language::En => Language::of(reply),
    }
}

// === impl RefusalContext ===

impl<'a> RefusalContext<'a> {
    /// Reads the context off the conversation that a reply ends.
    pub fn of(conversation: &'a Conversation) -> Self {
        let messages = &conversation.messages;
        let spoken = messages.iter().rev().find(|one| !matches!(one, Message::System(_)));
        let is_result = |message: &&Message| matches!(message, Message::Result(_));
        let said = messages.iter().rev().filter(|one| !matches!(one, Message::System(_)));
        let mut last = said.take_while(is_result);
        let has_failed = last.any(|one| matches!(one, Message::Result(result) if result.is_error));
        let request = messages.iter().rev().find_map(|message| match message {
            Message::User(parts) => Some(text_of(parts)),
            _ => None,
        });
        Self {
            request: request.unwrap_or_default(),
            last_role: match spoken {
                Some(Message::Result(_)) => LastRole::Tool,
                _ => LastRole::User,
            },
            choice: &conversation.choice,
            tools_available: !conversation.tools.is_empty(),
            // A result that is not marked may still report a failure.
            result_failed: has_failed.then_some(true),
            has_results: messages.iter().any(|message| is_result(&message)),
        }
    }
}

fn text_of(parts: &[MessagePart]) -> Cow<'_, str> {
    let mut texts = parts.iter().filter_map(|part| match part {
        MessagePart::Text(text) => Some(text.as_str()),
        MessagePart::Opaque(_) => None,
    });
    match (texts.next(), texts.next()) {
        (Some(only), None) => Cow::Borrowed(only),
        (Some(first), Some(second)) => {
            Cow::Owned([first, second].into_iter().chain(texts).collect::<Vec<_>>().join("\n"))
        }
        (None, _) => Cow::Borrowed(""),
    }
}

// === impl ReplyClass ===

impl ReplyClass {
    /// Returns the stable code, for example `soft_limitation`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CapabilityRefusal => "capability_refusal",
            Self::SoftLimitation => "soft_limitation",
            Self::DelegatesToUser => "delegates_to_user",
            Self::AnnouncedNotCalled => "announced_not_called",
            Self::SafetyRefusal => "safety_refusal",
            Self::NoCall => "no_call",
            Self::Answer => "answer",
            Self::FinalAfterTool => "final_after_tool",
        }
    }

    const fn is_right(self) -> bool {
        matches!(self, Self::Answer | Self::FinalAfterTool)
    }

    const fn is_worth_asking_again(self) -> bool {
        !self.is_right() && !matches!(self, Self::SafetyRefusal)
    }
}

#[cfg(test)]
mod tests;
