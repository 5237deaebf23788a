//! Where declarations have their names and bodies.

use tree_sitter::Node;

use super::{bytes, range};
use crate::outline::TextRange;
use crate::rules::{LanguageRules, NameLocation};

/// Most declarators within each other.
const DECLARATORS_MAX: usize = 32;
/// Kinds of declarators that hold no other.
const INNERMOST: [&str; 9] = [
    "identifier",
    "field_identifier",
    "type_identifier",
    "qualified_identifier",
    "destructor_name",
    "operator_name",
    "operator_cast",
    "template_function",
    "primitive_type",
];
/// Names with parts that belong to them: `value=` of Ruby, `~Store` of C++, variables of a shell, keys in quotes.
const WHOLE: [&str; 7] = [
    "variable_name",
    "setter",
    "operator",
    "destructor_name",
    "operator_name",
    "operator_cast",
    "string",
];
/// Types that are written, not named: primitive ones and those made of others.
const NAMELESS_TYPES: [&str; 7] = [
    "primitive_type",
    "array_type",
    "tuple_type",
    "unit_type",
    "pointer_type",
    "function_type",
    "never_type",
];
/// Patterns that declare each name in them.
const PATTERNS: [&str; 5] =
    ["pattern_list", "tuple_pattern", "object_pattern", "array_pattern", "rest_pattern"];

/// The name of a declaration.
#[derive(Debug)]
pub(super) struct DeclaredName {
    pub(super) range: TextRange,
    /// The type that it names besides, as in `Type::method`.
    pub(super) owner: Option<TextRange>,
    /// Whether it is that of a function, by its declarator.
    pub(super) is_of_function: bool,
}

// === impl DeclaredName ===

impl DeclaredName {
    /// Finds the names of a declaration, several of `int a, b;`; none where it has none that is one.
    pub(super) fn all(
        place: NameLocation,
        node: Node<'_>,
        rules: &LanguageRules,
        text: &str,
    ) -> Vec<Self> {
        let found = named_by(place, node);
        found.into_iter().filter_map(|named| Self::of(named, rules, text)).collect()
    }

