//! The files that diagnostics are about: their lines, as far as they may be read.

use std::collections::{BTreeMap, BTreeSet};

use moss_checks::line_hashes;
use moss_sdk::context::Context;
use moss_sdk::file::{Content, FileSnapshot};
use moss_sdk::{ErrorCode, RelPath, ToolError};

/// Most files that are read.
const FILES_MAX: usize = 500;
/// Most bytes of all of them.
const BYTES_MAX: usize = 64 << 20;

/// Files that were looked at.
#[derive(Debug, Default)]
pub(super) struct ReadFiles {
    /// Texts of those that may be read.
    pub(super) texts: BTreeMap<String, String>,
    /// Those that begin with a byte-order mark, which their text is without.
    pub(super) marked: BTreeSet<String>,
    /// All that were looked at.
    pub(super) seen: BTreeSet<String>,
    /// Hashes of their lines.
    pub(super) hashes: BTreeMap<String, Vec<u32>>,
    /// Those that may not be read: nothing of them is shown.
    pub(super) withheld: BTreeSet<String>,
    /// Whether some were not looked at: they are too many.
    pub(super) is_cut: bool,
}

// === impl ReadFiles ===

impl ReadFiles {
    /// Looks at files, the first ones where they are too many.
    pub(super) async fn at(cx: &Context, paths: Vec<String>) -> Result<Self, ToolError> {
        let (mut looked, mut bytes) = (Self::default(), 0_usize);
        for path in paths {
            if looked.seen.contains(&path) {
                continue;
            }
            if looked.seen.len() == FILES_MAX || bytes >= BYTES_MAX {
                looked.is_cut = true;
                break;
            }
            looked.seen.insert(path.clone());
            // Of what is no path nobody can say whether it may be read.
            let Ok(parsed) = RelPath::parse(&path) else {
                looked.withheld.insert(path);
                continue;
            };
            match cx.read_unasked(&parsed).await {
                Ok(Some(FileSnapshot { content: Content::Text(text), .. })) => {
                    bytes += text.text.len();
                    if text.form.bom {
                        looked.marked.insert(path.clone());
                    }
                    looked.hashes.insert(path.clone(), line_hashes(&text.text));
                    looked.texts.insert(path, text.text);
                }
                Ok(Some(_)) => {}
                Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
                Err(error) if is_absent(error.code) => {}
                Ok(None) | Err(_) => drop(looked.withheld.insert(path)),
            }
        }
        Ok(looked)
    }
}

/// Whether there is nothing that could be kept back: the name alone is shown, by the linter.
fn is_absent(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::NotFound | ErrorCode::NotAFile | ErrorCode::TooLarge)
}
