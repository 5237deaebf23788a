//! What a tool says about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a tool may do outside itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads files; changes and starts nothing.
    Read,
    /// Proposes changes of files; the host decides whether they are made.
    Write,
    /// Starts a process, which the host isolates.
    Exec,
}

/// The group by which tools are offered to a model. Source: requirement D1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Toolset {
    /// Reading, searching, editing, running: offered by default.
    Base,
    /// Keeping a plan, such as the list of tasks.
    Planning,
    /// Asking the person at an editor or client.
    Interaction,
    /// Changing moss itself: its plugins, what it adds to prompts.
    Admin,
    /// Tools of plugins, whatever they do.
    Plugin,
}

/// A tool's whole description: one entry of the catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name that calls it.
    pub name: String,
    /// What it may do.
    pub effect: Effect,
    /// The group it belongs to.
    pub toolset: Toolset,
    /// Its text in English; parameter texts are also in `parameters`.
    pub text: ToolText,
    /// Its text in Chinese, where there is one.
    pub text_zh: Option<ToolText>,
    /// Its text in English for clients that hold all schemas in the context of a model, where there is
    /// one; parameters whose text is empty are listed without one.
    pub text_brief: Option<ToolText>,
    /// The JSON schema of the arguments as it is published: that of the specification, for tools
    /// that are in it.
    pub parameters: Value,
    /// The published schemas of parameters beyond the specification, by name. They are optional and
    /// always accepted.
    pub extras: Map<String, Value>,
    /// The JSON schema that arguments are checked against: `parameters` and `extras`, and closed,
    /// with integers and documented values.
    pub parameters_strict: Value,
    /// The JSON schema of the result.
    pub output: Value,
    /// Other accepted keys of a parameter, by the parameter's name.
    pub aliases: BTreeMap<String, Vec<String>>,
    /// What clients may show people about it.
    pub annotations: Annotations,
}

/// What clients may show people about a tool before they call it, as in the Model Context Protocol.
/// Nothing is decided by it; none where the author does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Annotations {
    /// Whether it may destroy something.
    pub destructive: Option<bool>,
    /// Whether a second call with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
    /// Whether it deals with a world outside the workspace, such as the network.
    pub open_world: Option<bool>,
}

/// What a model or a person reads about a tool, in one language.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolText {
    /// A short name for lists.
    pub title: String,
    /// What it does, with defaults and bounds, and when to use another tool.
    pub description: String,
    /// What each parameter means, by name.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
}

// === impl ToolSpec ===

impl ToolSpec {
    /// Returns the published schema with the parameters beyond the specification, which come last.
    pub fn parameters_full(&self) -> Value {
        let mut schema = self.parameters.clone();
        if self.extras.is_empty() {
            return schema;
        }
        if let Some(object) = schema.as_object_mut() {
            // A tool without other parameters publishes a closed object without this key.
            object.entry("required").or_insert_with(|| Value::Array(Vec::new()));
            object.shift_remove("additionalProperties");
            let properties = object.entry("properties").or_insert_with(|| Map::new().into());
            if let Some(properties) = properties.as_object_mut() {
                properties.extend(self.extras.clone());
            }
        }
        schema
    }
}

// === impl Effect ===

impl Effect {
    /// Returns the wire form: `read`, `write` or `exec`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Exec => "exec",
        }
    }
}

// === impl Toolset ===

impl Toolset {
    /// Every toolset, in the order in which they are offered.
    pub const ALL: &[Self] =
        &[Self::Base, Self::Planning, Self::Interaction, Self::Admin, Self::Plugin];

    /// Returns the wire form, for example `base`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Planning => "planning",
            Self::Interaction => "interaction",
            Self::Admin => "admin",
            Self::Plugin => "plugin",
        }
    }
}
