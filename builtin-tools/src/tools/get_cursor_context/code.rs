//! What the grammar of a language says of the file at the cursor: what the cursor lies in, what that calls,
//! what the file imports.

use std::collections::BTreeSet;
use std::ops::Range;

use moss_sdk::context::Context;
use moss_sdk::editor::Position;
use moss_sdk::editor_lines::EditorLines;
use moss_sdk::{RelPath, ToolError};
use moss_symbols::{Declaration, Language, Outline, Outliner, TextRange, UseKind, one_line};
use schemars::JsonSchema;
use serde::Serialize;

use super::Enclosing;

/// Most imports of one result.
const IMPORTS_MAX: usize = 50;
/// Longest signature or import, in bytes.
const LINE_BYTES_MAX: usize = 300;
/// Longest documentation, in bytes.
const DOCUMENTATION_BYTES_MAX: usize = 600;

/// The declaration around the cursor: the function, where there is one.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EnclosingDeclaration {
    pub(super) name: String,
    /// What it is, such as `function`.
    kind: &'static str,
    /// What it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    /// What stands before its body, in one line of up to 300 bytes.
    signature: String,
    /// What documents it, up to 600 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation: Option<String>,
    start_line: u32,
    end_line: u32,
}

/// Something that is imported.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ImportedName {
    line: u32,
    /// The statement, in one line of up to 300 bytes.
    text: String,
}

/// A name where it is called.
pub(super) struct CalledName {
    pub(super) name: String,
    pub(super) position: Position,
}

/// A file whose grammar is known.
pub(super) struct FocusedCode<'a> {
    text: &'a str,
    lines: &'a EditorLines<'a>,
    outline: Outline,
}

/// A part of a text.
pub(super) fn slice<'t>(text: &'t str, range: &TextRange) -> &'t str {
    text.get(range.start as usize..range.end as usize).unwrap_or_default()
}

// === impl FocusedCode ===

impl<'a> FocusedCode<'a> {
    /// Reads a file; none where no grammar knows its language, or it is beyond what one reads.
    pub(super) async fn read(
        cx: &Context,
        path: &RelPath,
        text: &'a str,
        lines: &'a EditorLines<'a>,
    ) -> Result<Option<Self>, ToolError> {
        let Some(language) = Language::of_text(path.as_str(), text) else { return Ok(None) };
        let read = text.to_owned();
        let outline = cx.compute(move || Outliner::default().outline(language, &read).ok()).await?;
        Ok(outline.map(|outline| Self { text, lines, outline }))
    }

    fn extent(declaration: &Declaration) -> Range<usize> {
        declaration.begin as usize..declaration.range.end as usize
    }

    /// The declarations around a position, the outermost first.
    fn holding(&self, position: Position) -> Vec<&Declaration> {
        let at = self.lines.offset(position);
        let holds = |declaration: &&Declaration| {
            let extent = Self::extent(declaration);
            extent.contains(&at) || extent.end == at
        };
        self.outline.declarations.iter().filter(holds).collect()
    }

    /// The function around a position, or what else is declared around it.
    fn around(&self, position: Position) -> Option<&Declaration> {
        let holding = self.holding(position);
        let function = holding.iter().rev().find(|declaration| declaration.kind.is_called());
        function.or(holding.last()).copied()
    }

    /// Describes the function around a position, or what else is declared around it.
    pub(super) fn enclosing(&self, position: Position) -> Option<EnclosingDeclaration> {
        let declaration = self.around(position)?;
        let documentation = declaration.documentation.as_ref();
        let documentation = documentation
            .map(|range| one_line(slice(self.text, range), DOCUMENTATION_BYTES_MAX))
            .filter(|text| !text.is_empty());
        Some(EnclosingDeclaration {
            name: slice(self.text, &declaration.name).to_owned(),
            kind: declaration.kind.as_str(),
            container: self
                .outline
                .owner(declaration)
                .map(|name| slice(self.text, name).to_owned()),
            signature: one_line(slice(self.text, &declaration.signature), LINE_BYTES_MAX),
            documentation,
            start_line: self.line(declaration.range.start as usize),
            end_line: self.line((declaration.range.end as usize).saturating_sub(1)),
        })
    }

    /// The name by which the function around a position is called.
    pub(super) fn function(&self, position: Position) -> Option<&'a str> {
        let around = self.around(position).filter(|around| around.kind.is_called())?;
        Some(slice(self.text, self.outline.called_name(around, self.text)))
    }

    /// The declarations around a position, the outermost first.
    pub(super) fn chain(&self, position: Position) -> Vec<Enclosing> {
        let one = |declaration: &Declaration| Enclosing {
            name: slice(self.text, &declaration.name).to_owned(),
            kind: declaration.kind.as_str().to_owned(),
            start_line: self.line(declaration.range.start as usize),
            end_line: self.line((declaration.range.end as usize).saturating_sub(1)),
        };
        self.holding(position).into_iter().map(one).collect()
    }

    /// What is imported where a position is, the nearest first.
    pub(super) fn imports(&self, position: Position) -> Vec<ImportedName> {
        let at = u32::try_from(self.lines.offset(position)).unwrap_or(u32::MAX);
        let one = |import: &moss_symbols::Import| ImportedName {
            line: self.line(import.range.start as usize),
            text: one_line(slice(self.text, &import.range), LINE_BYTES_MAX),
        };
        let imports = self.outline.imports_at(at).into_iter();
        let mut imports: Vec<ImportedName> = imports.map(one).collect();
        imports.dedup_by(|one, other| (one.line, &one.text) == (other.line, &other.text));
        imports.truncate(IMPORTS_MAX);
        imports
    }

    /// What the function around a position calls: each name once, in the order of the text. None where
    /// there is no function.
    pub(super) fn called(&self, position: Position) -> Option<Vec<CalledName>> {
        let around = self.around(position).filter(|around| around.kind.is_called())?;
        let range = around.range.start..around.range.end;
        let mut seen = BTreeSet::new();
        let uses = self.outline.uses.iter().filter(|used| used.kind == UseKind::Call);
        let inside = uses.filter(|used| range.contains(&used.name.start));
        let named = inside.filter_map(|used| {
            let name = slice(self.text, &used.name);
            let position = self.lines.position(used.name.start as usize);
            seen.insert(name).then(|| CalledName { name: name.to_owned(), position })
        });
        Some(named.collect())
    }

    /// Where the file itself declares a name.
    pub(super) fn declared(&self, name: &str) -> Vec<Position> {
        let declarations = self.outline.declarations.iter();
        let named = declarations.filter(|one| slice(self.text, &one.name) == name);
        named.map(|one| self.lines.position(one.name.start as usize)).collect()
    }

    fn line(&self, at: usize) -> u32 {
        self.lines.position(at).line + 1
    }
}
