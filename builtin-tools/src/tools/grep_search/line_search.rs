//! The search that plugins are granted: that of grep_search, for a host that walks itself.

use std::ops::ControlFlow;

use moss_ranking::FileTypes;
use moss_sdk::context::{TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{TextPattern, VisitOptions, Visited};
use moss_sdk::search::{TextQuery, TextQueryResult};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::hits::Hits;
use super::page::{HitPage, HitView};
use super::pattern::Pattern;
use super::{EXTENT, LIMIT_MAX};
use crate::result_page::PageSize;

/// A visitor that gathers the lines that match.
#[derive(Debug)]
pub struct LineSearch(Hits);

// === impl LineSearch ===

impl LineSearch {
    /// How far one search goes.
    pub const EXTENT: VisitOptions = EXTENT;

    /// Compiles what is searched for.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for what is no regular expression, no file type or no number of lines.
    pub fn compile(query: &TextQuery) -> Result<Self, ToolError> {
        let lines_max = u64::from(query.lines_max);
        if !(1..=LIMIT_MAX).contains(&lines_max) {
            let message = format!("`lines-max` is {lines_max}: it is 1 to {LIMIT_MAX}");
            return Err(ToolError::new(ErrorCode::InvalidArguments, message));
        }
        let pattern = Pattern::compile(&query.pattern, query.case_sensitive, false)?;
        let types = query.file_types.as_deref().map(FileTypes::parse).transpose()?;
        let size = PageSize::asked(query.lines_max as usize);
        let page = HitPage { view: HitView::Matches, offset: 0, size, context_lines: 0 };
        Ok(Self(Hits::new(pattern, types, page)))
    }

    /// What was found on a walk.
    pub fn result(self, visited: &Visited) -> TextQueryResult {
        let Self(hits) = self;
        let is_missing = hits.total > hits.matches.len() as u64;
        TextQueryResult {
            total: hits.total,
            files_matched: hits.files,
            files_searched: visited.files,
            is_truncated: is_missing || hits.is_counted_out || visited.truncated,
            lines: hits.matches.into_iter().map(|hit| hit.into_line()).collect(),
        }
    }
}

impl TextVisitor for LineSearch {
    fn wants(&self, path: &RelPath) -> bool {
        self.0.wants(path)
    }

    fn choice(&self) -> Option<String> {
        self.0.choice()
    }

    fn pattern(&self) -> Option<TextPattern> {
        TextVisitor::pattern(&self.0)
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        self.0.scanner()
    }

    fn findings_max(&self) -> usize {
        self.0.findings_max()
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        self.0.gather(finding)
    }
}
