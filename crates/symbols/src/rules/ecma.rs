//! JavaScript and TypeScript.

use super::{
    DeclarationRule, LanguageRules, NOTHING, NameLocation, named, parameter, placed, within,
};
use crate::outline::DeclarationKind as Kind;

const JAVASCRIPT_DECLARATIONS: &[DeclarationRule] = &[
    named("function_declaration", Kind::Function),
    named("generator_function_declaration", Kind::Function),
    named("class_declaration", Kind::Class),
    named("method_definition", Kind::Method),
    named("variable_declarator", Kind::Variable),
    placed("field_definition", Kind::Field, NameLocation::Field("property")),
    // Of functions and classes alone: `exports.find = function () {}`, `{ find: () => {} }`.
    placed("assignment_expression", Kind::Function, NameLocation::Field("left")),
    placed("pair", Kind::Method, NameLocation::Field("key")),
    named("function_expression", Kind::Function),
    named("generator_function", Kind::Function),
    named("class", Kind::Class),
];
const TYPESCRIPT_DECLARATIONS: &[DeclarationRule] = &[
    named("function_declaration", Kind::Function),
    named("generator_function_declaration", Kind::Function),
    named("function_signature", Kind::Function),
    named("class_declaration", Kind::Class),
    named("abstract_class_declaration", Kind::Class),
    named("method_definition", Kind::Method),
    named("method_signature", Kind::Method),
    named("abstract_method_signature", Kind::Method),
    named("variable_declarator", Kind::Variable),
    named("public_field_definition", Kind::Field),
    named("property_signature", Kind::Field),
    // Of those with a modifier alone: `constructor(private readonly store: Store)`.
    parameter("required_parameter", "pattern"),
    parameter("optional_parameter", "pattern"),
    named("interface_declaration", Kind::Interface),
    named("type_alias_declaration", Kind::Type),
    named("enum_declaration", Kind::Enum),
    named("enum_assignment", Kind::Variant),
    within("enum_body", "property_identifier", Kind::Variant, NameLocation::Itself),
    within("enum_body", "string", Kind::Variant, NameLocation::Itself),
    named("internal_module", Kind::Module),
    named("module", Kind::Module),
    // Of functions and classes alone: `exports.find = function () {}`, `{ find: () => {} }`.
    placed("assignment_expression", Kind::Function, NameLocation::Field("left")),
    placed("pair", Kind::Method, NameLocation::Field("key")),
    named("function_expression", Kind::Function),
    named("generator_function", Kind::Function),
    named("class", Kind::Class),
];

pub(super) const JAVASCRIPT: LanguageRules = LanguageRules {
    declarations: JAVASCRIPT_DECLARATIONS,
    // Methods may have names that are computed.
    functions: &[
        "arrow_function",
        "function_expression",
        "generator_function",
        "method_definition",
        "class_static_block",
    ],
    types: &["class"],
    names: &[
        "identifier",
        "property_identifier",
        "type_identifier",
        "shorthand_property_identifier",
        "private_property_identifier",
    ],
    calls: &[
        ("call_expression", "function"),
        ("new_expression", "constructor"),
        ("jsx_opening_element", "name"),
        ("jsx_self_closing_element", "name"),
    ],
    members: &[("member_expression", "property")],
    constructors: &["constructor"],
    imports: &[("import_statement", "source")],
    wrappers: &[
        "export_statement",
        "lexical_declaration",
        "variable_declaration",
        "ambient_declaration",
    ],
    attributes: &["decorator"],
    ..NOTHING
};

pub(super) const TYPESCRIPT: LanguageRules =
    LanguageRules { declarations: TYPESCRIPT_DECLARATIONS, ..JAVASCRIPT };
