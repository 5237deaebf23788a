//! Go.

use super::{DeclarationRule, LanguageRules, NOTHING, named};
use crate::outline::DeclarationKind as Kind;

const DECLARATIONS: &[DeclarationRule] = &[
    named("function_declaration", Kind::Function),
    named("method_declaration", Kind::Method),
    named("type_spec", Kind::Type),
    named("type_alias", Kind::Type),
    named("const_spec", Kind::Constant),
    named("var_spec", Kind::Variable),
    named("field_declaration", Kind::Field),
    named("method_elem", Kind::Method),
];

pub(super) const GO: LanguageRules = LanguageRules {
    declarations: DECLARATIONS,
    functions: &["func_literal"],
    names: &["identifier", "type_identifier", "field_identifier", "package_identifier"],
    calls: &[("call_expression", "function")],
    members: &[("selector_expression", "field")],
    imports: &[("import_spec", "path")],
    wrappers: &["type_declaration", "const_declaration", "var_declaration"],
    ..NOTHING
};
