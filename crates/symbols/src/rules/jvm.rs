//! Kotlin and Scala.

use super::{DeclarationRule, LAST, LanguageRules, NOTHING, NameLocation, named, placed};
use crate::outline::DeclarationKind as Kind;

const KOTLIN_DECLARATIONS: &[DeclarationRule] = &[
    named("class_declaration", Kind::Class),
    named("object_declaration", Kind::Class),
    placed("enum_entry", Kind::Variant, NameLocation::Child("identifier")),
    placed("type_alias", Kind::Type, NameLocation::Field("type")),
    named("function_declaration", Kind::Function),
    placed(
        "property_declaration",
        Kind::Variable,
        NameLocation::Path(&["variable_declaration", "identifier"]),
    ),
];
const SCALA_DECLARATIONS: &[DeclarationRule] = &[
    named("class_definition", Kind::Class),
    named("object_definition", Kind::Class),
    named("trait_definition", Kind::Trait),
    named("enum_definition", Kind::Enum),
    named("simple_enum_case", Kind::Variant),
    named("full_enum_case", Kind::Variant),
    named("type_definition", Kind::Type),
    named("given_definition", Kind::Variable),
    named("function_definition", Kind::Function),
    named("function_declaration", Kind::Function),
    placed("val_definition", Kind::Variable, NameLocation::Field("pattern")),
    placed("var_definition", Kind::Variable, NameLocation::Field("pattern")),
    named("val_declaration", Kind::Variable),
    named("var_declaration", Kind::Variable),
];

pub(super) const KOTLIN: LanguageRules = LanguageRules {
    declarations: KOTLIN_DECLARATIONS,
    functions: &["lambda_literal", "anonymous_function", "block"],
    calls: &[("call_expression", ""), ("constructor_invocation", "")],
    members: &[("navigation_expression", LAST), ("user_type", LAST)],
    imports: &[("import", "")],
    comments: &["line_comment", "block_comment"],
    ..NOTHING
};

pub(super) const SCALA: LanguageRules = LanguageRules {
    declarations: SCALA_DECLARATIONS,
    functions: &["lambda_expression", "block"],
    names: &["identifier", "type_identifier"],
    calls: &[("call_expression", "function"), ("instance_expression", "")],
    members: &[
        ("field_expression", "field"),
        ("generic_function", "function"),
        ("generic_type", "type"),
        ("stable_type_identifier", LAST),
    ],
    constructors: &["this"],
    imports: &[("import_declaration", "")],
    comments: &["comment", "block_comment"],
    attributes: &["annotation"],
    ..NOTHING
};
