//! Unified diffs, for people and models to read. Nothing is decided by them.

use std::time::Duration;

use moss_sdk::RelPath;
use similar::{ChangeTag, TextDiff};

use crate::text;

/// After this long a shortest diff is no longer sought; a longer one is just as right.
pub(crate) const SEARCH_TIME_MAX: Duration = Duration::from_millis(500);
/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// A diff of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The diff.
    pub text: String,
    /// Lines that come.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
}

/// Compares two contents; none stands for a file that does not exist.
pub fn between(path: &RelPath, old: Option<&[u8]>, new: Option<&[u8]>) -> Diff {
    let decode = |bytes: Option<&[u8]>| text::decode(bytes.unwrap_or_default()).ok();
    let (Some(before), Some(after)) = (decode(old), decode(new)) else {
        return unreadable(path, old, new);
    };
    let diff = TextDiff::configure()
        .timeout(SEARCH_TIME_MAX)
        .diff_lines(before.text.as_str(), after.text.as_str());
    let (mut added, mut removed) = (0, 0);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => added += 1,
            ChangeTag::Delete => removed += 1,
            ChangeTag::Equal => {}
        }
    }
    let name = |side: char, bytes: Option<&[u8]>| match bytes {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (name('a', old), name('b', new));
    let mut text = diff.unified_diff().context_radius(CONTEXT_LINES).header(&from, &to).to_string();
    if text.is_empty() {
        // An empty file comes or goes, or only the encoding differs: there are no lines to show.
        text = format!("--- {from}\n+++ {to}\n");
    }
    Diff { text, added, removed }
}

fn unreadable(path: &RelPath, old: Option<&[u8]>, new: Option<&[u8]>) -> Diff {
    let size = |bytes: Option<&[u8]>| match bytes {
        Some(bytes) => format!("{} bytes", bytes.len()),
        None => "nothing".to_owned(),
    };
    let text = format!("binary file {path}: {} before, {} after\n", size(old), size(new));
    Diff { text, added: 0, removed: 0 }
}
