//! Files that are not what an edit likes: empty, huge, binary, broken, directories, gone.

use std::collections::BTreeSet;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::harness::{Site, failure};
use crate::paths::path_calls;

/// A block that replaces a text.
const REPLACING: &str = "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n";
/// Tools that take a path and not only one of a file: their own tests say what they do with each.
const OF_DIRECTORIES_TOO: &[&str] = &[
    "codebase_search",
    "diff_history",
    "file_search",
    "find_code_location",
    "get_project_structure",
    "grep_search",
    "lint_check",
    "list_directory",
    "moss_register_plugin_tool",
    "run_terminal_cmd",
    "run_tests",
    "terminal_job",
];

/// A call of every tool that takes a file, on a path.
fn file_calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("replace_lines", json!({"path": path, "startLine": 1, "endLine": 1, "newText": "x"})),
        ("insert_line", json!({"path": path, "line": 1, "text": "x"})),
        ("delete_lines", json!({"path": path, "startLine": 1, "endLine": 1})),
        ("replace_text", json!({"path": path, "oldText": "old", "newText": "new"})),
        ("create_file", json!({"path": path, "content": "x\n", "overwrite": true})),
        ("delete_file", json!({"path": path})),
        ("patch", json!({"path": path, "old_string": "old", "new_string": "new"})),
        ("editTool", json!({"filePath": path, "diffContent": REPLACING})),
    ]
}

#[test]
fn every_tool_that_takes_a_path_is_among_those_of_files_or_of_directories() {
    let of_files = file_calls("a").into_iter().map(|(tool, _)| tool);
    let listed: BTreeSet<_> = of_files.chain(OF_DIRECTORIES_TOO.iter().copied()).collect();
    let taking: BTreeSet<_> = path_calls("a").into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(listed, taking);
}

#[tokio::test]
async fn a_directory_is_not_a_file_and_a_file_is_not_a_directory() {
    let site = Site::allowing();
    site.write("src/a.txt", "old\n");
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (tool, arguments) in file_calls("src") {
        let result = client.ran(tool, arguments).await;
        assert_eq!(failure(&result).code, "not_a_file", "{tool}: {:?}", result.error);
    }
    for (tool, arguments) in file_calls("src/a.txt/b") {
        let result = client.ran(tool, arguments).await;
        assert_eq!(failure(&result).code, "not_a_directory", "{tool}: {:?}", result.error);
    }
    let result = client.ran("list_directory", json!({"path": "src/a.txt"})).await;
    assert_eq!(failure(&result).code, "not_a_directory");
    for (tool, arguments) in file_calls("missing/b.txt") {
        if tool != "create_file" {
            let result = client.ran(tool, arguments).await;
            assert_eq!(failure(&result).code, "not_found", "{tool}: {:?}", result.error);
        }
    }
    assert_eq!(site.snapshot(), before);
}

#[tokio::test]
async fn an_empty_file_is_read_and_written() {
    let site = Site::allowing();
    site.write("a.txt", "");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let read = client.done("read_file", json!({"path": "a.txt"})).await;
    assert_eq!((&read["total_lines"], &read["content"]), (&json!(0), &json!("")));
    client.done("create_file", json!({"path": "b.txt", "content": ""})).await;
    assert_eq!(site.bytes("b.txt"), b"");
    client.done("delete_file", json!({"path": "b.txt"})).await;
    client.undo(2).await.unwrap();
    assert_eq!(site.bytes("b.txt"), b"");
}

#[tokio::test]
async fn a_file_of_100_mb_is_read_in_windows_and_not_edited() {
    const LINES: u64 = 1_000_000;
    let site = Site::allowing();
    let file = std::fs::File::create(site.workspace().join("big.log")).unwrap();
    let mut file = std::io::BufWriter::with_capacity(1 << 20, file);
    let filler = "x".repeat(92);
    for number in 1..=LINES {
        writeln!(file, "{number:07} {filler}").unwrap();
    }
    drop(file);
    let path = site.workspace().join("big.log");
    let size = path.metadata().unwrap().len();
    assert!(size > 100_000_000);
    let modified = path.metadata().unwrap().modified().unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let first = client.done("read_file", json!({"path": "big.log"})).await;
    assert_eq!(first["total_lines"], LINES);
    assert_eq!(first["size_bytes"], size);
    assert_eq!(first["truncated"], true);
    let next = first["next_line"].as_u64().unwrap();
    assert_eq!(first["end_line"].as_u64().unwrap() + 1, next);
    let second = client.done("read_file", json!({"path": "big.log", "startLine": next})).await;
    let content = second["content"].as_str().unwrap();
    assert!(content.contains(&format!("\t{next:07} xx")), "{content:.200}");
    let last = client.done("read_file", json!({"path": "big.log", "startLine": LINES})).await;
    assert!(last["content"].as_str().unwrap().contains("1000000 xx"));
    for (tool, arguments) in file_calls("big.log") {
        if tool != "read_file" {
            let result = client.ran(tool, arguments).await;
            assert_eq!(failure(&result).code, "too_large", "{tool}: {:?}", result.error);
        }
    }
    let meta = path.metadata().unwrap();
    assert_eq!((meta.len(), meta.modified().unwrap()), (size, modified));
}

