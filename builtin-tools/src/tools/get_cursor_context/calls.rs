//! Calls, found by name: where a grammar knows the language as its tree has them, else what looks like
//! `name(`. Where they lead to, the editor says, else what is kept of declarations with that name.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use moss_sdk::context::{Context, TextFinding, TextScanner, TextVisitor};
use moss_sdk::editor::{Position, Span};
use moss_sdk::editor_lines::{EditorLines, character_of};
use moss_sdk::file::{TextPattern, VisitOptions, VisitedText};
use moss_sdk::{RelPath, ToolError};
use moss_symbols::{Language, Outline, Outliner, UseKind, language_family, written_calls};
use schemars::JsonSchema;
use serde::Serialize;

use super::code::{CalledName, FocusedCode, slice};
use super::{FileLocation, declared, definitions};

/// Most calls of one result.
const CALLS_MAX: usize = 50;
/// Most declarations of a name in the file at the cursor that are shown.
const HERE_MAX: usize = 3;
/// Most definitions that the editor is asked for.
const ASKED_MAX: usize = 20;
/// Longest line that is shown, in bytes.
const LINE_BYTES_MAX: usize = 200;
/// Most bytes of files that are parsed for callers, in the order of the walk.
const PARSED_BYTES_MAX: u64 = 64 << 20;
/// How far callers are looked for.
const EXTENT: VisitOptions = VisitOptions { entries_max: 100_000, bytes_max: 256 << 20 };

/// A line that seems to call a function.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallSite {
    path: String,
    line: u32,
    /// The declaration in which it is called, where a grammar knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    /// The line, without the blanks around it, up to 200 bytes.
    text: String,
}

/// A function that seems to be called.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Callee {
    name: String,
    /// Where it is called first.
    line: u32,
    /// Where it is defined, as far as the editor knows, else where something of that name is declared, up
    /// to 3 locations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    definitions: Vec<FileLocation>,
}

/// Gathers calls of a name in files whose languages use names of each other.
struct Callers {
    name: String,
    family: String,
    found: Vec<CallSite>,
    parsed_bytes: u64,
}

/// What one file has.
struct FileCalls {
    found: Vec<CallSite>,
    parsed_bytes: u64,
}

/// Finds the calls of a name in one file: the first ones, in their order.
struct CallFinder {
    name: String,
    outliner: Outliner,
}

/// Where a name seems to be called: source before tests, then by path. Also whether there may be more.
pub(super) async fn callers(
    cx: &Context,
    path: &RelPath,
    name: &str,
) -> Result<(Vec<CallSite>, bool), ToolError> {
    let family = language_family(path.as_str()).to_owned();
    let visitor = Callers { name: name.to_owned(), family, found: Vec::new(), parsed_bytes: 0 };
    let (mut visitor, visited) = cx.visit(&RelPath::root(), EXTENT, visitor).await?;
    let has_more = visited.truncated || visitor.has_enough();
    visitor.found.truncate(CALLS_MAX);
    Ok((visitor.found, has_more))
}

/// What is called around the cursor, in the order of the text, with where that is defined.
pub(super) async fn callees(
    cx: &Context,
    path: &RelPath,
    called: Vec<CalledName>,
    code: Option<&FocusedCode<'_>>,
) -> Result<Vec<Callee>, ToolError> {
    let mut found = Vec::new();
    let mut unknown = Vec::new();
    for CalledName { name, position } in called.into_iter().take(CALLS_MAX) {
        let mut definitions = match found.len() < ASKED_MAX {
            true => definitions(cx, path, position).await,
            false => Vec::new(),
        };
        if let Some(code) = code.filter(|_| definitions.is_empty()) {
            let here = code.declared(&name).into_iter().take(HERE_MAX);
            definitions.extend(here.map(|position| FileLocation::new(path, position)));
        }
        if definitions.is_empty() {
            unknown.push(name.clone());
        }
        found.push(Callee { name, line: position.line + 1, definitions });
    }
    let mut declared = declared::find(cx, path, unknown).await?;
    for callee in found.iter_mut().filter(|callee| callee.definitions.is_empty()) {
        callee.definitions = declared.remove(&callee.name).unwrap_or_default();
    }
    Ok(found)
}

/// What the text of a span seems to call: each name once.
pub(super) fn seemingly_called(lines: &EditorLines<'_>, span: Span) -> Vec<CalledName> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for number in span.start.line..=span.end.line.min(lines.count()) {
        let line = lines.line(number);
        for (at, name) in written_calls(line) {
            let position = Position { line: number, character: character_of(line, at) };
            let is_inside = span.start <= position && position < span.end;
            if is_inside && found.len() < CALLS_MAX && seen.insert(name) {
                found.push(CalledName { name: name.to_owned(), position });
            }
        }
    }
    found
}

impl TextVisitor for Callers {
    fn wants(&self, path: &RelPath) -> bool {
        language_family(path.as_str()) == self.family
    }

    fn pattern(&self) -> Option<TextPattern> {
        let expression = regex::escape(&self.name);
        Some(TextPattern { expression, case_sensitive: true, spans_lines: false })
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(CallFinder { name: self.name.clone(), outliner: Outliner::default() })
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let file: FileCalls = *finding.downcast().expect("a call finder found it");
        self.found.extend(file.found);
        self.parsed_bytes += file.parsed_bytes;
        match self.has_enough() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Callers {
    fn has_enough(&self) -> bool {
        self.found.len() > CALLS_MAX || self.parsed_bytes >= PARSED_BYTES_MAX
    }
}

impl TextScanner for CallFinder {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        if !file.text.contains(&self.name) {
            return None;
        }
        let language = Language::of_text(file.path.as_str(), file.text);
        let outline = language.and_then(|language| self.outliner.outline(language, file.text).ok());
        let found = match outline {
            Some(outline) => self.outlined(file, &outline),
            None => self.by_lines(file),
        };
        let parsed_bytes = language.map_or(0, |_| file.text.len() as u64);
        Some(Box::new(FileCalls { found, parsed_bytes }))
    }
}

impl CallFinder {
    /// The calls that the tree of a file has.
    fn outlined(&self, file: VisitedText<'_>, outline: &Outline) -> Vec<CallSite> {
        let lines = EditorLines::new(file.text);
        let is_call = |used: &&moss_symbols::NameUse| {
            used.kind == UseKind::Call && slice(file.text, &used.name) == self.name
        };
        let site = |used: &moss_symbols::NameUse| {
            let line = lines.position(used.name.start as usize).line;
            let around = used.container.map(|at| &outline.declarations[at as usize].name);
            let container = around.map(|name| slice(file.text, name).to_owned());
            site(file.path, line + 1, lines.line(line), container)
        };
        let mut found: Vec<CallSite> = outline.uses.iter().filter(is_call).map(site).collect();
        found.dedup_by_key(|site| site.line);
        found.truncate(CALLS_MAX + 1);
        found
    }

    /// The lines that seem to have calls.
    fn by_lines(&self, file: VisitedText<'_>) -> Vec<CallSite> {
        let lines = (1..).zip(file.text.lines());
        let calls =
            lines.filter(|(_, line)| written_calls(line).any(|(_, name)| name == self.name));
        let sites = calls.map(|(number, line)| site(file.path, number, line, None));
        sites.take(CALLS_MAX + 1).collect()
    }
}

fn site(path: &RelPath, line: u32, text: &str, container: Option<String>) -> CallSite {
    let text = text.trim();
    let text = text[..text.floor_char_boundary(LINE_BYTES_MAX)].to_owned();
    CallSite { path: path.to_string(), line, container, text }
}
