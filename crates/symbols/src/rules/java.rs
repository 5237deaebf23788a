//! Java.

use super::{DeclarationRule, LAST, LanguageRules, NOTHING, named};
use crate::outline::DeclarationKind as Kind;

const DECLARATIONS: &[DeclarationRule] = &[
    named("class_declaration", Kind::Class),
    named("record_declaration", Kind::Class),
    named("interface_declaration", Kind::Interface),
    named("annotation_type_declaration", Kind::Interface),
    named("enum_declaration", Kind::Enum),
    named("enum_constant", Kind::Variant),
    named("method_declaration", Kind::Method),
    named("annotation_type_element_declaration", Kind::Method),
    named("constructor_declaration", Kind::Method),
    named("compact_constructor_declaration", Kind::Method),
    // Those of functions are left out, as variables of functions are.
    named("variable_declarator", Kind::Field),
];

pub(super) const JAVA: LanguageRules = LanguageRules {
    declarations: DECLARATIONS,
    functions: &["lambda_expression", "static_initializer", "block"],
    names: &["identifier", "type_identifier"],
    calls: &[("method_invocation", "name"), ("object_creation_expression", "type")],
    members: &[("generic_type", ""), ("scoped_type_identifier", LAST)],
    imports: &[("import_declaration", "")],
    wrappers: &["field_declaration"],
    comments: &["line_comment", "block_comment"],
    ..NOTHING
};
