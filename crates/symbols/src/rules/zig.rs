//! Zig.

use super::{DeclarationRule, LanguageRules, NOTHING, NameLocation, named, placed};
use crate::outline::DeclarationKind as Kind;

const DECLARATIONS: &[DeclarationRule] = &[
    placed("variable_declaration", Kind::Variable, NameLocation::Child("identifier")),
    named("function_declaration", Kind::Function),
    named("container_field", Kind::Field),
    placed("test_declaration", Kind::Function, NameLocation::Path(&["string", "string_content"])),
];

pub(super) const ZIG: LanguageRules = LanguageRules {
    declarations: DECLARATIONS,
    calls: &[("call_expression", "function")],
    members: &[("field_expression", "member")],
    documenting: &["///"],
    ..NOTHING
};
