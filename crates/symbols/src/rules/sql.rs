//! SQL: what a schema has.

use super::{DeclarationRule, LanguageRules, NOTHING, NameLocation, named, placed};
use crate::outline::DeclarationKind as Kind;

const OBJECT: NameLocation = NameLocation::Child("object_reference");
const DECLARATIONS: &[DeclarationRule] = &[
    placed("create_table", Kind::Struct, OBJECT),
    placed("create_view", Kind::Struct, OBJECT),
    placed("create_materialized_view", Kind::Struct, OBJECT),
    placed("create_type", Kind::Type, OBJECT),
    placed("create_function", Kind::Function, OBJECT),
    placed("create_trigger", Kind::Function, OBJECT),
    placed("create_index", Kind::Variable, NameLocation::Field("column")),
    named("column_definition", Kind::Field),
];

pub(super) const SQL: LanguageRules = LanguageRules {
    declarations: DECLARATIONS,
    calls: &[("invocation", "")],
    members: &[("object_reference", "name")],
    comments: &["comment", "marginalia"],
    ..NOTHING
};