#[tokio::test]
async fn a_binary_file_is_not_read_as_text_and_comes_back_whole() {
    let site = Site::allowing();
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    site.write("a.bin", &bytes);
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (tool, arguments) in file_calls("a.bin") {
        if !["create_file", "delete_file"].contains(&tool) {
            let result = client.ran(tool, arguments).await;
            assert_eq!(failure(&result).code, "binary", "{tool}: {:?}", result.error);
        }
    }
    assert_eq!(site.bytes("a.bin"), bytes);
    let deleted = client.done("delete_file", json!({"path": "a.bin"})).await;
    assert!(!site.has("a.bin"));
    client.undo(deleted["history"].as_u64().unwrap()).await.unwrap();
    assert_eq!(site.bytes("a.bin"), bytes);
}

#[tokio::test]
async fn broken_utf_8_is_never_mangled() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (name, bytes) in [
        ("stray.txt", b"first\nna\xc3\xafve \xff\xfe\x80 end\nlast\n".as_slice()),
        ("cut.txt", b"first\nna\xc3\nlast\n"),
        ("overlong.txt", b"first\n\xc0\xaf\xe0\x80\xaf\nlast\n"),
        ("surrogate.txt", b"first\n\xed\xa0\x80\nlast\n"),
        ("latin.txt", b"first\ncaf\xe9 cr\xe8me\nlast\n"),
    ] {
        site.write(name, bytes);
        let arguments = json!({"path": name, "startLine": 3, "endLine": 3, "newText": "LAST"});
        let result = client.ran("replace_lines", arguments).await;
        let after = site.bytes(name);
        match &result.error {
            // Refused: then nothing happened.
            Some(error) => {
                assert!(["encoding", "binary"].contains(&error.code.as_str()), "{name}: {error:?}");
                assert_eq!(after, bytes, "{name}");
            }
            // Done: then the other bytes are what they were.
            None => {
                let middle = &bytes[..bytes.len() - b"last\n".len()];
                assert_eq!(after, [middle, b"LAST\n"].concat(), "{name}");
            }
        }
    }
}

#[tokio::test]
async fn line_ends_marks_and_encodings_stay() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let utf_16 = |text: &str| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    for (name, before, after) in [
        ("crlf.txt", b"a\r\nb\r\nc\r\n".to_vec(), b"a\r\nB\r\nc\r\n".to_vec()),
        ("mixed.txt", b"a\r\nb\nc\r\n".to_vec(), b"a\r\nB\nc\r\n".to_vec()),
        ("open.txt", b"a\nb\nc".to_vec(), b"a\nB\nc".to_vec()),
        ("bom.txt", b"\xef\xbb\xbfa\nb\n".to_vec(), b"\xef\xbb\xbfa\nB\n".to_vec()),
        ("utf16.txt", utf_16("a\r\nb\r\n"), utf_16("a\r\nB\r\n")),
    ] {
        site.write(name, &before);
        let arguments = json!({"path": name, "startLine": 2, "endLine": 2, "newText": "B"});
        client.done("replace_lines", arguments).await;
        assert_eq!(site.bytes(name), after, "{name}");
    }
}

#[tokio::test]
async fn a_listing_filters_sorts_and_leaves_out_what_is_ignored() {
    let site = Site::new();
    for (path, size) in
        [("b.rs", 10), ("a.rs", 30), ("c.txt", 20), ("sub/d.rs", 5), ("out/e.rs", 1)]
    {
        site.write(path, "x".repeat(size));
    }
    site.write(".gitignore", "out/\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (arguments, expected) in [
        (json!({"path": ".", "fileType": ".rs"}), vec!["a.rs", "b.rs"]),
        (
            json!({"path": ".", "fileType": "rs", "recursive": true}),
            vec!["a.rs", "b.rs", "sub/d.rs"],
        ),
        (
            json!({"path": ".", "fileType": ".rs,.txt", "sortBy": "size", "sortOrder": "desc"}),
            vec!["a.rs", "c.txt", "b.rs"],
        ),
        (json!({"path": ".", "minSize": 15, "maxSize": 25}), vec!["c.txt"]),
        (json!({"path": "sub/"}), vec!["sub/d.rs"]),
        (json!({"path": ".", "modifiedAfter": "2999-01-01"}), vec![]),
    ] {
        let listed = client.done("list_directory", arguments.clone()).await;
        let entries = listed["entries"].as_array().unwrap();
        let paths: Vec<_> = entries.iter().map(|entry| entry["path"].as_str().unwrap()).collect();
        assert_eq!(paths, expected, "{arguments}");
    }
}
