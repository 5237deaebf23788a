//! What holds of every text, search and replacement.

use moss_sdk::edit::{MatchLevel, splice};
use proptest::prelude::*;

use super::super::{Miss, Occurrence, locate};

fn lines() -> impl Strategy<Value = String> {
    let line = "[ \t]{0,4}(foo|bar\\(1\\)|baz = \"x  y\"|\\{|\\}|wait — “so”|// \\.\\.\\.|é)?[ ]{0,2}(\n|\r\n)";
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn exact_edits_are_plain_splices(text in lines(), new in lines(), from in 0_usize..12, count in 1_usize..5) {
        let text = text.replace("\r\n", "\n");
        let new = new.replace("\r\n", "\n");
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let to = (from + count).min(all.len());
        if from >= to {
            return Ok(());
        }
        let search = all[from..to].concat();
        if let Ok(located) = locate(&text, &search, &new, Occurrence::Only) {
            prop_assert_eq!(located.level, MatchLevel::Exact);
            prop_assert_eq!(text.matches(&search).count(), 1);
            prop_assert_eq!(splice(&text, &located.splices).unwrap(), text.replacen(&search, &new, 1));
            prop_assert!(located.drift.is_empty());
        }
    }

    #[test]
    fn what_lies_outside_stays_to_the_byte(text in lines(), search in lines(), new in lines()) {
        if let Ok(located) = locate(&text, &search, &new, Occurrence::Only) {
            // What leaves lines out has a location for each part that changes.
            let spans: Vec<_> = located.places.iter().map(|place| place.before.unwrap()).collect();
            let start = spans.iter().map(|span| span.start_line).min().unwrap();
            let end = spans.iter().map(|span| span.end_line).max().unwrap();
            let all: Vec<&str> = text.split_inclusive('\n').collect();
            let after = splice(&text, &located.splices).unwrap();
            prop_assert!(after.starts_with(&all[..start - 1].concat()));
            prop_assert!(after.ends_with(&all[end..].concat()));
            prop_assert_ne!(after, text);
        }
    }

    #[test]
    fn two_equal_locations_are_never_written(before in lines(), block in lines(), after in lines(), new in lines()) {
        if block.trim().is_empty() {
            return Ok(());
        }
        let text = [&*before, &*block, "§\n", &*block, &*after].concat();
        let result = locate(&text, &block, &new, Occurrence::Only);
        prop_assert!(result.is_err(), "{:?}", result);
    }

    #[test]
    fn indentation_alone_never_hides_a_location(text in lines(), from in 0_usize..12, count in 1_usize..5, indent in "[ ]{1,3}") {
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let to = (from + count).min(all.len());
        if from >= to {
            return Ok(());
        }
        let search: String = all[from..to].iter().map(|line| format!("{indent}{line}")).collect();
        let result = locate(&text, &search, "something else entirely\n", Occurrence::Only);
        let found = matches!(result, Ok(_) | Err(Miss::Several { .. } | Miss::Blank));
        prop_assert!(found, "{:?}", result);
    }
}
