//! Tests of `read_file`.

use moss_sdk::content::{ContentImage, ContentPart};
use moss_sdk::context::Files;
use moss_sdk::testing::{MemoryHost, hash};
use moss_sdk::{ErrorCode, RelPath};
use serde_json::{Value, json};

use super::{BYTES_MAX, LINE_BYTES_MAX, LINES_MAX};
use crate::check::{call, refused};

fn read(text: &str, arguments: Value) -> Value {
    let mut arguments = arguments;
    arguments["path"] = json!("a.txt");
    call(&MemoryHost::new([("a.txt", text)]), "read_file", arguments).unwrap()
}

#[test]
fn a_whole_file_is_shown_with_numbers_and_what_it_is() {
    let text = "one\r\ntwo\r\n";
    assert_eq!(
        read(text, json!({})),
        json!({
            "path": "a.txt",
            "content": "     1\tone\n     2\ttwo",
            "start_line": 1, "end_line": 2, "total_lines": 2, "size_bytes": 10,
            "hash": hash(text.as_bytes()),
            "encoding": "UTF-8", "bom": false, "line_ending": "crlf", "final_newline": true,
            "truncated": false
        })
    );
}

#[test]
fn ranges_include_both_ends() {
    let cases = [
        (json!({ "startLine": 2 }), "     2\tb\n     3\tc", 2, 3),
        (json!({ "endLine": 2 }), "     1\ta\n     2\tb", 1, 2),
        (json!({ "startLine": 2, "endLine": 2 }), "     2\tb", 2, 2),
        (json!({ "startLine": 3, "endLine": 99 }), "     3\tc", 3, 3),
    ];
    for (arguments, content, start, end) in cases {
        let output = read("a\nb\nc", arguments.clone());
        assert_eq!(output["content"], content, "{arguments}");
        assert_eq!((&output["start_line"], &output["end_line"]), (&json!(start), &json!(end)));
        assert_eq!(output["truncated"], false, "{arguments}");
        assert_eq!(output["total_lines"], 3);
    }
}

#[test]
fn an_empty_file_says_so() {
    for arguments in [json!({}), json!({ "startLine": 1 }), json!({ "endLine": 5 })] {
        let output = read("", arguments);
        assert_eq!(output["content"], "");
        assert_eq!((&output["start_line"], &output["end_line"]), (&json!(0), &json!(0)));
        assert_eq!(output["total_lines"], 0);
        assert_eq!(output["note"], "the file is empty: it has 0 lines");
        assert_eq!(output["truncated"], false);
    }
}

#[test]
fn an_image_is_shown_whatever_it_is_called() {
    let gif = b"GIF89a\x03\0\x02\0\0\0\0";
    let host = MemoryHost::default();
    host.write("picture.txt", gif);
    let output = call(&host, "read_file", json!({ "path": "picture.txt" })).unwrap();
    assert_eq!(
        output,
        json!({
            "path": "picture.txt",
            "content": "", "start_line": 0, "end_line": 0, "total_lines": 0, "size_bytes": 13,
            "hash": hash(gif),
            "encoding": "binary", "bom": false, "line_ending": "none", "final_newline": false,
            "truncated": false,
            "media_type": "image/gif",
            "note": "the image, 3 x 2 pixels, is shown beside this",
        })
    );
    let image = ContentImage::new(gif.to_vec()).unwrap();
    assert_eq!(host.content(), [ContentPart::Image(image)]);
    assert_eq!(host.last_read(&RelPath::parse("picture.txt").unwrap()), Some(hash(gif)));
}

#[test]
fn an_image_that_is_too_large_or_cut_is_a_binary_file() {
    let host = MemoryHost::default();
    let mut large = b"GIF89a\x03\0\x02\0\0\0\0".to_vec();
    large.resize(ContentImage::BYTES_MAX + 1, 0);
    host.write("large.gif", large);
    host.write("cut.png", b"\x89PNG\r\n\x1a\n\0\0");
    for (path, hint) in [("large.gif", Some("an image is shown up to 3 MiB")), ("cut.png", None)] {
        let error = call(&host, "read_file", json!({ "path": path })).unwrap_err();
        assert_eq!((error.code, error.hint.as_deref()), (ErrorCode::Binary, hint), "{path}");
    }
    assert_eq!(host.content(), []);
}

