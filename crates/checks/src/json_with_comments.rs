//! JSON with comments and commas behind the last value, as TypeScript and others read it.

use serde_json::Value;

/// Reads a text; none where it is no such JSON.
pub(crate) fn read(text: &str) -> Option<Value> {
    serde_json::from_str(&plain(text.trim_start_matches('\u{feff}'))).ok()
}

/// The text without comments and without commas that stand before a bracket that closes.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Where the last comma stands, while only blanks follow it.
    let mut comma = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => text_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            first => first.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        rest = after;
        if part.len() > 1 && first == '/' {
            continue;
        }
        match first {
            ',' => comma = Some(plain.len()),
            ']' | '}' => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..=at, " ");
                }
            }
            first if first.is_whitespace() => {}
            _ => comma = None,
        }
        plain.push_str(part);
    }
    plain
}

/// How long the text in quotes is that begins here.
fn text_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_are_no_part_of_it() {
        for (text, expected) in [
            ("{\"a\": [1, 2,], }", Some("{\"a\":[1,2]}")),
            ("// a\n{ /* b\n , */ \"a\": \"//, ]\" // c\n}", Some("{\"a\":\"//, ]\"}")),
            ("{\"a\": \"\\\"/*\"}", Some("{\"a\":\"\\\"/*\"}")),
            ("[1, // c\n ]", Some("[1]")),
            ("/**/ {}", Some("{}")),
            ("{\"é\": 1}", Some("{\"é\":1}")),
            ("{\"a\"", None),
            ("{\"a\": \"b", None),
            ("", None),
            ("/*", None),
        ] {
            let read = read(text).map(|value| value.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
