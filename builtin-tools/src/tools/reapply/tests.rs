//! Tests of `reapply`.

use std::time::SystemTime;

use moss_sdk::history::{PastAction, PastChange, Recalled, RecalledContent, RecalledFile};
use moss_sdk::testing::{MemoryHost, decode, hash};
use moss_sdk::{ErrorCode, RelPath};
use proptest::prelude::*;
use serde_json::{Value, json};
use similar::TextMerge;

use crate::check::{call, refused};

const TEXT: &str = "fn one() {\n    1\n}\n\nfn two() {\n    2\n}\n\nfn three() {\n    3\n}\n";

/// A file of a past change; none stands for no file.
fn file(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> RecalledFile {
    let action = match (before, after) {
        (None, _) => PastAction::Create,
        (_, None) => PastAction::Delete,
        (Some(_), Some(_)) => PastAction::Modify,
    };
    let content =
        |bytes: &[u8]| RecalledContent { hash: hash(bytes), content: Some(decode(bytes)) };
    RecalledFile {
        path: RelPath::parse(path).unwrap(),
        action,
        before: before.map(content),
        after: after.map(content),
    }
}

fn text(path: &str, before: &str, after: &str) -> RecalledFile {
    file(path, Some(before.as_bytes()), Some(after.as_bytes()))
}

/// Adds a change, which undid others, as the newest.
fn add(host: &MemoryHost, number: u64, undo_of: Vec<u64>, files: Vec<RecalledFile>) {
    let tool = "replace_text".to_owned();
    host.add_past(PastChange {
        number,
        at: SystemTime::UNIX_EPOCH,
        tool: tool.clone(),
        caller: "caller".to_owned(),
        undo_of: undo_of.clone(),
        undone_by: Vec::new(),
        files: Vec::new(),
    });
    host.add_recalled(Recalled { number, tool, undo_of, files });
}

fn host(today: &str, before: &str, after: &str) -> MemoryHost {
    let host = MemoryHost::new([("a.rs", today)]);
    add(&host, 3, Vec::new(), vec![text("a.rs", before, after)]);
    host
}

/// Makes the newest change again, and returns what became of the one file.
fn made(host: &MemoryHost) -> Value {
    let told = call(host, "reapply", json!({})).unwrap();
    assert_eq!((&told["reapplied"], &told["applied"]), (&json!(3), &json!(true)));
    told["files"][0].clone()
}

#[test]
fn what_a_file_held_then_becomes_what_it_became_then() {
    let after = TEXT.replace("    2\n", "    two\r\n");
    let host = host(TEXT, TEXT, &after);
    let told = made(&host);
    assert_eq!((&told["how"], &told["match_level"]), (&json!("exact"), &json!("exact")));
    assert_eq!((&told["hunks_applied"], &told["hunks_already_there"]), (&json!(1), &json!(0)));
    assert_eq!(host.text("a.rs").unwrap(), after);
    assert_eq!(told["hash"], hash(after.as_bytes()).to_string());
    let matched = host.proposals()[0].changes[0].matched.clone().unwrap();
    assert!(matched.drift.is_empty());
}

#[test]
fn hunks_are_found_where_the_file_moved_on() {
    let after = TEXT.replace("    2\n", "    two\n");
    for (today, expected) in [
        // Other lines came before, and one changed.
        (format!("// new\n\n{}", TEXT.replace("    3\n", "    iii\n")), "    two\n"),
        // The file ends its lines otherwise now.
        (TEXT.replace('\n', "\r\n"), "    two\r\n"),
        // It is indented by tabs now.
        (TEXT.replace("    ", "\t"), "\ttwo\n"),
    ] {
        let host = host(&today, TEXT, &after);
        let told = made(&host);
        assert_eq!(told["how"], "matched", "{told}");
        let line = today.lines().position(|line| line.trim() == "2").unwrap();
        let mut lines: Vec<&str> = today.split_inclusive('\n').collect();
        lines[line] = expected;
        assert_eq!(host.text("a.rs").unwrap(), lines.concat());
    }
}

#[test]
fn hunks_that_are_there_already_are_counted() {
    let before: String = (1..=30).map(|number| format!("the line {number}\n")).collect();
    let first = before.replace("line 5\n", "line five\n");
    let both = first.replace("line 25\n", "line twenty-five\n");
    let today = first.replace("line 15\n", "line fifteen\n");
    let host = host(&today, &before, &both);
    let told = made(&host);
    assert_eq!(
        (&told["how"], &told["hunks_applied"], &told["hunks_already_there"]),
        (&json!("matched"), &json!(1), &json!(1)),
        "{told}"
    );
    assert_eq!(host.text("a.rs").unwrap(), both.replace("line 15\n", "line fifteen\n"));
    // Now all of it is, whatever else is in the file.
    let error = refused_again(&host);
    assert_eq!(error.code, ErrorCode::NoChange, "{error}");
}

fn refused_again(host: &MemoryHost) -> moss_sdk::ToolError {
    let before = host.proposals().len();
    let error = call(host, "reapply", json!({})).unwrap_err();
    assert_eq!(host.proposals().len(), before);
    error
}

#[test]
fn what_cannot_be_found_is_merged() {
    // The lines of the hunk occur twice: only the whole file shows which are meant.
    let block = "{\n    a\n    b\n    c\n    d\n    e\n    f\n    g\n}\n";
    let before = format!("{block}{block}");
    let after = format!("{block}{}", block.replace("    d\n", "    D\n"));
    let today = format!("// new\n{before}");
    let host = host(&today, &before, &after);
    let told = made(&host);
    assert_eq!((&told["how"], told.get("match_level")), (&json!("merged"), None), "{told}");
    assert_eq!(host.text("a.rs").unwrap(), format!("// new\n{after}"));
    assert_eq!(host.proposals()[0].changes[0].matched, None);
}

#[test]
fn what_history_knows_better_is_merged() {
    // The last brace is gone already; what is searched for is alike to what is left.
    let before = "beta\nalpha\neta\ndelta\neta\neta\nvalue;\n}\n}\n";
    let after = "beta\nalpha\neta\nbeta\neta\neta\nvalue;\n}\n";
    let today = "zeta\nbeta\nalpha\neta\ndelta\neta\neta\nvalue;\n}\n";
    let host = host(today, before, after);
    assert_eq!(made(&host)["how"], "merged");
    assert_eq!(host.text("a.rs").unwrap(), format!("zeta\n{after}"));
}

#[test]
fn lines_within_other_lines_are_no_location() {
    // The search would start amid `theta`, and the merge is a conflict.
    let (before, after) = ("eta\n\nbeta\n", "alpha\n\nbeta\n");
    let host = host("theta\n\nbeta\nzeta\n", before, after);
    let error = refused(&host, "reapply", json!({}));
    assert!(error.message.contains("they occur only within other lines today"), "{error}");
}

#[test]
fn what_was_put_at_an_end_is_not_put_there_again() {
    let middle = "one\ntwo\nthree\n";
    for after in [format!("zero\n{middle}"), format!("{middle}four\n")] {
        let host = host(&after.replace("two", "2"), middle, &after);
        let told = call(&host, "reapply", json!({}));
        assert_eq!(told.unwrap_err().code, ErrorCode::NoChange, "{after:?}");
        let host = self::host(&format!("// new\n{after}// new\n"), middle, &after);
        let told = call(&host, "reapply", json!({}));
        assert_eq!(told.unwrap_err().code, ErrorCode::NoChange, "{after:?}");
    }
}

#[test]
fn an_open_last_line_stays_open() {
    let before = "one\ntwo\nthree\nfour";
    for (today, expected) in [
        ("// new\none\ntwo\nthree\nfour", "// new\none\n2\nthree\nfour"),
        ("one\ntwo\nthree\nfour\nfive\n", "one\n2\nthree\nfour\nfive\n"),
        ("one\r\ntwo\r\nthree\r\nfour\r\n", "one\r\n2\r\nthree\r\nfour\r\n"),
    ] {
        let host = host(today, before, &before.replace("two", "2"));
        made(&host);
        assert_eq!(host.text("a.rs").unwrap(), expected);
    }
}

#[test]
fn what_neither_search_nor_merge_can_do_is_named_and_nothing_is_written() {
    let after = TEXT.replace("    2\n", "    two\n");
    let host = MemoryHost::new([("a.rs", "nothing\nof the\nkind\n"), ("b.rs", TEXT)]);
    let files = vec![text("b.rs", TEXT, &after), text("a.rs", TEXT, &after)];
    add(&host, 3, Vec::new(), files);
    let error = refused(&host, "reapply", json!({}));
    assert_eq!(error.code, ErrorCode::Conflict);
    assert!(error.message.contains("change 3 cannot be reapplied as a whole"), "{error}");
    assert!(error.message.contains("a.rs: hunk 1 of 1 (lines 3-9 then): "), "{error}");
    assert!(error.message.contains("merging the whole file is in conflict at line"), "{error}");
    assert!(!error.message.contains("b.rs"), "{error}");
    assert_eq!(host.text("b.rs").unwrap(), TEXT);
}

#[test]
fn files_come_and_go_again() {
    let host = MemoryHost::new([("gone.rs", "old\n")]);
    let files = vec![
        file("new.rs", None, Some(b"\xef\xbb\xbfnew\n")),
        file("gone.rs", Some(b"old\n"), None),
    ];
    add(&host, 3, Vec::new(), files);
    let told = call(&host, "reapply", json!({"index": 0})).unwrap();
    let [new, gone] = [0, 1].map(|file| &told["files"][file]["how"]);
    assert_eq!((new, gone), (&json!("created"), &json!("deleted")));
    assert_eq!(host.bytes("new.rs").unwrap(), b"\xef\xbb\xbfnew\n");
    assert_eq!(host.bytes("gone.rs"), None);
    assert_eq!(refused_again(&host).code, ErrorCode::NoChange);
    // One of them is as the change left it: the other is all there is to do.
    host.write("gone.rs", "old\n");
    let told = call(&host, "reapply", json!({})).unwrap();
    let [new, gone] = [0, 1].map(|file| &told["files"][file]);
    assert_eq!((&new["how"], &gone["how"]), (&json!("already_there"), &json!("deleted")));
    assert!(gone.get("hash").is_none() && new.get("hash").is_none(), "{told}");
    assert_eq!(host.proposals()[1].changes.len(), 1);
}

#[test]
fn files_that_hold_something_else_are_left_alone() {
    let after = TEXT.replace("    2\n", "    two\n");
    let gone = text("modified.rs", TEXT, &after);
    let utf_16 = b"\xff\xfeh\0i\0";
    for (recalled, today, why) in [
        (file("a.rs", None, Some(b"new\n")), Some("mine\n"), "is there today with another content"),
        (file("a.rs", Some(b"old\n"), None), Some("mine\n"), "exists today with another content"),
        (gone, None, "it was changed then, and is gone today"),
        (file("a.rs", None, Some(b"\0\x01")), None, "it was not a text file then"),
        (file("a.rs", Some(b"\0\x01"), Some(b"\0\x02")), Some("x"), "it was not a text file then"),
        (file("a.rs", Some(b"a\n"), Some(b"a\r\n")), Some("x\n"), "only its line ends"),
        (text("a.rs", TEXT, &after), Some("\0"), "it is not a text file today"),
        (file("a.rs", None, Some(utf_16)), None, "it was not a text file then"),
    ] {
        let host = MemoryHost::default();
        if let Some(today) = today {
            host.write("a.rs", today);
        }
        add(&host, 3, Vec::new(), vec![recalled]);
        let error = refused(&host, "reapply", json!({}));
        assert_eq!(error.code, ErrorCode::Conflict, "{error}");
        assert!(error.message.contains(why), "{error}");
    }
}

#[test]
fn contents_that_are_gone_or_denied_are_reported() {
    let host = MemoryHost::new([("a.rs", "today\n")]);
    let mut forgotten = text("a.rs", "before\n", "after\n");
    forgotten.after.as_mut().unwrap().content = None;
    add(&host, 3, Vec::new(), vec![forgotten]);
    let error = refused(&host, "reapply", json!({}));
    assert!(error.message.contains("the history no longer has its content of then"), "{error}");
    host.deny("a.rs");
    assert_eq!(refused(&host, "reapply", json!({})).code, ErrorCode::Denied);
    let unknown = refused(&host, "reapply", json!({"index": 1}));
    assert_eq!(unknown.code, ErrorCode::NotFound);
    assert!(unknown.hint.unwrap().contains("diff_history"));
}

#[test]
fn an_undo_in_effect_names_what_it_undid() {
    let after = TEXT.replace("    2\n", "    two\n");
    let host = MemoryHost::new([("a.rs", TEXT)]);
    add(&host, 1, Vec::new(), vec![file("a.rs", None, Some(TEXT.as_bytes()))]);
    add(&host, 4, Vec::new(), vec![text("a.rs", TEXT, &after)]);
    add(&host, 7, vec![4], vec![text("a.rs", &after, TEXT)]);
    let hint = "change 7 is an undo; it undid change 4 with the index 1";
    for index in [0, 2] {
        let error = refused(&host, "reapply", json!({"index": index}));
        assert_eq!(error.code, ErrorCode::NoChange);
        assert_eq!(error.hint.as_deref(), Some(hint), "{index}");
    }
    // What was undone is made again.
    let told = call(&host, "reapply", json!({"index": 1})).unwrap();
    assert_eq!(told["reapplied"], 4);
    assert_eq!(host.text("a.rs").unwrap(), after);
    // And so is the undo.
    call(&host, "reapply", json!({"index": 0})).unwrap();
    assert_eq!(host.text("a.rs").unwrap(), TEXT);
}

#[test]
fn lines_that_are_not_what_they_were_are_drift() {
    let before = TEXT.replace("    2\n", "    let result = compute(first, 2);\n    result\n");
    let after = before.replace("compute", "calculate");
    let today = before.replace("first, 2", "first, 3").replace("    3\n", "    iii\n");
    let host = host(&today, &before, &after);
    let told = made(&host);
    assert_eq!(told["how"], "matched", "{told}");
    assert_eq!(told["drift"][0]["line"], 6, "{told}");
    assert_eq!(told["drift"][0]["found"], "    let result = compute(first, 3);", "{told}");
    let matched = host.proposals()[0].changes[0].matched.clone().unwrap();
    assert_eq!((matched.level.as_str(), matched.drift.len()), ("context_aware", 1));
    assert_eq!(host.text("a.rs").unwrap(), today.replace("compute", "calculate"));
}

#[test]
fn what_is_cancelled_proposes_nothing() {
    let host = host(TEXT, TEXT, &TEXT.replace("    2\n", "    two\n"));
    host.cancel();
    assert_eq!(refused(&host, "reapply", json!({})).code, ErrorCode::Cancelled);
}

#[test]
fn a_dry_run_reports_what_would_be_done() {
    let after = TEXT.replace("    2\n", "    two\n");
    let host = host(TEXT, TEXT, &after);
    host.set_dry_run();
    let told = call(&host, "reapply", json!({})).unwrap();
    assert_eq!((&told["applied"], told.get("history")), (&json!(false), None));
    assert_eq!(told["files"][0]["how"], "exact");
    assert_eq!(host.text("a.rs").unwrap(), TEXT);
}

proptest! {
    /// Lines that a change is not about stay as they are, whatever happened to them.
    #[test]
    fn other_lines_stay(
        changed in prop::collection::btree_set(0..40_usize, 1..4),
        moved in prop::collection::btree_set(0..40_usize, 0..4),
        above in 0..3_usize,
    ) {
        let line = |number: usize, what: &str| format!("this is {what} number {number}\n");
        let lines = |what: &dyn Fn(usize) -> &'static str| -> String {
            (0..40).map(|number| line(number, what(number))).collect()
        };
        let before = lines(&|_| "line");
        let after = lines(&|number| if changed.contains(&number) { "a new line" } else { "line" });
        let is_moved = |number: usize| {
            moved.contains(&number) && changed.iter().all(|at| at.abs_diff(number) > 1)
        };
        let above = "// above\n".repeat(above);
        let today = lines(&|number| if is_moved(number) { "another line" } else { "line" });
        let today = format!("{above}{today}");
        let expected = lines(&|number| match (changed.contains(&number), is_moved(number)) {
            (true, _) => "a new line",
            (_, true) => "another line",
            _ => "line",
        });
        let host = host(&today, &before, &after);
        made(&host);
        prop_assert_eq!(host.text("a.rs").unwrap(), format!("{above}{expected}"));
    }

    /// Where lines can be merged without a conflict, the file becomes what the merge is.
    #[test]
    fn a_clean_merge_has_the_last_word(
        before in "([abc]|}|){0,1}(\n([abc]|}|)){3,12}\n",
        edits in prop::collection::vec((0..12_usize, 0..3_u8, "[abcx}]?", any::<bool>()), 1..5),
    ) {
        let mut sides = [before.clone(), before.clone()];
        for (line, what, new, is_of_today) in edits {
            let side = &mut sides[usize::from(is_of_today)];
            let mut lines: Vec<String> = side.lines().map(str::to_owned).collect();
            let line = line % lines.len().max(1);
            match what {
                0 if !lines.is_empty() => lines[line] = new,
                1 if !lines.is_empty() => drop(lines.remove(line)),
                _ => lines.insert(line, new),
            }
            *side = lines.iter().flat_map(|line| [line, "\n"]).collect();
        }
        let [after, today] = sides;
        let merged = TextMerge::from_lines(before.as_str(), today.as_str(), after.as_str());
        if before == after || merged.is_conflicted() {
            return Ok(());
        }
        let host = host(&today, &before, &after);
        let told = call(&host, "reapply", json!({}));
        prop_assert!(told.is_ok() || merged.to_string() == today, "{:?}", told);
        prop_assert_eq!(host.text("a.rs").unwrap(), merged.to_string());
    }
}
