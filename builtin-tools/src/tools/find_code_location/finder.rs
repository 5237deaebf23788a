//! Finds declarations, uses and lines in the files of a walk.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use moss_ranking::{DeclaredPlace, FileTypes, NameFit, QualifiedName, find_words};
use moss_sdk::RelPath;
use moss_sdk::context::{TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{TextPattern, VisitedText};
use moss_sdk::ranking::{self, PathRank};
use moss_symbols::{Language, Outline, Outliner};

use super::found::{COUNTED_MAX, FileCode, FoundCode};
use super::lined::{LinedText, slice};
use super::location::LocationKind;
use super::query::{PassGoal, QueryPass};

/// Most bytes of files that one look parses, in the order of the walk: beyond it, only what is known to declare a name
/// is looked at.
const PARSED_BYTES_MAX: u64 = 64 << 20;

/// The visitor of one look.
#[derive(Debug)]
pub(super) struct CodeFinding {
    pass: Arc<QueryPass>,
    types: Option<FileTypes>,
    file: Option<RelPath>,
    has_references: bool,
    parsed_bytes: u64,
    /// The last file that had anything.
    last: Option<RelPath>,
    /// The only files that are still looked at, however large they are.
    rest: Option<BTreeSet<RelPath>>,
    pub(super) found: FoundCode,
}

/// Looks at one file after the other on one thread.
struct CodeFinder {
    pass: Arc<QueryPass>,
    has_references: bool,
    outliner: Outliner,
}

/// Whether a language is of data or documents.
fn is_data(language: Language) -> bool {
    matches!(language, Language::Json | Language::Markdown | Language::Toml | Language::Yaml)
}

// === impl CodeFinding ===

impl CodeFinding {
    pub(super) fn new(
        pass: QueryPass,
        types: Option<FileTypes>,
        file: Option<RelPath>,
        has_references: bool,
    ) -> Self {
        Self {
            pass: Arc::new(pass),
            types,
            file,
            has_references,
            parsed_bytes: 0,
            last: None,
            rest: None,
            found: FoundCode::default(),
        }
    }

    /// The name that may be declared in files that were not looked at.
    pub(super) fn missed(&self) -> Option<&QualifiedName> {
        match &self.pass.goal {
            PassGoal::Named(wanted) if self.is_over() => Some(wanted),
            _ => None,
        }
    }

    /// Has the next walk look at some files alone, as far as they come behind the last one. Returns whether any does.
    pub(super) fn resumes_in(&mut self, mut files: BTreeSet<RelPath>) -> bool {
        let last = self.last.as_ref();
        files.retain(|path| last.is_none_or(|last| ranking::compare(path, last).is_gt()));
        let has_any = !files.is_empty();
        self.rest = Some(files);
        has_any
    }

    fn is_over(&self) -> bool {
        self.rest.is_none() && self.parsed_bytes >= PARSED_BYTES_MAX
    }

    /// Whether more of it would not be shown.
    fn is_done(&self) -> bool {
        match self.pass.goal {
            PassGoal::Containing(..) | PassGoal::Code(_) => self.found.is_full(),
            PassGoal::Named(_) | PassGoal::Matching(_) | PassGoal::Around(_) => {
                self.found.total_locations + self.found.total_uses >= COUNTED_MAX
            }
        }
    }
}

impl TextVisitor for CodeFinding {
    fn wants(&self, path: &RelPath) -> bool {
        self.file.as_ref().is_none_or(|file| file == path)
            && self.rest.as_ref().is_none_or(|rest| rest.contains(path))
            && self.types.as_ref().is_none_or(|types| types.admits(path))
    }

    fn choice(&self) -> Option<String> {
        let types = self.types.as_ref().map_or_else(String::new, |types| types.list().to_owned());
        (self.file.is_none() && self.rest.is_none()).then_some(types)
    }

    fn pattern(&self) -> Option<TextPattern> {
        self.pass.pattern.clone()
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(CodeFinder {
            pass: Arc::clone(&self.pass),
            has_references: self.has_references,
            outliner: Outliner::default(),
        })
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let file: FileCode = *finding.downcast().expect("a code finder found it");
        self.parsed_bytes += file.parsed_bytes;
        self.last.clone_from(&file.path);
        self.found.take(file);
        if self.is_over() || self.is_done() {
            self.found.is_cut = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

// === impl CodeFinder ===

impl TextScanner for CodeFinder {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        if !self.pass.may_be_in(file) {
            return None;
        }
        let outline = Language::of_text(file.path.as_str(), file.text)
            .map(|language| self.outliner.outline(language, file.text));
        let is_parsed = outline.is_some();
        let is_code = matches!(&outline, Some(Ok(outline)) if !is_data(outline.language));
        let mut found = match outline {
            Some(Ok(outline)) => self.outlined(file, &outline),
            Some(Err(_)) => FileCode { is_unparsed: true, ..self.unknown(file) },
            None => self.unknown(file),
        };
        found.is_data = !is_code;
        found.path = Some(file.path.clone());
        if is_parsed {
            found.parsed_bytes = file.text.len() as u64;
        }
        Some(Box::new(found))
    }
}

impl CodeFinder {
    /// What a file has that was parsed.
    fn outlined(&self, file: VisitedText<'_>, outline: &Outline) -> FileCode {
        let lined = LinedText::new(file.text);
        let mut found = FileCode { is_incomplete: outline.is_cut, ..FileCode::default() };
        match &self.pass.goal {
            PassGoal::Around(line) => {
                found.lines = Some(file.text.lines().count());
                let around = lined.innermost(outline, *line);
                found.locations.extend(around.map(|at| lined.declared(file.path, outline, at)));
            }
            PassGoal::Code(expression) => {
                lined.code(file.path, expression, Some(outline), &mut found);
            }
            _ => {
                let is_generated = PathRank::of(file.path) == PathRank::Vendored;
                for (place, declaration) in outline.declarations.iter().enumerate() {
                    let (kind, name) = (declaration.kind, slice(file.text, &declaration.name));
                    if !self.pass.wants(kind, name) {
                        continue;
                    }
                    let around = DeclaredPlace::of(file.path, file.text, outline, declaration);
                    let is_entry = LocationKind::from(kind).is_entry();
                    match self.pass.fit(kind, name, &around) {
                        Some(fit) if is_entry && is_generated => {
                            found.generated += u64::from(fit == NameFit::WHOLE);
                        }
                        Some(fit) => {
                            found.declare(fit, || lined.declared(file.path, outline, place));
                        }
                        None => {}
                    }
                }
            }
        }
        found.total_locations = found.total_locations.max(found.locations.len() as u64);
        if self.has_references {
            let of = |name: &str| self.pass.is_use(name);
            let uses = outline.uses.iter().filter(|used| of(slice(file.text, &used.name)));
            for used in uses {
                let line = lined.line_of(used.name.start as usize);
                found.add_use(file.path, line, || lined.used(outline, used));
            }
        }
        found
    }

    /// What a file has of which no grammar is known: lines, and uses without their kinds.
    fn unknown(&self, file: VisitedText<'_>) -> FileCode {
        let lined = LinedText::new(file.text);
        let mut found = FileCode::default();
        match &self.pass.goal {
            PassGoal::Code(expression) => lined.code(file.path, expression, None, &mut found),
            PassGoal::Named(wanted) if self.has_references => {
                for at in find_words(file.text, wanted.written()) {
                    found.add_use(file.path, lined.line_of(at), || lined.used_at(None, at));
                }
                if PathRank::of(file.path) == PathRank::Vendored {
                    found.uses = None;
                    found.generated = std::mem::take(&mut found.total_uses);
                }
            }
            PassGoal::Around(_) => found.lines = Some(file.text.lines().count()),
            _ => {}
        }
        found
    }
}
