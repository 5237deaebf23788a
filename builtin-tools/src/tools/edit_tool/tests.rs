//! Tests of `editTool`; among them every shared case of blocks.

use moss_sdk::ErrorCode;
use moss_sdk::testing::MemoryHost;
use serde_json::{Value, json};

use crate::check::{call, refused};

const CASES: &str = include_str!("../../../../crates/matching/testdata/edits.json");

fn edit(blocks: &str) -> Value {
    json!({ "filePath": "a", "diffContent": blocks })
}

fn block(search: &str, replace: &str) -> String {
    format!("------- SEARCH\n{search}=======\n{replace}+++++++ REPLACE\n")
}

#[test]
fn shared_cases_end_as_they_accept() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let cases = cases["block_parser_cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let text = |key: &str| case[key].as_str().unwrap();
        let host = MemoryHost::new([("a", text("before"))]);
        match call(&host, "editTool", edit(text("blocks"))) {
            Ok(_) => {
                assert_eq!(case["expect"]["ok"], true, "{case}");
                assert_eq!(host.text("a").as_deref(), case["expect"]["after"].as_str(), "{case}");
            }
            Err(error) => {
                let name = match error.code {
                    ErrorCode::NoMatch => "not_found",
                    code => code.as_str(),
                };
                let accepted = case["expect"]["error"].as_array().expect("an error is accepted");
                assert!(accepted.contains(&json!(name)), "{case}: {error}");
                assert_eq!(host.proposals(), [], "{case}");
            }
        }
    }
}

#[test]
fn blocks_in_any_order_are_one_change() {
    let host = MemoryHost::new([("a", "one\r\ntwo\nthree\r\n  four();\n")]);
    let blocks =
        block("four();\n", "five();\n") + &block("one\n", "1\n1b\n") + &block("1b\n", "1c\n");
    let output = call(&host, "editTool", edit(&blocks)).unwrap();
    assert_eq!(host.text("a").unwrap(), "1\r\n1c\r\ntwo\nthree\r\n  five();\n");
    assert_eq!(host.proposals().len(), 1);
    assert_eq!(output["blocks"].as_array().unwrap().len(), 3);
    assert_eq!(output["blocks"][1]["after"], json!({ "start_line": 1, "end_line": 2 }));
    assert_eq!((output.get("before"), &output["created"]), (None, &json!(false)));
}

#[test]
fn an_empty_search_is_the_whole_file() {
    let host = MemoryHost::new([("a", "one\r\ntwo\r\n")]);
    call(&host, "editTool", edit(&block("", "one\n2\n"))).unwrap();
    assert_eq!(host.text("a").unwrap(), "one\r\n2\r\n");
    call(&host, "editTool", edit(&block("", ""))).unwrap();
    assert_eq!(host.text("a").unwrap(), "");
    let new = json!({ "filePath": "new/b.md", "diffContent": block("", "Title\n=======\nbody\n") });
    let output = call(&host, "editTool", new).unwrap();
    assert_eq!(host.text("new/b.md").unwrap(), "Title\n=======\nbody\n");
    assert_eq!(output["created"], true);
    call(&host, "read_file", json!({ "path": "new/b.md" })).unwrap();
    host.write("new/b.md", "other\n");
    let whole = json!({ "filePath": "new/b.md", "diffContent": block("", "x\n") });
    assert_eq!(call(&host, "editTool", whole).unwrap_err().code, ErrorCode::Conflict);
}

