//! Whatever is searched for in whatever text: the chain never panics, and what it writes is where
//! it says and nowhere else.
//!
//! An input is the text, the search and the replacement, with a record separator (0x1E) between
//! them, so that inputs are texts themselves. Where the search is empty, it is made out of lines of
//! the text, spoiled as models spoil them: what comes after a third separator says how.

#![no_main]

mod spoil;

use std::ops::Range;

use libfuzzer_sys::fuzz_target;
use moss_matching::{Located, Occurrence, locate};
use moss_sdk::edit::{MatchLevel, splice};

/// Longer texts only make the fuzzer slow.
const TEXT_BYTES_MAX: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(4, |byte| *byte == 0x1e);
    let mut part = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (text, mut search, replace) = (part(), part(), part());
    if text.len() > TEXT_BYTES_MAX || search.len() > TEXT_BYTES_MAX {
        return;
    }
    if search.is_empty() {
        search = spoil::spoiled(&text, parts.next().unwrap_or_default());
    }
    for occurrence in [Occurrence::Only, Occurrence::OnlyLines, Occurrence::All] {
        let Ok(located) = locate(&text, &search, &replace, occurrence) else { continue };
        assert!(!search.trim().is_empty(), "a search of white space is found");
        let after = check_splices(&text, &located);
        check_lines(&text, &located);
        check_exact(&text, &search, &replace, occurrence, &located, &after);
    }
});

/// Splices are in order, in bounds, at characters, and change something.
fn check_splices(text: &str, located: &Located) -> String {
    assert!(!located.splices.is_empty() && !located.places.is_empty());
    let mut end = 0;
    for splice in &located.splices {
        assert!(splice.range.start >= end && splice.range.end >= splice.range.start);
        assert!(text.get(splice.range.clone()).is_some(), "{splice:?}");
        end = splice.range.end;
    }
    let after = splice(text, &located.splices);
    let Ok(after) = after else { panic!("the splices cannot be applied: {:?}", located.splices) };
    assert_ne!(after, text, "an edit that changes nothing");
    after
}

/// Nothing is written outside of the lines that the places name, and drift is in them as it says.
fn check_lines(text: &str, located: &Located) {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .chain([text.len()])
        .collect();
    let bytes_of = |first: usize, last: usize| -> Range<usize> {
        starts[first - 1]..starts.get(last).copied().unwrap_or(text.len())
    };
    let spans: Vec<_> = located.places.iter().filter_map(|spot| spot.before).collect();
    assert_eq!(spans.len(), located.places.len());
    for splice in &located.splices {
        let holds = spans.iter().any(|span| {
            let bytes = bytes_of(span.start_line, span.end_line);
            bytes.start <= splice.range.start && splice.range.end <= bytes.end
        });
        assert!(holds, "{splice:?} is outside of {spans:?}");
    }
    for drift in &located.drift {
        let line = usize::try_from(drift.line).expect("a line of a short text");
        assert!(spans.iter().any(|span| (span.start_line..=span.end_line).contains(&line)));
        let found = text[bytes_of(line, line)].trim_end_matches(['\n', '\r']);
        assert_eq!(drift.found.trim_end_matches('\r'), found);
    }
}

/// An exact match is a plain replacement, and two of them are never one place.
fn check_exact(
    text: &str,
    search: &str,
    replace: &str,
    occurrence: Occurrence,
    located: &Located,
    after: &str,
) {
    let plain = |text: &str| text.replace("\r\n", "\n");
    let (plain_text, plain_search) = (plain(text), plain(search));
    let starts = plain_text.char_indices().map(|(at, _)| at);
    let count = starts.filter(|at| plain_text[*at..].starts_with(&plain_search)).count();
    if occurrence == Occurrence::Only {
        assert!(count < 2, "one of {count} equal places was taken");
    }
    let is_plain = ![text, search, replace].iter().any(|text| text.contains('\r'));
    // A last line without a line end may stand for one with it.
    let is_closed = text.ends_with('\n') || !search.ends_with('\n');
    // What was made already is not made again everywhere.
    let is_new = occurrence == Occurrence::Only || !replace.contains(search);
    if located.level == MatchLevel::Exact && count > 0 && is_plain && is_closed && is_new {
        let expected = match occurrence {
            Occurrence::Only => text.replacen(search, replace, 1),
            Occurrence::All => text.replace(search, replace),
            // Which of the places begins a line is for the chain to say.
            Occurrence::OnlyLines => return,
        };
        let words = |text: &str| text.split_whitespace().collect::<String>();
        // Indentation that the search leaves out is neither left over nor written twice, whole lines
        // that go take their line end along, and the one before the search is not joined.
        let is_plain = !is_beneath_indentation(text, search)
            && !(replace.is_empty() && !search.ends_with('\n'))
            && !search.starts_with('\n');
        match is_plain {
            false => assert_eq!(words(after), words(&expected), "not the replacement"),
            true => assert_eq!(after, expected, "not the plain replacement"),
        }
    }
}

/// Whether some place of the search is right after indentation.
fn is_beneath_indentation(text: &str, search: &str) -> bool {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.filter(|at| text[*at..].starts_with(search)).any(|at| {
        let before = &text[..at];
        let indent = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        !indent.is_empty() && indent.trim().is_empty()
    })
}
