//! Brackets of a text as it stands, without a grammar.

use std::cell::OnceCell;

use crate::language::Language;

/// What begins and ends a text in quotes.
const QUOTES: [u8; 3] = *b"\"'`";

/// A text whose brackets are looked for.
pub(super) struct TextBrackets<'t> {
    language: Language,
    text: &'t str,
    /// The text without what stands in quotes.
    unquoted: OnceCell<Vec<u8>>,
}

/// The bracket that belongs to one, and whether that comes behind it.
fn half_of(bracket: u8) -> Option<(u8, bool)> {
    Some(match bracket {
        b'(' => (b')', true),
        b'[' => (b']', true),
        b'{' => (b'}', true),
        b')' => (b'(', false),
        b']' => (b'[', false),
        b'}' => (b'{', false),
        _ => return None,
    })
}

/// Blanks what stands in quotes on one line.
fn unquoted(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    // Up to where nothing ends what one of the quotes begins: another one there was escaped for the first, and so
    // nothing ends what it begins, either.
    let mut endless = [0; QUOTES.len()];
    let mut at = 0;
    while at < bytes.len() {
        let quote = QUOTES.iter().position(|quote| *quote == bytes[at]);
        let Some(quote) = quote.filter(|quote| at >= endless[*quote]) else {
            at += 1;
            continue;
        };
        match quoted_length(&bytes[at..]) {
            Ok(length) => {
                bytes[at..at + length].fill(b' ');
                at += length;
            }
            Err(length) => {
                endless[quote] = at + length;
                at += 1;
            }
        }
    }
    bytes
}

/// How long a text in quotes is, with both of them; where nothing ends it in its line, how far that was looked at.
fn quoted_length(bytes: &[u8]) -> Result<usize, usize> {
    let mut at = 1;
    loop {
        match bytes.get(at) {
            None | Some(b'\n') => return Err(at),
            Some(b'\\') => at += 2,
            Some(byte) if *byte == bytes[0] => return Ok(at + 1),
            Some(_) => at += 1,
        }
    }
}

/// Whether the bracket at a place has its other half, by the brackets of its kind alone.
fn has_half(bytes: &[u8], at: usize) -> bool {
    let Some((half, is_behind)) = bytes.get(at).and_then(|bracket| half_of(*bracket)) else {
        return true;
    };
    let mut depth = 0_usize;
    let mut closes = |byte: &u8| {
        if *byte == bytes[at] {
            depth += 1;
        } else if *byte == half {
            depth -= 1;
        }
        depth == 0
    };
    match is_behind {
        true => bytes[at..].iter().any(&mut closes),
        false => bytes[..=at].iter().rev().any(&mut closes),
    }
}

// === impl TextBrackets ===

impl<'t> TextBrackets<'t> {
    pub(super) fn new(language: Language, text: &'t str) -> Self {
        Self { language, text, unquoted: OnceCell::new() }
    }

    /// Whether an error is one whatever the grammar knows, which may be about the bracket at a place. That lacks its
    /// other half both with what is in quotes and without.
    pub(super) fn is_sure(&self, bracket: Option<usize>) -> bool {
        match (self.language, bracket) {
            // JSON does not change.
            (Language::Json, _) => true,
            // Branches of a conditional may each open what all of them close, and macros are anything.
            (Language::C | Language::Cpp, _) | (_, None) => false,
            (_, Some(at)) => {
                let unquoted = self.unquoted.get_or_init(|| unquoted(self.text));
                !has_half(self.text.as_bytes(), at) && !has_half(unquoted, at)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bracket_without_its_half_is_an_error_whatever_a_grammar_knows() {
        for (text, at, is_sure) in [
            ("f(a", 1, true),
            ("f(a)", 1, false),
            ("f([a)", 2, true),
            ("a)", 1, true),
            ("(a))", 3, true),
            ("(a))", 2, false),
            // Which of them is open, nobody knows.
            ("f(g(a)", 1, true),
            ("f(')'", 1, false),
            ("(a ')')", 0, false),
            ("( # it's\n)", 0, false),
            ("\"\\\"(\" (", 6, true),
            ("a", 0, false),
            ("", 7, false),
        ] {
            let brackets = TextBrackets::new(Language::Python, text);
            assert_eq!(brackets.is_sure(Some(at)), is_sure, "{text} {at}");
        }
        assert!(TextBrackets::new(Language::Json, "").is_sure(None));
        assert!(!TextBrackets::new(Language::C, "f(").is_sure(Some(1)));
    }

    #[test]
    fn what_is_in_quotes_on_one_line_is_blanked() {
        for (text, expected) in [
            (r"\'\'\' '", r"\       "),
            ("a 'b \"c' d\"\n'e'", "a        d\"\n   "),
            (r#"\'\'x "y\'""#, r"\'\'x      "),
            ("'\\\n'", "    "),
            ("'", "'"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(&unquoted(text)), expected, "{text}");
        }
        // Of very many that are escaped none ends what another begins.
        for quotes in [r"\'", r"\'\`", r#"\"(\""#] {
            let text = format!("({}", quotes.repeat(200_000));
            assert!(TextBrackets::new(Language::Python, &text).is_sure(Some(0)), "{quotes}");
        }
    }
}
