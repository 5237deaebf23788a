//! Words of a line, and which of them count as the same.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Which differences between two lines do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// Those of blanks and tabs.
    Blanks,
    /// Those of all white space, of typographic and plain characters, and of composition; an em
    /// dash is two hyphens.
    Unicode,
    /// As `Unicode`, but an em dash is one hyphen.
    UnicodeShort,
}

/// A word, a number, or one other character.
#[derive(Debug, Clone)]
pub(super) struct FoldedToken<'a> {
    /// Where it stands in the line, in bytes.
    pub(super) range: Range<usize>,
    /// What it counts as.
    pub(super) folded: Cow<'a, str>,
}

/// Splits a line into tokens. What lies between them is white space.
pub(super) fn tokens(line: &str, fold: Fold) -> Vec<FoldedToken<'_>> {
    let mut tokens: Vec<FoldedToken<'_>> = Vec::new();
    let mut rest = line.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        if fold.is_blank(first) {
            continue;
        }
        let class = fold.class(first);
        let mut end = start + first.len_utf8();
        while let Some((at, next)) = rest.peek().copied() {
            if class == TokenClass::Single || fold.class(next) != class || fold.is_blank(next) {
                break;
            }
            end = at + next.len_utf8();
            rest.next();
        }
        let folded = fold.folded(&line[start..end]);
        if !folded.is_empty() {
            tokens.push(FoldedToken { range: start..end, folded });
        }
    }
    tokens
}

/// Writes a line as its tokens, each after a separator that no line contains. Two lines whose
/// tokens are the same give the same key.
pub(super) fn key(line: &str, fold: Fold) -> String {
    let mut key = String::with_capacity(line.len() + 8);
    for token in tokens(line, fold) {
        key.push('\n');
        key.push_str(&token.folded);
    }
    key
}

/// Returns the plain form of a typographic character, if it has one.
fn plain(c: char, fold: Fold) -> Option<&'static str> {
    Some(match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' => "'",
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' => "\"",
        '\u{2010}'..='\u{2013}' | '\u{2212}' => "-",
        '\u{2014}' | '\u{2015}' if fold == Fold::UnicodeShort => "-",
        '\u{2014}' | '\u{2015}' => "--",
        '\u{2026}' => "...",
        c if is_full_width(c) => {
            let at = usize::try_from(u32::from(c) - FULL_WIDTH_FIRST).ok()?;
            &ASCII_FROM_EXCLAMATION_MARK[at..=at]
        }
        _ => return None,
    })
}

/// The characters of ASCII of which Unicode has forms of full width, in its order.
const ASCII_FROM_EXCLAMATION_MARK: &str = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
/// The form of the first of them.
const FULL_WIDTH_FIRST: u32 = 0xff01;

/// Whether a character is punctuation of full width, as Chinese and Japanese write it. Letters and
/// digits of full width are not others.
pub(super) fn is_full_width(c: char) -> bool {
    matches!(
        c,
        '\u{ff01}'..='\u{ff0f}'
            | '\u{ff1a}'..='\u{ff20}'
            | '\u{ff3b}'..='\u{ff40}'
            | '\u{ff5b}'..='\u{ff5e}'
    )
}

/// Whether a character takes no room at all.
fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenClass {
    Word,
    Hyphens,
    Dots,
    Single,
}

// === impl Fold ===

impl Fold {
    fn is_blank(self, c: char) -> bool {
        match self {
            Self::Blanks => c == ' ' || c == '\t',
            Self::Unicode | Self::UnicodeShort => c.is_whitespace(),
        }
    }

    fn class(self, c: char) -> TokenClass {
        let folds = self != Self::Blanks;
        match c {
            '_' => TokenClass::Word,
            '-' if folds => TokenClass::Hyphens,
            '.' if folds => TokenClass::Dots,
            c if c.is_alphanumeric() || is_combining_mark(c) => TokenClass::Word,
            c if folds && is_zero_width(c) => TokenClass::Word,
            _ => TokenClass::Single,
        }
    }

    fn folded(self, token: &str) -> Cow<'_, str> {
        if self == Self::Blanks || token.is_ascii() {
            return token.into();
        }
        if let Some(plain) = token.chars().next().and_then(|c| plain(c, self)) {
            return plain.into();
        }
        token.chars().filter(|c| !is_zero_width(*c)).nfc().collect::<String>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str, fold: Fold) -> bool {
        key(a, fold) == key(b, fold)
    }

    #[test]
    fn blanks_between_words_do_not_count_and_words_do() {
        for (a, b) in
            [("f( a, b )", "f(a,b)"), ("x\t= 1", " x = 1 "), ("", "  "), ("a - -b", "a--b")]
        {
            assert!(same(a, b, Fold::Blanks), "{a:?} {b:?}");
        }
        for (a, b) in
            [("return x", "returnx"), ("a b", "ab"), ("“a”", "\"a\""), ("a\u{a0}b", "a b")]
        {
            assert!(!same(a, b, Fold::Blanks), "{a:?} {b:?}");
        }
    }

    #[test]
    fn typographic_characters_are_plain_ones_and_letters_stay_what_they_are() {
        for (a, b) in [
            ("“a” ‘b’", "\"a\" 'b'"),
            ("a — b", "a -- b"),
            ("1–2", "1-2"),
            ("wait…", "wait..."),
            ("cafe\u{301}", "caf\u{e9}"),
            ("a\u{a0}b", "a b"),
            ("fo\u{200b}o", "foo"),
            ("\u{200b}", ""),
            ("你好，世界（一）：二；", "你好,世界(一):二;"),
            ("ｆ［０］", "ｆ[０]"),
        ] {
            assert!(same(a, b, Fold::Unicode), "{a:?} {b:?}");
        }
        assert!(same("a — b", "a - b", Fold::UnicodeShort));
        for (a, b) in
            [("p\u{430}y", "pay"), ("ﬁ", "fi"), ("a — b", "a - b"), ("x²", "x2"), ("Ａ１", "A1")]
        {
            assert!(!same(a, b, Fold::Unicode), "{a:?} {b:?}");
        }
    }
}
