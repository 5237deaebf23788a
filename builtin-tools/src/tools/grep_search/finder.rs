//! Searching the text of one file after the other on one thread, whole or part by part.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use grep_searcher::Searcher;
use moss_sdk::RelPath;
use moss_sdk::context::{PartScanner, PartVerdict, ScanPace, TextFinding, TextScanner};
use moss_sdk::file::VisitedText;

use super::found::{FileHits, LOOKED_FOR_MAX, MatchCounter, Show};
use super::page::HitPage;
use super::pattern::Pattern;

/// Searches one file after the other on one thread.
pub(super) struct HitFinder {
    pattern: Pattern,
    page: HitPage,
    showing: Searcher,
    counting: Searcher,
    /// Whether matches are only counted from now on.
    is_full: Arc<AtomicBool>,
}

/// Counts the matches of a text part by part. Where they are to be shown, it only says whether there are any.
struct CountedParts<'a> {
    finder: &'a mut HitFinder,
    total: u64,
}

// === impl HitFinder ===

impl HitFinder {
    /// Makes one for a page of matches.
    pub(super) fn new(pattern: Pattern, page: HitPage, is_full: Arc<AtomicBool>) -> Self {
        let showing = pattern.searcher(Some(page.context_lines));
        let counting = pattern.searcher(None);
        Self { pattern, page, showing, counting, is_full }
    }

    fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Counts the matches of a text, up to so many.
    fn count(&mut self, text: &str, pace: &ScanPace<'_>, max: u64) -> u64 {
        let matcher = self.pattern.in_lines(text, pace);
        matcher.count_lines(text.as_bytes(), max).unwrap_or_else(|| {
            let mut counter = MatchCounter { found: 0, max };
            let searched = self.counting.search_slice(matcher, text.as_bytes(), &mut counter);
            searched.expect("a text in memory can be searched");
            counter.found
        })
    }
}

impl TextScanner for HitFinder {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        self.scan_paced(file, &ScanPace::free())
    }

    fn scan_paced(&mut self, file: VisitedText<'_>, pace: &ScanPace<'_>) -> Option<TextFinding> {
        let found = if self.is_full() {
            FileHits::counted(file.path, self.count(file.text, pace, LOOKED_FOR_MAX))
        } else {
            let matcher = self.pattern.in_lines(file.text, pace);
            let mut show = Show::new(file.path, (matcher, self.pattern.spans_lines), self.page);
            let searched = self.showing.search_slice(matcher, file.text.as_bytes(), &mut show);
            searched.expect("a text in memory can be searched");
            show.into_found()
        };
        if found.total == 0 { None } else { Some(Box::new(found)) }
    }

    fn parts(&mut self) -> Option<Box<dyn PartScanner + '_>> {
        // A match may be in two parts, or only where the text starts.
        if self.pattern.spans_lines || self.pattern.is_anchored {
            return None;
        }
        Some(Box::new(CountedParts { finder: self, total: 0 }))
    }
}

// === impl CountedParts ===

impl PartScanner for CountedParts<'_> {
    fn scan(&mut self, part: &str) -> PartVerdict {
        self.scan_paced(part, &ScanPace::free())
    }

    fn scan_paced(&mut self, part: &str, pace: &ScanPace<'_>) -> PartVerdict {
        if !self.finder.is_full() {
            let has_match = self.finder.count(part, pace, 1) > 0;
            return if has_match { PartVerdict::WantsWhole } else { PartVerdict::More };
        }
        self.total += self.finder.count(part, pace, LOOKED_FOR_MAX - self.total);
        if self.total < LOOKED_FOR_MAX { PartVerdict::More } else { PartVerdict::Settled }
    }

    fn finish(self: Box<Self>, path: &RelPath) -> Option<TextFinding> {
        let Self { total, .. } = *self;
        (total > 0).then(|| Box::new(FileHits::counted(path, total)) as TextFinding)
    }
}