    fn of(
        (named, is_of_function): (Node<'_>, bool),
        rules: &LanguageRules,
        text: &str,
    ) -> Option<Self> {
        let (named, owner) = parts(named);
        let is_entry = rules.names.is_empty();
        let is_leaf = named.named_child_count() == 0 || is_whole(named);
        if !is_entry && !is_leaf {
            // A pattern, or an index of something.
            return None;
        }
        let mut range = range(named);
        // `operator bool` of C++, without its parameters.
        if named.kind() == "operator_cast"
            && let Some(of) = named.child_by_field_name("type")
        {
            range.end = super::range(of).end;
        }
        // `:name` of Ruby.
        range.start += u32::from(named.kind() == "simple_symbol");
        let is_sign = text.get(range.start as usize..).is_some_and(|name| name.starts_with('<'));
        let bare = if is_sign { range } else { without_quotes(text, range) };
        let range = trimmed(text, bare);
        let owner = owner.and_then(|owner| owner_of(owner, text)).map(super::range);
        (range.start < range.end).then_some(Self { range, owner, is_of_function })
    }
}

/// The nodes that name a declaration, and whether each is that of a function, by its declarator.
fn named_by(place: NameLocation, node: Node<'_>) -> Vec<(Node<'_>, bool)> {
    match place {
        NameLocation::Field(field) => {
            let mut found = Vec::new();
            let mut rest = of_field(node, field);
            rest.reverse();
            while let Some(named) = rest.pop() {
                match unpacked(named) {
                    Some(parts) => rest.extend(parts.into_iter().rev()),
                    None => found.push((named, false)),
                }
            }
            found
        }
        NameLocation::Child(kind) => one(child(node, kind)),
        NameLocation::Within(kind) => one(child(node, kind).and_then(|inner| inner.named_child(0))),
        NameLocation::Declarator => {
            let declarators = of_field(node, "declarator");
            match declarators.is_empty() {
                true => declarator(node).into_iter().collect(),
                false => declarators.into_iter().filter_map(declarator).collect(),
            }
        }
        #[cfg(feature = "lang-extra")]
        NameLocation::Path(kinds) => {
            one(kinds.iter().try_fold(node, |node, kind| child(node, kind)))
        }
        NameLocation::Argument => one(argument(node)),
        NameLocation::Symbols => arguments(node)
            .into_iter()
            .flat_map(named_children)
            .filter(|argument| ["simple_symbol", "string"].contains(&argument.kind()))
            .map(|argument| (argument, false))
            .collect(),
        NameLocation::Itself => one(Some(node)),
    }
}

/// What a pattern is made of; none of what is no pattern.
fn unpacked(named: Node<'_>) -> Option<Vec<Node<'_>>> {
    let part = |field: &str| named.child_by_field_name(field).into_iter().collect();
    match named.kind() {
        "pair_pattern" => Some(part("value")),
        // With what it is where there is nothing to take.
        "assignment_pattern" | "object_assignment_pattern" => Some(part("left")),
        kind if PATTERNS.contains(&kind) => Some(named_children(named).collect()),
        _ => None,
    }
}

fn one(named: Option<Node<'_>>) -> Vec<(Node<'_>, bool)> {
    named.map(|named| (named, false)).into_iter().collect()
}

/// What a node has in a field, without the commas between; a word alone, such as `init` of Swift.
fn of_field<'t>(node: Node<'t>, field: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let (named, mut words): (Vec<_>, Vec<_>) =
        node.children_by_field_name(field, &mut cursor).partition(Node::is_named);
    if !named.is_empty() {
        return named;
    }
    words.truncate(1);
    words
}

/// Whether a node with parts is a name as a whole: a text of PHP without variables, `[Symbol.iterator]`.
fn is_whole(named: Node<'_>) -> bool {
    match named.kind() {
        "encapsed_string" => named_children(named).all(|part| part.kind() == "string_content"),
        "computed_property_name" => named_children(named)
            .all(|part| ["identifier", "member_expression"].contains(&part.kind())),
        kind => WHOLE.contains(&kind),
    }
}

/// The last part of a name, and the part before it.
fn parts(named: Node<'_>) -> (Node<'_>, Option<Node<'_>>) {
    let (mut named, mut owner) = (named, None);
    for _ in 0..DECLARATORS_MAX {
        let fields = match named.kind() {
            "qualified_identifier" => ("scope", "name"),
            "scope_resolution" => ("scope", "name"),
            "dot_index_expression" => ("table", "field"),
            "method_index_expression" => ("table", "method"),
            "member_expression" | "nested_identifier" => ("object", "property"),
            "template_function" | "template_type" | "qualified_name" | "object_reference" => {
                ("", "name")
            }
            // PHP writes a sign before it that is not part of the name.
            "variable_name" => match named.named_child(0) {
                Some(inner) => return (inner, owner),
                None => break,
            },
            _ => break,
        };
        let Some(inner) = named.child_by_field_name(fields.1) else { break };
        owner = named.child_by_field_name(fields.0).or(owner);
        named = inner;
    }
    (named, owner)
}

/// The type that a part before a name stands for: `Box` of `Box<T>`, of JavaScript not what a module exports, nor
/// `this`.
fn owner_of<'t>(owner: Node<'t>, text: &str) -> Option<Node<'t>> {
    let written = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    match owner.kind() {
        "member_expression" => {
            let of = owner.child_by_field_name("object")?;
            let property = owner.child_by_field_name("property")?;
            (written(property) == "prototype" && of.kind() == "identifier").then_some(of)
        }
        "template_type" => owner.child_by_field_name("name"),
        "this" | "super" | "call_expression" | "subscript_expression" => None,
        "identifier" if ["exports", "module"].contains(&written(owner)) => None,
        _ => Some(owner),
    }
}

