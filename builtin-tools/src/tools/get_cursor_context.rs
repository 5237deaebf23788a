//! `get_cursor_context`: where the person is in the editor, and what stands there.

mod calls;
mod code;
mod declared;
mod diagnostics;
mod names;

use moss_matching::lines::push_gutter;
use moss_sdk::context::Context;
use moss_sdk::editor::{DefinitionKind, EditorState, Focus, Position, Span, Symbol};
use moss_sdk::editor_lines::EditorLines;
use moss_sdk::file::{Content, Text};
use moss_sdk::{ContentHash, Effect, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::calls::{CallSite, Callee};
use self::code::{EnclosingDeclaration, FocusedCode, ImportedName};
use self::diagnostics::{DiagnosticOutput, diagnostics};

/// Most lines on either side of the cursor.
const LINES_MAX: u32 = 1_000;
/// Most bytes of text of one result, lines and selection each.
const BYTES_MAX: usize = 48_000;
/// Most open files of one result.
const OPEN_MAX: usize = 100;

fn lines_default() -> u32 {
    10
}

fn semantic_default() -> bool {
    true
}

/// Shows where the user is in the editor: the file that has the focus, the cursor, the lines around
/// it, what is selected, the diagnostics of the file, and which files are open and not saved. Lines
/// and columns count from 1; each line of `content` is shown as its number, right-aligned to six
/// columns, a tab, and the line.
///
/// The text is what the user sees, also where it is not saved. With `semanticContext` also the
/// symbols that the cursor lies in, the signature of the function around it, what the file imports, and
/// where the symbol at the cursor is defined. Where no editor is attached, or no file of the workspace
/// has the focus, the result says so. To read another part of a file, use read_file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetCursorContext {
    /// How many lines before the cursor's line to show, up to 1,000. Default: 10.
    #[serde(default = "lines_default")]
    #[schemars(range(min = 0, max = 1000))]
    lines_before: u32,
    /// How many lines after the cursor's line to show, up to 1,000. Default: 10.
    #[serde(default = "lines_default")]
    #[schemars(range(min = 0, max = 1000))]
    lines_after: u32,
    /// Whether to show which symbols the cursor lies in, the function around it, the imports of the file,
    /// and the definition of the symbol at the cursor. Default: true.
    #[serde(default = "semantic_default")]
    semantic_context: bool,
    /// Whether to list where the function around the cursor, or the name at it, is called: found by
    /// the name, in files of the same kind, up to 50 locations. Default: false.
    #[serde(default)]
    include_callers: bool,
    /// Whether to list what the function around the cursor calls, with the definitions, up to 50.
    /// Default: false.
    #[serde(default)]
    include_callees: bool,
}

/// Where the user is.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct GetCursorContextOutput {
    /// Whether an editor is attached.
    attached: bool,
    /// The editor that was used last.
    #[serde(skip_serializing_if = "Option::is_none")]
    editor: Option<String>,
    /// What stands at the cursor; none where no file of the workspace has the focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    focus: Option<FocusedFile>,
    /// The files that are open, by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_files: Vec<OpenFileOutput>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// The file that has the focus, around the cursor.
#[derive(Debug, Serialize, JsonSchema)]
struct FocusedFile {
    /// The file, relative to the workspace root.
    path: String,
    /// Whether it has changes that are not saved.
    unsaved: bool,
    /// The line of the cursor.
    line: u32,
    /// The column of the cursor, in UTF-16 code units, as editors count.
    column: u32,
    /// The lines around the cursor, with their numbers, joined by line feeds.
    content: String,
    /// The first line in `content`; 0 if it is empty.
    start_line: u32,
    /// The last line in `content`; 0 if it is empty.
    end_line: u32,
    /// How many lines the file has; an empty one after the last line end counts where the cursor is in it.
    total_lines: u32,
    /// The hash of the content, saved or not.
    hash: ContentHash,
    /// What is selected; none where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<Selection>,
    /// The lines on the screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    visible: Option<VisibleLines>,
    /// The symbols that the cursor lies in, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<Enclosing>,
    /// The function around the cursor, or what else is declared around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    enclosing: Option<EnclosingDeclaration>,
    /// What the file and the functions and modules around the cursor import, the nearest first, up to 50.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    imports: Vec<ImportedName>,
    /// Where the symbol at the cursor is defined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    definitions: Vec<FileLocation>,
    /// What compilers and linters say of the file, the nearest to the cursor first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<DiagnosticOutput>,
    /// Where it is called, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    callers: Option<Vec<CallSite>>,
    /// Whether there may be more callers than those.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more_callers: bool,
    /// What it calls, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    callees: Option<Vec<Callee>>,
}

