//! What a tool sees of attached editors: where the person is, what the editor knows of a file, and
//! a reply to a question. Values only; the daemon fills them from its channels to editors.

use serde::Serialize;

use crate::path::RelPath;

/// A position in a text, as in the Language Server Protocol: lines and characters count from 0, a
/// character is a UTF-16 code unit. A lone carriage return ends a line too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// Counts from 0.
    pub line: u32,
    /// The character in it.
    pub character: u32,
}

/// From a position up to, and without, another one that is not before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first character that belongs to it.
    pub start: Position,
    /// The first character that does not belong to it any more.
    pub end: Position,
}

/// Text that comes in place of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// What is replaced; nothing is where `start` and `end` are the same.
    pub span: Span,
    /// The replacement; an empty one removes.
    pub text: String,
}

/// The attached editor that a person used last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorState {
    /// What it calls itself.
    pub editor: String,
    /// What the person looks at; none where no file of the workspace has the focus.
    pub focus: Option<Focus>,
    /// The files that are open in it, in path order.
    pub open: Vec<OpenFile>,
}

/// A file that a person looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Focus {
    /// Path relative to the workspace root.
    pub path: RelPath,
    /// Where the cursor is.
    pub cursor: Position,
    /// What is selected; empty where nothing is.
    pub selection: Span,
    /// What of the file is on the screen, where the editor says so.
    pub visible: Option<Span>,
    /// What compilers and linters say of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file that is open in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    /// Path relative to the workspace root.
    pub path: RelPath,
    /// Whether the editor holds changes of it that are not saved.
    pub unsaved: bool,
}

/// What a compiler or a linter says of a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What the message is about.
    pub span: Span,
    /// How bad it is.
    pub severity: Severity,
    /// For people, as the compiler or linter words it.
    pub message: String,
    /// Who says so, for example `rustc`; may be empty.
    pub source: String,
    /// Its name there, for example `E0308`; may be empty.
    pub code: String,
}

/// How bad a diagnostic is, the worst first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It does not work.
    Error,
    /// It may not work.
    Warning,
    /// Nothing is wrong; it is good to know.
    Information,
    /// Nothing is wrong; it could be written better.
    Hint,
}

/// A symbol of a file. Symbols come in a list, each followed by those inside of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// As the text has it, without what contains it.
    pub name: String,
    /// What it is, in lower case, for example `function`.
    pub kind: String,
    /// All of it, its body included.
    pub span: Span,
    /// Its name in the text.
    pub name_span: Span,
    /// How many symbols it lies in.
    pub depth: usize,
}

/// A location in a file of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Path relative to the workspace root.
    pub path: RelPath,
    /// The range that is referred to, such as a name.
    pub span: Span,
}

/// Where something is defined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Definitions {
    /// The locations in the workspace.
    pub locations: Vec<Location>,
    /// How many more there are outside of the workspace, or where the policy shows no file.
    pub elsewhere: usize,
}

/// What is asked for at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// What the symbol there is.
    Symbol,
    /// What its type is.
    Type,
}

/// A question to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserQuestion {
    /// The question, in the language of the user.
    pub question: String,
    /// Choices; none for a reply in the person's own words.
    pub choices: Vec<String>,
}

/// What became of a question to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserReply {
    /// The person replied in an editor.
    Answered {
        /// In the person's own words, or the choice as it was offered.
        answer: String,
        /// The editor in which it was said.
        editor: String,
    },
    /// The person did not respond in time, or closed the question.
    Unanswered,
    /// The person is being asked too much already.
    Busy,
    /// No editor is attached that could ask.
    NobodyThere,
}
