//! Ruby, PHP, Lua and shell scripts.

use super::{
    DeclarationRule, LanguageRules, NOTHING, NameLocation, defining, named, parameter, placed,
};
use crate::outline::DeclarationKind as Kind;

const RUBY_DECLARATIONS: &[DeclarationRule] = &[
    named("method", Kind::Function),
    named("singleton_method", Kind::Method),
    named("class", Kind::Class),
    named("module", Kind::Module),
    placed("assignment", Kind::Constant, NameLocation::Field("left")),
    named("alias", Kind::Function),
    // Of `alias_method` and `define_method`, then of `attr_accessor` and its like.
    placed("call", Kind::Function, NameLocation::Argument),
    placed("call", Kind::Field, NameLocation::Symbols),
];
const PHP_DECLARATIONS: &[DeclarationRule] = &[
    named("function_definition", Kind::Function),
    named("method_declaration", Kind::Method),
    named("class_declaration", Kind::Class),
    named("interface_declaration", Kind::Interface),
    named("trait_declaration", Kind::Trait),
    named("enum_declaration", Kind::Enum),
    named("enum_case", Kind::Variant),
    named("property_element", Kind::Field),
    parameter("property_promotion_parameter", "name"),
    placed("const_element", Kind::Constant, NameLocation::Child("name")),
    // Of `define` alone.
    defining("function_call_expression", Kind::Constant),
    placed("assignment_expression", Kind::Variable, NameLocation::Field("left")),
    placed("reference_assignment_expression", Kind::Variable, NameLocation::Field("left")),
];
const LUA_DECLARATIONS: &[DeclarationRule] = &[
    named("function_declaration", Kind::Function),
    // Of functions alone: `M.find = function() … end`.
    placed("assignment_statement", Kind::Function, NameLocation::Within("variable_list")),
    named("field", Kind::Function),
];
const BASH_DECLARATIONS: &[DeclarationRule] =
    &[named("function_definition", Kind::Function), named("variable_assignment", Kind::Variable)];

pub(super) const RUBY: LanguageRules = LanguageRules {
    declarations: RUBY_DECLARATIONS,
    names: &["identifier", "constant"],
    type_names: &["constant"],
    calls: &[("call", "method"), ("call", "receiver")],
    members: &[("scope_resolution", "name")],
    constructors: &["initialize"],
    ..NOTHING
};

pub(super) const PHP: LanguageRules = LanguageRules {
    declarations: PHP_DECLARATIONS,
    functions: &["anonymous_function", "arrow_function"],
    types: &["anonymous_class"],
    names: &["name"],
    calls: &[
        ("function_call_expression", "function"),
        ("member_call_expression", "name"),
        ("nullsafe_member_call_expression", "name"),
        ("scoped_call_expression", "name"),
        ("object_creation_expression", ""),
    ],
    members: &[("qualified_name", ""), ("relative_name", "")],
    constructors: &["__construct"],
    imports: &[("namespace_use_declaration", "")],
    attributes: &["attribute_list"],
    ..NOTHING
};

pub(super) const LUA: LanguageRules = LanguageRules {
    declarations: LUA_DECLARATIONS,
    functions: &["function_definition"],
    calls: &[("function_call", "name")],
    members: &[("dot_index_expression", "field"), ("method_index_expression", "method")],
    ..NOTHING
};

pub(super) const BASH: LanguageRules = LanguageRules {
    declarations: BASH_DECLARATIONS,
    names: &["variable_name", "word"],
    calls: &[("command", "name")],
    members: &[("command_name", "")],
    ..NOTHING
};
