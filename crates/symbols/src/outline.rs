//! What a source file declares and uses, as byte ranges of its text.

use std::ops::Range;

use crate::language::Language;

/// Bytes of a text, from its beginning.
pub type TextRange = Range<u32>;

/// What a source file declares and uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The language as which it was read.
    pub language: Language,
    /// What it declares, by where that begins, the outer before the inner.
    pub declarations: Vec<Declaration>,
    /// Which names it uses, by where they stand. The names of its own declarations are not among them.
    pub uses: Vec<NameUse>,
    /// What it imports, by where that stands.
    pub imports: Vec<Import>,
    /// Whether it declares or uses more than that: it has more than is kept of one text, or nests deeper than is looked.
    pub is_cut: bool,
}

/// Something that a file declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Its name in the text.
    pub name: TextRange,
    /// As its language calls it, or what comes closest.
    pub kind: DeclarationKind,
    /// All of it, its body included; what documents it is not.
    pub range: TextRange,
    /// Where it begins with what stands around and right before it: comments, attributes, decorators, `export`.
    pub begin: u32,
    /// The part of it that stands before its body.
    pub signature: TextRange,
    /// What documents it: comments before it, or a text at the beginning of its body.
    pub documentation: Option<TextRange>,
    /// The declaration that it lies in, by its place among those of the file.
    pub container: Option<u32>,
    /// The name of the type that it belongs to, where it does not lie in that: of methods in a Rust
    /// `impl`, behind a Go receiver, or of C++ `Type::method`.
    pub owner: Option<TextRange>,
}

/// What a declaration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeclarationKind {
    /// A function that belongs to no type.
    Function,
    /// A function of a type.
    Method,
    /// A class, of whatever kind its language has.
    Class,
    /// A structure or record.
    Struct,
    /// An enumeration; its values are [`Self::Variant`].
    Enum,
    /// One of the values of an enumeration.
    Variant,
    /// An interface or protocol.
    Interface,
    /// A trait or mixin.
    Trait,
    /// An alias or any other type.
    Type,
    /// A value that its language does not let change.
    Constant,
    /// A value that may be assigned anew.
    Variable,
    /// A field or property.
    Field,
    /// A macro that is defined, not one that is used.
    Macro,
    /// A module, namespace or package.
    Module,
    /// A test that is no function, such as a block with a name.
    Test,
    /// A heading of a document.
    Heading,
    /// A key of a file of data.
    Key,
}

/// A name that a file uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameUse {
    /// The name in the text.
    pub name: TextRange,
    /// How it is used.
    pub kind: UseKind,
    /// The innermost declaration that it lies in, by its place among those of the file.
    pub container: Option<u32>,
}

/// How a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseKind {
    /// It is called as a function or a macro.
    Call,
    /// It stands for a type.
    Type,
    /// It is named in an import.
    Import,
    /// It is used in another way.
    Other,
}

/// Something that a file imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The path or module, without quotes.
    pub path: TextRange,
    /// The statement that imports it, from its first to its last character.
    pub range: TextRange,
}

/// A part of a text that does not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where it is. Of an unclosed bracket, the bracket; otherwise empty where something is missing.
    pub range: TextRange,
    /// What is missing, as the grammar names it; none where something is there that should not be.
    pub missing: Option<String>,
    /// Whether it is an error whatever its grammar knows of the language.
    pub is_sure: bool,
}

// === impl DeclarationKind ===

impl DeclarationKind {
    /// Whether it is called.
    pub const fn is_called(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Macro)
    }

    /// Its word, such as `function`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Variant => "variant",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Type => "type",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Field => "field",
            Self::Macro => "macro",
            Self::Module => "module",
            Self::Test => "test",
            Self::Heading => "heading",
            Self::Key => "key",
        }
    }
}
