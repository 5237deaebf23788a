//! Unified diffs, for people and models to read. Nothing is decided by them.

use std::borrow::Cow;
use std::time::Duration;

use moss_sdk::RelPath;
use moss_sdk::file::TextForm;
use similar::{DiffOp, TextDiff};

use crate::text;

/// After this long a shortest diff is no longer sought; a longer one is just as right.
pub(crate) const SEARCH_TIME_MAX: Duration = Duration::from_millis(500);
/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// A diff of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// Hunks in unified form.
    pub text: String,
    /// Number of added lines.
    pub added: usize,
    /// Number of removed lines.
    pub removed: usize,
}

/// One side of a change.
struct DiffSide<'a> {
    bytes: Option<&'a [u8]>,
    /// Its text and how it is stored; none for what is not text.
    text: Option<(String, TextForm)>,
}

/// Compares two contents; none stands for a file that does not exist. Where only one of them is
/// text, all of that is shown.
pub fn between(path: &RelPath, old: Option<&[u8]>, new: Option<&[u8]>) -> Diff {
    let (before, after) = (DiffSide::of(old), DiffSide::of(new));
    if !before.is_shown() && !after.is_shown() {
        let text =
            format!("binary file {path}: {} before, {} after\n", before.size(), after.size());
        return Diff { text, added: 0, removed: 0 };
    }
    let diff =
        TextDiff::configure().timeout(SEARCH_TIME_MAX).diff_lines(before.as_str(), after.as_str());
    let (mut added, mut removed) = (0, 0);
    for op in diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        added += op.new_range().len();
        removed += op.old_range().len();
    }
    let name = |side: char, bytes: Option<&[u8]>| match bytes {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (name('a', old), name('b', new));
    let hunks = diff.unified_diff().context_radius(CONTEXT_LINES).to_string();
    let notes = notes(&before, &after);
    Diff { text: format!("--- {from}\n+++ {to}\n{notes}{hunks}"), added, removed }
}

/// Says what lines do not show.
fn notes(before: &DiffSide<'_>, after: &DiffSide<'_>) -> String {
    let mut notes = String::new();
    for (side, when) in [(before, "before"), (after, "after")] {
        if side.is_binary() {
            notes += &format!("\\ the content {when} is not text: {}\n", side.size());
        }
    }
    if let (Some((_, old)), Some((_, new))) = (&before.text, &after.text)
        && before.bytes.is_some_and(|bytes| !bytes.is_empty())
        && after.bytes.is_some_and(|bytes| !bytes.is_empty())
        && stored_as(old) != stored_as(new)
    {
        notes += &format!("\\ stored as {} before, {} after\n", stored_as(old), stored_as(new));
    }
    notes
}

fn stored_as(form: &TextForm) -> Cow<'_, str> {
    if form.bom {
        format!("{} with a byte-order mark", form.encoding).into()
    } else {
        form.encoding.as_str().into()
    }
}

// === impl DiffSide ===

impl<'a> DiffSide<'a> {
    fn of(bytes: Option<&'a [u8]>) -> Self {
        let text = text::decode(bytes.unwrap_or_default()).ok().map(|text| (text.text, text.form));
        Self { bytes, text }
    }

    fn is_binary(&self) -> bool {
        self.text.is_none()
    }

    /// Whether there is a text to show.
    fn is_shown(&self) -> bool {
        self.bytes.is_some() && self.text.is_some()
    }

    fn as_str(&self) -> &str {
        self.text.as_ref().map_or("", |(text, _)| text)
    }

    fn size(&self) -> String {
        match self.bytes {
            Some(bytes) => format!("{} bytes", bytes.len()),
            None => "nothing".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: Option<&[u8]>, new: Option<&[u8]>) -> Diff {
        between(&RelPath::parse("a").unwrap(), old, new)
    }

    #[test]
    fn the_side_that_is_text_is_shown() {
        let script = b"#!/bin/sh\nrm -rf ~\n";
        let diff = shown(Some(b"\0"), Some(script));
        assert_eq!(
            diff.text,
            "--- a/a\n+++ b/a\n\\ the content before is not text: 1 bytes\n\
             @@ -0,0 +1,2 @@\n+#!/bin/sh\n+rm -rf ~\n"
        );
        assert_eq!((diff.added, diff.removed), (2, 0));
        let diff = shown(Some(script), Some(b"\0\0"));
        assert_eq!(
            diff.text,
            "--- a/a\n+++ b/a\n\\ the content after is not text: 2 bytes\n\
             @@ -1,2 +0,0 @@\n-#!/bin/sh\n-rm -rf ~\n"
        );
        let both = shown(Some(b"\0"), Some(b"\0\0")).text;
        assert_eq!(both, "binary file a: 1 bytes before, 2 bytes after\n");
        assert_eq!(shown(None, Some(b"\0")).text, "binary file a: nothing before, 1 bytes after\n");
        assert_eq!(shown(None, Some(b"")).text, "--- /dev/null\n+++ b/a\n");
    }

    #[test]
    fn another_encoding_is_said() {
        let utf16 = [0xff, 0xfe, b'a', 0, b'\n', 0];
        let text = shown(Some(&utf16), Some(b"a\n")).text;
        let note = "\\ stored as UTF-16LE with a byte-order mark before, UTF-8 after\n";
        assert_eq!(text, format!("--- a/a\n+++ b/a\n{note}"));
        assert_eq!(shown(Some(b"a\n"), Some(b"b\n")).text.matches('\\').count(), 0);
    }
}
