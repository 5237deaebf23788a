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
use moss_sdk::path::PATH_BYTES_MAX;
use moss_sdk::search::FoundLine;
use schemars::JsonSchema;
use serde::Serialize;

use super::page::{FileCount, HitPage, HitView};
use super::pattern::Pattern;
use crate::file_types::FileTypes;
use crate::wildcards::Wildcards;

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
    /// The only files that are searched, where not all are.
    wildcards: Option<Wildcards>,
    page: HitPage,
    /// How many matches or files were passed over.
    passed: usize,
    pub(super) matches: Vec<Hit>,
    pub(super) counts: Vec<FileCount>,
    text_bytes: usize,
    pub(super) total: u64,
    pub(super) files: u64,
    /// Whether there is room for more matches: files that are not gathered yet come later, so that
    /// their matches need only be counted once it is used up.
    is_full: Arc<AtomicBool>,
}

/// Searches one file after the other on one thread.
struct HitFinder {
    pattern: Pattern,
    page: HitPage,
    showing: Searcher,
    counting: Searcher,
    is_full: Arc<AtomicBool>,
}

/// The matches of one file: the first ones as they are shown, and how many there are.
#[derive(Debug, Default)]
struct FileHits {
    path: String,
    shown: Vec<(Hit, usize)>,
    text_bytes: usize,
    total: u64,
}

/// Takes the matches of one file while there is room.
struct Show<'a> {
    path: &'a RelPath,
    matcher: &'a RegexMatcher,
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

/// Most bytes that are shown of one file, so that what is passed over takes no room from the rest.
fn bytes_max(page: HitPage, spans_lines: bool) -> usize {
    let text_bytes = if spans_lines { SPAN_BYTES_MAX } else { LINE_BYTES_MAX };
    let hit_bytes = PATH_BYTES_MAX + text_bytes + 2 * page.context_lines * LINE_BYTES_MAX;
    TEXT_BYTES_MAX + page.offset * hit_bytes
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

// === impl Hits ===

impl Hits {
    pub(super) fn new(pattern: Pattern, types: Option<FileTypes>, page: HitPage) -> Self {
        Self {
            pattern,
            types,
            wildcards: None,
            page,
            passed: 0,
            matches: Vec::new(),
            counts: Vec::new(),
            text_bytes: 0,
            total: 0,
            files: 0,
            // Where no lines are returned, they are only counted.
            is_full: Arc::new(AtomicBool::new(page.limit == 0 || page.view != HitView::Matches)),
        }
    }

    /// Searches only files whose paths fit.
    pub(super) fn within(self, wildcards: Wildcards) -> Self {
        Self { wildcards: Some(wildcards), ..self }
    }

    /// How many matches or files there are of what is returned.
    pub(super) fn found(&self) -> u64 {
        if self.page.view == HitView::Matches { self.total } else { self.files }
    }

    /// How many matches or files are returned.
    pub(super) fn shown(&self) -> usize {
        if self.page.view == HitView::Matches { self.matches.len() } else { self.counts.len() }
    }

    fn has_room(&self) -> bool {
        self.matches.len() < self.page.limit && self.text_bytes < TEXT_BYTES_MAX
    }

    /// Takes the matches of a file while there is room.
    fn take(&mut self, shown: Vec<(Hit, usize)>) {
        for (hit, bytes) in shown {
            if self.passed < self.page.offset {
                self.passed += 1;
                continue;
            }
            if !self.has_room() {
                break;
            }
            self.text_bytes += bytes;
            self.matches.push(hit);
        }
        if !self.has_room() {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    /// Takes a file of which only the matches are counted.
    fn take_count(&mut self, path: String, matches: u64) {
        if self.passed < self.page.offset {
            self.passed += 1;
        } else if self.counts.len() < self.page.limit {
            self.counts.push(FileCount { path, matches });
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
            && self.wildcards.as_ref().is_none_or(|wildcards| wildcards.fit(path))
    }

    fn choice(&self) -> Option<String> {
        let types = self.types.as_ref().map_or_else(String::new, |types| types.list().to_owned());
        Some(match &self.wildcards {
            // Quoted, they are no list of types.
            Some(wildcards) => format!("{types:?} {:?}", wildcards.text()),
            None => types,
        })
    }

    fn pattern(&self) -> Option<TextPattern> {
        Some(self.pattern.source.clone())
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(HitFinder {
            showing: self.pattern.searcher(Some(self.page.context_lines)),
            counting: self.pattern.searcher(None),
            pattern: self.pattern.clone(),
            page: self.page,
            is_full: Arc::clone(&self.is_full),
        })
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let found: FileHits = *finding.downcast().expect("a hit finder found it");
        match self.page.view {
            HitView::Matches => self.take(found.shown),
            HitView::Files | HitView::Counts => self.take_count(found.path, found.total),
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
            let path = file.path.to_string();
            searched.map(|()| FileHits { path, total: counter.0, ..FileHits::default() })
        } else {
            let mut show = Show {
                path: file.path,
                matcher,
                spans_lines: *spans_lines,
                hits_max: self.page.offset + self.page.limit,
                bytes_max: bytes_max(self.page, *spans_lines),
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
