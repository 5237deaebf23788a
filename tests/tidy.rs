//! Rules of the repository, as tests: what a compiler or a lint cannot say.
//!
//! A list of exceptions only shrinks: an entry that is no longer needed fails like an offence.

#![allow(clippy::unwrap_used, reason = "a test program: what it unwraps is its message")]

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/chinese.rs"]
mod chinese;
#[path = "tidy/code.rs"]
mod code;
#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/figures.rs"]
mod figures;
#[path = "tidy/house.rs"]
mod house;
#[path = "tidy/manifests.rs"]
mod manifests;
#[path = "tidy/named.rs"]
mod named;
#[path = "tidy/proto.rs"]
mod proto;
#[path = "tidy/rust.rs"]
mod rust;
#[path = "tidy/tools.rs"]
mod tools;
#[path = "tidy/tree.rs"]
mod tree;
#[path = "tidy/types.rs"]
mod types;
#[path = "tidy/words.rs"]
mod words;

use std::collections::BTreeMap;

/// Fails with every offence of a rule.
fn hold(rule: &str, offences: impl IntoIterator<Item = String>) {
    let offences: Vec<String> = offences.into_iter().collect();
    assert!(offences.is_empty(), "{rule}:\n  {}\n", offences.join("\n  "));
}

/// Fails with the offences that are not listed and the listed ones that are none. Offences come as
/// a location and what is wrong there; the list gives locations with reasons.
fn hold_but(
    rule: &str,
    offences: impl IntoIterator<Item = (String, String)>,
    exceptions: &[(&str, &str)],
) {
    let offences: BTreeMap<String, String> = offences.into_iter().collect();
    let listed = |place: &str| exceptions.iter().any(|(exception, _)| *exception == place);
    let new = offences.iter().filter(|(place, _)| !listed(place));
    let gone = exceptions.iter().filter(|(place, _)| !offences.contains_key(*place));
    hold(
        rule,
        new.map(|(place, what)| format!("{place}: {what}"))
            .chain(gone.map(|(place, _)| format!("{place}: no longer an exception, unlist it"))),
    );
}
