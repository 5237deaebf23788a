//! Tests of line numbers, excerpts and the recognition of pasted line numbers.

use super::*;

#[test]
fn lines_are_counted_without_the_one_after_the_final_line_end() {
    let cases: [(&str, &[&str]); 7] = [
        ("", &[]),
        ("\n", &[""]),
        ("a", &["a"]),
        ("a\n", &["a"]),
        ("a\r\nb", &["a", "b"]),
        ("a\n\n", &["a", ""]),
        ("a\rb\n", &["a\rb"]),
    ];
    for (text, lines) in cases {
        assert_eq!(LineIndex::new(text).iter().collect::<Vec<_>>(), lines, "{text:?}");
        assert_eq!(split(text), lines, "{text:?}");
    }
}

#[test]
fn a_byte_is_on_the_line_that_holds_it() {
    let lines = LineIndex::new("a\r\nb\n");
    let numbers: Vec<usize> = (0..5).map(|offset| lines.number_at(offset)).collect();
    assert_eq!(numbers, [1, 1, 1, 2, 2]);
    assert_eq!(LineIndex::new("").number_at(0), 1);
}

#[test]
fn pasted_line_numbers_are_recognized() {
    let cases = [
        ("     1\tfn main() {\n     2\t}\n", true),
        ("1\tfn main() {\n     2\t}\n", true),
        ("    42\tx", true),
        ("    42\t\n    43\t", true),
        ("1\tid\n2\tname\n", false),
        ("     1\ta\n     3\tb\n", false),
        ("     1\ta\nb\n", false),
        ("    42 x", false),
        ("42\tx", false),
        ("", false),
    ];
    for (text, expected) in cases {
        assert_eq!(has_gutter(text), expected, "{text:?}");
    }
    let mut shown = String::new();
    for (number, line) in [(9, "a\n"), (10, "\tb")] {
        push_gutter(&mut shown, number);
        shown.push_str(line);
    }
    assert_eq!(shown, "     9\ta\n    10\t\tb");
    assert!(has_gutter(&shown));
}

#[test]
fn gutters_that_follow_each_other_are_those_of_each_line() {
    for first in [1, 5, 95, 995, 9_995, 99_995, 999_995, 1_000_000, u64::MAX - 20] {
        let mut gutters = Gutters::starting_at(first);
        let (mut counted, mut each) = (Vec::new(), String::new());
        for number in first..first + 20 {
            gutters.push(&mut counted);
            push_gutter(&mut each, number);
        }
        assert_eq!(String::from_utf8(counted).unwrap(), each);
    }
}

#[test]
fn an_excerpt_is_bounded_and_says_so() {
    let text = "x\n".repeat(100);
    let lines = LineIndex::new(&text);
    let excerpt = lines.excerpt(10..=11);
    assert_eq!(excerpt.text.lines().count(), 1 + 6);
    assert!(excerpt.complete);
    let excerpt = lines.excerpt(10..=90);
    assert_eq!(excerpt.text.lines().count(), 1 + EXCERPT_LINES_MAX);
    assert!(!excerpt.complete);
    assert!(!lines.excerpt(200..=201).complete);
    let long = "é".repeat(500);
    let excerpt = LineIndex::new(&long).excerpt(1..=1);
    assert!(excerpt.text.ends_with("é…") && !excerpt.complete);
    assert_eq!(LineIndex::new("").excerpt(1..=3).text, "");
}
