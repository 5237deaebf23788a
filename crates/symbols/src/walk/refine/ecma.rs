//! The same for JavaScript and TypeScript, where functions and classes are values.

use tree_sitter::Node;

use super::is_screaming;
use crate::outline::DeclarationKind as Kind;

/// Values that are functions.
const FUNCTIONS: [&str; 4] =
    ["arrow_function", "function_expression", "generator_function", "function"];

/// Returns what a declaration is; none where it only sets or passes a value.
pub(super) fn kind(kind: Kind, node: Node<'_>, written: &str, text: &str) -> Option<Kind> {
    let is = |field: &str| node.child_by_field_name(field).map_or("", |value| value.kind());
    match node.kind() {
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
            _ => None,
        },
        "pair" => FUNCTIONS.contains(&is("value")).then_some(kind),
        // What it is assigned to declares it already: `const find = function find() {}`.
        "function_expression" | "generator_function" => {
            (!ends_with_name(node, written, text)).then_some(kind)
        }
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
