//! No text makes an outline fail, hang or point outside of the text.

use std::time::Duration;

use moss_symbols::{Language, OutlineProblem, Outliner, TextRange, UseKind};
use proptest::prelude::*;

use crate::reading::{declarations, outline, uses};

#[test]
fn every_grammar_loads() {
    for language in Language::all() {
        assert!(outline(language, "").declarations.is_empty(), "{language:?}");
    }
}

#[test]
fn large_and_minified_texts_are_refused() {
    let mut outliner = Outliner::default();
    let large = "fn a() {}\n".repeat(500_000);
    assert_eq!(outliner.outline(Language::Rust, &large), Err(OutlineProblem::TooLarge));
    let minified = format!("let x = \"{}\";", "y".repeat(30_000));
    assert_eq!(outliner.outline(Language::JavaScript, &minified), Err(OutlineProblem::TooLarge));
    assert!(outliner.outline(Language::Rust, "fn a() {}").is_ok(), "the next text is read");
}

#[test]
fn a_generated_file_of_100_000_lines_is_read_or_refused() {
    let text = "int value_a = 1;\n".repeat(100_000);
    match Outliner::default().outline(Language::C, &text) {
        Ok(found) => assert_eq!(found.declarations.len(), 50_000, "up to the bound"),
        Err(problem) => assert_eq!(problem, OutlineProblem::TimedOut),
    }
}

#[test]
fn a_declaration_with_very_many_names_is_read() {
    let lines: String = (0..49_999).map(|number| format!("a{number},\n")).collect();
    let text = format!("const {{\n{lines}last, // of them\n}} = x;\n");
    let found = Outliner::within(Duration::from_secs(60)).outline(Language::JavaScript, &text);
    let found = found.unwrap().declarations;
    assert_eq!(found.len(), 50_000);
    let signature = &found[49_999].signature;
    assert_eq!(&text[signature.start as usize..signature.end as usize], "last");
}

#[test]
fn a_text_that_takes_too_long_is_refused_and_the_next_one_is_read() {
    let mut hasty = Outliner::within(Duration::ZERO);
    let long = "fn a() { b(c, d); }\n".repeat(10_000);
    assert_eq!(hasty.outline(Language::Rust, &long), Err(OutlineProblem::TimedOut));
    assert_eq!(hasty.syntax_errors(Language::Rust, &long), Err(OutlineProblem::TimedOut));
    // It begins with this one, not where it left off; a grammar looks at the time now and then only.
    let short = hasty.outline(Language::Rust, "fn z() {}\n").unwrap();
    assert_eq!(short, outline(Language::Rust, "fn z() {}\n"));
}

#[test]
fn a_text_that_takes_too_much_memory_is_refused_and_the_next_one_is_read() {
    let mut narrow = Outliner::default().with_bytes_max(1 << 20);
    let long = "fn a() { b(c, d); }\n".repeat(20_000);
    assert_eq!(narrow.outline(Language::Rust, &long), Err(OutlineProblem::TooMuchMemory));
    assert_eq!(narrow.syntax_errors(Language::Rust, &long), Err(OutlineProblem::TooMuchMemory));
    // Each text has the bound for itself: what trees before took, and gave back elsewhere, counts for none.
    let short = "fn a() { b(c, d); }\n".repeat(500);
    let expected = outline(Language::Rust, &short);
    for _ in 0..100 {
        assert_eq!(narrow.outline(Language::Rust, &short).unwrap(), expected);
    }
    assert!(Outliner::default().outline(Language::Rust, &long).is_ok(), "the usual bound is wide");
}

#[test]
fn deep_nesting_ends() {
    for (language, open) in [
        (Language::Json, "["),
        (Language::Rust, "fn a() { ("),
        (Language::Python, "(("),
        (Language::C, "{"),
    ] {
        // Each in lines that are short enough.
        let text = format!("{}\n", open.repeat(100)).repeat(500);
        let read = Outliner::default().outline(language, &text);
        assert!(matches!(read, Ok(_) | Err(OutlineProblem::TimedOut)), "{language:?}");
    }
}

