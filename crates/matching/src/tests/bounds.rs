//! Texts that repeat: what each of their locations takes is bounded, and nothing is looked through for each again.
//! Where it were, these tests would end for want of memory, or not on the same day.

use moss_sdk::edit::{MatchLevel, splice};

use super::super::{Miss, Occurrence, locate};

#[test]
fn what_all_locations_together_write_is_bounded() {
    let count = 1 << 20;
    let new = "b".repeat(1 << 10);
    let text = "a".repeat(count);
    assert_eq!(locate(&text, "a", &new, Occurrence::All), Err(Miss::TooMuch(count)));
    let text = "a\n".repeat(count);
    let found = locate(&text, "  a\n", &format!("  {new}\n"), Occurrence::All);
    assert_eq!(found, Err(Miss::TooMuch(count)), "each line is one");
    let text = "a".repeat(1_000);
    let located = locate(&text, "a", &new, Occurrence::All).unwrap();
    assert_eq!(splice(&text, &located.splices).unwrap(), new.repeat(1_000));
}

#[test]
fn locations_that_overlap_take_no_more_than_their_lines() {
    let (text, search) = ("a\n".repeat(60_000), "  a\n".repeat(30_000));
    let located = locate(&text, &search, "", Occurrence::All).unwrap();
    assert_eq!((located.level, located.places.len()), (MatchLevel::LineTrimmed, 2));
    assert_eq!(splice(&text, &located.splices).unwrap(), "");
    let several = locate(&text, &search, "", Occurrence::Only).unwrap_err();
    assert!(matches!(several, Miss::Several { more: true, .. }), "{several:?}");
    // So where blank lines do not count.
    let (text, search) = ("a\n\n".repeat(60_000), "a\n".repeat(30_000));
    let located = locate(&text, &search, "", Occurrence::All).unwrap();
    assert_eq!((located.level, located.places.len()), (MatchLevel::IndentFlexible, 2));
}

#[test]
fn lines_between_parts_of_lines_are_not_compared_for_each_line() {
    let text = "a b\n".repeat(200_000);
    let search = format!("{}c", "a  b\n".repeat(100_000));
    assert_eq!(locate(&text, &search, "d", Occurrence::Only), Err(Miss::TooLarge));
    // Where they are the same, the ends decide.
    let text = "x = f(\n  1,\n  2,\n) + y\n";
    let located = locate(text, "f(\n  1,\n\t2,\n)  +", "g(\n  1,\n\t2,\n)  +", Occurrence::Only);
    assert_eq!(located.unwrap().level, MatchLevel::WhitespaceNormalized);
    assert_eq!(locate(text, "f(\n  1,\n\t3,\n)  +", "", Occurrence::Only), Err(Miss::None));
}

#[test]
fn a_long_line_is_not_looked_through_for_each_location_in_it() {
    let text = format!("x{}\n  a\n", "a".repeat(1 << 20));
    let located = locate(&text, "a", "c", Occurrence::OnlyLines).unwrap();
    assert_eq!(located.level, MatchLevel::Exact);
    assert!(splice(&text, &located.splices).unwrap().ends_with("a\n  c\n"));
}

#[test]
fn a_replacement_that_has_the_search_often_is_applied_once() {
    let all = |text: &str| locate(text, "ab", "abab", Occurrence::All);
    assert_eq!(all("abab abab\n"), Err(Miss::Applied(1)));
    let located = all("ab abab\n").unwrap();
    assert_eq!(splice("ab abab\n", &located.splices).unwrap(), "abab abab\n");
}
