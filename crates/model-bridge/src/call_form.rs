//! The forms that calls have in the APIs of OpenAI besides a name and JSON: free text, and names in
//! namespaces. Readers of requests and writers of replies go by the same words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The one parameter of a tool that takes free text, and where arguments are kept that are none.
pub(crate) const FREE_FORM_KEY: &str = "input";

/// The name of a tool in a namespace, which OpenAI Responses write in two fields, `namespace` and
/// `name`. A model gets one name, for example `mcp__web__search`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespacedName {
    /// The group that the client put the tool in, such as an MCP server of its own.
    pub namespace: String,
    /// The name of the tool in it.
    pub name: String,
}

/// Calls that a client of OpenAI's expects in a form of their own, as [`crate::Normalized`] says it
/// of a request. The other APIs have no such forms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallForms {
    /// The tools that take free text: their one argument `input` is the text. Their calls are
    /// shown when they are whole.
    pub free_form: BTreeSet<String>,
    /// The tools of namespaces, by the name that a model gets: Responses says both names.
    pub namespaced: BTreeMap<String, NamespacedName>,
}

/// The text that a tool of free text is called with.
pub(crate) fn free_form_text(arguments: &Map<String, Value>) -> &str {
    arguments.get(FREE_FORM_KEY).and_then(Value::as_str).unwrap_or_default()
}

// === impl NamespacedName ===

impl NamespacedName {
    /// The one name that a model gets, for example `mcp__web__search`.
    pub(crate) fn flat(&self) -> String {
        let between = if self.namespace.ends_with("__") { "" } else { "__" };
        format!("{}{between}{}", self.namespace, self.name)
    }
}
