//! Searches without an index: takes what a walk reads, once. Slower, and as right.

use std::ops::ControlFlow;

use moss_sdk::RelPath;
use moss_sdk::code_search::{CodeSearch, CodeSearchFound, FileChoice};
use moss_sdk::context::{TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{VisitOptions, VisitedText};

use crate::analysis::{AnalyzedText, TextAnalyzer};
use crate::ranked::{RankedIndex, RankedView};

/// Most entries of a walk.
const ENTRIES_MAX: usize = 2_000_000;

/// Gathers the words of the files of a walk, to search in.
pub struct CodeGathering {
    index: RankedIndex,
    wants: FileChoice,
}

/// Looks at one file after the other on one thread.
#[derive(Default)]
struct WordScanner(TextAnalyzer);

// === impl CodeGathering ===

impl CodeGathering {
    /// How far one search goes.
    pub const EXTENT: VisitOptions =
        VisitOptions { entries_max: ENTRIES_MAX, bytes_max: 128 << 20 };

    /// Gathers what a question is put to.
    pub fn new(search: &CodeSearch) -> Self {
        Self { index: RankedIndex::default(), wants: search.wants.clone() }
    }

    /// Searches what was gathered.
    pub fn answer(mut self, search: &CodeSearch) -> CodeSearchFound {
        self.index.freeze();
        let view = self.index.view(&RankedView::default(), &mut |_| true);
        let hits = self.index.answer(search, &view, false);
        let incomplete = self.index.count_incomplete(&view, &*search.wants) as u64;
        let files = self.index.len() as u64;
        CodeSearchFound { hits, files, pending: 0, incomplete, ranking: None }
    }
}

impl TextVisitor for CodeGathering {
    fn wants(&self, path: &RelPath) -> bool {
        (self.wants)(path)
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(WordScanner::default())
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let analyzed: AnalyzedText = *finding.downcast().expect("a word scanner found it");
        self.index.put(&analyzed);
        ControlFlow::Continue(())
    }
}

impl TextScanner for WordScanner {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        Some(Box::new(self.0.analyze(file.path, file.text)))
    }
}
