//! Tests of the chain: the shared cases, those of each topic, and properties.

mod bounds;
mod elision;
mod indentation;
mod likeness;
mod properties;
mod sent_again;
mod spelling;
mod white_space;

use moss_sdk::edit::splice;
use serde_json::Value;

use super::*;

const CASES: &str = include_str!("../testdata/edits.json");

/// What an edit is called, the text, what is searched for, its replacement, and the text
/// afterwards; none where nothing may be written.
type Case = (&'static str, &'static str, &'static str, &'static str, Option<&'static str>);

fn cases() -> Vec<Value> {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    cases["cases"].as_array().unwrap().clone()
}

/// Applies an edit as a tool does that nobody asks about drift.
fn edited(before: &str, search: &str, replace: &str) -> Result<(String, Located), Miss> {
    let bom = if before.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let text = before.strip_prefix(bom).unwrap();
    let located = locate(text, search, replace, Occurrence::Only)?;
    let after = format!("{bom}{}", splice(text, &located.splices).unwrap());
    Ok((after, located))
}

/// The names under which the cases know a miss.
fn names(miss: &Miss) -> &'static [&'static str] {
    match miss {
        Miss::Empty => &["empty_search"],
        Miss::Blank => &["blank_search"],
        Miss::Nul | Miss::Numbers => &["binary"],
        Miss::Same => &["no_change"],
        Miss::None | Miss::TooLarge => &["not_found"],
        Miss::Several { .. } => &["ambiguous"],
        Miss::Applied(_) => &["already_applied"],
        Miss::Nothing(_) => &["no_change"],
        Miss::Placeholder(_) => &["placeholder_in_replacement"],
        Miss::Escaped => &["over_escaped"],
        Miss::Elision => &["unpaired_elision"],
        Miss::Drift { .. } => &["drift"],
        Miss::TooMuch(_) => &["too_much"],
    }
}

/// Fails unless every case writes what is meant or nothing.
fn check(cases: &[Case]) {
    for (title, before, search, replace, expected) in cases {
        let result = edited(before, search, replace);
        let after = result.as_ref().ok().map(|(after, _)| after.as_str());
        assert_eq!(after, *expected, "{title}: {result:?}");
        // Not by chance: the same amid other text.
        let [head, tail] = ["§ start of the file\n\n", "\n§ end of the file\n"];
        if before.ends_with('\n') {
            let result = edited(&[head, before, tail].concat(), search, replace);
            let after = result.as_ref().ok().map(|(after, _)| after.clone());
            assert_eq!(after, expected.map(|e| [head, e, tail].concat()), "{title}: {result:?}");
        }
    }
}

#[test]
fn shared_cases_end_as_they_accept() {
    let mut wrong = Vec::new();
    for case in cases() {
        let text = |key: &str| case[key].as_str().unwrap();
        let result = edited(text("before"), text("search"), text("replace"));
        let expected = &case["expect"];
        let also = case.get("also").and_then(Value::as_array).into_iter().flatten();
        let any = expected.get("any_of").and_then(Value::as_array);
        let accepted: Vec<&Value> = any
            .map_or_else(|| vec![expected], |any| any.iter().collect())
            .into_iter()
            .chain(also)
            .collect();
        let fits = |accepted: &&&Value| match &result {
            Ok((after, located)) => {
                let level = accepted.get("level").and_then(Value::as_array);
                accepted["ok"] == true
                    && accepted["after"] == after.as_str()
                    && level.is_none_or(|level| level.contains(&located.level.as_str().into()))
                    && (accepted.get("must_report").is_none() || !located.drift.is_empty())
            }
            Err(miss) => {
                accepted["ok"] == false
                    && accepted["error"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .any(|name| names(miss).contains(&name.as_str().unwrap()))
            }
        };
        if !accepted.iter().any(|accepted| fits(&accepted)) {
            wrong.push(format!(
                "{} {}: {result:?}, accepted {accepted:?}",
                case["id"], case["title"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong.join("\n\n"), wrong.len());
}

#[test]
fn all_locations_are_replaced_and_none_by_likeness() {
    let all = |text: &str, search, replace| {
        let located = locate(text, search, replace, Occurrence::All);
        located.map(|located| (splice(text, &located.splices).unwrap(), located.places.len()))
    };
    assert_eq!(all("a\nb\na", "a\n", "x\n"), Ok(("x\nb\nx".to_owned(), 2)));
    assert_eq!(all("aaa", "aa", "b"), Ok(("ba".to_owned(), 1)));
    assert_eq!(all("  a \n\ta\n", "a;\n", "b;\n"), Err(Miss::None));
    assert_eq!(all("f( a );\nf(  a);\n", "f(a);\n", "g(a);\n").unwrap().1, 2);
    assert_eq!(all("foo_bar\n", "foo", "foo_bar"), Err(Miss::Applied(1)));
    assert_eq!(all("a\na\na", "a\na\n", "b\n"), Ok(("b\na".to_owned(), 1)));
    let many = "x = 1\n".repeat(10_000);
    assert_eq!(all(&many, "x = 1\n", "y\n"), Ok(("y\n".repeat(10_000), 10_000)));
    let several = locate(&many, "x = 1\n", "y\n", Occurrence::Only).unwrap_err();
    assert!(matches!(several, Miss::Several { more: true, .. }), "{several:?}");
    let elided =
        locate("f() {\n  a\n  b\n}\n", "f() {\n...\n}\n", "g() {\n...\n}\n", Occurrence::Only);
    assert_eq!(elided.unwrap().level, MatchLevel::BlockAnchor, "lines that were not shown");
    let similar = "start here\n  a()\n  b(1)\n  c()\nend here\n";
    assert_eq!(all(similar, &similar.replace('1', "2"), "x\n"), Err(Miss::None));
}
