//! Elixir and Haskell.

use super::{DeclarationRule, LAST, LanguageRules, NOTHING, NameLocation, named, placed};
use crate::outline::DeclarationKind as Kind;

const ELIXIR_DECLARATIONS: &[DeclarationRule] =
    &[placed("call", Kind::Function, NameLocation::Argument)];
const HASKELL_DECLARATIONS: &[DeclarationRule] = &[
    named("data_type", Kind::Type),
    named("newtype", Kind::Type),
    named("type_synonym", Kind::Type),
    named("type_family", Kind::Type),
    named("class", Kind::Interface),
    named("prefix", Kind::Variant),
    named("record", Kind::Variant),
    named("newtype_constructor", Kind::Variant),
    placed("field_name", Kind::Field, NameLocation::Child("variable")),
    // The type of a function documents it, so that it stands for all its equations.
    named("signature", Kind::Function),
    named("function", Kind::Function),
    named("bind", Kind::Function),
];

pub(super) const ELIXIR: LanguageRules = LanguageRules {
    declarations: ELIXIR_DECLARATIONS,
    functions: &["anonymous_function"],
    names: &["identifier", "alias"],
    type_names: &["alias"],
    calls: &[("call", "target")],
    members: &[("dot", "right")],
    // Attributes such as `@doc` stand before what they document.
    comments: &["comment", "unary_operator"],
    documenting: &["#", "@doc", "@spec"],
    ..NOTHING
};

pub(super) const HASKELL: LanguageRules = LanguageRules {
    declarations: HASKELL_DECLARATIONS,
    owners: &[("instance", "name")],
    functions: &["match", "lambda"],
    names: &["variable", "name", "constructor"],
    type_names: &["name"],
    calls: &[("apply", "function")],
    members: &[("qualified", LAST)],
    imports: &[("import", "module")],
    comments: &["comment", "haddock"],
    ..NOTHING
};
