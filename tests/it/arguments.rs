//! Arguments that do not fit: every violation is reported, and a model can correct itself from it.

use moss_proto::v1;
use prost::Message as _;
use serde_json::{Value, json};
use tonic::{Code, Status};

use crate::harness::{Client, Site, call, details, failure, output, reason};

/// A tool, its arguments, and the pointer and a word of each violation.
type Case = (&'static str, Value, &'static [(&'static str, &'static str)]);

/// Calls with arguments that must be refused; returns the violations.
async fn refused(
    client: &Client,
    tool: &str,
    arguments_json: &str,
) -> (Status, Vec<(String, String)>) {
    let call = v1::Call { arguments_json: arguments_json.to_owned(), ..call(tool, json!({})) };
    let status = client.call(call).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{tool} {arguments_json}: {status:?}");
    assert_eq!(reason(&status), "ARGUMENTS_INVALID");
    let details = details(&status);
    let fields = &details.bad_request().expect("violations").field_violations;
    let violations = fields.iter().map(|v| (v.field.clone(), v.description.clone())).collect();
    (status, violations)
}

#[tokio::test]
async fn every_violation_is_reported_with_its_pointer() {
    let site = Site::allowing();
    site.write("a.txt", "one\ntwo\n");
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let long = "x".repeat(5000);
    let cases: &[Case] = &[
        ("read_file", json!({}), &[("/path", "missing")]),
        ("read_file", json!({"path": null}), &[("/path", "null")]),
        ("read_file", json!({"path": 7}), &[("/path", "number 7")]),
        ("read_file", json!({"path": ["a"]}), &[("/path", "array")]),
        ("read_file", json!({"pth": "a.txt"}), &[("/path", "missing"), ("/pth", "`path`")]),
        ("read_file", json!({"path": "a.txt", "starline": 1}), &[("/starline", "startLine")]),
        ("read_file", json!({"path": "a.txt", "wholly": true}), &[("/wholly", "`startLine`")]),
        ("read_file", json!({"path": "a.txt", "startLine": 0}), &[("/startLine", "at least 1")]),
        ("read_file", json!({"path": "a.txt", "startLine": -3}), &[("/startLine", "at least 1")]),
        ("read_file", json!({"path": "a.txt", "startLine": 2.5}), &[("/startLine", "integer")]),
        (
            "read_file",
            json!({"path": "a.txt", "startLine": "2"}),
            &[("/startLine", "did you mean 2?")],
        ),
        ("read_file", json!({"path": "a.txt", "a/b~c": 1}), &[("/a~1b~0c", "number 1")]),
        (
            "list_directory",
            json!({"path": ".", "sortBy": "nmae"}),
            &[("/sortBy", "did you mean name?")],
        ),
        (
            "list_directory",
            json!({"path": ".", "recursive": "true"}),
            &[("/recursive", "did you mean true?")],
        ),
        ("list_directory", json!({"path": ".", "minSize": -1}), &[("/minSize", "at least 0")]),
        (
            "replace_lines",
            json!({"path": "a.txt", "filePath": "b.txt", "startLine": 1, "endLine": 1, "newText": "x"}),
            &[("/filePath", "another name")],
        ),
        (
            "replace_lines",
            json!({"startLine": 0, "endLine": "x", "newtext": 5}),
            &[
                ("/startLine", "at least 1"),
                ("/endLine", "integer"),
                ("/newtext", "newText"),
                ("/path", ""),
                ("/newText", ""),
            ],
        ),
        ("create_file", json!({"path": "b.txt"}), &[("/content", "missing")]),
        ("create_file", json!({"path": "b.txt", "content": {"a": long}}), &[("/content", "…")]),
    ];
    for (tool, arguments, expected) in cases {
        let (status, violations) = refused(&client, tool, &arguments.to_string()).await;
        let mut pointers: Vec<_> = violations.iter().map(|(pointer, _)| pointer.as_str()).collect();
        let mut wanted: Vec<_> = expected.iter().map(|(pointer, _)| *pointer).collect();
        pointers.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(pointers, wanted, "{tool} {arguments}: {violations:?}");
        for (pointer, word) in *expected {
            let found = violations.iter().any(|(at, text)| at == pointer && text.contains(word));
            assert!(found, "{tool} {arguments}: no `{word}` at {pointer} in {violations:?}");
            assert!(status.message().contains(pointer), "{}", status.message());
        }
    }
    assert_eq!(site.snapshot(), before);
}

#[tokio::test]
async fn arguments_that_are_no_object_are_refused() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let deep = format!("{{\"path\":{}{}}}", "[".repeat(500), "]".repeat(500));
    for (text, word) in [
        ("[]", "array"),
        ("7", "number"),
        ("null", "null"),
        ("\"path\"", "string"),
        ("{\"path\":", "EOF"),
        ("{'path': 'a'}", "key"),
        ("{\"path\":\"a\",\"path\":\"b\"}", "twice"),
        ("{\"path\":\"a\"} {}", "trailing"),
        ("{\"path\":\"\\ud800\"}", "hex escape"),
        (&deep, "nesting"),
    ] {
        let (_, violations) = refused(&client, "read_file", text).await;
        assert_eq!(violations.len(), 1, "{text}");
        assert!(violations[0].1.contains(word), "{text}: {violations:?}");
    }
}