#[test]
fn a_long_file_comes_in_parts_that_lead_to_its_end() {
    let lines = LINES_MAX * 2 + 1;
    let host = MemoryHost::new([("a.txt", "x\n".repeat(lines).as_str())]);
    let (mut next, mut seen) = (json!(1), 0);
    while !next.is_null() {
        let arguments = json!({ "path": "a.txt", "startLine": next });
        let output = call(&host, "read_file", arguments).unwrap();
        seen += output["content"].as_str().unwrap().lines().count();
        next = output.get("next_line").cloned().unwrap_or(Value::Null);
        assert_eq!(output["truncated"], !next.is_null());
        if !next.is_null() {
            let note = output["note"].as_str().unwrap();
            assert!(note.contains(&format!("startLine = {next}")), "{note}");
        }
    }
    assert_eq!(seen, lines);
}

#[test]
fn many_long_lines_stop_at_the_bound_on_bytes() {
    let line = "y".repeat(1_000);
    let output = read(&format!("{line}\n").repeat(100), json!({}));
    assert_eq!(output["end_line"], BYTES_MAX / 1_000);
    assert_eq!(output["next_line"], BYTES_MAX / 1_000 + 1);
    assert!(output.get("cut_lines").is_none());
}

#[test]
fn a_very_long_line_is_cut_with_a_mark_and_counted() {
    let text = format!("short\n{}\nend\n", "é".repeat(LINE_BYTES_MAX));
    let output = read(&text, json!({}));
    let content = output["content"].as_str().unwrap();
    let line = content.lines().nth(1).unwrap();
    assert!(line.ends_with("é… [2000 more bytes cut]"), "{line}");
    assert_eq!(output["cut_lines"], json!([2]));
    assert!(content.ends_with("     3\tend"));
    assert_eq!(output["truncated"], false);
}

#[test]
fn a_lone_carriage_return_does_not_end_a_line() {
    let output = read("a\rb\nc", json!({}));
    assert_eq!(output["content"], "     1\ta\rb\n     2\tc");
    assert_eq!(output["final_newline"], false);
}

#[test]
fn the_byte_order_mark_is_reported_not_shown() {
    let output = read("\u{feff}a\n", json!({}));
    assert_eq!((&output["content"], &output["bom"]), (&json!("     1\ta"), &json!(true)));
}

#[test]
fn what_was_read_is_remembered() {
    let host = MemoryHost::new([("a.txt", "a\n")]);
    let path = host.path("a.txt").unwrap();
    assert_eq!(host.last_read(&path), None);
    let absolute = format!("{}/a.txt", moss_sdk::testing::ROOT);
    let output = call(&host, "read_file", json!({ "path": absolute })).unwrap();
    assert_eq!(output["path"], "a.txt");
    assert_eq!(host.last_read(&path), Some(hash(b"a\n")));
}

#[test]
fn impossible_reads_are_refused() {
    let host = MemoryHost::new([("a.txt", "a\nb\n"), ("dir/b.txt", ""), ("empty", "")]);
    host.write("binary", b"\x7fELF\0\0");
    host.write("broken", b"caf\xe9\xff\n");
    let cases = [
        (json!({ "path": "a.txt", "startLine": 3 }), ErrorCode::OutOfRange, "has 2 lines"),
        (json!({ "path": "empty", "startLine": 2 }), ErrorCode::OutOfRange, "has 0 lines"),
        (
            json!({ "path": "a.txt", "startLine": 2, "endLine": 1 }),
            ErrorCode::InvalidArguments,
            "before `startLine`",
        ),
        (json!({ "path": "none" }), ErrorCode::NotFound, "none"),
        (json!({ "path": "dir" }), ErrorCode::NotAFile, "directory"),
        (json!({ "path": "binary" }), ErrorCode::Binary, "is a binary file"),
        (json!({ "path": "broken" }), ErrorCode::Binary, "is a binary file"),
        (json!({ "path": "../a" }), ErrorCode::OutsideWorkspace, ".."),
        (json!({ "path": "a.txt/" }), ErrorCode::InvalidPath, "slash"),
        (
            json!({ "path": "a.txt", "startLine": u64::MAX, "endLine": u64::MAX }),
            ErrorCode::OutOfRange,
            "has 2 lines",
        ),
    ];
    for (arguments, code, message) in cases {
        let error = refused(&host, "read_file", arguments.clone());
        assert_eq!(error.code, code, "{arguments}: {error}");
        assert!(error.message.contains(message), "{arguments}: {error}");
    }
}