#[test]
fn two_of_one_name_are_two_and_names_may_be_any_word() {
    let text = "fn a() {}\nfn a() {}\nmod r#type { fn größe() {} }\n";
    let expected = ["function a", "function a", "module type", "function type.größe"];
    assert_eq!(declarations(Language::Rust, text), expected);
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(declarations(Language::Rust, &crlf), expected);
}

#[test]
fn signs_before_names_that_are_keywords_are_no_part_of_them() {
    let text =
        "struct r#type;\nimpl r#type { fn r#loop(&self) {} }\nfn go(t: r#type) { t.r#loop() }\n";
    let expected = ["struct type", "method type.loop", "function go"];
    assert_eq!(declarations(Language::Rust, text), expected);
    assert_eq!(uses(Language::Rust, text, UseKind::Call), ["loop"]);
}

#[test]
fn what_does_not_parse_is_said_where() {
    let text = "fn a() {\n    let x = ;\n}\nfn b( {}\n";
    let errors = Outliner::default().syntax_errors(Language::Rust, text).unwrap();
    assert!(!errors.is_empty());
    let lines: Vec<usize> = errors
        .iter()
        .map(|one| text[..one.range.start as usize].matches('\n').count() + 1)
        .collect();
    assert!(lines.contains(&2) && lines.iter().any(|line| *line >= 4), "{lines:?}");
    let fine = Outliner::default().syntax_errors(Language::Rust, "fn a() {}\n").unwrap();
    assert!(fine.is_empty());
    let missing = Outliner::default().syntax_errors(Language::C, "int a = 1\n").unwrap();
    assert_eq!(missing[0].missing.as_deref(), Some(";"));
}

/// Texts that are nearly code.
const SEEDS: [(Language, &str); 6] = [
    (Language::Rust, "/// d\nimpl A<'a> { fn b(&self) -> Vec<u8> { c::d!(e) } }\n"),
    (Language::Python, "@x\nclass A(B):\n    '''é'''\n    def f(self): return g(h)\n"),
    (Language::TypeScript, "export const a = async <T,>(b: C) => { d.e(`${f}`) }\n"),
    (Language::Cpp, "template<class T> int N::A<T>::f(int (*g)(int)) { return g(1); }\n"),
    (Language::Php, "<?php class A { private $b = 1; function c() { return $this->d(); } }\n"),
    (Language::Yaml, "a:\n  - b: {c: d}\n  - \"é\": |\n      x\n"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn ranges_lie_in_the_text_whatever_it_is(
        seed in 0..SEEDS.len(),
        cut in 0_usize..80,
        end in 0_usize..80,
        inserted in "\\PC{0,6}",
        any in any::<prop::sample::Index>(),
    ) {
        let (language, text) = SEEDS[seed];
        let languages: Vec<Language> = Language::all().collect();
        let other = languages[any.index(languages.len())];
        let cut = text.floor_char_boundary(cut.min(text.len()));
        let end = text.floor_char_boundary(end.max(cut).min(text.len()));
        let broken = format!("{}{inserted}{}", &text[..cut], &text[end..]);
        for language in [language, other] {
            let found = outline(language, &broken);
            let is_in = |range: &TextRange| broken.get(range.start as usize..range.end as usize).is_some();
            for (place, one) in found.declarations.iter().enumerate() {
                prop_assert!(is_in(&one.name) && is_in(&one.range) && is_in(&one.signature));
                prop_assert!(is_in(&(one.begin..one.range.end)) && one.begin <= one.range.start);
                prop_assert!(one.documentation.as_ref().is_none_or(is_in));
                prop_assert!(one.owner.as_ref().is_none_or(is_in));
                prop_assert!(one.container.is_none_or(|container| (container as usize) < place));
            }
            prop_assert!(found.uses.iter().all(|used| is_in(&used.name)));
            prop_assert!(found.imports.iter().all(|import| is_in(&import.path) && is_in(&import.range)));
            let errors = Outliner::default().syntax_errors(language, &broken).unwrap();
            prop_assert!(errors.iter().all(|error| is_in(&error.range)));
        }
    }
}
