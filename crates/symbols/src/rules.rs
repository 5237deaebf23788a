//! What the nodes of each grammar mean: which declare, name, call and import. Data; `walk` reads it.

mod c;
#[cfg(feature = "lang-extra")]
mod c_sharp;
#[cfg(feature = "lang-extra")]
mod dart;
mod data;
mod dynamic;
mod ecma;
#[cfg(feature = "lang-extra")]
mod functional;
mod go;
mod java;
#[cfg(feature = "lang-extra")]
mod jvm;
pub(crate) mod pragmas;
mod python;
mod rust;
#[cfg(feature = "lang-extra")]
mod sql;
#[cfg(feature = "lang-extra")]
mod swift;
#[cfg(feature = "lang-extra")]
mod zig;

use crate::language::Language;
use crate::outline::DeclarationKind;

/// The last part of a node, where its grammar has no field for it.
pub(crate) const LAST: &str = "the last";

/// What the nodes of a grammar mean.
#[derive(Debug)]
pub(crate) struct LanguageRules {
    pub(crate) declarations: &'static [DeclarationRule],
    /// Nodes that make what lies in them belong to a type, with the field that names it.
    pub(crate) owners: &'static [(&'static str, &'static str)],
    /// Nodes of functions that have no name.
    pub(crate) functions: &'static [&'static str],
    /// Nodes of types that have no name.
    pub(crate) types: &'static [&'static str],
    /// Leaves that are names.
    pub(crate) names: &'static [&'static str],
    /// Such leaves that stand for types.
    pub(crate) type_names: &'static [&'static str],
    /// Nodes that call or create, with the field that says what; a node may have several.
    pub(crate) calls: &'static [(&'static str, &'static str)],
    /// Nodes that name a part of something, with the field of that name, or [`LAST`]: what is called may
    /// be one.
    pub(crate) members: &'static [(&'static str, &'static str)],
    /// Names of methods that are called by the name of their type.
    pub(crate) constructors: &'static [&'static str],
    /// Nodes that import, with the field that says what; empty where that is the whole.
    pub(crate) imports: &'static [(&'static str, &'static str)],
    /// Nodes around a declaration that its comment stands before.
    pub(crate) wrappers: &'static [&'static str],
    pub(crate) comments: &'static [&'static str],
    /// How comments begin that document; any do if empty.
    pub(crate) documenting: &'static [&'static str],
    /// Nodes that may stand between a comment and what it documents.
    pub(crate) attributes: &'static [&'static str],
}

/// A node that declares something.
#[derive(Debug)]
pub(crate) struct DeclarationRule {
    pub(crate) node: &'static str,
    pub(crate) kind: DeclarationKind,
    pub(crate) name: NameLocation,
    /// Only where it has a body.
    pub(crate) needs_body: bool,
    /// Only right within a node of this kind; empty where any will do.
    pub(crate) within: &'static str,
    /// What it belongs to.
    pub(crate) reach: DeclarationReach,
}

/// What a declaration belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeclarationReach {
    /// What it lies in; a value in a function is its own.
    Scope,
    /// What is around the function that it lies in: a parameter that is a field, too.
    Type,
    /// All of the program, wherever it lies.
    Program,
}

