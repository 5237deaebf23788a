//! Queries never refuse a text that matches: random expressions on random texts, decided by the
//! engine that searches.

use std::cell::RefCell;
use std::collections::HashSet;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcherBuilder;
use moss_index::{Gram, GramCollector, GramQuery};
use proptest::prelude::*;
use proptest::strategy::Union;
use proptest::test_runner::Config;

/// Characters that expressions and texts are made of: few, so that they meet.
const LETTERS: [&str; 14] =
    ["a", "b", "B", "k", "K", "s", "S", "\u{212a}", "\u{17f}", "ä", "Ä", "_", "1", " "];

thread_local! {
    /// Its memory is made once.
    static COLLECTOR: RefCell<GramCollector> = RefCell::new(GramCollector::new());
}

#[derive(Debug, Clone)]
struct SearchedText {
    pattern: String,
    case_sensitive: bool,
    text: String,
}

fn literals() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&LETTERS[..]), 1..6)
        .prop_map(|letters| letters.concat())
}

fn atoms() -> impl Strategy<Value = String> {
    let fixed = [
        ".",
        r"\w",
        r"\d",
        r"\s",
        r"\S",
        r"\W",
        r"\b",
        r"\B",
        "^",
        "$",
        r"\A",
        r"\z",
        "",
        "[ab]",
        "[^a]",
        "[a-k]",
        "[kKs]",
        "[[:alpha:]]",
        "[a-z&&[^b]]",
        "[a&&b]",
        r"\n",
        r"\r\n",
        r"\r?\n",
        "(?i:kas)",
        "(?-i:KaS)",
        "(?s:.)",
        "(?-u:a)",
        r"(?-u:[\x80-\xff])",
        r"\x{212a}",
        r"\p{Greek}",
        r"\p{Lu}",
        "(?R:$)",
        "(?-R:$)",
        "(?-m:^)",
        "[äÄ]",
        r"\u{17f}",
        "(?U:a+)",
        "(?x: a b )",
        r"\b{start}",
        "[[^a]--[b]]",
    ];
    let fixed = prop::sample::select(fixed.to_vec()).prop_map(str::to_owned);
    Union::new_weighted(vec![(5, literals().boxed()), (4, fixed.boxed())])
}

/// Expressions: atoms, repeated, joined, in groups and alternatives.
fn patterns() -> impl Strategy<Value = String> {
    atoms().prop_recursive(4, 24, 4, |inner| {
        let parts = prop::collection::vec(inner.clone(), 1..4);
        let suffix = prop::sample::select(vec![
            "?", "*", "+", "{2}", "{3}", "{0}", "{2,}", "{0,2}", "{1,5}", "{4,6}", "*?", "+?",
        ]);
        prop_oneof![
            4 => parts.clone().prop_map(|parts| parts.concat()),
            3 => parts.clone().prop_map(|parts| format!("(?:{})", parts.join("|"))),
            1 => parts.prop_map(|parts| format!("({}|)", parts.join("|"))),
            3 => (inner, suffix).prop_map(|(inner, suffix)| format!("(?:{inner}){suffix}")),
        ]
    })
}

fn texts() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        8 => prop::sample::select(&LETTERS[..]).prop_map(str::to_owned),
        2 => prop::sample::select(vec!["\n", "\r\n", "\r", "kas", "KAS", "ab", "aab", "λ", "."])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(parts, 0..24).prop_map(|parts| parts.concat())
}

fn searched_texts() -> impl Strategy<Value = SearchedText> {
    let made = |(pattern, case_sensitive, text)| SearchedText { pattern, case_sensitive, text };
    (patterns(), any::<bool>(), texts()).prop_map(made)
}

/// An expression, and what it matches: parts of both are made together.
fn matched_patterns() -> impl Strategy<Value = (String, String)> {
    let literal = literals().prop_map(|text| (regex_syntax::escape(&text), text));
    let classes = [
        ("[ab]", "b"),
        ("[kKs]", "s"),
        ("[a-k]", "k"),
        (r"\w", "ä"),
        (r"\W", "."),
        (r"\s", "\r"),
        (".", "λ"),
        (r"\n", "\n"),
        (r"\r\n", "\r\n"),
        ("(?i:k)", "\u{212a}"),
        ("(?i:S)", "\u{17f}"),
        ("(?i:aks)", "AKS"),
        (r"(?-u:\xc3)(?-u:\xa4)", "ä"),
        (r"\b", ""),
        ("(?:^|$|)", ""),
        ("", ""),
        ("[Ää]", "Ä"),
        (r"\x{212a}", "\u{212a}"),
        (r"[^\x00-\x7f]", "\u{17f}"),
        ("(?x: a b )", "ab"),
    ];
    let class = prop::sample::select(classes.to_vec())
        .prop_map(|(pattern, text)| (pattern.to_owned(), text.to_owned()));
    Union::new_weighted(vec![(2, literal.boxed()), (1, class.boxed())]).prop_recursive(
        5,
        32,
        4,
        |inner| {
            let parts = prop::collection::vec(inner.clone(), 1..5);
            let both = |parts: Vec<(String, String)>| -> (Vec<String>, Vec<String>) {
                parts.into_iter().unzip()
            };
            prop_oneof![
                4 => parts.clone().prop_map(move |parts| {
                    let (patterns, texts) = both(parts);
                    (patterns.concat(), texts.concat())
                }),
                2 => (parts, any::<prop::sample::Index>()).prop_map(move |(parts, chosen)| {
                    let (patterns, texts) = both(parts);
                    (format!("(?:{})", patterns.join("|")), chosen.get(&texts).clone())
                }),
                2 => (inner, 0..6_u32, 0..3_u32, 0..3_u32).prop_map(
                    |((pattern, text), times, fewer, more)| {
                        let (least, most) = (times.saturating_sub(fewer), times + more);
                        let repeated = format!("(?:{pattern}){{{least},{most}}}");
                        (repeated, text.repeat(times as usize))
                    },
                ),
            ]
        },
    )
}

