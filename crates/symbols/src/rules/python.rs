//! Python.

use super::{DeclarationRule, LanguageRules, NOTHING, NameLocation, named, placed};
use crate::outline::DeclarationKind as Kind;

const DECLARATIONS: &[DeclarationRule] = &[
    named("function_definition", Kind::Function),
    named("class_definition", Kind::Class),
    placed("assignment", Kind::Variable, NameLocation::Field("left")),
    placed("type_alias_statement", Kind::Type, NameLocation::Field("left")),
];

pub(super) const PYTHON: LanguageRules = LanguageRules {
    declarations: DECLARATIONS,
    functions: &["lambda"],
    calls: &[("call", "function")],
    members: &[("attribute", "attribute")],
    constructors: &["__init__", "__new__"],
    imports: &[
        ("import_statement", "name"),
        ("import_from_statement", "module_name"),
        ("future_import_statement", ""),
    ],
    wrappers: &["decorated_definition"],
    attributes: &["decorator"],
    ..NOTHING
};
