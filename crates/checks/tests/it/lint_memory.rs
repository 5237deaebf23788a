//! What is new since the last check: never what only moved.

use std::collections::BTreeMap;

use moss_checks::{CheckDiagnostic, CheckSeverity, LintMemory, line_hashes};
use proptest::prelude::*;

fn at(line: usize, message: &str) -> CheckDiagnostic {
    let line = line as u64;
    CheckDiagnostic::at("a.py", line, 1, CheckSeverity::Warning, "ruff", message)
}

fn hashes(lines: &[String]) -> BTreeMap<String, Vec<u32>> {
    BTreeMap::from([("a.py".to_owned(), line_hashes(&(lines.join("\n") + "\n")))])
}

/// The lines of what is new, and the messages of what went away.
fn change(
    old: (&[String], &[CheckDiagnostic]),
    new: (&[String], &[CheckDiagnostic]),
) -> (Vec<u64>, Vec<String>) {
    let memory = LintMemory::of(old.1, &hashes(old.0)).expect("it is short");
    let change = memory.change(new.1, &hashes(new.0));
    let fresh = new.1.iter().zip(&change.is_new).filter(|(_, is_new)| **is_new);
    let gone = change.resolved.iter().map(|past| past.message.clone());
    (fresh.map(|(found, _)| found.line).collect(), gone.collect())
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_moved_is_old_what_was_fixed_is_resolved_and_what_came_is_new() {
    let old = lines("import os\nx = 1\ny = undefined\nz = 2");
    let before = [at(1, "`os` unused"), at(3, "undefined name `undefined`, line 3")];
    let new = lines("x = 1\n\n\ny = undefined\nz = 2\nw = other");
    let now = [at(4, "undefined name `undefined`, line 4"), at(6, "undefined name `other`")];
    let (fresh, gone) = change((&old, &before), (&new, &now));
    assert_eq!((fresh, gone), (vec![6], vec!["`os` unused".to_owned()]));
    // The same word on a line that was edited is the same thing; another word there is not.
    let edited = lines("import os, sys\nx = 1\ny = undefined\nz = 2");
    let now = [at(1, "`os` unused"), at(1, "`sys` unused"), before[1].clone()];
    let (fresh, gone) = change((&old, &before), (&edited, &now));
    assert_eq!((fresh, gone), (vec![1], Vec::new()));
    // A file that is gone has nothing any more.
    let memory = LintMemory::of(&before, &hashes(&old)).expect("it is short");
    assert_eq!(memory.change(&[], &BTreeMap::new()).resolved.len(), 2);
}

/// Few different lines, so that many are the same.
fn line() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "}", "x = 1", "return x", "call()"]).prop_map(str::to_owned)
}

/// Lines, each with whether there is something wrong with it and which message says so.
fn text() -> impl Strategy<Value = Vec<(String, Option<u8>)>> {
    prop::collection::vec((line(), prop::option::weighted(0.3, 0..3_u8)), 0..40)
}

fn parts(text: &[(String, Option<u8>)]) -> (Vec<String>, Vec<CheckDiagnostic>) {
    let found = text.iter().enumerate().filter_map(|(place, (_, message))| {
        Some(at(place + 1, ["unused", "undefined", "redefined"][usize::from((*message)?)]))
    });
    (text.iter().map(|(line, _)| line.clone()).collect(), found.collect())
}

proptest! {
    #[test]
    fn what_stands_around_an_insertion_is_never_new_and_never_resolved(
        old in text(),
        inserted in prop::collection::vec(line(), 0..10),
        place in any::<prop::sample::Index>(),
    ) {
        let place = place.index(old.len() + 1);
        let mut new = old.clone();
        let fine = inserted.into_iter().map(|line| (line, None));
        new.splice(place..place, fine);
        let ((old, before), (new, now)) = (parts(&old), parts(&new));
        let found = change((&old, &before), (&new, &now));
        prop_assert_eq!(found, (Vec::new(), Vec::new()));
    }

    #[test]
    fn after_any_edits_no_more_is_new_than_was_written_and_no_more_resolved_than_was_removed(
        old in text(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, text()), 0..4),
    ) {
        let mut new = old.clone();
        let (mut written, mut removed) = (0, 0);
        for (place, length, text) in edits {
            let start = place.index(new.len() + 1);
            let end = (start + length).min(new.len());
            let wrong = |lines: &[(String, Option<u8>)]| {
                lines.iter().filter(|(_, message)| message.is_some()).count()
            };
            written += wrong(&text);
            removed += wrong(&new[start..end]);
            new.splice(start..end, text);
        }
        let ((old, before), (new, now)) = (parts(&old), parts(&new));
        let (fresh, gone) = change((&old, &before), (&new, &now));
        prop_assert!(fresh.len() <= written, "{fresh:?} of {written}");
        prop_assert!(gone.len() <= removed, "{gone:?} of {removed}");
        prop_assert_eq!(before.len() + fresh.len(), now.len() + gone.len());
    }
}