#[test]
fn one_block_that_has_no_location_stops_all_of_them() {
    let host = MemoryHost::new([("a", "alpha beta\ngamma delta\n")]);
    let cases = [
        (
            block("alpha beta\n", "x\n") + &block("zzz\n", "y\n"),
            ErrorCode::NoMatch,
            "nothing was written: block 2 of 2 (line 6 of `diffContent`) in the text as block 1 would",
        ),
        (
            block("alpha beta\n", "x\n") + &block("zzz\n", "y\n"),
            ErrorCode::NoMatch,
            "the SEARCH part does not occur in a",
        ),
        (block("   \n", "y\n"), ErrorCode::InvalidArguments, "white space"),
        (
            block("alpha beta\n", "// ... existing code ...\n"),
            ErrorCode::InvalidArguments,
            "leaves out",
        ),
        (
            block("beta\n", "x\n"),
            ErrorCode::NoMatch,
            "the SEARCH part is no whole line of a: it is part of line 1",
        ),
        ("no block".to_owned(), ErrorCode::InvalidArguments, "there is no block"),
        (
            "------- SEARCH\nalpha beta\n=======\nx\n".to_owned(),
            ErrorCode::InvalidArguments,
            "cut off",
        ),
        (block("alpha beta\n", "x\n").repeat(501), ErrorCode::LimitExceeded, "501 blocks"),
        (block("", "alpha beta\ngamma delta\n"), ErrorCode::AlreadyApplied, "already applied"),
    ];
    for (blocks, code, message) in cases {
        let error = refused(&host, "editTool", edit(&blocks));
        assert_eq!(error.code, code, "{blocks}: {error}");
        assert!(error.message.contains(message), "{blocks}: {error}");
    }
    let missing = json!({ "filePath": "none", "diffContent": block("a\n", "b\n") });
    let error = refused(&host, "editTool", missing);
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(error.hint.unwrap().contains("SEARCH part empty"));
}

#[test]
fn drift_is_numbered_as_in_the_file() {
    let text = "func a() {\n\tx := 1\n\ty := 2\n\tz := 3\n\treturn\n}\n";
    let host = MemoryHost::new([("a", format!("top\n{text}").as_str())]);
    let search = text.replace("y := 2", "y := 99");
    let blocks = block("top\n", "1\n2\n3\n") + &block(&search, &search.replace("99", "100"));
    let output = call(&host, "editTool", edit(&blocks)).unwrap();
    assert_eq!(output["drift"][0]["line"], 4);
    assert_eq!(output["match_level"], "block_anchor");
}

#[test]
fn a_line_of_the_content_that_looks_like_the_separator_is_distinguished_from_it() {
    let host = MemoryHost::new([("a", "alpha beta\n=======\ngamma delta\n")]);
    let several = block("alpha  beta\n=======\ngamma  delta\n", "delta\n");
    let output = call(&host, "editTool", edit(&several)).unwrap();
    assert_eq!(output["match_level"], "whitespace_normalized");
    assert_eq!(host.text("a").unwrap(), "delta\n");
    let many = block("delta\n", &"=======\nx\n".repeat(20));
    assert_eq!(call(&host, "editTool", edit(&many)).unwrap_err().code, ErrorCode::Ambiguous);
}

#[test]
fn blocks_are_about_whole_lines() {
    let host = MemoryHost::new([("a", "if a: return x\n    return x\n")]);
    call(&host, "editTool", edit(&block("return x\n", "y = x\nreturn y\n"))).unwrap();
    assert_eq!(host.text("a").unwrap(), "if a: return x\n    y = x\n    return y\n");
    let many = format!("return x\n{}return x\n", "if a: return x\n".repeat(200));
    let host = MemoryHost::new([("a", many.as_str())]);
    let error = refused(&host, "editTool", edit(&block("return x\n", "y\n")));
    assert_eq!(error.code, ErrorCode::Ambiguous, "{error}");
}

#[test]
fn a_shorter_reading_is_not_taken_for_a_longer_one_with_a_slip() {
    // text, blocks
    let cases = [
        ("Intro\n=======\ntext\n", "Intro\n=======\ntexx\n=======\nIntro\n=======\nnew\n"),
        (
            "=======\nTitlo\n=======\ntext\n",
            "=======\nTitle\n=======\n=======\n=======\nNew\n=======\n",
        ),
        ("a\nz\n", "a\n=======\n=======\nz\n"),
        (
            "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n",
            "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> master\n=======\nb\n",
        ),
        ("a\nb\nc\n", "=======\na\n=======\nz\n"),
    ];
    for (text, lines) in cases {
        let host = MemoryHost::new([("a", text)]);
        refused(&host, "editTool", edit(&format!("------- SEARCH\n{lines}+++++++ REPLACE\n")));
    }
}
