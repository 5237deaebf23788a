//! Tests of trigrams.

use super::*;

fn texts_of(text: &str) -> Vec<String> {
    let mut collector = GramCollector::new();
    let mut grams = collector.collect(text.as_bytes()).to_vec();
    grams.sort_unstable();
    grams.into_iter().map(shown).collect()
}

/// A trigram as its bytes, a run as its letters in brackets.
fn shown(gram: Gram) -> String {
    let Some(run) = gram.checked_sub(RUN_MARK) else {
        return String::from_utf8_lossy(&gram.to_be_bytes()[1..]).into_owned();
    };
    let letter = |nth: u32| {
        let number = run >> ((RUN as u32 - 1 - nth) * LETTER_BITS) & 0x1f;
        char::from(b"_abcdefghijklmnopqrstuvwxyz"[number as usize % 27])
    };
    format!("[{}]", (0..RUN as u32).map(letter).collect::<String>())
}

#[test]
fn each_trigram_is_found_once_in_lower_case() {
    assert_eq!(texts_of("abc.ABCd"), [".ab", "abc", "bc.", "bcd", "c.a"]);
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

#[test]
fn runs_of_five_letters_are_found_once_in_lower_case() {
    let runs = |text| texts_of(text).into_iter().filter(|gram| gram.len() == 7).collect::<Vec<_>>();
    assert_eq!(runs("Word_of word_OF"), ["[ord_o]", "[rd_of]", "[word_]"]);
    assert_eq!(runs("abcd efgh1ijkl\nmnop-qrst caf\u{e9}s"), [""; 0]);
    assert_eq!(runs("zzzzz"), ["[zzzzz]"]);
    assert_eq!(run_gram(*b"wOrD_"), run_gram(*b"WoRd_"));
    assert_eq!([run_gram(*b"wor d"), run_gram(*b"word1"), run_gram(*b"abc\nd")], [None; 3]);
}

#[test]
fn no_run_is_a_trigram() {
    let first = run_gram(*b"aaaaa").expect("letters");
    assert!(first > 0x00ff_ffff && run_gram(*b"_____").expect("letters") > first);
}
