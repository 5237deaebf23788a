//! What is found in one file: the matches as they are shown, and how many there are.

use std::io;
use std::ops::Range;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};
use moss_sdk::RelPath;
use moss_sdk::path::PATH_BYTES_MAX;
use moss_sdk::search::FoundLine;
use schemars::JsonSchema;
use serde::Serialize;

use super::page::HitPage;
use super::required::LineMatcher;

/// Most bytes shown of one line.
const LINE_BYTES_MAX: usize = 500;
/// So much of a long line is shown before its match.
const LEAD_BYTES: usize = 100;
/// What the marks of a cut text take.
const MARKS_BYTES: usize = 2 * '…'.len_utf8();
/// Most bytes shown of a match over several lines.
const SPAN_BYTES_MAX: usize = 4_000;
/// Matches are counted up to here.
pub(crate) const COUNTED_MAX: u64 = 100_000;
/// So many are looked for: one more says that there are more.
pub(super) const LOOKED_FOR_MAX: u64 = COUNTED_MAX + 1;

/// A line that matches, or several where the match holds line ends.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hit {
    /// The file, relative to the workspace root.
    path: String,
    /// The line of the match, or its first one, counted from 1.
    line: u64,
    /// Where in the line the first match starts, in characters, counted from 1.
    column: u64,
    /// The line without its line end; of a long one, the part around the match.
    text: String,
    /// Whether something is missing in `text`, which `…` marks.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    /// The lines before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    /// The lines after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

/// The matches of one file: the first ones as they are shown, and how many there are.
#[derive(Debug, Default)]
pub(super) struct FileHits {
    pub(super) path: String,
    pub(super) shown: Vec<Hit>,
    text_bytes: usize,
    pub(super) total: u64,
}

/// Takes the matches of one file while there is room.
pub(super) struct Show<'a> {
    path: &'a RelPath,
    matcher: LineMatcher<'a>,
    spans_lines: bool,
    /// Most matches that may be shown of this file, those that are passed over included.
    hits_max: usize,
    /// Most bytes of them.
    bytes_max: usize,
    found: FileHits,
    /// Lines of context whose match has not come yet.
    before: Vec<String>,
    /// Whether lines of context belong to the last match that was taken.
    is_after: bool,
}

/// Counts matches, up to a bound.
pub(super) struct MatchCounter {
    pub(super) found: u64,
    pub(super) max: u64,
}

/// Cuts a text to a bound, around a location in it; says whether it did.
fn cut(text: &str, place: usize, bytes_max: usize) -> (String, bool) {
    if text.len() <= bytes_max {
        return (text.to_owned(), false);
    }
    let start = place.saturating_sub(LEAD_BYTES).min(text.len() - bytes_max);
    let start = text.floor_char_boundary(start);
    let end = text.floor_char_boundary(start + bytes_max);
    let [before, after] = [start > 0, end < text.len()].map(|is_cut| if is_cut { "…" } else { "" });
    (format!("{before}{}{after}", &text[start..end]), true)
}

/// Most bytes that are shown of one file, so that what is passed over takes no room from the rest. As it is
/// returned it takes more: what is left out here would have no room there.
fn bytes_max(page: HitPage, spans_lines: bool) -> usize {
    let text_bytes = if spans_lines { SPAN_BYTES_MAX } else { LINE_BYTES_MAX } + MARKS_BYTES;
    let context_bytes = 2 * page.context_lines * (LINE_BYTES_MAX + MARKS_BYTES);
    let hit_bytes = PATH_BYTES_MAX + text_bytes + context_bytes;
    page.size.bytes_max + page.offset * hit_bytes
}

fn without_line_end(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text))
}

/// The texts that are searched are UTF-8, and so are their lines.
fn line(bytes: &[u8]) -> &str {
    without_line_end(std::str::from_utf8(bytes).unwrap_or_default())
}

// === impl Hit ===

impl Hit {
    /// The line alone, without those around it.
    pub(super) fn into_line(self) -> FoundLine {
        let Self { path, line: number, column, text, .. } = self;
        FoundLine { path, number, column, text }
    }
}

// === impl FileHits ===

impl FileHits {
    /// The matches of a file of which none is shown.
    pub(super) fn counted(path: &RelPath, total: u64) -> Self {
        Self { path: path.to_string(), total, ..Self::default() }
    }
}

// === impl Show ===

impl<'a> Show<'a> {
    /// Takes matches of a file for a page.
    pub(super) fn new(
        path: &'a RelPath,
        (matcher, spans_lines): (LineMatcher<'a>, bool),
        page: HitPage,
    ) -> Self {
        Self {
            path,
            matcher,
            spans_lines,
            hits_max: page.offset + page.size.entries_max,
            bytes_max: bytes_max(page, spans_lines),
            found: FileHits::default(),
            before: Vec::new(),
            is_after: false,
        }
    }

    /// What it has taken.
    pub(super) fn into_found(self) -> FileHits {
        self.found
    }

    fn has_room(&self) -> bool {
        self.found.shown.len() < self.hits_max && self.found.text_bytes < self.bytes_max
    }

    fn hit(&mut self, found: &SinkMatch<'_>) -> Hit {
        let range = found.bytes_range_in_buffer();
        let bytes = &found.buffer()[range.clone()];
        let text = line(bytes);
        let start = self.start(found.buffer(), range).min(text.len());
        let start = text.floor_char_boundary(start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let bytes_max = if self.spans_lines { SPAN_BYTES_MAX } else { LINE_BYTES_MAX };
        let (shown, is_cut) = cut(text, start, bytes_max);
        Hit {
            path: self.path.to_string(),
            line: found.line_number().unwrap_or_default(),
            column: text[line_start..start].chars().count() as u64 + 1,
            text: shown,
            cut: is_cut,
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        }
    }

    /// Where the first match starts, from the start of the lines that hold it.
    fn start(&self, buffer: &[u8], lines: Range<usize>) -> usize {
        // Within a line, what stands around the line does not count.
        let (text, at) = match self.spans_lines {
            true => (&buffer[..lines.end], lines.start),
            false => (&buffer[lines], 0),
        };
        let found = self.matcher.find_at(text, at).unwrap_or_default();
        found.map_or(0, |found| found.start() - at)
    }
}

impl Sink for Show<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.found.total += 1;
        self.is_after = self.has_room();
        if self.is_after {
            let hit = self.hit(found);
            let before = hit.before.iter().map(String::len).sum::<usize>();
            self.found.text_bytes += hit.path.len() + hit.text.len() + before;
            self.found.shown.push(hit);
        }
        self.before.clear();
        Ok(self.found.total < LOOKED_FOR_MAX)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if !self.has_room() && !self.is_after {
            return Ok(true);
        }
        let (text, _) = cut(line(context.bytes()), 0, LINE_BYTES_MAX);
        match (context.kind(), self.found.shown.last_mut()) {
            (SinkContextKind::Before, _) => self.before.push(text),
            (SinkContextKind::After, Some(hit)) if self.is_after => {
                self.found.text_bytes += text.len();
                hit.after.push(text);
            }
            _ => {}
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.before.clear();
        Ok(true)
    }
}

impl Sink for MatchCounter {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.found += 1;
        Ok(self.found < self.max)
    }
}
