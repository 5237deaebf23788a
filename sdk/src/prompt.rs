//! Changes of the user's own prompt: the text that is added to the system prompt of models.

use serde::{Deserialize, Serialize};

/// What happens to the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptChange {
    /// It becomes this text; an empty one empties it.
    Replace(String),
    /// This text is added to its end, on lines of its own.
    Append(String),
}

/// What became of a change of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptApplied {
    /// The number in the prompt's history; none in a dry run, where nothing was written.
    pub version: Option<u64>,
    /// The size of the prompt after the change, in bytes.
    pub bytes: u64,
}

// === impl PromptChange ===

impl PromptChange {
    /// The text that somebody wants to put in.
    pub fn content(&self) -> &str {
        match self {
            Self::Replace(content) | Self::Append(content) => content,
        }
    }

    /// Makes the prompt that follows from the one that there is. What is not empty ends its last
    /// line.
    pub fn applied_to(&self, old: &str) -> String {
        match self {
            Self::Replace(content) => ended(content.clone()),
            Self::Append(content) => ended(ended(old.to_owned()) + content),
        }
    }
}

fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_prompt_are_whole() {
        let replace = |new: &str| PromptChange::Replace(new.to_owned()).applied_to("old");
        assert_eq!([replace(""), replace("a"), replace("a\n\n")], ["", "a\n", "a\n\n"]);
        let append = |old: &str, new: &str| PromptChange::Append(new.to_owned()).applied_to(old);
        assert_eq!(
            [append("", "a"), append("x", "a"), append("x\n", "a\n")],
            ["a\n", "x\na\n", "x\na\n"]
        );
    }
}
