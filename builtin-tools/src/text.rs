//! The Chinese texts of the tools. The English ones are the documentation of the parameter structs.

use std::collections::BTreeMap;

use moss_sdk::spec::ToolText;

/// Returns the Chinese texts by tool name.
pub(crate) fn chinese() -> BTreeMap<String, ToolText> {
    toml::from_str(include_str!("../text/zh.toml")).expect("a test parses the compiled-in table")
}
