//! `replace_text`: new text in place of a text that occurs exactly once.

use moss_matching::Occurrence;
use moss_sdk::context::Context;
use moss_sdk::{Effect, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::EditOutput;
use crate::replacing::{Replacement, replace};

/// Replaces a text that occurs exactly once in a text file.
///
/// Copy the text from the file; where it is not there character for character, differences of
/// white space, quotes and the like are tolerated, and the result says how it was found. The file
/// keeps its own white space, encoding and line ends wherever the edit does not change them. If the
/// text does not occur, or occurs several times, nothing is written and the error shows the
/// closest lines or all the locations. Both texts are taken literally: there are no patterns. Use
/// replace_lines when you know the line numbers.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReplaceText {
    /// Path of the file, relative to the workspace root.
    path: String,
    /// The text to find, copied from the file without line numbers, with enough lines around it
    /// to occur only once. It must hold more than white space.
    old_text: String,
    /// The replacement text. The empty text removes the old one.
    new_text: String,
}

impl Tool for ReplaceText {
    const NAME: &'static str = "replace_text";
    const TITLE: &'static str = "Replace text";
    const EFFECT: Effect = Effect::Write;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("path", &["filePath", "file_path", "file"]),
        ("oldText", &["oldString", "search", "searchValue", "find"]),
        ("newText", &["newString", "replace", "replaceValue", "replacement"]),
    ];
    type Output = EditOutput;

    async fn run(self, cx: Context) -> Result<EditOutput, ToolError> {
        let replacement = Replacement {
            search: self.old_text,
            replace: self.new_text,
            occurrence: Occurrence::Only,
            names: ("`oldText`", "`newText`"),
        };
        replace(&cx, &self.path, replacement).await
    }
}

#[cfg(test)]
mod tests;
