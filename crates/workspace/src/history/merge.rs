//! One step back where a file has moved on: a three-way merge of lines, or what stands in its way.

use std::ops::Range;
use std::time::Instant;

use moss_merge::{Cancelled, LineMerge, MergeConflict, merge_bytes, merge_lines, positions};
use moss_sdk::RelPath;
use moss_sdk::file::TextForm;

use super::load::UndoLoad;
use crate::error::Error;
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

/// Why a step cannot be undone.
#[derive(Debug)]
pub(super) enum UndoStop {
    Conflict(Clash),
    Failed(Error),
}

/// Contents of a file on its way back.
pub(super) struct RevertStep<'a> {
    /// The file, for errors.
    pub(super) path: &'a RelPath,
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
    pub(super) fn merge(&self, load: &UndoLoad<'_>) -> Result<Vec<u8>, UndoStop> {
        load.check_time(self.path)?;
        let started = Instant::now();
        let merged = self.merge_untimed(load);
        load.spend(started.elapsed());
        merged
    }

    fn merge_untimed(&self, load: &UndoLoad<'_>) -> Result<Vec<u8>, UndoStop> {
        let decode = |bytes| {
            text::decode(bytes).map_err(|_| Clash::from("was changed again and is not text"))
        };
        let raw = [self.after, self.before, self.now, self.present].map(<[u8]>::len);
        let raw: usize = raw.iter().sum();
        load.hold(raw.saturating_mul(2))?;
        let base = decode(self.after)?;
        let (ours, theirs) = (decode(self.now)?, decode(self.before)?);
        let is_other =
            |form: &TextForm| (&form.encoding, form.bom) != (&ours.form.encoding, ours.form.bom);
        if is_other(&base.form) || is_other(&theirs.form) {
            return Err(Clash::from("was changed again at its encoding").into());
        }
        let texts = [base.text.as_str(), ours.text.as_str(), theirs.text.as_str()];
        let decoded: usize = texts.iter().map(|text| text.len()).sum();
        load.hold(raw.saturating_add(decoded).saturating_add(merge_bytes(texts)))?;
        let [base, now, theirs] = texts;
        match merge_lines(base, now, theirs, load.cancelled()).map_err(cancelled)? {
            LineMerge::Clean(merged) => text::encode(&merged, &ours.form).map_err(|c| {
                let lacks = format!("and its encoding lacks `{}`", c.escape_debug());
                let what = format!("was changed again, {lacks}");
                Clash { what, lines: Vec::new() }.into()
            }),
            LineMerge::Conflict(conflict) => Err(self.clash(now, &conflict, load)?.into()),
        }
    }

    /// Names the lines of the present file at which there is a conflict.
    fn clash(
        &self,
        now: &str,
        conflict: &MergeConflict,
        load: &UndoLoad<'_>,
    ) -> Result<Clash, UndoStop> {
        let present = text::decode(self.present).map(|text| text.text).unwrap_or_default();
        let places = positions(&present, now, &conflict.ours, load.cancelled());
        let mut lines = places.map_err(cancelled)?;
        lines.dedup();
        let rough = if conflict.is_rough {
            ", compared only roughly because it was changed at so many lines,"
        } else {
            ""
        };
        let what = format!("was changed again at {}{rough}", names(&lines));
        lines.truncate(LINES_MAX);
        Ok(Clash { what, lines })
    }
}

fn cancelled(Cancelled: Cancelled) -> UndoStop {
    UndoStop::Failed(Error::Cancelled)
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

// === impl UndoStop ===

impl From<Error> for UndoStop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Clash> for UndoStop {
    fn from(clash: Clash) -> Self {
        Self::Conflict(clash)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;
    use crate::history::load::UndoBounds;

    fn stop(texts: [&str; 4], bounds: UndoBounds<'_>) -> UndoStop {
        let path = &RelPath::parse("x").unwrap();
        let [after, before, now, present] = texts.map(str::as_bytes);
        let step = RevertStep { path, after, before, now, present };
        step.merge(&UndoLoad::new(bounds)).unwrap_err()
    }

    fn places(after: &str, before: &str, now: &str, present: &str) -> String {
        match stop([after, before, now, present], UndoBounds::default()) {
            UndoStop::Conflict(clash) => clash.what,
            UndoStop::Failed(error) => panic!("{error}"),
        }
    }

    #[test]
    fn merging_ends_where_it_is_cancelled_or_its_time_or_memory_is_used_up() {
        let texts = ["a\nB\n", "a\nb\n", "a\nB\nc\n", "a\nB\nc\n"];
        let cancelled = UndoBounds { cancelled: &|| true, ..UndoBounds::default() };
        assert!(matches!(stop(texts, cancelled), UndoStop::Failed(Error::Cancelled)));
        let late = UndoBounds { merging_max: Duration::ZERO, ..UndoBounds::default() };
        assert!(matches!(stop(texts, late), UndoStop::Failed(Error::MergeTime { .. })));
        // The contents, as bytes and as text, and then the lines as well.
        for (bytes_max, asked) in [(0, vec![40]), (40, vec![40, 34 + 10 * 64 + 6])] {
            let held = Cell::new(Vec::new());
            let hold = |bytes| {
                let mut all = held.take();
                all.push(bytes);
                held.set(all);
                if bytes > bytes_max { Err(bytes_max) } else { Ok(()) }
            };
            let full = UndoBounds { hold: &hold, ..UndoBounds::default() };
            assert!(matches!(stop(texts, full), UndoStop::Failed(Error::Memory { .. })));
            assert_eq!(held.take(), asked);
        }
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