/// Whether the expression matches in the text, as the search tool compiles it; over lines where
/// `spans_lines`. None where the engine refuses it.
fn is_match(searched: &SearchedText, spans_lines: bool) -> Option<bool> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(!searched.case_sensitive).multi_line(true).crlf(true);
    if spans_lines {
        let matcher = builder.line_terminator(None).build(&searched.pattern).ok()?;
        return Some(matcher.is_match(searched.text.as_bytes()).expect("it cannot fail"));
    }
    let matcher = builder.build(&searched.pattern).ok()?;
    let mut lines = searched.text.split_inclusive('\n');
    Some(lines.any(|line| matcher.is_match(line.as_bytes()).expect("it cannot fail")))
}

fn is_accepted(searched: &SearchedText) -> bool {
    let query = GramQuery::of_pattern(&searched.pattern, searched.case_sensitive);
    let grams: HashSet<Gram> = COLLECTOR.with_borrow_mut(|collector| {
        collector.collect(searched.text.as_bytes()).iter().copied().collect()
    });
    query.accepts(&|gram| grams.contains(&gram))
}

proptest! {
    #![proptest_config(Config { cases: 20_000, ..Config::default() })]

    #[test]
    fn a_query_accepts_every_text_that_matches(searched in searched_texts()) {
        is_refused_rightly(&searched)?;
    }

    #[test]
    fn a_query_accepts_the_text_that_its_expression_was_made_for(
        (pattern, matched) in matched_patterns(),
        case_sensitive in any::<bool>(),
        in_capitals in any::<bool>(),
        (before, after) in (texts(), texts()),
    ) {
        let matched = if in_capitals { matched.to_ascii_uppercase() } else { matched };
        let text = format!("{before}{matched}{after}");
        is_refused_rightly(&SearchedText { pattern, case_sensitive, text })?;
    }
}

/// Fails where a text is refused that matches. The engine is needed only for those that are refused.
fn is_refused_rightly(searched: &SearchedText) -> Result<(), TestCaseError> {
    if !is_accepted(searched) {
        for spans_lines in [false, true] {
            prop_assert!(is_match(searched, spans_lines) != Some(true), "{searched:?}");
        }
    }
    Ok(())
}

#[test]
fn a_query_accepts_what_it_is_the_escape_of() {
    let mut runner = proptest::test_runner::TestRunner::new(Config::with_cases(5_000));
    let strategy = (texts(), any::<bool>(), any::<prop::sample::Index>());
    let outcome = runner.run(&strategy, |(text, case_sensitive, at)| {
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let start = if starts.is_empty() { 0 } else { starts[at.index(starts.len())] };
        let pattern = regex_syntax::escape(&text[start..]);
        let searched = SearchedText { pattern, case_sensitive, text };
        prop_assert!(is_accepted(&searched), "{searched:?}");
        Ok(())
    });
    outcome.expect("every text is accepted");
}

/// A query that refused nothing would pass the tests above.
#[test]
fn queries_refuse_texts_without_their_literals() {
    let mut collector = GramCollector::new();
    let grams: HashSet<Gram> =
        collector.collect(b"fn main() { println!(\"Hello\"); }").iter().copied().collect();
    let accepts = |pattern: &str| {
        GramQuery::of_pattern(pattern, false).accepts(&|gram| grams.contains(&gram))
    };
    for pattern in ["hello", r"fn\s+main", "main|start", r"print(ln)?!", r"\bhello\b", "h.llo.*;"] {
        assert!(accepts(pattern), "{pattern}");
    }
    for pattern in
        ["hullo", r"fn\s+mein", "mein|start", r"print(f)?!", r"(ab|cd)xyz", "k[ab]s.*xyz"]
    {
        assert!(!accepts(pattern), "{pattern}");
    }
}
