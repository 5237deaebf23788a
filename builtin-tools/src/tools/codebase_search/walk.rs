//! Searches without an index: reads every file once. Slower, and as right.

use std::ops::ControlFlow;

use moss_ranking::{AnalyzedText, RankedIndex, RankedView, TextAnalyzer};
use moss_sdk::code_search::{CodeSearch, CodeSearchFound, FileChoice};
use moss_sdk::context::{Context, TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{VisitOptions, VisitedText};
use moss_sdk::{RelPath, ToolError};

use crate::extent;

/// Gathers the words of the files of a walk, to search in.
pub struct CodeGathering {
    index: RankedIndex,
    wants: FileChoice,
}

/// Looks at one file after the other on one thread.
#[derive(Default)]
struct WordScanner(TextAnalyzer);

/// Reads the files and searches them; also says what was left out.
pub(super) async fn search(
    cx: &Context,
    search: CodeSearch,
) -> Result<(CodeSearchFound, Option<String>), ToolError> {
    let gathering = CodeGathering::new(&search);
    let (gathering, visited) = cx.visit(&RelPath::root(), CodeGathering::EXTENT, gathering).await?;
    let found = cx.compute(move || gathering.answer(&search));
    let note = visited.truncated.then(|| {
        let files = visited.files;
        format!("the search ended at a bound after {files} files: what is in the rest is unknown")
    });
    Ok((found.await?, note))
}

// === impl CodeGathering ===

impl CodeGathering {
    /// How far one search goes.
    pub const EXTENT: VisitOptions =
        VisitOptions { entries_max: extent::VISITED_MAX, bytes_max: 128 << 20 };

    /// Gathers what a question is put to.
    pub fn new(search: &CodeSearch) -> Self {
        Self { index: RankedIndex::default(), wants: search.wants.clone() }
    }

    /// Searches what was gathered.
    pub fn answer(mut self, search: &CodeSearch) -> CodeSearchFound {
        self.index.freeze();
        let view = self.index.view(&RankedView::default(), &mut |_| true);
        let hits = self.index.answer(search, &view, false);
        CodeSearchFound { hits, files: self.index.len() as u64, pending: 0, ranking: None }
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