/// Where a declaration has its name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NameLocation {
    /// In the child of the node with this field name of the grammar.
    Field(&'static str),
    /// In the innermost of nested declarators, as in C.
    Declarator,
    /// In the first child of this kind.
    Child(&'static str),
    /// In the first part of the first child of this kind.
    Within(&'static str),
    /// In the first child of the first kind, therein in the first of the next, and so on.
    #[cfg(feature = "lang-extra")]
    Path(&'static [&'static str]),
    /// In the first argument of a call that declares: `define('LIMIT', 3)`, `def find(id) when id > 0`.
    Argument,
    /// In each argument of a call that is a symbol or text: `attr_accessor :name, :size`.
    Symbols,
    /// The node is its own name.
    Itself,
}

/// A rule for a node with its name in the field `name`.
pub(crate) const fn named(node: &'static str, kind: DeclarationKind) -> DeclarationRule {
    placed(node, kind, NameLocation::Field("name"))
}

/// A rule for a node with its name elsewhere.
pub(crate) const fn placed(
    node: &'static str,
    kind: DeclarationKind,
    name: NameLocation,
) -> DeclarationRule {
    DeclarationRule {
        node,
        kind,
        name,
        needs_body: false,
        within: "",
        reach: DeclarationReach::Scope,
    }
}

/// A rule for a node that only declares with a body.
pub(crate) const fn bodied(node: &'static str, kind: DeclarationKind) -> DeclarationRule {
    DeclarationRule { needs_body: true, ..named(node, kind) }
}

/// A rule for a node that only declares right within one of another kind.
pub(crate) const fn within(
    around: &'static str,
    node: &'static str,
    kind: DeclarationKind,
    name: NameLocation,
) -> DeclarationRule {
    DeclarationRule { within: around, ..placed(node, kind, name) }
}

/// A rule for a parameter of a constructor that is a field of its type.
pub(crate) const fn parameter(node: &'static str, field: &'static str) -> DeclarationRule {
    let rule = placed(node, DeclarationKind::Field, NameLocation::Field(field));
    DeclarationRule { reach: DeclarationReach::Type, ..rule }
}

/// A rule for a call that defines what all of the program sees, with its name as the first argument.
pub(crate) const fn defining(node: &'static str, kind: DeclarationKind) -> DeclarationRule {
    let rule = placed(node, kind, NameLocation::Argument);
    DeclarationRule { reach: DeclarationReach::Program, ..rule }
}

/// Rules that say nothing: where to begin.
pub(crate) const NOTHING: LanguageRules = LanguageRules {
    declarations: &[],
    owners: &[],
    functions: &[],
    types: &[],
    names: &["identifier"],
    type_names: &["type_identifier"],
    calls: &[],
    members: &[],
    constructors: &[],
    imports: &[],
    wrappers: &[],
    comments: &["comment"],
    documenting: &[],
    attributes: &[],
};

/// Returns what the nodes of a language's grammar mean.
pub(crate) fn rules(language: Language) -> &'static LanguageRules {
    match language {
        Language::Bash => &dynamic::BASH,
        Language::C => &c::C,
        Language::Cpp => &c::CPP,
        Language::Go => &go::GO,
        Language::Java => &java::JAVA,
        Language::JavaScript => &ecma::JAVASCRIPT,
        Language::Json => &data::JSON,
        Language::Lua => &dynamic::LUA,
        Language::Markdown => &data::MARKDOWN,
        Language::Php => &dynamic::PHP,
        Language::Python => &python::PYTHON,
        Language::Ruby => &dynamic::RUBY,
        Language::Rust => &rust::RUST,
        Language::Toml => &data::TOML,
        Language::Tsx | Language::TypeScript => &ecma::TYPESCRIPT,
        Language::Yaml => &data::YAML,
        #[cfg(feature = "lang-extra")]
        Language::CSharp => &c_sharp::C_SHARP,
        #[cfg(feature = "lang-extra")]
        Language::Dart => &dart::DART,
        #[cfg(feature = "lang-extra")]
        Language::Elixir => &functional::ELIXIR,
        #[cfg(feature = "lang-extra")]
        Language::Haskell => &functional::HASKELL,
        #[cfg(feature = "lang-extra")]
        Language::Kotlin => &jvm::KOTLIN,
        #[cfg(feature = "lang-extra")]
        Language::Scala => &jvm::SCALA,
        #[cfg(feature = "lang-extra")]
        Language::Sql => &sql::SQL,
        #[cfg(feature = "lang-extra")]
        Language::Swift => &swift::SWIFT,
        #[cfg(feature = "lang-extra")]
        Language::Zig => &zig::ZIG,
    }
}
