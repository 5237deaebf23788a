//! What a search gathers on its way: matches up to a bound, and counts of all.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use moss_ranking::FileTypes;
use moss_sdk::RelPath;
use moss_sdk::context::{TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::TextPattern;

use super::finder::HitFinder;
use super::found::{COUNTED_MAX, FileHits, Hit};
use super::page::{FileCount, HitPage, HitView};
use super::pattern::Pattern;
use crate::result_page::PageRoom;
use crate::wildcards::Wildcards;

/// Most files whose matches wait for those of the files before them: with lines to show, and without.
const WAITING_MAX: usize = 128;
const COUNTS_WAITING_MAX: usize = 1 << 14;

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
    room: PageRoom,
    pub(super) total: u64,
    pub(super) files: u64,
    /// Whether there are more matches than were counted.
    pub(super) is_counted_out: bool,
    /// Whether there is room for more matches: files that are not gathered yet come later, so that
    /// their matches need only be counted once it is used up.
    is_full: Arc<AtomicBool>,
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
            room: PageRoom::new(page.size),
            total: 0,
            files: 0,
            is_counted_out: false,
            // Where no lines are returned, they are only counted.
            is_full: Arc::new(AtomicBool::new(
                page.size.entries_max == 0 || page.view != HitView::Matches,
            )),
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

    /// Takes the matches of a file while there is room.
    fn take(&mut self, shown: Vec<Hit>) {
        for hit in shown {
            if self.passed < self.page.offset {
                self.passed += 1;
                continue;
            }
            if !self.room.takes(&hit) {
                break;
            }
            self.matches.push(hit);
        }
        if !self.room.is_left() {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    /// Takes a file of which only the matches are counted.
    fn take_count(&mut self, path: String, matches: u64) {
        if self.passed < self.page.offset {
            self.passed += 1;
            return;
        }
        let count = FileCount { path, matches: matches.min(COUNTED_MAX) };
        if self.room.takes(&count) {
            self.counts.push(count);
        }
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
        Box::new(HitFinder::new(self.pattern.clone(), self.page, Arc::clone(&self.is_full)))
    }

    fn findings_max(&self) -> usize {
        let shows = !self.is_full.load(Ordering::Relaxed);
        if shows { WAITING_MAX } else { COUNTS_WAITING_MAX }
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let found: FileHits = *finding.downcast().expect("a hit finder found it");
        match self.page.view {
            HitView::Matches => self.take(found.shown),
            HitView::Files | HitView::Counts => self.take_count(found.path, found.total),
        }
        let total = self.total + found.total;
        self.total = total.min(COUNTED_MAX);
        self.is_counted_out = total > COUNTED_MAX;
        self.files += 1;
        if self.is_counted_out { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
