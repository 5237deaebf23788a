//! The same for further languages.

use tree_sitter::Node;

use super::super::Step;
use crate::outline::DeclarationKind as Kind;

/// What of Elixir's syntax its grammar reads as calls.
const ELIXIR_KEYWORDS: [&str; 4] = ["alias", "import", "require", "use"];

/// What a call of Elixir declares, by what is called.
pub(super) fn elixir(node: Node<'_>, text: &str) -> Option<Kind> {
    let target = node.child_by_field_name("target")?;
    match text.get(target.byte_range())? {
        "def" | "defp" | "defdelegate" | "defguard" | "defguardp" => Some(Kind::Function),
        "defmacro" | "defmacrop" => Some(Kind::Macro),
        "defmodule" => Some(Kind::Module),
        "defprotocol" => Some(Kind::Interface),
        _ => None,
    }
}

/// Whether a name of Elixir is a word of the language: what declares, imports, or names an attribute.
pub(in crate::walk) fn is_elixir_keyword(path: &[Step<'_>], text: &str) -> bool {
    let Some((leaf, [.., attribute, call])) = path.split_last() else { return false };
    if call.node.kind() != "call" || leaf.field != Some("target") {
        return false;
    }
    let word = text.get(leaf.node.byte_range()).unwrap_or_default();
    attribute.node.kind() == "unary_operator"
        || word.starts_with("def")
        || ELIXIR_KEYWORDS.contains(&word)
}

/// Whether a function of Haskell begins here: its type or an equation before this one has its name.
pub(super) fn is_first_equation(node: Node<'_>, text: &str) -> bool {
    let named = |node: Node<'_>| text.get(node.child_by_field_name("name")?.byte_range());
    let before = node.prev_named_sibling().and_then(named);
    before.is_none() || before != named(node)
}

/// What a class of Kotlin or Swift is; an extension of Swift declares nothing.
pub(super) fn class(node: Node<'_>) -> Option<Kind> {
    let mut cursor = node.walk();
    let mut kind = Some(Kind::Class);
    for child in node.children(&mut cursor) {
        match child.kind() {
            "interface" => kind = Some(Kind::Interface),
            "struct" => kind = Some(Kind::Struct),
            "enum" | "enum_class_body" => kind = Some(Kind::Enum),
            "extension" => kind = None,
            _ => {}
        }
    }
    kind
}

/// What a variable of Zig is, by its value.
pub(super) fn zig(node: Node<'_>) -> Kind {
    let mut cursor = node.walk();
    let mut kind = Kind::Variable;
    for child in node.children(&mut cursor) {
        match child.kind() {
            "struct_declaration" | "union_declaration" | "opaque_declaration" => {
                return Kind::Struct;
            }
            "enum_declaration" | "error_set_declaration" => return Kind::Enum,
            "const" => kind = Kind::Constant,
            _ => {}
        }
    }
    kind
}
