//! Which lines of a text are notes. Pure.

use crate::Note;

/// Longest text of a note, in characters.
const TEXT_CHARS_MAX: usize = 200;
/// Longest name of an author, in bytes.
const AUTHOR_BYTES_MAX: usize = 60;
/// How comments and items of lists start.
const OPENERS: &[&str] =
    &["//", "#", "/*", "*", "--", "<!--", ";", "%", "\"\"\"", "'''", "-", "+", "(*", "{-", "[ ]"];
/// How comments end in the line in which they start.
const CLOSERS: &[&str] = &["*/", "-->", "*)", "-}"];

/// Finds the notes of a text, at most one in a line. Their path is empty.
pub(crate) fn notes<'t>(text: &'t str, markers: &'t [String]) -> impl Iterator<Item = Note> {
    text.lines().zip(1..).filter_map(|(line, number)| note(line, number, markers))
}

fn note(line: &str, number: u64, markers: &[String]) -> Option<Note> {
    let mut places = markers.iter().flat_map(|marker| {
        line.match_indices(marker.as_str()).map(|(at, _)| (at, marker.as_str()))
    });
    let (at, marker) = places.find(|(at, marker)| is_note(line, *at, marker))?;
    let (author, text) = split(&line[at + marker.len()..]);
    Some(Note {
        path: String::new(),
        line: number,
        marker: marker.to_owned(),
        author: author.map(ToOwned::to_owned),
        text: text.chars().take(TEXT_CHARS_MAX).collect(),
    })
}

/// Whether a marker is one: a whole word that starts a comment or a line, or that `:` or `(` follows.
fn is_note(line: &str, at: usize, marker: &str) -> bool {
    let (before, after) = (&line[..at], &line[at + marker.len()..]);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if before.ends_with(is_word) || after.starts_with(is_word) {
        return false;
    }
    let stands_free = !before.ends_with(['"', '\'', '`', '.', '/', '-', ':', '<', '[', '(']);
    let is_marked = after.starts_with(':') || after.starts_with('(') && split(after).0.is_some();
    let before = before.trim_end();
    let starts = before.is_empty() || OPENERS.iter().any(|opener| before.ends_with(opener));
    starts && !after.starts_with(['"', '`', '.', '-']) || stands_free && is_marked
}

/// Splits what follows a marker into the author and the text.
fn split(after: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        (1..=AUTHOR_BYTES_MAX).contains(&name.len())
            && name.chars().all(|c| c.is_alphanumeric() || "@._-/# ".contains(c))
    };
    let after = after.trim_start_matches(' ');
    let named = match after.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((name, rest)) => Some((name.trim().trim_start_matches('@'), rest)),
        None => after.strip_prefix('@').map(|rest| {
            let is_part = |c: char| c.is_alphanumeric() || "._-/".contains(c);
            rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()))
        }),
    };
    match named {
        Some((name, rest)) if is_name(name) => (Some(name), cleaned(rest)),
        _ => (None, cleaned(after)),
    }
}

fn cleaned(text: &str) -> &str {
    let text = text.trim_end();
    let text = CLOSERS.iter().find_map(|closer| text.strip_suffix(closer)).unwrap_or(text);
    text.trim_start_matches([':', '!', '-', ' ', '\t']).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markers() -> Vec<String> {
        ["TODO", "FIXME"].map(ToOwned::to_owned).into()
    }

    #[test]
    fn notes_are_found_with_their_author() {
        for (line, marker, author, text) in [
            ("// TODO: one", "TODO", None, "one"),
            ("x(); // TODO(ann): two", "TODO", Some("ann"), "two"),
            ("# FIXME @bob.b three", "FIXME", Some("bob.b"), "three"),
            ("/* TODO four */", "TODO", None, "four"),
            ("<!-- TODO -->", "TODO", None, ""),
            (" * FIXME(#12) - five", "FIXME", Some("#12"), "five"),
            ("TODO six", "TODO", None, "six"),
            ("- TODO! seven", "TODO", None, "seven"),
            ("see TODO(@ann) eight", "TODO", Some("ann"), "eight"),
            ("-- TODO(a, b): nine", "TODO", None, "(a, b): nine"),
        ] {
            let found = note(line, 1, &markers()).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                (found.marker.as_str(), found.author.as_deref(), found.text.as_str()),
                (marker, author, text),
                "{line}"
            );
        }
    }

    #[test]
    fn words_that_are_no_notes_are_left_alone() {
        for line in [
            "TODOS: many",
            "const TODO_MAX: u32 = 1;",
            "let marker = \"TODO\";",
            "the TODO of yesterday",
            "todo: small",
            "a::TODO(f)",
            "[TODO](todo.md)",
            "`TODO: x`",
        ] {
            assert_eq!(note(line, 1, &markers()), None, "{line}");
        }
    }

    #[test]
    fn lines_count_from_one_and_texts_are_cut() {
        let text = format!("a\r\n// TODO {}\r\n", "x".repeat(500));
        let markers = markers();
        let found: Vec<_> = notes(&text, &markers).collect();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].text.len()), (2, TEXT_CHARS_MAX));
    }
}
