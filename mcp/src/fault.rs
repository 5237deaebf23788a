//! Why a call did not run or its tool failed, as a model reads it.

use std::fmt;

use crate::deceiving::shown;
use crate::excerpt::excerpt;

/// Why a call did not run, or its tool failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFault {
    /// A stable code such as `not_found`.
    pub code: String,
    /// What went wrong, and where.
    pub message: String,
    /// What to do next; empty where nothing is known.
    pub hint: String,
    /// The effect that nobody decided about, where that is why.
    pub question: Option<Box<QuestionShown>>,
}

/// An effect that needs the decision of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionShown {
    /// All of it in plain text: the diff, the rule, the digest.
    pub text: String,
    /// The digest of the effect.
    pub digest: String,
    /// Whether a form of the client may decide about it, where the person enabled that.
    pub is_for_forms: bool,
    /// The rule that may be allowed for the rest of the session, where one may.
    pub session_rule: Option<String>,
}

/// The code of an effect that nobody decided about.
pub(crate) const CONFIRMATION_REQUIRED: &str = "confirmation_required";
/// The code of a state that was not made for the request that brings it.
pub(crate) const STATE_INVALID: &str = "request_state_invalid";
/// The code of a name that no tool has.
const TOOL_UNKNOWN: &str = "tool_unknown";

// === impl CallFault ===

impl CallFault {
    /// Makes a fault that says no more than its message.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let (code, message) = (code.into(), message.into());
        Self { code, message, hint: String::new(), question: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Makes the fault of a name that no tool has.
    pub(crate) fn unknown_tool(message: impl Into<String>) -> Self {
        Self::new(TOOL_UNKNOWN, message)
    }

    /// Whether no tool has the name of the call.
    pub(crate) fn is_unknown_tool(&self) -> bool {
        self.code == TOOL_UNKNOWN
    }

    /// Whether the client is at fault, and not who made the arguments: an error of the protocol.
    pub(crate) fn is_of_protocol(&self) -> bool {
        self.is_unknown_tool() || self.code == STATE_INVALID
    }
}

impl fmt::Display for CallFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Both may repeat names of files and texts of others.
        write!(f, "{}: {}", self.code, shown(&self.message))?;
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", shown(&self.hint))?;
        }
        match &self.question {
            Some(question) => write!(f, "\n\n{}", shown(&excerpt(question.text.trim_end()))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_deceives_is_an_escape_in_the_text_of_a_fault() {
        let fault = CallFault::new("not_found", "there is no a\u{202e}txt\n\tb").hint("c\u{200b}");
        let text = "not_found: there is no a\\u{202e}txt\n\tb\nhint: c\\u{200b}";
        assert_eq!(fault.to_string(), text);
    }
}
