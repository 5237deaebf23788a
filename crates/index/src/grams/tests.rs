//! Tests of trigrams.

use super::*;

fn texts_of(text: &str) -> Vec<String> {
    let mut collector = GramCollector::new();
    let mut grams = collector.collect(text.as_bytes()).to_vec();
    grams.sort_unstable();
    let shown = |gram: Gram| String::from_utf8_lossy(&gram.to_be_bytes()[1..]).into_owned();
    grams.into_iter().map(shown).collect()
}

#[test]
fn each_trigram_is_found_once_in_lower_case() {
    assert_eq!(texts_of("abcABCd"), ["abc", "bca", "bcd", "cab"]);
    assert_eq!(texts_of("ab"), [""; 0]);
    assert_eq!(texts_of(""), [""; 0]);
}

#[test]
fn trigrams_with_a_line_end_are_left_out() {
    assert_eq!(texts_of("abc\ndef\r\nghi"), ["abc", "def", "ghi"]);
    assert_eq!(gram(*b"a\nb"), None);
    assert_eq!(gram(*b"\rab"), None);
    assert_eq!(gram(*b"AbC"), gram(*b"aBc"));
}

#[test]
fn a_collector_forgets_the_text_before() {
    let mut collector = GramCollector::new();
    assert_eq!(collector.collect(b"xyz").len(), 1);
    assert_eq!(collector.collect(b"xyz").len(), 1);
    assert_eq!(collector.collect(b"uvw"), [gram(*b"uvw").expect("no line end")]);
}
