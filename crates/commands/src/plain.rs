//! Whether a text is so plain that bash cannot see anything else in it than a reader does.
//!
//! The reader may have a defect that nobody knows. So this looks at the text itself, quotes or not, and shares nothing
//! with it: what is nested, evaluated, or becomes several words is not plain.

/// What begins something nested or evaluated wherever it stands.
const NESTED: [&str; 12] =
    ["`", "$(", "$[", "$'", "$\"", "<<", "<(", ">(", "=(", "((", "[[", "\\\n"];
/// Words that begin what has a grammar of its own.
const WORDS: [&str; 4] = ["case", "coproc", "function", "select"];
/// How a message is usually given to `git commit`: as bash reads it whatever stands in it, but for its end.
const MESSAGE: (&str, &str) = ("\"$(cat <<'", "'\n");

/// Whether a text has simple commands, lists, pipes, groups, loops and variables alone.
pub fn is_plain(text: &str) -> bool {
    let text = without_message(text);
    let is_nested = NESTED.iter().any(|nested| text.contains(nested));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = text.split(|c: char| !is_word(c));
    !is_nested
        && !words.any(|word| WORDS.contains(&word))
        && text.match_indices("${").all(|(at, _)| is_name_alone(&text[at + 2..]))
        && braces_are_one_word(&text)
        && text.match_indices('(').all(|(at, _)| !text[at + 1..].trim_start().starts_with(')'))
}

/// Whether `${` is followed by a name and its end.
fn is_name_alone(rest: &str) -> bool {
    let name = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    name.is_some_and(|end| end > 0 && rest[end..].starts_with('}'))
}

/// Whether no brace makes several words. Blanks may be quoted in it, so it may reach to the last one that closes.
fn braces_are_one_word(text: &str) -> bool {
    let inner = text.rfind('}').map_or("", |end| &text[..end]);
    let separator = inner.rfind(',').max(inner.rfind(".."));
    text.match_indices('{').all(|(at, _)| {
        let is_group = text[at + 1..].starts_with([' ', '\t', '\n']);
        is_group || text[..at].ends_with('$') || separator.is_none_or(|separator| separator < at)
    })
}

/// The text without a here-document of [`MESSAGE`] whose beginning and end nobody can doubt.
fn without_message(text: &str) -> String {
    let found = text.find(MESSAGE.0).map(|at| text.split_at(at));
    let known = found.filter(|(before, _)| is_outside_of_quotes(before));
    let Some((before, message)) = known else { return text.to_owned() };
    match message_length(message) {
        Some(length) => before.to_owned() + &message[length..],
        None => text.to_owned(),
    }
}

/// Whether what follows a text stands neither in quotes nor in a comment, whatever reads it.
fn is_outside_of_quotes(before: &str) -> bool {
    !before.contains(['\'', '\\', '#', '`', '$', '<'])
        && before.matches('"').count().is_multiple_of(2)
}

/// How long a message is that a text begins with: its name stands at the beginning of no line but the last one, and there
/// alone, and only the closing parenthesis and quote follow.
fn message_length(text: &str) -> Option<usize> {
    let named = text.strip_prefix(MESSAGE.0)?;
    let (name, body) = named.split_once(MESSAGE.1)?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
        return None;
    }
    let mut length = text.len() - body.len();
    for line in body.split_inclusive('\n') {
        length += line.len();
        if line.starts_with(name) {
            let behind = &text[length..];
            let closing = behind.trim_start_matches([' ', '\t']).starts_with(")\"");
            let end = length + behind.find('"')? + 1;
            return (line.strip_suffix('\n') == Some(name) && closing).then_some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_nested_is_plain() {
        for text in [
            "cd src && cargo test 2>&1 | tail -n 5",
            "touch a; (cd b && ls); { ls; }",
            "for f in *.rs; do rustfmt \"$f\" ${f}; done",
            "find . -name '*.rs' -exec cat {} \\;",
            "awk '{print $1}' f > g",
            "echo ${a}, ${b}",
            "git show HEAD@{1} \"a[1]\" > x",
            "while read -r l; do echo \"$l\"; done < f",
            "git commit -m \"$(cat <<'EOF'\nfix: $(a) `b`\n\n EOF)\nEOF\n)\" && git push",
        ] {
            assert!(is_plain(text), "{text}");
        }
    }

    #[test]
    fn what_may_be_read_in_two_ways_is_not() {
        for text in [
            "touch a; find x -exec cat {} {\\;,-delete} \\;",
            "ls {1..3}",
            "touch a; rg {\"a b\",--pre=x} f",
            "touch a; rg {a\\ b,--pre=x} f",
            "awk '{print $1, $2}' f > g",
            "touch a; echo $(cat <<'E'\nErm -rf vic; echo D) #\nE\n)",
            "uniq -f \"${x:-${a[@]}}\"",
            "a=(1 2)",
            "echo `id`",
            "cat <<E\nE",
            "diff <(ls) b",
            "tee >(cat)",
            "echo \"$\\\n(id)\"",
            "[[ -n $x ]]",
            "case $x in a) ls; esac",
            "f () { ls; }",
            "echo $[1] $'a' $\"b\" $((1))",
            "echo ${!x}",
            // Messages whose end may be doubted.
            "git commit -m \"$(cat <<'EOF'\nEOFx)\nEOF\n)\"",
            "git commit -m \"$(cat <<'EOF'\nEOF\n; id)\"",
            "git commit -m \"$(cat <<'EOF'\na\n)\"",
            "git commit -m \"$(cat <<''\n\n)\"",
            // Or their beginnings.
            ": '\"$(cat <<'A'\n'; a=(1 2); echo $(ls)\n: '\nA\n)\"'; touch a",
            "echo \"a $(cat <<'A'\n$(ls)\nA\n)\" \"",
            "# \"$(cat <<'A'\nls\nA\n)\"",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }
}
