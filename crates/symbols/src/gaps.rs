//! What is valid in a language and unknown to its grammar.
//!
//! Where a text does not parse, such constructs are replaced by others of the same length that the grammar knows, and the
//! text is parsed again: what is then still wrong stands at the same bytes. What replaces them need not mean the same.

mod patterns;
mod scan;

use self::patterns::PATTERNS;
use self::scan::{FilledGap, GapScan};
use crate::language::Language;

/// A construct that has to be looked for by more than a few words in a row.
type GapRule = fn(&GapScan<'_>, usize) -> Option<FilledGap>;

const GAPS: &[(&[Language], GapRule)] = &[
    (&[Language::TypeScript, Language::Tsx], |scan, at| scan.import_type(at)),
    (&[Language::TypeScript, Language::Tsx], |scan, at| scan.nameless_default(at)),
    (&[Language::Python], |scan, at| scan.type_parameter_default(at)),
    (&[Language::Rust], |scan, at| scan.extern_type(at)),
    (&[Language::Rust], |scan, at| scan.array_bound(at)),
    (&[Language::Cpp], |scan, at| scan.module_line(at)),
    (&[Language::Cpp], |scan, at| scan.bit_field_value(at)),
    (&[Language::Cpp], |scan, at| scan.if_consteval(at)),
    (&[Language::C, Language::Cpp], |scan, at| scan.attribute(at)),
    (&[Language::C], |scan, at| scan.type_of(at)),
    (&[Language::C], |scan, at| scan.enum_type(at)),
    (&[Language::C], |scan, at| scan.embed(at)),
    (&[Language::Go], |scan, at| scan.bare_range(at)),
    (&[Language::Java], |scan, at| scan.named_resource(at)),
    (&[Language::Ruby], |scan, at| scan.lambda_locals(at)),
    (&[Language::Json], |scan, at| scan.signed_exponent(at)),
    (&[Language::Toml], |scan, at| scan.inline_table(at)),
    (&[Language::Toml], |scan, at| scan.short_time(at)),
    (&[Language::Toml], |scan, at| scan.short_escape(at)),
];

/// A text in which the grammar knows more, of the same length; none where nothing in it is known to be a gap.
pub(crate) fn filled(language: Language, text: &str) -> Option<String> {
    let patterns: Vec<Vec<&str>> = PATTERNS
        .iter()
        .filter(|(languages, _)| languages.contains(&language))
        .map(|(_, pattern)| pattern.split(' ').collect())
        .collect();
    let gaps: Vec<GapRule> = GAPS
        .iter()
        .filter(|(languages, _)| languages.contains(&language))
        .map(|(_, gap)| *gap)
        .collect();
    if patterns.is_empty() && gaps.is_empty() {
        return None;
    }
    let scan = GapScan::new(text);
    let mut bytes = text.as_bytes().to_vec();
    let mut is_changed = false;
    for at in 0..scan.len() {
        let by_pattern = patterns.iter().flat_map(|pattern| scan.matches(pattern, at));
        let by_rule = gaps.iter().filter_map(|gap| gap(&scan, at));
        for FilledGap { range, replacement } in by_pattern.chain(by_rule) {
            // What two of them meet stays as the first one left it.
            let is_untouched = bytes[range.clone()] == text.as_bytes()[range.clone()];
            if replacement.len() <= range.len() && is_untouched {
                let end = range.start + replacement.len();
                bytes[range.start..end].copy_from_slice(replacement.as_bytes());
                for byte in &mut bytes[end..range.end] {
                    *byte = if *byte == b'\n' { b'\n' } else { b' ' };
                }
                is_changed = true;
            }
        }
    }
    is_changed.then(|| String::from_utf8(bytes).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_filled_with_as_many_bytes() {
        for (language, text, expected) in [
            (Language::TypeScript, "export type * from 'x'", "export      * from 'x'"),
            (Language::TypeScript, "let t: import('x').Y<Z>", "let t:             Y<Z>"),
            (
                Language::Python,
                "def f[T: (int, str) = int, *U](): 1",
                "def f[T: (int, str)      , *U](): 1",
            ),
            (
                Language::Python,
                "type X[*T = *tuple[int, ...]] = T",
                "type X[*T                   ] = T",
            ),
            (Language::Rust, "pub safe fn f();", "pub      fn f();"),
            (Language::Rust, "pub type É;", "pub fn É();"),
            (Language::Rust, "where [(); N]: {}", "where T:T      {}"),
            (Language::Rust, "where [(); N]: A {}", "where T      : A {}"),
            (
                Language::Cpp,
                "export module a.b:c;\nint x : 3 = 1;",
                "                    \nint x : 3    ;",
            ),
            (Language::C, "typeof(a[(1)]) y;", "int            y;"),
            (Language::Go, "for range a.s { f() }", "for           { f() }"),
            (Language::Java, "try (r; a.b; var q = x()) {}", "try (        var q = x()) {}"),
            (Language::Ruby, "->(x; y, z) { x }", "->(x      ) { x }"),
            (Language::Json, "[1e+22]", "[1e022]"),
            (Language::Toml, "a = { b = 1,\n c = 2, # d\n}", "a = { b = 1,  c = 2      }"),
        ] {
            assert_eq!(filled(language, text).as_deref(), Some(expected), "{text}");
            assert_eq!(text.len(), expected.len());
        }
        for (language, text) in [
            (Language::TypeScript, "let x = import('x');"),
            (Language::Python, "class A(B[int]): x = 1"),
            (Language::Java, "import a.b;"),
            (Language::Json, "{\"a\": [1,]}"),
            (Language::Go, "package a"),
            (Language::Go, "for range []int{1} {}"),
            (Language::Go, "for x := range s {}"),
            (Language::Java, "try (var q = x(); var r = y()) {}"),
            (Language::Java, "try (r;) {}"),
            (Language::Ruby, "->(x) { x; y }"),
            (Language::Rust, ""),
            (Language::C, "x #embed <a>"),
            (Language::Cpp, "x; export int y;"),
        ] {
            assert_eq!(filled(language, text), None, "{text}");
        }
    }

    #[test]
    fn a_line_of_very_many_words_is_gone_through_once() {
        let words = "export ".repeat(150_000);
        let filled_one = format!("{}{}", " ".repeat(7), &words[7..]);
        for (language, text, expected) in [
            (Language::C, "enumeration ".repeat(150_000), None),
            (Language::C, "x #embed ".repeat(150_000), None),
            (Language::Cpp, format!("x {words}"), None),
            (Language::Cpp, words, Some(filled_one)),
        ] {
            assert!(filled(language, &text) == expected, "{}", &text[..20]);
        }
    }
}
