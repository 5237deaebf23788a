//! Rust.

use super::{DeclarationRule, LanguageRules, NOTHING, named};
use crate::outline::DeclarationKind as Kind;

const DECLARATIONS: &[DeclarationRule] = &[
    named("function_item", Kind::Function),
    named("function_signature_item", Kind::Function),
    named("struct_item", Kind::Struct),
    named("union_item", Kind::Struct),
    named("enum_item", Kind::Enum),
    named("enum_variant", Kind::Variant),
    named("trait_item", Kind::Trait),
    named("type_item", Kind::Type),
    named("associated_type", Kind::Type),
    named("const_item", Kind::Constant),
    named("static_item", Kind::Variable),
    named("field_declaration", Kind::Field),
    named("macro_definition", Kind::Macro),
    named("mod_item", Kind::Module),
];

pub(super) const RUST: LanguageRules = LanguageRules {
    declarations: DECLARATIONS,
    owners: &[("impl_item", "type")],
    functions: &["closure_expression"],
    names: &["identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"],
    calls: &[("call_expression", "function"), ("macro_invocation", "macro")],
    members: &[
        ("field_expression", "field"),
        ("scoped_identifier", "name"),
        ("generic_function", "function"),
    ],
    imports: &[("use_declaration", "argument"), ("extern_crate_declaration", "name")],
    comments: &["line_comment", "block_comment"],
    documenting: &["///", "/**"],
    attributes: &["attribute_item"],
    ..NOTHING
};
