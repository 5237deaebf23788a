//! Tests of `diff_history`.

use std::time::{Duration, SystemTime};

use moss_sdk::edit::MatchLevel;
use moss_sdk::history::{PastAction, PastChange, PastDiff, PastFile};
use moss_sdk::testing::{MemoryHost, hash};
use moss_sdk::{ContentHash, ErrorCode, RelPath};
use serde_json::json;

use crate::check::{call, refused};

fn file(path: &str, before: Option<ContentHash>, after: Option<ContentHash>) -> PastFile {
    let action = match (before, after) {
        (None, _) => PastAction::Create,
        (_, None) => PastAction::Delete,
        (Some(_), Some(_)) => PastAction::Modify,
    };
    PastFile {
        path: RelPath::parse(path).unwrap(),
        action,
        before,
        after,
        lines_added: 1,
        lines_removed: 2,
        match_level: None,
        diff: PastDiff::Shown(format!("diff of {path}")),
    }
}

fn change(number: u64, files: Vec<PastFile>) -> PastChange {
    PastChange {
        number,
        at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_500 * number),
        tool: "replace_text".to_owned(),
        caller: "caller".to_owned(),
        undo_of: if number == 9 { vec![4] } else { Vec::new() },
        undone_by: if number == 4 { vec![9] } else { Vec::new() },
        files,
    }
}

fn host() -> MemoryHost {
    let host = MemoryHost::default();
    let (a, b) = (Some(hash(b"a")), Some(hash(b"b")));
    let denied = PastFile { diff: PastDiff::Denied, ..file("k", a, b) };
    let searched = PastFile { match_level: Some(MatchLevel::LineTrimmed), ..file("a", a, b) };
    let forgotten = PastFile { diff: PastDiff::Forgotten, ..file("a", a, None) };
    host.add_past(change(2, vec![file("a", None, a)]));
    host.add_past(change(4, vec![searched, denied]));
    host.add_past(change(9, vec![forgotten]));
    host
}

#[test]
fn changes_come_newest_first_with_what_happened() {
    let past = call(&host(), "diff_history", json!({})).unwrap();
    assert_eq!(past["truncated"], false);
    let numbers: Vec<_> =
        past["changes"].as_array().unwrap().iter().map(|c| &c["history"]).collect();
    assert_eq!(numbers, [9, 4, 2]);
    let [newest, middle, oldest] = [0, 1, 2].map(|n| &past["changes"][n]);
    assert_eq!((&newest["undo_of"], &newest["undoes"]), (&json!(4), &json!([4])));
    assert!(newest.get("undone_by").is_none(), "{newest}");
    assert_eq!(middle["undone_by"], json!([9]));
    assert_eq!(middle["files"][0]["match_level"], "line_trimmed");
    assert!(middle["files"][1].get("match_level").is_none(), "{middle}");
    assert_eq!(newest["time"], "1970-01-01T00:00:13Z");
    assert_eq!(newest["files"][0]["action"], "delete");
    assert_eq!(newest["files"][0]["diff_missing"], "forgotten");
    assert_eq!(middle["files"][0]["action"], "modify");
    assert_eq!(middle["files"][0]["diff"], "diff of a");
    assert_eq!(middle["files"][1]["diff_missing"], "denied");
    assert!(middle["files"][1].get("diff").is_none());
    assert_eq!(oldest["files"][0]["action"], "create");
    assert!(oldest["files"][0].get("hash_before").is_none());
}

#[test]
fn a_path_and_a_limit_narrow_it_down() {
    let past = call(&host(), "diff_history", json!({ "path": "k" })).unwrap();
    assert_eq!(past["changes"].as_array().unwrap().len(), 1);
    let past = call(&host(), "diff_history", json!({ "limit": 2 })).unwrap();
    assert_eq!((past["changes"].as_array().unwrap().len(), &past["truncated"]), (2, &json!(true)));
    let past = call(&host(), "diff_history", json!({ "history": 4 })).unwrap();
    assert_eq!((past["changes"].as_array().unwrap().len(), &past["truncated"]), (1, &json!(false)));
    assert_eq!(past["changes"][0]["history"], 4);
    let past = call(&host(), "diff_history", json!({ "history": 3 })).unwrap();
    assert_eq!(past["note"], "there is no such change 3, or it is kept no longer");
    let past = call(&host(), "diff_history", json!({ "path": "none" })).unwrap();
    assert_eq!(past["note"], "nothing was changed in none through moss");
    let past = call(&MemoryHost::default(), "diff_history", json!({})).unwrap();
    assert_eq!(past["note"], "nothing was changed through moss yet");
}

#[test]
fn a_path_that_leads_out_is_refused() {
    let error = refused(&host(), "diff_history", json!({ "path": "../x" }));
    assert_eq!(error.code, ErrorCode::OutsideWorkspace);
}
