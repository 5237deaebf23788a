//! What the bridge decided for a request, as data: for logs, headers and people who ask why
//! (requirement B11).

use serde::Serialize;

use crate::conversation::{Conversation, HistoryState, Message, ToolChoice};
use crate::diagnostic::ReplyDiagnostic;
use crate::event::{Finish, Reply};
use crate::language::Language;
use crate::prompt::PromptDetail;
use crate::refusal::{RefusalVerdict, ReplyClass};
use crate::retry::{Retry, RetryReason};

/// The most decisions that are kept for one request.
const DECISIONS_MAX: usize = 256;

/// What was decided for one request, oldest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Decisions {
    decisions: Vec<BridgeDecision>,
    /// How many more there were than are kept.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

/// What the bridge decided at one step of an exchange.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum BridgeDecision {
    /// The request goes through the bridge: there are tools to call.
    Entered {
        /// How many tools there are.
        tools: usize,
        /// What must be called: `auto`, `none`, `any`, or the name of the tool.
        choice: String,
        /// Whether several calls in one turn are welcome.
        parallel: bool,
    },
    /// The request passes as it is.
    PassedBy {
        /// What about the request keeps the bridge out of it.
        reason: PassReason,
    },
    /// The history was read.
    HistoryRecognized {
        /// Where the conversation stands.
        state: HistoryState,
        /// How many calls it has.
        calls: usize,
        /// How many results it has.
        results: usize,
    },
    /// The prompt contract was put in.
    ContractInjected {
        /// The language that it is written in.
        language: Language,
        /// How much it says of each tool.
        form: PromptDetail,
        /// How long it is.
        bytes: usize,
    },
    /// A reply was read.
    ReplyRead {
        /// The tools it calls, in order.
        calls: Vec<String>,
        /// The size of its text.
        text_bytes: usize,
        /// Whether it came to its end, and what cut it off otherwise.
        finish: Finish,
        /// How it was read.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        diagnostics: Vec<ReplyDiagnostic>,
    },
    /// A reply without calls was judged.
    ReplyJudged {
        /// What kind of reply it is.
        class: ReplyClass,
        /// Whether it is worth asking again.
        retry: bool,
        /// The words that decided.
        #[serde(skip_serializing_if = "Option::is_none")]
        phrase: Option<String>,
    },
    /// The model is asked again.
    RetryAsked {
        /// What was wrong with the reply before.
        reason: RetryReason,
        /// The attempt, from 1.
        attempt: u8,
        /// What the validator said.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        problems: Vec<String>,
    },
    /// The reply is worth asking again, and the model is not asked.
    RetryWithheld {
        /// What speaks against asking.
        reason: WithholdReason,
    },
}

/// Why a request passes as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PassReason {
    /// Neither the request nor its history has tools.
    NoTools,
    /// The model calls tools by itself.
    NativeTools,
}

/// Why a model is not asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WithholdReason {
    /// The client has got a part of the reply.
    AlreadySent,
    /// It was asked as often as is allowed.
    Exhausted,
}

// === impl BridgeDecision ===

impl BridgeDecision {
    /// What is decided of a request before anything is sent: whether it goes through the bridge.
    pub fn of_request(conversation: &Conversation) -> Self {
        if conversation.tools.is_empty() {
            return Self::PassedBy { reason: PassReason::NoTools };
        }
        let choice = match &conversation.choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            ToolChoice::Any => "any",
            ToolChoice::Tool(name) => name,
        };
        Self::Entered {
            tools: conversation.tools.len(),
            choice: choice.to_owned(),
            parallel: conversation.parallel,
        }
    }

    /// What was read of a history.
    pub fn of_history(conversation: &Conversation) -> Self {
        let (mut calls, mut results) = (0, 0);
        for message in &conversation.messages {
            match message {
                Message::Assistant { calls: made, .. } => calls += made.len(),
                Message::Result(_) => results += 1,
                Message::System(_) | Message::User(_) => {}
            }
        }
        Self::HistoryRecognized { state: conversation.state(), calls, results }
    }

    /// What was read of a reply.
    pub fn of_reply(reply: &Reply) -> Self {
        Self::ReplyRead {
            calls: reply.calls.iter().map(|call| call.name.clone()).collect(),
            text_bytes: reply.text.len(),
            finish: reply.finish,
            diagnostics: reply.diagnostics.clone(),
        }
    }

    /// What a reply without calls was judged to be.
    pub fn of_verdict(verdict: &RefusalVerdict) -> Self {
        Self::ReplyJudged {
            class: verdict.class,
            retry: verdict.retry,
            phrase: verdict.phrase.clone(),
        }
    }

    /// That the model is asked again.
    pub fn of_retry(retry: &Retry) -> Self {
        Self::RetryAsked {
            reason: retry.reason,
            attempt: retry.attempt,
            problems: retry.problems.clone(),
        }
    }
}

// === impl Decisions ===

impl Decisions {
    /// Adds one. Beyond 256 they are only counted.
    pub fn push(&mut self, decision: BridgeDecision) {
        if self.decisions.len() < DECISIONS_MAX {
            self.decisions.push(decision);
        } else {
            self.left_out += 1;
        }
    }

    /// The decisions, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &BridgeDecision> {
        self.decisions.iter()
    }

    /// Why the model was asked again, in order.
    pub fn retries(&self) -> impl Iterator<Item = RetryReason> {
        self.iter().filter_map(|decision| match decision {
            BridgeDecision::RetryAsked { reason, .. } => Some(*reason),
            _ => None,
        })
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;
