//! `patch`: new text in place of a text, once or everywhere.

use moss_matching::Occurrence;
use moss_sdk::context::Context;
use moss_sdk::{Effect, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::EditOutput;
use crate::replacing::{Replacement, replace};

/// Replaces a text in a file, once or everywhere.
///
/// Give enough lines around the change for `old_string` to occur only once; indentation and blanks
/// need not be exact. The file keeps its own white space, quotes and line ends wherever the edit
/// does not change them, and new lines get its indentation. If the text does not occur, or occurs
/// several times, nothing is written and the error shows the closest lines or all the locations.
/// Never write `...` for lines that you leave out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patch {
    /// Path of the file, relative to the workspace root.
    path: String,
    /// The text to find, copied from the file without line numbers. It must hold more than white
    /// space.
    old_string: String,
    /// The replacement text. The empty text removes the old one.
    new_string: String,
    /// Whether to replace the text wherever it occurs. Default: false, it must occur once.
    #[serde(default)]
    replace_all: bool,
}

impl Tool for Patch {
    const NAME: &'static str = "patch";
    const TITLE: &'static str = "Patch file";
    const EFFECT: Effect = Effect::Write;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("path", &["filePath", "file_path", "file"]),
        ("old_string", &["oldString", "oldText", "old_text", "search"]),
        ("new_string", &["newString", "newText", "new_text", "replacement"]),
        ("replace_all", &["replaceAll"]),
    ];
    type Output = EditOutput;

    async fn run(self, cx: Context) -> Result<EditOutput, ToolError> {
        let occurrence = if self.replace_all { Occurrence::All } else { Occurrence::Only };
        let replacement = Replacement {
            search: self.old_string,
            replace: self.new_string,
            occurrence,
            names: ("`old_string`", "`new_string`"),
        };
        replace(&cx, &self.path, replacement).await
    }
}

#[cfg(test)]
mod tests;
