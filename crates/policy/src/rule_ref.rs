//! How a decision names the rule that gave it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Names a rule: where it stands, what it is called and why it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleRef {
    /// The layer, or the built-in rule, that it belongs to.
    pub layer: Layer,
    /// The file; none for built-in rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The rule's name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The reason, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether what it asks is for a person in moss alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub for_person: bool,
    /// The standing approval that it is of, if it is of one.
    #[serde(rename = "approval", skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// Where a rule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The administrator's files, whose decisions nothing weakens.
    Admin,
    /// The user's own file.
    User,
    /// The file that a workspace brings along.
    Workspace,
    /// The built-in protection of names.
    Protected,
    /// The built-in question about lines that are not as an edit says.
    Drift,
    /// The built-in question about commands that destroy, or of which nobody knows what they do.
    Command,
    /// What applies where no rule of a file matches.
    Default,
}

// === impl Layer ===

impl Layer {
    /// Returns the wire form, for example `admin`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
            Self::Workspace => "workspace",
            Self::Protected => "protected",
            Self::Drift => "drift",
            Self::Command => "command",
            Self::Default => "default",
        }
    }
}

// === impl RuleRef ===

impl RuleRef {
    /// Makes the rule of moss itself, of a layer, with its reason.
    pub(crate) fn built_in(layer: Layer, reason: &str) -> Arc<Self> {
        let reason = Some(reason.to_owned());
        let (file, line, name) = (None, None, None);
        Arc::new(Self { layer, file, line, name, reason, for_person: false, answer: None })
    }
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layer {
            Layer::Admin | Layer::User | Layer::Workspace => {
                write!(f, "by {} policy", self.layer.as_str())?;
            }
            Layer::Protected => f.write_str("because the name is protected")?,
            Layer::Drift => f.write_str("because the file differs")?,
            Layer::Command => f.write_str("because of the command")?,
            Layer::Default => f.write_str("by default")?,
        }
        if let Some(file) = &self.file {
            write!(f, " {file}")?;
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(name) = &self.name {
            write!(f, " ({name})")?;
        }
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}
