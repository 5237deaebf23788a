//! Escapes in `$'…'`: those that make one ASCII character.

/// Reads the escape at the start of a text: its character and its length in bytes. None where it is
/// another, or makes a NUL, a control character or part of another character.
pub(crate) fn escape(text: &str) -> Option<(char, usize)> {
    let kind = text.strip_prefix('\\')?.chars().next()?;
    let simple = match kind {
        'n' => Some('\n'),
        't' => Some('\t'),
        '\\' | '\'' | '"' | '?' => Some(kind),
        _ => None,
    };
    if let Some(c) = simple {
        return Some((c, 2));
    }
    let (digits_at, digits_max, radix) = match kind {
        'x' => (2, 2, 16),
        '0'..='7' => (1, 3, 8),
        _ => return None,
    };
    let digits: String =
        text[digits_at..].chars().take(digits_max).take_while(|c| c.is_digit(radix)).collect();
    let value = u32::from_str_radix(&digits, radix).ok()?;
    let c = char::from_u32(value).filter(|c| matches!(c, ' '..='~' | '\n' | '\t'))?;
    Some((c, digits_at + digits.len()))
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn escapes_of_plain_characters_are_read() {
        assert_eq!(escape("\\nx"), Some(('\n', 2)));
        assert_eq!(escape("\\x2dx"), Some(('-', 4)));
        assert_eq!(escape("\\x2"), None);
        assert_eq!(escape("\\0558"), Some(('-', 4)));
        assert_eq!(escape("\\x41\u{e9}"), Some(('A', 4)));
    }

    #[test]
    fn other_escapes_are_not() {
        for text in ["\\0", "\\x00", "\\e", "\\u0041", "\\xff", "\\cA", "\\x", "\\", "", "\\\u{e9}"]
        {
            assert_eq!(escape(text), None, "{text}");
        }
    }
}
