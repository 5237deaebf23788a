//! A place in code, as the tool returns it: a declaration, a line, a use.

use moss_sdk::editor::Position;
use moss_symbols::{DeclarationKind, UseKind};
use schemars::JsonSchema;
use serde::Serialize;

/// A declaration or a line.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CodeLocation {
    /// The file, relative to the workspace root.
    pub(super) path: String,
    /// The line of the name, from 1.
    pub(super) line: u64,
    /// Where the name begins in its line, in characters, from 1.
    pub(super) column: u64,
    /// The line that the declaration begins in with its comments, attributes and decorators, where that is before `line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_line: Option<u64>,
    /// The last line of the declaration.
    pub(super) end_line: u64,
    /// Its name; none of a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// A kind of declaration, or that it is a line.
    pub(super) kind: LocationKind,
    /// What it belongs to: a type, a module, or the function around a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) container: Option<String>,
    /// Its signature, or the line; missing where there was no room for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// What documents it, up to 600 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) documentation: Option<String>,
    /// Where the name begins, as editors count.
    #[serde(skip)]
    pub(super) utf16_column: usize,
}

/// What is at a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum LocationKind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    Variant,
    Interface,
    Trait,
    Type,
    Constant,
    Variable,
    Field,
    Macro,
    Module,
    Test,
    Heading,
    Key,
    /// A line of code.
    Line,
    /// What an editor or a language server calls the definition.
    Definition,
}

/// Uses of a name in a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileUses {
    /// The file, relative to the workspace root.
    pub(super) path: String,
    /// The uses, by line: the first of each.
    pub(super) uses: Vec<CodeUse>,
}

/// A use of a name.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CodeUse {
    /// The line, from 1.
    pub(super) line: u64,
    /// Where in the line, in characters, from 1.
    pub(super) column: u64,
    /// How it is used; none where no grammar knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<CodeUseKind>,
    /// The line, without the blanks around it; missing where there was no room for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// The declaration in which it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) container: Option<String>,
}

/// How a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CodeUseKind {
    Call,
    Type,
    Import,
    Other,
}

// === impl CodeLocation ===

impl CodeLocation {
    /// Where the name begins, as editors and language servers count.
    pub(super) fn position(&self) -> Position {
        let line = u32::try_from(self.line - 1).unwrap_or(u32::MAX);
        let character = u32::try_from(self.utf16_column).unwrap_or(u32::MAX);
        Position { line, character }
    }
}

// === impl LocationKind ===

impl LocationKind {
    /// Whether it is an entry of a document or of data, and no code.
    pub(super) fn is_entry(self) -> bool {
        matches!(self, Self::Heading | Self::Key)
    }
}

impl From<DeclarationKind> for LocationKind {
    fn from(kind: DeclarationKind) -> Self {
        match kind {
            DeclarationKind::Function => Self::Function,
            DeclarationKind::Method => Self::Method,
            DeclarationKind::Class => Self::Class,
            DeclarationKind::Struct => Self::Struct,
            DeclarationKind::Enum => Self::Enum,
            DeclarationKind::Variant => Self::Variant,
            DeclarationKind::Interface => Self::Interface,
            DeclarationKind::Trait => Self::Trait,
            DeclarationKind::Type => Self::Type,
            DeclarationKind::Constant => Self::Constant,
            DeclarationKind::Variable => Self::Variable,
            DeclarationKind::Field => Self::Field,
            DeclarationKind::Macro => Self::Macro,
            DeclarationKind::Module => Self::Module,
            DeclarationKind::Test => Self::Test,
            DeclarationKind::Heading => Self::Heading,
            DeclarationKind::Key => Self::Key,
        }
    }
}

// === impl CodeUseKind ===

impl From<UseKind> for CodeUseKind {
    fn from(kind: UseKind) -> Self {
        match kind {
            UseKind::Call => Self::Call,
            UseKind::Type => Self::Type,
            UseKind::Import => Self::Import,
            UseKind::Other => Self::Other,
        }
    }
}