/// The selected text, and where it begins and ends.
#[derive(Debug, Serialize, JsonSchema)]
struct Selection {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
    /// The text, up to 48,000 bytes.
    text: String,
}

/// Lines, from 1, both ends included.
#[derive(Debug, Serialize, JsonSchema)]
struct VisibleLines {
    start_line: u32,
    end_line: u32,
}

/// A symbol around the cursor.
#[derive(Debug, Serialize, JsonSchema)]
struct Enclosing {
    name: String,
    /// What it is, such as `function`.
    kind: String,
    start_line: u32,
    end_line: u32,
}

/// A location in a file of the workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileLocation {
    path: String,
    line: u32,
    column: u32,
}

/// A file that is open in the editor.
#[derive(Debug, Serialize, JsonSchema)]
struct OpenFileOutput {
    path: String,
    /// Whether it has changes that are not saved.
    unsaved: bool,
}

impl Tool for GetCursorContext {
    const NAME: &'static str = "get_cursor_context";
    const TITLE: &'static str = "Show the cursor's surroundings";
    const EFFECT: Effect = Effect::Read;
    type Output = GetCursorContextOutput;

    async fn run(self, cx: Context) -> Result<GetCursorContextOutput, ToolError> {
        let Some(EditorState { editor, focus, open }) = cx.editors().state() else {
            let note = "no editor is attached to this workspace: there is no cursor; ask the user \
                        which file is meant, or read files by their paths";
            return Ok(GetCursorContextOutput { note: Some(note.into()), ..Default::default() });
        };
        let left_out = open.len().saturating_sub(OPEN_MAX);
        let open_files = open
            .into_iter()
            .take(OPEN_MAX)
            .map(|file| OpenFileOutput { path: file.path.to_string(), unsaved: file.unsaved })
            .collect();
        let note = match (&focus, left_out) {
            (None, _) => Some("no file of the workspace has the focus".to_owned()),
            (Some(_), 0) => None,
            (Some(_), more) => Some(format!("{more} more files are open")),
        };
        let focus = match focus {
            Some(focus) => Some(self.show(&cx, focus).await?),
            None => None,
        };
        Ok(GetCursorContextOutput { attached: true, editor: Some(editor), focus, open_files, note })
    }
}

// === impl GetCursorContext ===

impl GetCursorContext {
    async fn show(&self, cx: &Context, focus: Focus) -> Result<FocusedFile, ToolError> {
        let snapshot = cx.read(&focus.path).await?;
        let Content::Text(Text { text, .. }) = snapshot.content else {
            let message = format!("{} is not text", focus.path);
            return Err(ToolError::new(moss_sdk::ErrorCode::Binary, message));
        };
        cx.note_read(&focus.path, snapshot.hash);
        let lines = EditorLines::new(&text);
        let cursor = lines.clamped(focus.cursor);
        let (content, start_line, end_line) = self.content(&lines, cursor.line);
        let mut shown = FocusedFile {
            path: focus.path.to_string(),
            unsaved: snapshot.unsaved,
            line: cursor.line + 1,
            column: cursor.character + 1,
            content,
            start_line,
            end_line,
            total_lines: lines.count().max(cursor.line + 1),
            hash: snapshot.hash,
            selection: selection(&lines, focus.selection),
            visible: focus.visible.map(line_range),
            symbols: Vec::new(),
            enclosing: None,
            imports: Vec::new(),
            definitions: Vec::new(),
            diagnostics: diagnostics(focus.diagnostics, cursor),
            callers: None,
            more_callers: false,
            callees: None,
        };
        if self.semantic_context || self.include_callers || self.include_callees {
            let code = FocusedCode::read(cx, &focus.path, &text, &lines).await?;
            self.add_code(cx, &focus.path, (&lines, cursor), code.as_ref(), &mut shown).await?;
        }
        Ok(shown)
    }