/// A type without a name, and without what refers to it: `[u8]` of `&mut [u8]`; none of one that has a name.
pub(super) fn nameless_type(written: Node<'_>) -> Option<Node<'_>> {
    let mut inner = written;
    for _ in 0..DECLARATORS_MAX {
        if inner.kind() != "reference_type" {
            break;
        }
        inner = inner.child_by_field_name("type")?;
    }
    NAMELESS_TYPES.contains(&inner.kind()).then_some(inner)
}

/// The innermost declarator, and whether one around it is that of a function.
fn declarator(node: Node<'_>) -> Option<(Node<'_>, bool)> {
    let (mut inner, mut is_function) = (node, false);
    for _ in 0..DECLARATORS_MAX {
        match inner.kind() {
            "function_declarator" | "operator_cast" => is_function = true,
            // A pointer to a function is no function: `int (*run)(void);`.
            "pointer_declarator" | "array_declarator" | "reference_declarator" => {
                is_function = false;
            }
            _ => {}
        }
        if INNERMOST.contains(&inner.kind()) {
            return Some((inner, is_function));
        }
        let next = inner.child_by_field_name("declarator");
        inner = match next {
            Some(next) => next,
            // Parentheses and references have no field.
            None => named_children(inner).find(|child| {
                INNERMOST.contains(&child.kind()) || child.kind().ends_with("declarator")
            })?,
        };
    }
    None
}

fn arguments(call: Node<'_>) -> Option<Node<'_>> {
    call.child_by_field_name("arguments").or_else(|| child(call, "arguments"))
}

/// What the first argument of a call names, without its parameters and guards.
fn argument(node: Node<'_>) -> Option<Node<'_>> {
    let mut inner = arguments(node)?.named_child(0)?;
    for _ in 0..DECLARATORS_MAX {
        inner = match inner.kind() {
            "binary_operator" => inner.child_by_field_name("left")?,
            "call" => inner.child_by_field_name("target")?,
            "argument" => inner.named_child(0)?,
            _ => return Some(inner),
        };
    }
    None
}

fn named_children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut is_there = cursor.goto_first_child();
    std::iter::from_fn(move || {
        while is_there {
            let child = cursor.node();
            is_there = cursor.goto_next_sibling();
            if child.is_named() {
                return Some(child);
            }
        }
        None
    })
}

fn child<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    named_children(node).find(|child| child.kind() == kind)
}

/// The first node of a kind within one, itself included.
pub(super) fn first_within<'t>(
    node: Node<'t>,
    is_it: &dyn Fn(&Node<'t>) -> bool,
) -> Option<Node<'t>> {
    let (mut cursor, mut depth) = (node.walk(), 0);
    loop {
        if is_it(&cursor.node()) {
            return Some(cursor.node());
        }
        if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if depth == 0 || !cursor.goto_parent() {
                return None;
            }
            depth -= 1;
        }
        if depth == 0 {
            return None;
        }
    }
}

/// The body of a declaration.
pub(super) fn body(node: Node<'_>) -> Option<Node<'_>> {
    if let Some(body) = node.child_by_field_name("body") {
        return Some(body);
    }
    // Bodies that no field names.
    let unnamed =
        ["class_body", "enum_class_body", "function_body", "do_block", "struct_declaration"];
    if let Some(body) = named_children(node).find(|child| unnamed.contains(&child.kind())) {
        return Some(body);
    }
    // That of a function in a variable, and that of a type in its specification.
    let inner = node.child_by_field_name("value").or_else(|| node.child_by_field_name("type"))?;
    let in_braces = ["field_declaration_list", "struct_type", "interface_type"];
    inner
        .child_by_field_name("body")
        .or_else(|| named_children(inner).find(|child| in_braces.contains(&child.kind())))
}

/// The text that a body of Python begins with, without letters before its quotes; none that is computed or of bytes.
pub(super) fn first_string(body: Node<'_>, text: &str) -> Option<TextRange> {
    let first = named_children(body).find(|child| child.kind() != "comment")?;
    let inner = if first.kind() == "expression_statement" { first.named_child(0)? } else { first };
    if inner.kind() != "string" {
        return None;
    }
    let letters = text.get(inner.byte_range())?.split(['"', '\'']).next()?;
    let is_text = !letters.contains(['b', 'B', 'f', 'F', 't', 'T']);
    is_text.then(|| bytes(inner.start_byte() + letters.len(), inner.end_byte()))
}

/// A range without the quotes or brackets that it begins and ends with.
pub(super) fn without_quotes(text: &str, found: TextRange) -> TextRange {
    let slice = text.get(found.start as usize..found.end as usize).unwrap_or_default();
    let inner = slice
        .strip_prefix(['"', '\'', '`', '<'])
        .and_then(|inner| inner.strip_suffix(['"', '\'', '`', '>']));
    match inner {
        Some(inner) => bytes(found.start as usize + 1, found.start as usize + 1 + inner.len()),
        None => found,
    }
}

/// A range without blanks at its ends.
pub(super) fn trimmed(text: &str, found: TextRange) -> TextRange {
    let slice = text.get(found.start as usize..found.end as usize).unwrap_or_default();
    let start = found.start as usize + (slice.len() - slice.trim_start().len());
    bytes(start, start + slice.trim().len())
}
