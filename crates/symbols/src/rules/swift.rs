//! Swift.

use super::{DeclarationRule, LanguageRules, NOTHING, NameLocation, named, placed};
use crate::outline::DeclarationKind as Kind;

const VARIABLE: NameLocation = NameLocation::Path(&["pattern", "simple_identifier"]);
const DECLARATIONS: &[DeclarationRule] = &[
    named("class_declaration", Kind::Class),
    named("protocol_declaration", Kind::Interface),
    named("typealias_declaration", Kind::Type),
    named("enum_entry", Kind::Variant),
    named("function_declaration", Kind::Function),
    named("protocol_function_declaration", Kind::Method),
    named("init_declaration", Kind::Method),
    placed("property_declaration", Kind::Variable, VARIABLE),
    placed("protocol_property_declaration", Kind::Field, VARIABLE),
];

pub(super) const SWIFT: LanguageRules = LanguageRules {
    declarations: DECLARATIONS,
    owners: &[("class_declaration", "name")],
    functions: &["lambda_literal", "computed_property"],
    names: &["simple_identifier", "type_identifier"],
    calls: &[("call_expression", "")],
    members: &[("navigation_expression", "suffix"), ("navigation_suffix", "suffix")],
    constructors: &["init"],
    imports: &[("import_declaration", "")],
    comments: &["comment", "multiline_comment"],
    documenting: &["///", "/**"],
    ..NOTHING
};
