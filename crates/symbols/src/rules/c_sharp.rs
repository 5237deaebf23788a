//! C#.

use super::{DeclarationRule, LanguageRules, NOTHING, named};
use crate::outline::DeclarationKind as Kind;

const DECLARATIONS: &[DeclarationRule] = &[
    named("namespace_declaration", Kind::Module),
    named("file_scoped_namespace_declaration", Kind::Module),
    named("class_declaration", Kind::Class),
    named("record_declaration", Kind::Class),
    named("struct_declaration", Kind::Struct),
    named("interface_declaration", Kind::Interface),
    named("enum_declaration", Kind::Enum),
    named("enum_member_declaration", Kind::Variant),
    named("delegate_declaration", Kind::Type),
    named("method_declaration", Kind::Method),
    named("constructor_declaration", Kind::Method),
    named("local_function_statement", Kind::Function),
    named("property_declaration", Kind::Field),
    named("event_declaration", Kind::Field),
    // Those of functions are left out, as variables of functions are.
    named("variable_declarator", Kind::Field),
];

pub(super) const C_SHARP: LanguageRules = LanguageRules {
    declarations: DECLARATIONS,
    functions: &["block", "lambda_expression", "anonymous_method_expression"],
    calls: &[("invocation_expression", "function"), ("object_creation_expression", "type")],
    members: &[
        ("member_access_expression", "name"),
        ("qualified_name", "name"),
        ("conditional_access_expression", ""),
        ("member_binding_expression", "name"),
        ("generic_name", ""),
    ],
    imports: &[("using_directive", "")],
    wrappers: &["field_declaration", "event_field_declaration"],
    attributes: &["attribute_list"],
    ..NOTHING
};
