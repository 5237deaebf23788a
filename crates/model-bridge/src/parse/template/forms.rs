//! Which forms of calls are read: all of them, or those that a model was trained on.

use super::table::{BARE_LIST, ELEMENT, TEMPLATES};

/// `[TOOL_CALLS]name{…}`.
pub(in crate::parse) const MISTRAL: &str = "mistral";

/// `<tool_call>{…}</tool_call>`.
pub(in crate::parse) const HERMES: &str = "hermes";

/// The forms of chat templates in which a reply may call. What the prompt of moss asks for is read
/// whatever they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forms {
    /// The names of the forms that are read; none where all are.
    only: Option<Vec<&'static str>>,
}

// === impl Forms ===

impl Forms {
    /// Only those of these names; a name that no form has is ignored.
    pub fn named<N: AsRef<str>>(names: &[N]) -> Self {
        let is_named = |form: &&str| names.iter().any(|name| name.as_ref() == *form);
        let mut only: Vec<&'static str> = Self::names().filter(is_named).collect();
        only.dedup();
        Self { only: Some(only) }
    }

    /// The names of all forms.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let templates = TEMPLATES.iter().chain([&BARE_LIST, &ELEMENT]);
        templates.map(|template| template.form).chain([MISTRAL, HERMES])
    }

    /// Whether a form is among them.
    pub(in crate::parse) fn has(&self, form: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&form))
    }
}
