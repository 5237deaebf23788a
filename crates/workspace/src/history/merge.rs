//! One step back where a file has moved on: a three-way merge of lines, or what stands in its way.

use std::ops::Range;

use moss_sdk::file::TextForm;
use similar::{DiffOp, TextDiff, TextMerge};

use crate::diff::SEARCH_TIME_MAX;
use crate::text;

/// Most locations of one conflict that an error lists.
const PLACES_SHOWN_MAX: usize = 8;
/// Most locations of one conflict that programs get.
const LINES_MAX: usize = 64;

/// Why a file cannot be brought a step back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clash {
    /// What became of it.
    pub(super) what: String,
    /// The lines of the present file that this is about.
    pub(super) lines: Vec<Range<usize>>,
}

/// Contents of a file on its way back.
pub(super) struct RevertStep<'a> {
    /// What the entry left.
    pub(super) after: &'a [u8],
    /// What the entry found.
    pub(super) before: &'a [u8],
    /// What the file holds once everything newer is undone.
    pub(super) now: &'a [u8],
    /// What the file holds.
    pub(super) present: &'a [u8],
}

// === impl RevertStep ===

impl RevertStep<'_> {
    /// Brings the way from `after` back to `before` into `now`; what became of the file where that
    /// cannot be.
    pub(super) fn merge(&self) -> Result<Vec<u8>, Clash> {
        let decode = |bytes| {
            text::decode(bytes).map_err(|_| Clash::from("was changed again and is not text"))
        };
        let base = decode(self.after)?;
        let (ours, theirs) = (decode(self.now)?, decode(self.before)?);
        let is_other =
            |form: &TextForm| (&form.encoding, form.bom) != (&ours.form.encoding, ours.form.bom);
        if is_other(&base.form) || is_other(&theirs.form) {
            return Err(Clash::from("was changed again at its encoding"));
        }
        let (base, theirs) = (base.text.as_str(), theirs.text.as_str());
        let merged = TextMerge::from_lines(base, ours.text.as_str(), theirs);
        if merged.is_conflicted() {
            let regions: Vec<_> = merged.conflicts().map(|region| region.ours_range()).collect();
            let mut lines = self.places(&ours.text, &regions);
            let what = format!("was changed again at {}", names(&lines));
            lines.truncate(LINES_MAX);
            return Err(Clash { what, lines });
        }
        text::encode(&merged.to_string(), &ours.form).map_err(|c| {
            let what = format!("was changed again, and its encoding lacks `{}`", c.escape_debug());
            Clash { what, lines: Vec::new() }
        })
    }

    /// Finds lines of `now` in the present file.
    fn places(&self, now: &str, regions: &[Range<usize>]) -> Vec<Range<usize>> {
        let present = text::decode(self.present).map(|text| text.text).unwrap_or_default();
        let diff = TextDiff::configure().timeout(SEARCH_TIME_MAX).diff_lines(&*present, now);
        let mut places: Vec<_> = regions.iter().map(|lines| in_old(diff.ops(), lines)).collect();
        places.dedup();
        places
    }
}

/// The lines before a diff that became the given ones; where there are none, the next.
fn in_old(ops: &[DiffOp], new: &Range<usize>) -> Range<usize> {
    let mut start = None;
    let mut end = 0;
    for op in ops {
        let (olds, news) = (op.old_range(), op.new_range());
        // A location between two lines is in what comes after it.
        let is_place = new.is_empty()
            && (news.contains(&new.start) || news.is_empty() && news.start == new.start);
        let is_touched = is_place || news.start < new.end && new.start < news.end;
        if is_touched {
            let is_equal = matches!(op, DiffOp::Equal { .. });
            let within = |line: usize| olds.start + line.saturating_sub(news.start);
            let first = if is_equal { within(new.start) } else { olds.start };
            let last = if is_equal { within(new.end).min(olds.end) } else { olds.end };
            start.get_or_insert(first);
            end = last;
        }
    }
    let at_end = ops.last().map_or(0, |op| op.old_range().end);
    let start = start.unwrap_or(at_end);
    start..end.max(start)
}

/// Names lines, so many as an error reports.
fn names(places: &[Range<usize>]) -> String {
    let mut named: Vec<String> = places.iter().map(name).collect();
    named.dedup();
    let more = named.len().saturating_sub(PLACES_SHOWN_MAX);
    named.truncate(PLACES_SHOWN_MAX);
    if more > 0 {
        named.push(format!("{more} more locations"));
    }
    named.join(", ")
}

fn name(lines: &Range<usize>) -> String {
    let first = lines.start + 1;
    if lines.end <= first {
        format!("line {first}")
    } else {
        format!("lines {first}-{}", lines.end)
    }
}

// === impl Clash ===

impl From<&str> for Clash {
    fn from(what: &str) -> Self {
        Self { what: what.to_owned(), lines: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(after: &str, before: &str, now: &str, present: &str) -> String {
        let [after, before, now, present] = [after, before, now, present].map(str::as_bytes);
        RevertStep { after, before, now, present }.merge().unwrap_err().what
    }

    #[test]
    fn lines_are_those_of_the_present_file() {
        let (after, before, now) = ("a\nB\nc\n", "a\nb\nc\n", "a\nX\nc\n");
        assert_eq!(places(after, before, now, now), "was changed again at line 2");
        let present = "new\nnew\na\nX\nc\n";
        assert_eq!(places(after, before, now, present), "was changed again at line 4");
        let present = "a\nX\nmore\nc\n";
        assert_eq!(places(after, before, now, present), "was changed again at line 2");
        let present = "a\n1\n2\nc\n";
        assert_eq!(places(after, before, now, present), "was changed again at lines 2-3");
    }

    #[test]
    fn locations_at_the_end_and_between_lines_have_a_number() {
        assert_eq!(places("a\nB\n", "a\nb\n", "a\n", "a\n"), "was changed again at line 2");
        assert_eq!(places("B\na\n", "b\na\n", "a\n", "a\n"), "was changed again at line 1");
        assert_eq!(places("B\n", "b\n", "", "x\n"), "was changed again at line 1");
    }

    #[test]
    fn what_is_no_text_or_has_another_encoding_is_not_merged() {
        assert!(places("a\n", "b\n", "\0", "\0").contains("not text"));
        assert!(places("a\n", "b\n", "\u{feff}c\n", "").contains("encoding"));
    }
}
