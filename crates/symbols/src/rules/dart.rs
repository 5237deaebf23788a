//! Dart.

use super::{DeclarationRule, LanguageRules, NOTHING, NameLocation, named, placed};
use crate::outline::DeclarationKind as Kind;

const DECLARATIONS: &[DeclarationRule] = &[
    named("class_declaration", Kind::Class),
    named("mixin_declaration", Kind::Class),
    named("enum_declaration", Kind::Enum),
    named("enum_entry", Kind::Variant),
    placed("type_alias", Kind::Type, NameLocation::Child("type_identifier")),
    function("function_declaration", &["function_signature", "identifier"]),
    function("function_declaration", &["getter_signature", "identifier"]),
    function("function_declaration", &["setter_signature", "identifier"]),
    method("method_declaration", &["method_signature", "function_signature", "identifier"]),
    method("method_declaration", &["method_signature", "getter_signature", "identifier"]),
    method("method_declaration", &["method_signature", "setter_signature", "identifier"]),
    method("method_declaration", &["method_signature", "constructor_signature", "identifier"]),
    method("declaration", &["function_signature", "identifier"]),
    method("declaration", &["getter_signature", "identifier"]),
    method("declaration", &["setter_signature", "identifier"]),
    method("declaration", &["constructor_signature", "identifier"]),
    named("initialized_identifier", Kind::Variable),
    named("static_final_declaration", Kind::Constant),
];

pub(super) const DART: LanguageRules = LanguageRules {
    declarations: DECLARATIONS,
    owners: &[("extension_declaration", "class")],
    functions: &["function_expression", "block"],
    names: &["identifier", "type_identifier"],
    calls: &[
        ("call_expression", "function"),
        ("new_expression", "type"),
        ("const_object_expression", "type"),
        ("constructor_invocation", "type"),
    ],
    members: &[("member_expression", "property"), ("type", "")],
    imports: &[("library_import", ""), ("library_export", "")],
    comments: &["comment", "documentation_comment"],
    ..NOTHING
};

const fn function(node: &'static str, path: &'static [&'static str]) -> DeclarationRule {
    placed(node, Kind::Function, NameLocation::Path(path))
}

const fn method(node: &'static str, path: &'static [&'static str]) -> DeclarationRule {
    placed(node, Kind::Method, NameLocation::Path(path))
}