#[tokio::test]
async fn a_great_many_violations_are_bounded() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let many: serde_json::Map<_, _> =
        (0..5000).map(|n| (format!("key-{n}-{}", "ü".repeat(50)), json!(n))).collect();
    let (_, violations) = refused(&client, "read_file", &Value::Object(many).to_string()).await;
    assert!((1..=64).contains(&violations.len()), "{}", violations.len());
}

#[tokio::test]
async fn violations_travel_in_parts_for_programs() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let (status, _) = refused(&client, "list_directory", r#"{"path":".","sortBy":"nmae"}"#).await;
    let rich = tonic_types::pb::Status::decode(status.details()).unwrap();
    let violations: Vec<_> = rich
        .details
        .iter()
        .filter(|any| any.type_url.ends_with("/moss.v1.Violation"))
        .map(|any| v1::Violation::decode(&*any.value).unwrap())
        .collect();
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].pointer, "/sortBy");
    assert_eq!(violations[0].suggestion, "name");
    assert!(violations[0].got.contains("nmae") && violations[0].expected.contains("`size`"));
}

#[tokio::test]
async fn values_that_mean_the_same_are_taken() {
    let site = Site::allowing();
    site.write("a.txt", "one\ntwo\nthree\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    // `3.0` is a line number, `null` is an absent key.
    let read =
        client.done("read_file", json!({"path": "a.txt", "startLine": 2.0, "endLine": null}));
    assert_eq!(read.await["start_line"], 2);
    // Without arguments at all there is an empty object.
    let (_, violations) = refused(&client, "read_file", "").await;
    assert_eq!(violations[0].0, "/path");
    // An alias is another name; the same value under both is no conflict.
    for arguments in [
        json!({"file_path": "a.txt", "search": "one", "replacement": "1"}),
        json!({"path": "a.txt", "filePath": "a.txt", "oldText": "1", "newText": "uno"}),
    ] {
        client.done("replace_text", arguments).await;
    }
    assert_eq!(site.read("a.txt"), "uno\ntwo\nthree\n");
}

#[tokio::test]
async fn lines_that_make_no_sense_fail_and_say_which_there_are() {
    let site = Site::allowing();
    site.write("a.txt", "one\ntwo\n");
    site.write("empty.txt", "");
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let replace = |path: &str, first: u64, last: u64| json!({"path": path, "startLine": first, "endLine": last, "newText": "x"});
    let cases = [
        ("read_file", json!({"path": "a.txt", "startLine": 2, "endLine": 1}), "invalid_arguments"),
        ("read_file", json!({"path": "a.txt", "startLine": 9}), "out_of_range"),
        ("replace_lines", replace("a.txt", 2, 1), "invalid_arguments"),
        ("replace_lines", replace("a.txt", 2, 3), "out_of_range"),
        ("replace_lines", replace("a.txt", 9, 9), "out_of_range"),
        ("replace_lines", replace("empty.txt", 1, 1), "out_of_range"),
        ("replace_lines", replace("a.txt", 1, u64::MAX), "out_of_range"),
        (
            "delete_lines",
            json!({"path": "a.txt", "startLine": 2, "endLine": 1}),
            "invalid_arguments",
        ),
        ("delete_lines", json!({"path": "a.txt", "startLine": 1, "endLine": 3}), "out_of_range"),
        ("insert_line", json!({"path": "a.txt", "line": 4, "text": "x"}), "out_of_range"),
        ("insert_line", json!({"path": "empty.txt", "line": 2, "text": "x"}), "out_of_range"),
        ("list_directory", json!({"path": ".", "minSize": 5, "maxSize": 4}), "invalid_arguments"),
        ("list_directory", json!({"path": ".", "modifiedAfter": "soon"}), "invalid_arguments"),
    ];
    for (tool, arguments, code) in cases {
        let result = client.ran(tool, arguments.clone()).await;
        assert_eq!(failure(&result).code, code, "{tool} {arguments}: {:?}", result.error);
        assert!(!failure(&result).message.is_empty());
    }
    assert_eq!(site.snapshot(), before);
    // A reading end past the end is the last line; N+1 appends.
    let read = client.done("read_file", json!({"path": "a.txt", "startLine": 2, "endLine": 99}));
    assert_eq!(read.await["end_line"], 2);
    client.done("insert_line", json!({"path": "empty.txt", "line": 1, "text": "x"})).await;
    assert_eq!(site.read("empty.txt"), "x\n");
}

#[tokio::test]
async fn a_request_without_a_call_is_refused() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let status = client.tools().call_tool(v1::CallToolRequest { call: None }).await.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::InvalidArgument, "REQUEST_INVALID")
    );
    let odd = v1::Call { confirm: 9, ..call("read_file", json!({"path": "a"})) };
    let status = client.call(odd).await.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::InvalidArgument, "REQUEST_INVALID")
    );
    let empty = client.ran("list_directory", json!({"path": "."})).await;
    output(&empty);
}
