//! Just enough knowledge of Rust's syntax, on files that rustfmt formatted.

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// The name after `fn`.
    pub(crate) name: String,
    /// From its first line to its last.
    pub(crate) lines: usize,
}

/// Blanks comments and the contents of string and character literals; lines stay where they are.
pub(crate) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for (piece, is_code) in pieces(text) {
        if is_code {
            code.push_str(piece);
        } else {
            code.extend(piece.chars().filter(|c| *c == '\n'));
            code.push(' ');
        }
    }
    code
}

/// The values of the string literals, in their order; comments have none.
pub(crate) fn strings(text: &str) -> Vec<String> {
    let literals = pieces(text).filter(|(_, is_code)| !is_code);
    let values = literals.filter_map(|(piece, _)| syn::parse_str::<syn::LitStr>(piece).ok());
    values.map(|literal| literal.value()).collect()
}

/// The characters of code one by one, and whole comments and literals between them.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let (mut rest, mut before) = (text, None);
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let skipped = skipped_bytes(rest, before);
        let is_code = skipped == 0;
        let (piece, after) = rest.split_at(if is_code { first.len_utf8() } else { skipped });
        (rest, before) = (after, is_code.then_some(first));
        Some((piece, is_code))
    })
}

/// How many bytes at the start are a comment or a literal. Raw strings start after no letter.
fn skipped_bytes(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(rest.len(), |end| end + 2);
    }
    if rest.starts_with('"') {
        return closing_quote(rest);
    }
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if !in_word && let Some(raw) = rest.strip_prefix('r') {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        let end = format!("\"{}", &raw[..marks]);
        if raw[marks..].starts_with('"') {
            let body = 1 + marks + 1;
            return rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len());
        }
    }
    match rest.as_bytes() {
        [b'\'', b'\\', ..] => rest[2..].char_indices().nth(1).map_or(rest.len(), |(at, _)| {
            rest[2 + at..].find('\'').map_or(rest.len(), |end| 2 + at + end + 1)
        }),
        [b'\'', ..] => {
            let mut chars = rest[1..].char_indices();
            let (_, second) = (chars.next(), chars.next());
            second.filter(|(_, c)| *c == '\'').map_or(0, |(at, _)| 1 + at + 1)
        }
        _ => 0,
    }
}

fn closing_quote(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Finds the functions in code that [`code`] made.
pub(crate) fn functions(code: &str) -> Vec<Function> {
    let lines: Vec<&str> = code.lines().collect();
    let starts = lines.iter().enumerate();
    starts.filter_map(|(at, line)| function_at(&lines[at..], line)).collect()
}

fn function_at(lines: &[&str], first: &str) -> Option<Function> {
    let indent = &first[..first.len() - first.trim_start().len()];
    let (qualifiers, rest) = first.trim_start().split_once("fn ")?;
    let is_item = qualifiers.split_whitespace().all(|word| {
        word.starts_with("pub") || matches!(word, "const" | "async" | "unsafe" | "extern")
    });
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if !is_item || name.is_empty() {
        return None;
    }
    let closing = format!("{indent}}}");
    for (at, line) in lines.iter().enumerate() {
        if line.trim_end().ends_with(';') && line.len() - line.trim_start().len() == indent.len() {
            return None;
        }
        if line.trim_end() == closing || (at == 0 && line.trim_end().ends_with('}')) {
            return Some(Function { name, lines: at + 1 });
        }
    }
    None
}

/// Whether a word occurs in code.
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        !code[..at].chars().next_back().is_some_and(is_part)
            && !code[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

/// The paths that `use` brings in, each on its own, and the code without them. Names that are given
/// with `as` are those of the item.
pub(crate) fn imports(code: &str) -> (Vec<Vec<String>>, String) {
    let mut imported = Vec::new();
    let mut rest = String::new();
    let mut statement: Option<String> = None;
    for line in code.lines() {
        let begun = statement.is_some() || begins_use(line);
        if !begun {
            rest.push_str(line);
            rest.push('\n');
            continue;
        }
        let text = statement.get_or_insert_default();
        text.push_str(line.trim());
        if line.trim_end().ends_with(';') {
            let tree = text.trim_end_matches(';');
            let tree = tree.split_once("use ").map_or(tree, |(_, tree)| tree);
            expand(tree, &[], &mut imported);
            statement = None;
        }
    }
    (imported, rest)
}

fn begins_use(line: &str) -> bool {
    let line = line.trim_start();
    let visible = line.strip_prefix("pub").map(|rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    visible.unwrap_or(line).trim_start().starts_with("use ")
}

/// Takes a tree of imports apart: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(tree: &str, before: &[String], paths: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let (head, group) = match tree.split_once('{') {
        Some((head, group)) => (head, Some(group.strip_suffix('}').unwrap_or(group))),
        None => (tree.split(" as ").next().unwrap_or(tree), None),
    };
    let names = head.split("::").map(str::trim).filter(|name| !name.is_empty());
    let path: Vec<String> = before.iter().cloned().chain(names.map(str::to_owned)).collect();
    let Some(group) = group else {
        let mut path = path;
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        return paths.push(path);
    };
    let mut depth = 0;
    for part in group.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    }) {
        if !part.trim().is_empty() {
            expand(part, &path, paths);
        }
    }
}

/// Paths of at least two names that stand in code.
pub(crate) fn paths(code: &str) -> Vec<Vec<String>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.split(|c| !is_part(c)).filter(|word| word.contains("::"));
    words
        .map(|word| word.split("::").map(str::to_owned).collect::<Vec<_>>())
        .filter(|path: &Vec<String>| path.len() > 1 && !path[0].is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_code() {
        for (text, expected) in [
            ("a // b\nc", "a  \nc"),
            ("a /* b\n */ c", "a \n  c"),
            ("f(\"x \\\" // y\", 'z')", "f( ,  )"),
            ("r#\"a \" b\"# + for_r", "  + for_r"),
            ("x: &'static str = '\\''", "x: &'static str =  "),
            ("'\\u{1F600}' 'é'", "   "),
        ] {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn strings_have_their_values_and_comments_have_none() {
        let text = "f(\"a \\\n   b\", '\"') // \"c\"\nr#\"d\"#";
        assert_eq!(strings(text), ["a b", "d"]);
    }

    #[test]
    fn functions_are_measured_from_signature_to_brace() {
        let text = "pub fn a() {}\n\nimpl B {\n    async fn b(\n        x: u8,\n    ) {\n        \
                    c();\n    }\n}\n\ntrait T {\n    fn declared(&self);\n}\n";
        let found: Vec<_> = functions(text).into_iter().map(|f| (f.name, f.lines)).collect();
        assert_eq!(found, [("a".to_owned(), 1), ("b".to_owned(), 5)]);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("use tonic::Status", "tonic"));
        assert!(!has_word("use tonic_health as isotonic", "tonic"));
    }
}
