//! The same for JavaScript and TypeScript, where functions and classes are values.

use tree_sitter::Node;

use super::is_screaming;
use crate::outline::DeclarationKind as Kind;

/// Values that are functions.
const FUNCTIONS: [&str; 4] =
    ["arrow_function", "function_expression", "generator_function", "function"];

/// Most nodes between a variable and what imports its value.
const IMPORT_NODES_MAX: usize = 8;

/// Returns what a declaration is; none where it only sets or passes a value.
pub(super) fn kind(kind: Kind, node: Node<'_>, written: &str, text: &str) -> Option<Kind> {
    let is = |field: &str| node.child_by_field_name(field).map_or("", |value| value.kind());
    match node.kind() {
        // Names that an import gives to others' definitions.
        "variable_declarator" if is("name").ends_with("_pattern") && is_import(node, text) => None,
        "variable_declarator" => Some(match is("value") {
            value if FUNCTIONS.contains(&value) => Kind::Function,
            "class" => Kind::Class,
            _ if is_screaming(written) => Kind::Constant,
            _ => kind,
        }),
        // Only functions and classes are declared so: anything else is set.
        "assignment_expression" => match is("right") {
            "class" => Some(Kind::Class),
            value if FUNCTIONS.contains(&value) => {
                (!["exports", "prototype"].contains(&written)).then_some(kind)
            }
            // A function that has another name, too: `Store.prototype.find = find`.
            "identifier" if is_of_prototype(node, text) => Some(kind),
            _ => None,
        },
        "pair" => FUNCTIONS.contains(&is("value")).then_some(kind),
        // What it is assigned to declares it already: `const find = function find() {}`.
        "function_expression" | "generator_function" | "class" => {
            (!ends_with_name(node, written, text)).then_some(kind)
        }
        // `declare module "name"` adds to what another file is.
        "module" if is("name") == "string" => None,
        _ => Some(kind),
    }
}

/// Whether a value is assigned to what ends with a name.
fn ends_with_name(value: Node<'_>, name: &str, text: &str) -> bool {
    let target = value.parent().and_then(|parent| {
        let fields = ["name", "left", "key"].iter();
        fields.filter_map(|field| parent.child_by_field_name(field)).next()
    });
    target.is_some_and(|target| {
        let target = text.get(target.byte_range()).unwrap_or_default();
        target.rsplit('.').next() == Some(name)
    })
}

/// Whether a value is imported as CommonJS does: `require('./store')`, `await import('./store')`.
fn is_import(declarator: Node<'_>, text: &str) -> bool {
    let mut value = declarator.child_by_field_name("value");
    for _ in 0..IMPORT_NODES_MAX {
        let Some(node) = value else { return false };
        value = match node.kind() {
            "await_expression" | "parenthesized_expression" => node.named_child(0),
            "member_expression" => node.child_by_field_name("object"),
            "call_expression" => {
                let function = node.child_by_field_name("function");
                let called = function.and_then(|function| text.get(function.byte_range()));
                return called.is_some_and(|called| ["require", "import"].contains(&called));
            }
            _ => return false,
        };
    }
    false
}

/// Whether a parameter says who may read it, and so is a field, too.
pub(super) fn has_modifier(parameter: Node<'_>) -> bool {
    let mut cursor = parameter.walk();
    let modifiers = ["accessibility_modifier", "override_modifier", "readonly"];
    parameter.children(&mut cursor).any(|child| modifiers.contains(&child.kind()))
}

/// Whether what is assigned to is a member of a prototype.
fn is_of_prototype(assignment: Node<'_>, text: &str) -> bool {
    let prototype = assignment
        .child_by_field_name("left")
        .and_then(|member| member.child_by_field_name("object"))
        .and_then(|object| object.child_by_field_name("property"));
    prototype.is_some_and(|property| text.get(property.byte_range()) == Some("prototype"))
}
