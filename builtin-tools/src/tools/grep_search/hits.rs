//! What a search gathers on its way: matches up to a bound, and counts of all.

use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};
use moss_sdk::RelPath;
use moss_sdk::context::{TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{TextPattern, VisitedText};
use moss_sdk::search::FoundLine;
use schemars::JsonSchema;
use serde::Serialize;

use super::pattern::Pattern;
use crate::file_types::FileTypes;

/// Lines shown before and after a match.
const CONTEXT_LINES: usize = 2;
/// Most bytes shown of one line.
const LINE_BYTES_MAX: usize = 500;
/// So much of a long line is shown before its match.
const LEAD_BYTES: usize = 100;
/// Most bytes shown of a match over several lines.
const SPAN_BYTES_MAX: usize = 4_000;
/// Most bytes shown over all matches.
const TEXT_BYTES_MAX: usize = 200_000;
/// Matches are counted up to here.
pub(crate) const COUNTED_MAX: u64 = 100_000;

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

/// The visitor of a search.
#[derive(Debug)]
pub(super) struct Hits {
    pattern: Pattern,
    types: Option<FileTypes>,
    limit: usize,
    pub(super) matches: Vec<Hit>,
    text_bytes: usize,
    pub(super) total: u64,
    pub(super) files: u64,
    /// Whether there is room for more matches: files that are not gathered yet come later, so that
    /// their matches need only be counted once there is none.
    is_full: Arc<AtomicBool>,
}

/// Searches one file after the other on one thread.
struct HitFinder {
    pattern: Pattern,
    limit: usize,
    showing: Searcher,
    counting: Searcher,
    is_full: Arc<AtomicBool>,
}

/// The matches of one file: the first ones as they are shown, and how many there are.
#[derive(Debug, Default)]
struct FileHits {
    shown: Vec<(Hit, usize)>,
    text_bytes: usize,
    total: u64,
}

/// Takes the matches of one file while there is room.
struct Show<'a> {
    path: &'a RelPath,
    matcher: &'a RegexMatcher,
    spans_lines: bool,
    limit: usize,
    found: FileHits,
    /// Lines of context whose match has not come yet.
    before: Vec<String>,
    /// Whether lines of context belong to the last match that was taken.
    is_after: bool,
}

/// Counts the matches of one file.
struct MatchCounter(u64);

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

fn without_line_end(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text))
}

/// The texts that are searched are UTF-8, and so are their lines.
fn line(bytes: &[u8]) -> &str {
    without_line_end(std::str::from_utf8(bytes).unwrap_or_default())
}

fn has_room(limit: usize, matches: usize, text_bytes: usize) -> bool {
    matches < limit && text_bytes < TEXT_BYTES_MAX
}

// === impl Hit ===

impl Hit {
    /// The line alone, without those around it.
    pub(super) fn into_line(self) -> FoundLine {
        let Self { path, line: number, column, text, .. } = self;
        FoundLine { path, number, column, text }
    }
}

// === impl Hits ===

impl Hits {
    pub(super) fn new(pattern: Pattern, types: Option<FileTypes>, limit: usize) -> Self {
        Self {
            pattern,
            types,
            limit,
            matches: Vec::new(),
            text_bytes: 0,
            total: 0,
            files: 0,
            is_full: Arc::new(AtomicBool::new(limit == 0)),
        }
    }

    /// Whether there may be more matches than were counted.
    pub(super) fn is_counted_out(&self) -> bool {
        self.total >= COUNTED_MAX
    }
}

impl TextVisitor for Hits {
    fn wants(&self, path: &RelPath) -> bool {
        self.types.as_ref().is_none_or(|types| types.admits(path))
    }

    fn choice(&self) -> Option<String> {
        Some(self.types.as_ref().map_or_else(String::new, |types| types.list().to_owned()))
    }

    fn pattern(&self) -> Option<TextPattern> {
        Some(self.pattern.source.clone())
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(HitFinder {
            showing: self.pattern.searcher(CONTEXT_LINES),
            counting: self.pattern.searcher(0),
            pattern: self.pattern.clone(),
            limit: self.limit,
            is_full: Arc::clone(&self.is_full),
        })
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let found: FileHits = *finding.downcast().expect("a hit finder found it");
        for (hit, bytes) in found.shown {
            if !has_room(self.limit, self.matches.len(), self.text_bytes) {
                break;
            }
            self.text_bytes += bytes;
            self.matches.push(hit);
        }
        if !has_room(self.limit, self.matches.len(), self.text_bytes) {
            self.is_full.store(true, Ordering::Relaxed);
        }
        self.total = COUNTED_MAX.min(self.total + found.total);
        self.files += 1;
        if self.is_counted_out() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

// === impl HitFinder ===

impl TextScanner for HitFinder {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        let Pattern { matcher, spans_lines, .. } = &self.pattern;
        let text = file.text.as_bytes();
        let searched = if self.is_full.load(Ordering::Relaxed) {
            let mut counter = MatchCounter(0);
            let searched = self.counting.search_slice(matcher, text, &mut counter);
            searched.map(|()| FileHits { total: counter.0, ..FileHits::default() })
        } else {
            let mut show = Show {
                path: file.path,
                matcher,
                spans_lines: *spans_lines,
                limit: self.limit,
                found: FileHits::default(),
                before: Vec::new(),
                is_after: false,
            };
            let searched = self.showing.search_slice(matcher, text, &mut show);
            searched.map(|()| show.found)
        };
        let found = searched.expect("a text in memory can be searched");
        if found.total == 0 { None } else { Some(Box::new(found)) }
    }
}

// === impl Show ===

impl Show<'_> {
    fn has_room(&self) -> bool {
        has_room(self.limit, self.found.shown.len(), self.found.text_bytes)
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
        let found = if self.spans_lines {
            let found = self.matcher.find_at(&buffer[..lines.end], lines.start);
            found.map(|found| found.map(|found| found.start() - lines.start))
        } else {
            self.matcher.find(&buffer[lines]).map(|found| found.map(|found| found.start()))
        };
        found.ok().flatten().unwrap_or_default()
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
            let bytes = hit.path.len() + hit.text.len() + before;
            self.found.text_bytes += bytes;
            self.found.shown.push((hit, bytes));
        }
        self.before.clear();
        Ok(self.found.total < COUNTED_MAX)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if !self.has_room() && !self.is_after {
            return Ok(true);
        }
        let (text, _) = cut(line(context.bytes()), 0, LINE_BYTES_MAX);
        match (context.kind(), self.found.shown.last_mut()) {
            (SinkContextKind::Before, _) => self.before.push(text),
            (SinkContextKind::After, Some((hit, bytes))) if self.is_after => {
                *bytes += text.len();
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

// === impl MatchCounter ===

impl Sink for MatchCounter {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.0 += 1;
        Ok(self.0 < COUNTED_MAX)
    }
}
