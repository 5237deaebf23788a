//! Tests of queries by example; `tests/` has those on random expressions.

use super::*;
use crate::GramCollector;

/// A query in words: strings for trigrams, `&` and `|`.
fn shown(need: &GramNeed) -> String {
    let joined = |parts: &[GramNeed], with: &str| {
        let parts: Vec<String> = parts.iter().map(shown).collect();
        format!("({})", parts.join(with))
    };
    match need {
        GramNeed::Anything => "*".to_owned(),
        GramNeed::Nothing => "-".to_owned(),
        GramNeed::Has(gram) => gram.to_be_bytes()[1..].escape_ascii().to_string(),
        GramNeed::All(parts) => joined(parts, "&"),
        GramNeed::Any(parts) => joined(parts, "|"),
    }
}

fn query(pattern: &str) -> String {
    shown(&GramQuery::of_pattern(pattern, true).need)
}

#[test]
fn queries_hold_the_trigrams_of_literals() {
    for (pattern, expected) in [
        ("abc", "abc"),
        ("AbCd", "(abc&bcd)"),
        ("ab", "*"),
        ("", "*"),
        ("a.c", "*"),
        ("abc.*def", "(abc&def)"),
        ("abc|def", "(abc|def)"),
        ("abc|de", "*"),
        ("abc|", "*"),
        ("(abc)?", "*"),
        ("(abc)*", "*"),
        ("(abc)+", "abc"),
        ("(?:ab){2}", "(aba&bab)"),
        ("a{3,}", "aaa"),
        ("ab[cd]e", "((abc&bce)|(abd&bde))"),
        ("a[^b]cde", "cde"),
        ("xabc|xabd", "(xab&(abc|abd))"),
        (r"\babc\b", "abc"),
        ("^abc$", "abc"),
        (r"abc\ndef", "(abc&def)"),
        (r"abc\s+def", "(abc&def)"),
        ("[a&&b]", "-"),
        ("abc[a&&b]|def", "def"),
        ("a(?:b|c)d", "(abd|acd)"),
        ("x+abc", "(abc&xab)"),
        ("(", "*"),
    ] {
        assert_eq!(query(pattern), expected, "{pattern}");
    }
}

#[test]
fn letters_that_fold_to_ascii_are_asked_for_as_well() {
    let of = |pattern| shown(&GramQuery::of_pattern(pattern, false).need);
    assert_eq!(of("bad"), "bad");
    assert_eq!(of("kab"), r"(kab|(\x84\xaaa&\xaaab&\xe2\x84\xaa))");
    assert_eq!(of("abs"), r"(abs|(ab\xc5&b\xc5\xbf))");
    let kelvin = "\u{212a}ab";
    let has = |gram: Gram| GramCollector::new().collect(kelvin.as_bytes()).contains(&gram);
    assert!(GramQuery::of_pattern("kab", false).accepts(&has));
    assert!(!GramQuery::of_pattern("kac", false).accepts(&has));
}

#[test]
fn a_long_literal_in_any_case_keeps_its_trigrams() {
    let query = GramQuery::of_pattern("class_kiss_sticks_and_skies", false);
    assert!(!query.accepts_every_text());
    let has = |text: &'static str| {
        move |gram: Gram| GramCollector::new().collect(text.as_bytes()).contains(&gram)
    };
    assert!(query.accepts(&has("x CLASS_KISS_STICKS_AND_SKIES y")));
    assert!(query.accepts(&has("cla\u{17f}s_kiss_sticks_and_s\u{212a}ies")));
    assert!(!query.accepts(&has("class_kiss_stacks_and_skies")));
}

#[test]
fn large_expressions_stay_bounded() {
    let word = |number: u32| format!("word{number}");
    let many: Vec<String> = (0..2_000).map(word).collect();
    let repeated = "(?:abcdef|ghijkl){1000}".repeat(20);
    let nested = format!("{}abc{}", "(?:x".repeat(200), "){3}".repeat(200));
    for pattern in [many.join("|"), many.join(".*"), repeated, nested, "k".repeat(4_000)] {
        let query = GramQuery::of_pattern(&pattern, false);
        assert!(query.need.grams() <= GRAMS_MAX, "{}", query.need.grams());
    }
}
