//! What a call may do that a person has to be asked about. Source: 000, 3.3 and 5.3; requirement A4.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a call may do beyond reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Changes files or the configuration.
    Write,
    /// Removes a file, wherever it is kept.
    Deletion,
    /// Runs a command, or anything else that starts a process.
    Command,
    /// Sends something into the network.
    Network,
}

/// The risks of tools by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Risks(BTreeMap<String, Risk>);

/// The tools of the source. What starts a process runs commands.
const TOOLS: &[(&str, Risk)] = &[
    ("create_file", Risk::Write),
    ("delete_file", Risk::Deletion),
    ("delete_lines", Risk::Write),
    ("editTool", Risk::Write),
    ("fix_tests", Risk::Command),
    ("insert_line", Risk::Write),
    ("lint_check", Risk::Command),
    ("moss_register_plugin_tool", Risk::Write),
    ("moss_update_asi_user_prompt", Risk::Write),
    ("patch", Risk::Write),
    ("reapply", Risk::Write),
    ("refactor", Risk::Write),
    ("replace_lines", Risk::Write),
    ("replace_text", Risk::Write),
    ("run_terminal_cmd", Risk::Command),
    ("run_tests", Risk::Command),
];

// === impl Risk ===

impl Risk {
    /// Whether samples must mention permission or confirmation: what the source calls high-risk.
    pub const fn is_high(self) -> bool {
        !matches!(self, Self::Write)
    }

    /// What the call does, for a message.
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::Write => "changes files or the configuration",
            Self::Deletion => "deletes a file",
            Self::Command => "runs a command",
            Self::Network => "reaches into the network",
        }
    }
}

// === impl Risks ===

impl Risks {
    /// Adds a tool, or another risk of one.
    pub fn insert(&mut self, tool: impl Into<String>, risk: Risk) {
        self.0.insert(tool.into(), risk);
    }

    /// What a call of a tool may do; none where it only reads.
    pub fn of(&self, tool: &str) -> Option<Risk> {
        self.0.get(tool).copied()
    }
}

impl Default for Risks {
    /// The tools of the source.
    fn default() -> Self {
        Self(TOOLS.iter().map(|(name, risk)| ((*name).to_owned(), *risk)).collect())
    }
}
