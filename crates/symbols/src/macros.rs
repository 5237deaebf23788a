//! Macros before the names of types in C and C++: `class EXPORT Widget : public Base {`. The grammars know none there
//! and read a function, or lose all members: where a text is parsed, blanks stand for such macros.

use std::borrow::Cow;
use std::ops::Range;

use crate::language::Language;

/// Words that a type is defined with.
const KEYWORDS: [&str; 4] = ["class", "struct", "union", "enum"];
/// Most bytes of what a type extends.
const BASES_BYTES_MAX: usize = 1_000;
/// Shortest macro, in bytes: shorter ones are names of types.
const MACRO_BYTES_MIN: usize = 3;

/// A text as it is parsed: as long as it is, and without macros before the names of types.
pub(crate) fn without_macros(language: Language, text: &str) -> Cow<'_, [u8]> {
    let found = macros(language, text);
    if found.is_empty() {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = text.as_bytes().to_vec();
    for byte in found.into_iter().flatten() {
        if !matches!(bytes[byte], b'\n' | b'\r') {
            bytes[byte] = b' ';
        }
    }
    Cow::Owned(bytes)
}

/// Where macros stand before the names of types, by where they begin.
pub(crate) fn macros(language: Language, text: &str) -> Vec<Range<usize>> {
    if !matches!(language, Language::C | Language::Cpp) {
        return Vec::new();
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    for keyword in KEYWORDS {
        for (at, _) in text.match_indices(keyword) {
            let is_word = !text[..at].ends_with(is_part);
            let mut head = TypeHead { text, at: at + keyword.len() };
            if is_word && head.blanks() {
                found.extend(head.macros(keyword).unwrap_or_default());
            }
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

/// Whether a name is written as constants and macros are: `MAX_SIZE`.
pub(crate) fn is_screaming(name: &str) -> bool {
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What comes between the keyword of a type and its body, as far as it is read.
struct TypeHead<'t> {
    text: &'t str,
    at: usize,
}

// === impl TypeHead ===

impl<'t> TypeHead<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Passes over blanks. Returns whether there are any.
    fn blanks(&mut self) -> bool {
        let before = self.at;
        self.at = self.text.len() - self.rest().trim_start().len();
        self.at > before
    }

    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Passes over what stands in a pair of brackets here, if anything does. Returns whether it is closed.
    fn brackets(&mut self, [open, close]: [char; 2]) -> bool {
        if !self.rest().starts_with(open) {
            return true;
        }
        let rest = &self.rest()[..self.rest().floor_char_boundary(BASES_BYTES_MAX)];
        let mut depth = 0_usize;
        for (at, c) in rest.char_indices() {
            depth = depth + usize::from(c == open) - usize::from(c == close);
            if depth == 0 {
                self.at += at + c.len_utf8();
                return true;
            }
        }
        false
    }

    /// The macros before the name of a type that is defined here, or of a class that is said to exist.
    fn macros(&mut self, keyword: &str) -> Option<Vec<Range<usize>>> {
        let mut found = Vec::new();
        loop {
            let start = self.at;
            let word = self.word();
            let end = self.at;
            if !is_screaming(word) || word.len() < MACRO_BYTES_MIN {
                if word.is_empty() {
                    return None;
                }
                break;
            }
            let is_closed = self.brackets(['(', ')']);
            let macro_end = self.at;
            self.blanks();
            let is_name = self.rest().starts_with("final")
                || !self.rest().starts_with(|c: char| is_part(c) && !c.is_ascii_digit());
            if is_name || !is_closed {
                self.at = end;
                break;
            }
            found.push(start..macro_end);
        }
        (!found.is_empty() && self.is_defined(keyword)).then_some(found)
    }

    /// Whether the type whose name has been read is defined, or only said to exist, and not that of a value.
    fn is_defined(&mut self, keyword: &str) -> bool {
        while self.rest().starts_with("::") {
            self.at += 2;
            self.word();
        }
        if !self.brackets(['<', '>']) {
            return false;
        }
        let mut is_apart = self.blanks();
        if self.rest().starts_with("final") {
            self.word();
            is_apart |= self.blanks();
        }
        let rest = self.rest();
        match rest.chars().next() {
            // `struct POINT a{};` is a value.
            Some('{') => is_apart || !rest[1..].trim_start().starts_with('}'),
            Some(':') => {
                let bases = &rest[..rest.floor_char_boundary(BASES_BYTES_MAX)];
                let end = bases.find(['{', ';', '(', ')']);
                end.is_some_and(|end| bases[end..].starts_with('{'))
            }
            Some(';') => keyword == "class",
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_stand_for_macros_before_the_names_of_types() {
        for (text, expected) in [
            ("class EXPORT A {", "class        A {"),
            ("class EXPORT A;", "class        A;"),
            (
                "class EXPORT OLD(\"é\") A : public B<C> {",
                "class                  A : public B<C> {",
            ),
            ("struct EXPORT\n  A final {", "struct       \n  A final {"),
            ("enum class EXPORT A : int {", "enum class        A : int {"),
            ("class EXPORT A<B<int>>::C {", "class        A<B<int>>::C {"),
            ("struct EXPORT A {};", "struct        A {};"),
            ("/**/union EXPORT URL {", "/**/union        URL {"),
        ] {
            let read = without_macros(Language::Cpp, text);
            assert_eq!(String::from_utf8_lossy(&read), expected);
            assert_eq!(read.len(), text.len());
        }
        for text in [
            "class A {",
            "class URL final {",
            "struct POINT a;",
            "struct S a {1};",
            "struct POINT a{};",
            "struct POINT a = {1};",
            "struct POINT *a(void) {",
            "for (struct POINT a : b) {",
            "template <class FOO, class BAR> class A {",
            "class EXPORT(",
            "class EXPORT A",
            "myclass EXPORT A {",
            "classical EXPORT A {",
            "struct",
        ] {
            assert_eq!(without_macros(Language::Cpp, text), text.as_bytes(), "{text}");
        }
        assert_eq!(without_macros(Language::Java, "class A B {").as_ref(), b"class A B {");
    }
}
