//! What looks like a call in a line of a language of which no grammar is known.

/// Words before `(` that are no names of functions, over the common languages.
const KEYWORDS: &[&str] = &[
    "assert", "await", "catch", "def", "do", "elif", "else", "fn", "for", "foreach", "func",
    "function", "if", "in", "lambda", "loop", "match", "new", "not", "or", "and", "return",
    "sizeof", "super", "switch", "throw", "try", "typeof", "until", "using", "when", "while",
    "with", "yield",
];

/// The names of a line that stand before `(` and are not being defined, and where.
pub fn written_calls(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.match_indices('(').filter_map(|(open, _)| {
        // `name!(` calls a macro.
        let before = line[..open].trim_end();
        let before = before.strip_suffix('!').unwrap_or(before);
        let start = before
            .rfind(|c| !is_part(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        let name = &before[start..];
        let is_name = name.starts_with(|c: char| !c.is_ascii_digit()) && !KEYWORDS.contains(&name);
        (is_name && !is_defined(&before[..start])).then_some((start, name))
    })
}

/// Whether what stands before a name says that it is defined here.
fn is_defined(before: &str) -> bool {
    let word = before.trim_end().rsplit(|c: char| !is_part(c)).next().unwrap_or_default();
    ["fn", "def", "func", "function", "fun", "sub"].contains(&word)
}

/// Whether a character is part of names.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_distinguished_from_definitions_and_keywords() {
        let names = |line| written_calls(line).map(|(_, name)| name).collect::<Vec<_>>();
        assert_eq!(names("let x = run(parse(y), 3) + v.len();"), ["run", "parse", "len"]);
        assert_eq!(names("pub fn run(x: u8) -> bool {"), Vec::<&str>::new());
        assert_eq!(names("if (ready) { while(true) f (1) }"), ["f"]);
        assert_eq!(names("println!(\"{}\", größe(2))"), ["println", "größe"]);
        assert_eq!(names("    def run(self): return (1, 2)"), Vec::<&str>::new());
        assert_eq!(names("(3)(4) 5(6)"), Vec::<&str>::new());
    }
}
