//! Whether files parse: no process, and nobody is asked.

use std::ops::ControlFlow;

use moss_checks::{CheckDiagnostic, syntax_diagnostics};
use moss_sdk::context::{Context, TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{VisitOptions, VisitedText};
use moss_sdk::{RelPath, ToolError};
use moss_symbols::{Language, Outliner};

use super::asked::AskedPath;
use crate::extent;

/// How far one walk goes.
const EXTENT: VisitOptions = VisitOptions { entries_max: extent::VISITED_MAX, bytes_max: 2 << 30 };
/// Most bytes of files that are parsed.
const PARSED_BYTES_MAX: u64 = 64 << 20;
/// Most errors of a walk.
const FOUND_MAX: usize = 2_000;

/// What does not parse.
#[derive(Debug, Default)]
pub(super) struct SyntaxFindings {
    pub(super) found: Vec<CheckDiagnostic>,
    /// How many files were parsed.
    pub(super) files: u64,
    parsed_bytes: u64,
    /// How many files passed a bound of the parser.
    pub(super) unparsed: u64,
    /// Whether a bound ended the walk.
    pub(super) is_cut: bool,
}

/// What one file is.
#[derive(Debug)]
struct ParsedFile {
    /// None where a bound of the parser was passed.
    found: Option<Vec<CheckDiagnostic>>,
    bytes: u64,
}

/// Parses one file after the other on one thread.
#[derive(Default)]
struct SyntaxScanner(Outliner);

/// Parses what was asked about.
pub(super) async fn check(cx: &Context, asked: &AskedPath) -> Result<SyntaxFindings, ToolError> {
    if !asked.target.is_file {
        let (findings, visited) = cx.visit(&asked.path, EXTENT, SyntaxFindings::default()).await?;
        let is_cut = findings.is_cut || visited.truncated;
        return Ok(SyntaxFindings { is_cut, ..findings });
    }
    let Some(text) = asked.text.clone() else { return Ok(SyntaxFindings::default()) };
    let path = asked.target.path.clone();
    let parsed = cx.compute(move || parsed(&mut Outliner::default(), &path, &text)).await?;
    let mut findings = SyntaxFindings::default();
    if let Some(parsed) = parsed {
        findings.take(parsed);
    }
    Ok(findings)
}

/// Parses a text; none where no grammar is known for it.
fn parsed(outliner: &mut Outliner, path: &str, text: &str) -> Option<ParsedFile> {
    let bytes = text.len() as u64;
    match syntax_diagnostics(outliner, path, text) {
        Ok(found) => Some(ParsedFile { found: Some(found?), bytes }),
        Err(_) => Some(ParsedFile { found: None, bytes }),
    }
}

// === impl SyntaxFindings ===

impl SyntaxFindings {
    fn take(&mut self, file: ParsedFile) {
        self.parsed_bytes += file.bytes;
        match file.found {
            Some(found) => {
                self.files += 1;
                let room = FOUND_MAX.saturating_sub(self.found.len());
                self.is_cut |= found.len() > room;
                self.found.extend(found.into_iter().take(room));
            }
            None => self.unparsed += 1,
        }
    }
}

impl TextVisitor for SyntaxFindings {
    fn wants(&self, path: &RelPath) -> bool {
        Language::of_path(path.as_str()).is_some()
    }

    fn choice(&self) -> Option<String> {
        Some("languages with a grammar".to_owned())
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(SyntaxScanner::default())
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        self.take(*finding.downcast().expect("a syntax scanner found it"));
        if self.parsed_bytes >= PARSED_BYTES_MAX || self.found.len() >= FOUND_MAX {
            self.is_cut = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

// === impl SyntaxScanner ===

impl TextScanner for SyntaxScanner {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        let parsed = parsed(&mut self.0, file.path.as_str(), file.text)?;
        Some(Box::new(parsed))
    }
}
