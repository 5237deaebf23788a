//! C and C++.

use super::{DeclarationRule, LanguageRules, NOTHING, NameLocation, bodied, named, placed};
use crate::outline::DeclarationKind as Kind;

const C_DECLARATIONS: &[DeclarationRule] = &[
    placed("function_definition", Kind::Function, NameLocation::Declarator),
    placed("declaration", Kind::Variable, NameLocation::Declarator),
    placed("field_declaration", Kind::Field, NameLocation::Declarator),
    placed("type_definition", Kind::Type, NameLocation::Declarator),
    bodied("struct_specifier", Kind::Struct),
    bodied("union_specifier", Kind::Struct),
    bodied("enum_specifier", Kind::Enum),
    named("enumerator", Kind::Variant),
    named("preproc_def", Kind::Macro),
    named("preproc_function_def", Kind::Macro),
];
const CPP_DECLARATIONS: &[DeclarationRule] = &[
    placed("function_definition", Kind::Function, NameLocation::Declarator),
    placed("declaration", Kind::Variable, NameLocation::Declarator),
    placed("field_declaration", Kind::Field, NameLocation::Declarator),
    placed("type_definition", Kind::Type, NameLocation::Declarator),
    bodied("class_specifier", Kind::Class),
    bodied("struct_specifier", Kind::Struct),
    bodied("union_specifier", Kind::Struct),
    bodied("enum_specifier", Kind::Enum),
    named("enumerator", Kind::Variant),
    named("namespace_definition", Kind::Module),
    named("alias_declaration", Kind::Type),
    named("concept_definition", Kind::Type),
    named("preproc_def", Kind::Macro),
    named("preproc_function_def", Kind::Macro),
];

pub(super) const C: LanguageRules = LanguageRules {
    declarations: C_DECLARATIONS,
    names: &["identifier", "type_identifier", "field_identifier"],
    calls: &[("call_expression", "function")],
    members: &[("field_expression", "field")],
    imports: &[("preproc_include", "path")],
    ..NOTHING
};

pub(super) const CPP: LanguageRules = LanguageRules {
    declarations: CPP_DECLARATIONS,
    functions: &["lambda_expression"],
    names: &["identifier", "type_identifier", "field_identifier", "namespace_identifier"],
    calls: &[
        ("call_expression", "function"),
        ("new_expression", "type"),
        ("compound_literal_expression", "type"),
    ],
    members: &[
        ("field_expression", "field"),
        ("qualified_identifier", "name"),
        ("template_function", "name"),
        ("template_method", "name"),
        ("template_type", "name"),
    ],
    wrappers: &["template_declaration"],
    ..C
};
