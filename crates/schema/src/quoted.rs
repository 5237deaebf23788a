//! Names of others in error messages.

/// Most bytes of such a name that go into an error message.
const QUOTED_BYTES_MAX: usize = 1000;

/// Cuts a name out of somebody's schema to what an error message may hold, and escapes what is not drawn.
pub(crate) fn quoted(name: &str) -> String {
    let end = name.floor_char_boundary(QUOTED_BYTES_MAX);
    let mut quoted = String::with_capacity(end);
    for char in name[..end].chars() {
        match char {
            '\'' | '"' | '\\' => quoted.push(char),
            char => quoted.extend(char.escape_debug()),
        }
    }
    if end < name.len() {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_escaped() {
        assert_eq!(quoted("it's \"a\\b\""), "it's \"a\\b\"");
        assert_eq!(quoted("a\u{202e}\u{34f}\n字"), "a\\u{202e}\\u{34f}\\n字");
        assert_eq!(quoted(&"x".repeat(2 * QUOTED_BYTES_MAX)), "x".repeat(QUOTED_BYTES_MAX) + "…");
    }
}
