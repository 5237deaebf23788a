//! The texts of the tools beside their documentation: the Chinese ones, and the brief ones.

use std::collections::BTreeMap;

use moss_sdk::spec::ToolText;
use serde::Deserialize;

/// What a client with little room reads of a tool, as far as it differs from the documentation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BriefText {
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, String>,
}

/// Returns the Chinese texts by tool name.
pub(crate) fn chinese() -> BTreeMap<String, ToolText> {
    toml::from_str(include_str!("../text/zh.toml")).expect("a test parses the compiled-in table")
}

/// Returns the brief texts by tool name.
pub(crate) fn brief() -> BTreeMap<String, BriefText> {
    toml::from_str(include_str!("../text/brief.toml")).expect("a test parses the compiled-in table")
}

// === impl BriefText ===

impl BriefText {
    /// Puts it over the whole text of its tool.
    pub(crate) fn over(self, text: &ToolText) -> ToolText {
        let mut brief = ToolText { description: self.description, ..text.clone() };
        brief.parameters.extend(self.parameters);
        brief
    }
}