    /// Adds what the editor and the grammar know of the code around the cursor.
    async fn add_code(
        &self,
        cx: &Context,
        path: &RelPath,
        (lines, cursor): (&EditorLines<'_>, Position),
        code: Option<&FocusedCode<'_>>,
        shown: &mut FocusedFile,
    ) -> Result<(), ToolError> {
        let symbols = cx.editors().symbols(path).await.unwrap_or_default();
        let holding = names::holding(symbols, cursor);
        let called = |symbol: &&Symbol| names::is_called(&symbol.kind);
        let around = holding.iter().rev().find(called).cloned();
        shown.symbols = holding.into_iter().map(Enclosing::from).collect();
        let at_cursor = names::at(lines.line(cursor.line), cursor.character);
        if self.semantic_context {
            if let Some(code) = code {
                shown.enclosing = code.enclosing(cursor);
                shown.imports = code.imports(cursor);
                if shown.symbols.is_empty() {
                    shown.symbols = code.chain(cursor);
                }
            }
            if let Some(name) = at_cursor {
                shown.definitions = definitions(cx, path, cursor).await;
                if shown.definitions.is_empty() {
                    let mut found = declared::find(cx, path, vec![name.to_owned()]).await?;
                    shown.definitions = found.remove(name).unwrap_or_default();
                }
            }
        }
        let function = || code.and_then(|code| code.function(cursor));
        if self.include_callers {
            let name = || around.as_ref().map(|symbol| names::plain(&symbol.name));
            let (callers, has_more) = match function().or_else(name).or(at_cursor) {
                Some(name) => calls::callers(cx, path, name).await?,
                None => (Vec::new(), false),
            };
            (shown.callers, shown.more_callers) = (Some(callers), has_more);
        }
        if self.include_callees {
            let called = code.and_then(|code| code.called(cursor)).unwrap_or_else(|| {
                let span = around.map_or(Span { start: cursor, end: cursor }, |symbol| symbol.span);
                calls::seemingly_called(lines, span)
            });
            shown.callees = Some(calls::callees(cx, path, called, code).await?);
        }
        Ok(())
    }

    /// The lines around the cursor, and the first and the last of them, from 1.
    fn content(&self, lines: &EditorLines<'_>, cursor: u32) -> (String, u32, u32) {
        if lines.count() == 0 {
            return (String::new(), 0, 0);
        }
        let start = cursor.saturating_sub(self.lines_before.min(LINES_MAX));
        let end = (cursor + self.lines_after.min(LINES_MAX)).min(lines.count() - 1).max(cursor);
        let mut content = String::new();
        let mut last = start;
        for number in start..=end {
            let line = lines.line(number);
            if number > start && content.len() + line.len() > BYTES_MAX {
                break;
            }
            if number > start {
                content.push('\n');
            }
            push_gutter(&mut content, u64::from(number) + 1);
            content.push_str(&line[..line.floor_char_boundary(BYTES_MAX)]);
            last = number;
        }
        (content, start + 1, last + 1)
    }
}

async fn definitions(cx: &Context, path: &RelPath, position: Position) -> Vec<FileLocation> {
    let found = cx.editors().definitions(path, position, DefinitionKind::Symbol).await;
    let places = found.unwrap_or_default().locations.into_iter();
    places.map(|location| FileLocation::new(&location.path, location.span.start)).collect()
}

fn selection(lines: &EditorLines<'_>, span: Span) -> Option<Selection> {
    let (start, end) = (lines.clamped(span.start), lines.clamped(span.end));
    let text = lines.between(start, end);
    (!text.is_empty()).then(|| Selection {
        start_line: start.line + 1,
        start_column: start.character + 1,
        end_line: end.line + 1,
        end_column: end.character + 1,
        text: text[..text.floor_char_boundary(BYTES_MAX)].to_owned(),
    })
}

fn line_range(span: Span) -> VisibleLines {
    VisibleLines { start_line: span.start.line.saturating_add(1), end_line: last_line(span) }
}

/// The last line of a span, from 1: one that ends where a line begins ends with the line before.
fn last_line(span: Span) -> u32 {
    let is_before = span.end.character == 0 && span.end.line > span.start.line;
    span.end.line.saturating_add(1) - u32::from(is_before)
}

// === impl Enclosing ===

impl From<Symbol> for Enclosing {
    fn from(symbol: Symbol) -> Self {
        Self {
            start_line: symbol.span.start.line + 1,
            end_line: last_line(symbol.span),
            name: symbol.name,
            kind: symbol.kind,
        }
    }
}

// === impl FileLocation ===

impl FileLocation {
    fn new(path: &RelPath, position: Position) -> Self {
        Self {
            path: path.to_string(),
            line: position.line.saturating_add(1),
            column: position.character.saturating_add(1),
        }
    }
}

#[cfg(test)]
mod tests;
