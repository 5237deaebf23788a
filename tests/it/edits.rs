//! Edits by text and by line against the whole daemon: every shared case, files that are not plain
//! UTF-8, and many edits of one file at once.

use moss_proto::v1;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tonic::{Code, Status};

use crate::harness::{Site, failure, refusing, waiting};

const CASES: &str = include_str!("../../crates/matching/testdata/edits.json");

fn cases(of: &str) -> Vec<Value> {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let cases = cases[of].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

/// The names that the cases have for an error.
fn names(code: &str) -> &'static [&'static str] {
    match code {
        "no_match" => &["not_found"],
        "ambiguous" => &["ambiguous"],
        "already_applied" => &["already_applied"],
        "no_change" => &["no_change"],
        "invalid_arguments" => {
            &["empty_search", "blank_search", "unpaired_elision", "placeholder_in_replacement"]
        }
        "drift" => &["drift"],
        "encoding" => &["encoding", "unencodable"],
        "binary" => &["binary"],
        other => panic!("no case expects {other}"),
    }
}

/// Whether what became of a case is one of the things that it accepts.
fn accepts(case: &Value, result: &Result<v1::CallResult, Status>, after: &str) -> bool {
    let expected = &case["expect"];
    let any = expected["any_of"].as_array().cloned().unwrap_or_else(|| vec![expected.clone()]);
    let also = case["also"].as_array().cloned().unwrap_or_default();
    any.iter().chain(&also).any(|accepted| match result {
        Ok(result) if result.outcome() == v1::Outcome::Ok => {
            let change = &result.changes[0];
            accepted["ok"] == true
                && accepted["after"] == after
                && (accepted["must_report"].is_null() || !change.drift.is_empty())
                && accepted["level"]
                    .as_array()
                    .is_none_or(|levels| levels.contains(&json!(change.match_level)))
        }
        Ok(result) => accepted["error"].as_array().is_some_and(|errors| {
            let known = names(&failure(result).code);
            errors.iter().any(|error| known.contains(&error.as_str().unwrap()))
        }),
        // Nobody is there to be asked about lines that are not as they say.
        Err(status) => {
            status.code() == Code::FailedPrecondition
                && accepted["error"]
                    .as_array()
                    .is_some_and(|errors| errors.contains(&json!("drift")))
        }
    })
}

#[tokio::test]
async fn shared_cases_end_as_they_accept_and_refusals_write_nothing() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for case in cases("cases") {
        let text = |key: &str| case[key].as_str().unwrap();
        site.write("a", text("before"));
        let arguments =
            json!({"path": "a", "old_string": text("search"), "new_string": text("replace")});
        let result = client.call(refusing("patch", arguments)).await;
        let after = site.read("a");
        assert!(accepts(&case, &result, &after), "{case}\n{after:?}\n{result:?}");
        let is_done = matches!(&result, Ok(result) if result.outcome() == v1::Outcome::Ok);
        assert!(is_done || after == text("before"), "{case}: {after:?}");
    }
}

#[tokio::test]
async fn bytes_that_are_not_utf8_stay_and_characters_that_do_not_fit_are_refused() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let bytes = |hex: &Value| -> Vec<u8> {
        let hex = hex.as_str().unwrap();
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect()
    };
    for case in cases("byte_cases") {
        let before = bytes(&case["before_hex"]);
        site.write("a", &before);
        let arguments = json!({"path": "a", "oldText": case["search"], "newText": case["replace"]});
        let result = client.ran("replace_text", arguments).await;
        if case["expect"]["ok"] == true {
            assert_eq!(result.outcome(), v1::Outcome::Ok, "{case}: {result:?}");
            assert_eq!(site.bytes("a"), bytes(&case["expect"]["after_hex"]), "{case}");
        } else {
            assert!(accepts(&case, &Ok(result.clone()), ""), "{case}: {result:?}");
            assert_eq!(site.bytes("a"), before, "{case}");
        }
    }
    let utf16 = |text: &str| -> Vec<u8> {
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    site.write("a", utf16("fn a() {\r\n\tb(1);\r\n}\r\n"));
    let block = "------- SEARCH\n  b(1);\n=======\n  b(2);\n  c();\n+++++++ REPLACE\n";
    client.done("editTool", json!({"filePath": "a", "diffContent": block})).await;
    assert_eq!(site.bytes("a"), utf16("fn a() {\r\n\tb(2);\r\n\tc();\r\n}\r\n"));
}

/// A file of numbered lines, each with a text of its own.
fn numbered(count: usize) -> String {
    (0..count).map(|line| format!("let value_{line} = {line};\n")).collect()
}

#[tokio::test]
async fn edits_of_one_file_at_once_are_all_made() {
    const EDITS: usize = 24;
    let site = Site::allowing();
    let daemon = site.serve();
    site.write("a.rs", numbered(4 * EDITS));
    let mut edits = JoinSet::new();
    for edit in 0..EDITS {
        let client = daemon.caller().await;
        let line = 4 * edit;
        let arguments = json!({
            "path": "a.rs",
            "old_string": format!("let value_{line} = {line};\n"),
            "new_string": format!("let value_{line} = 0;\nlet more_{line} = 1;\n"),
        });
        edits.spawn(async move { client.ran("patch", arguments).await });
    }
    while let Some(result) = edits.join_next().await {
        let result = result.unwrap();
        assert_eq!(result.outcome(), v1::Outcome::Ok, "{:?}", result.error);
    }
    let text = site.read("a.rs");
    assert_eq!(text.lines().count(), 5 * EDITS);
    for edit in 0..EDITS {
        assert!(
            text.contains(&format!("let value_{0} = 0;\nlet more_{0} = 1;\n", 4 * edit)),
            "{text}"
        );
    }
}

#[tokio::test]
async fn an_edit_that_was_shown_is_not_made_on_another_file_than_that() {
    let site = Site::new();
    let daemon = site.serve();
    site.write("a.rs", numbered(10));
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut watcher = approver.watch().await;
    let mut calls = JoinSet::new();
    for line in [2, 7] {
        let arguments = json!({
            "path": "a.rs",
            "old_string": format!("let value_{line} = {line};\n"),
            "new_string": format!("let value_{line} = 0;\n"),
        });
        let caller = caller.clone();
        calls.spawn(async move { caller.call(waiting("patch", arguments)).await.unwrap() });
    }
    let (first, second) = (watcher.question().await, watcher.question().await);
    approver.approve(&first).await.unwrap();
    let result = calls.join_next().await.unwrap().unwrap();
    assert_eq!(result.outcome(), v1::Outcome::Ok);
    let written = site.read("a.rs");
    approver.approve(&second).await.unwrap();
    let result = calls.join_next().await.unwrap().unwrap();
    assert_eq!(failure(&result).code, "conflict");
    assert_eq!(site.read("a.rs"), written);
}
