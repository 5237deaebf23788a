//! What a declaration is where its node alone does not say.

mod ecma;
#[cfg(feature = "lang-extra")]
mod extra;

use tree_sitter::Node;

#[cfg(feature = "lang-extra")]
pub(super) use self::extra::is_elixir_keyword;
use super::Step;
use super::naming::DeclaredName;
use crate::language::Language;
use crate::macros::is_screaming;
use crate::outline::DeclarationKind as Kind;

/// Whether a node declares anything at all, for those of which most do not: before their names are read.
pub(super) fn may_declare(node: Node<'_>, text: &str) -> bool {
    match node.kind() {
        "function_call_expression" => is_define(node, text),
        "call" => declared_by_call(node, text).is_none_or(|kinds| !kinds.is_empty()),
        "required_parameter" | "optional_parameter" => ecma::has_modifier(node),
        _ => true,
    }
}

/// Whether a name is called where a call has it: elements in lower case are none of a program, and of Ruby what comes
/// before `.new` is, where it is a class.
pub(super) fn may_call(language: Language, call: Node<'_>, path: &[Step<'_>], text: &str) -> bool {
    let name = path[path.len() - 1];
    let written = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    match (language, call.kind()) {
        (_, "jsx_opening_element" | "jsx_self_closing_element") => {
            let is_alone = name.field == Some("name");
            !is_alone || !written(name.node).starts_with(|c: char| c.is_ascii_lowercase())
        }
        (Language::Ruby, "call") => {
            let method = call.child_by_field_name("method");
            let is_method = method.is_some_and(|method| method.id() == name.node.id());
            is_method || (name.node.kind() == "constant" && method.map(written) == Some("new"))
        }
        (Language::Php, "object_creation_expression") => {
            !["static", "self", "parent"].contains(&written(name.node))
        }
        _ => true,
    }
}

/// Returns what a declaration is; `None` if it turns out to be no declaration.
pub(super) fn kind(
    language: Language,
    kind: Kind,
    path: &[Step<'_>],
    name: &DeclaredName,
    text: &str,
) -> Option<Kind> {
    let node = path[path.len() - 1].node;
    let parent = path.len().checked_sub(2).map_or("", |at| path[at].node.kind());
    let written = text.get(name.range.start as usize..name.range.end as usize).unwrap_or_default();
    match (language, node.kind()) {
        (Language::JavaScript | Language::TypeScript | Language::Tsx, _) => {
            ecma::kind(kind, node, written, text)
        }
        (Language::Lua, "assignment_statement" | "field") => {
            let values = match node.kind() {
                "field" => node.child_by_field_name("value"),
                _ => last_child(node).and_then(|values| values.named_child(0)),
            };
            values.is_some_and(|value| value.kind() == "function_definition").then_some(kind)
        }
        (Language::Python, "assignment") => {
            let is_constant = is_screaming(written);
            Some(if is_constant { Kind::Constant } else { kind })
        }
        (Language::Ruby, "call") => {
            let kinds = declared_by_call(node, text).unwrap_or_default();
            kinds.contains(&kind).then_some(kind)
        }
        (Language::Ruby, "assignment") => {
            written.starts_with(char::is_uppercase).then_some(Kind::Constant)
        }
        (Language::Go, "type_spec") => {
            let of = node.child_by_field_name("type").map_or("", |of| of.kind());
            Some(match of {
                "struct_type" => Kind::Struct,
                "interface_type" => Kind::Interface,
                _ => kind,
            })
        }
        (Language::Java, "variable_declarator") => {
            matches!(parent, "field_declaration" | "constant_declaration").then_some(kind)
        }
        // A constructor, a destructor or a template.
        (Language::Cpp, "declaration") if name.is_of_function && is_member(path) => {
            Some(Kind::Method)
        }
        // A prototype repeats what is defined elsewhere, and so does `extern`.
        (Language::C | Language::Cpp, "declaration") => {
            (!name.is_of_function && !is_extern(node, text)).then_some(kind)
        }
        (Language::C | Language::Cpp, "field_declaration") if name.is_of_function => {
            let is_pointer = language == Language::C;
            Some(if is_pointer { Kind::Field } else { Kind::Method })
        }
        #[cfg(feature = "lang-extra")]
        (Language::Elixir, "call") => extra::elixir(node, text),
        #[cfg(feature = "lang-extra")]
        (Language::Haskell, "function" | "bind") => {
            extra::is_first_equation(node, text).then_some(kind)
        }
        #[cfg(feature = "lang-extra")]
        (Language::Kotlin | Language::Swift, "class_declaration") => extra::class(node),
        #[cfg(feature = "lang-extra")]
        (Language::Zig, "variable_declaration") => Some(extra::zig(node)),
        #[cfg(feature = "lang-extra")]
        (Language::Zig, "container_field") if parent == "enum_declaration" => Some(Kind::Variant),
        _ => Some(kind),
    }
}

/// Whether a call of PHP defines a constant whose name it says.
fn is_define(call: Node<'_>, text: &str) -> bool {
    let function = call.child_by_field_name("function");
    let written = function.and_then(|function| text.get(function.byte_range()));
    if !written.is_some_and(|name| name.trim_start_matches('\\').eq_ignore_ascii_case("define")) {
        return false;
    }
    let first = call
        .child_by_field_name("arguments")
        .and_then(|arguments| arguments.named_child(0))
        .and_then(|argument| argument.named_child(0));
    first.is_some_and(|first| first.kind().ends_with("string"))
}

/// What a call of Ruby declares whose first argument is a symbol or text; none where it is no call of Ruby.
fn declared_by_call(call: Node<'_>, text: &str) -> Option<&'static [Kind]> {
    let method = call.child_by_field_name("method")?;
    let kinds: &[Kind] = match text.get(method.byte_range()).unwrap_or_default() {
        "alias_method" | "define_method" | "define_singleton_method" => &[Kind::Function],
        "attr"
        | "attr_reader"
        | "attr_writer"
        | "attr_accessor"
        | "attr_internal"
        | "mattr_reader"
        | "mattr_writer"
        | "mattr_accessor"
        | "cattr_reader"
        | "cattr_writer"
        | "cattr_accessor"
        | "class_attribute"
        | "thread_mattr_accessor" => &[Kind::Field],
        _ => return Some(&[]),
    };
    let first = call.child_by_field_name("arguments").and_then(|all| all.named_child(0));
    let is_name = first.is_some_and(|first| ["simple_symbol", "string"].contains(&first.kind()));
    Some(if is_name { kinds } else { &[] })
}

/// Whether what is declared stands among the members of a type, be it a template or under a condition.
fn is_member(path: &[Step<'_>]) -> bool {
    let mut around = path.iter().rev().skip(1).map(|step| step.node.kind());
    let passes = |kind: &&str| *kind == "template_declaration" || kind.starts_with("preproc_");
    around.find(|kind| !passes(kind)) == Some("field_declaration_list")
}

/// Whether a declaration of C says that it is defined elsewhere.
fn is_extern(node: Node<'_>, text: &str) -> bool {
    let mut cursor = node.walk();
    let mut is_said = false;
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "storage_class_specifier" => is_said |= text.get(child.byte_range()) == Some("extern"),
            "init_declarator" => return false,
            _ => {}
        }
    }
    is_said
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    let count = u32::try_from(node.named_child_count()).ok()?;
    node.named_child(count.checked_sub(1)?)
}
