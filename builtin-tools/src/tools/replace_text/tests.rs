//! Tests of `replace_text`. Where an edit belongs is tested in the crate `moss-matching`.

use moss_sdk::ErrorCode;
use moss_sdk::testing::{MemoryHost, hash};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::check::{call, refused};

fn replace(old: &str, new: &str) -> Value {
    json!({ "path": "a", "oldText": old, "newText": new })
}

#[test]
fn the_one_location_is_replaced() {
    let cases = [
        ("one two\n", "two", "2", "one 2\n"),
        ("a\r\nb\r\n", "a\r\nb", "x\ny", "x\r\ny\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\nb\nc\n", "b\n", "", "a\nc\n"),
        ("a\nb", "b\n", "c\nd\n", "a\nc\nd"),
        ("a\nb", "b\n", "c", "a\nc"),
        ("x\nx y\n", "x y", "z", "x\nz\n"),
        ("\u{feff}a\n", "a", "b", "\u{feff}b\n"),
        ("s = '😀'\nn\n", "n", "m", "s = '😀'\nm\n"),
        ("f(a)\n", "(a)", "(a, b)", "f(a, b)\n"),
        ("no\n", "no", "", ""),
        ("a\n  b\nc\n", "b", "", "a\nc\n"),
        ("a\r\nb\r\nc", "b", "", "a\r\nc"),
        ("a b\n", " b", "", "a\n"),
    ];
    for (before, old, new, after) in cases {
        let host = MemoryHost::new([("a", before)]);
        let result = call(&host, "replace_text", replace(old, new));
        assert!(result.is_ok(), "{before:?} {old:?}: {result:?}");
        assert_eq!(host.text("a").unwrap(), after, "{before:?} {old:?} {new:?}");
    }
}

#[test]
fn the_result_names_the_lines() {
    let span = |start: u64, end: u64| json!({ "start_line": start, "end_line": end });
    let cases = [
        ("2\n3\n", "x\n", span(2, 3), Some(span(2, 2)), 3),
        ("2\n3\n", "", span(2, 3), None, 2),
        ("2\n3", "x\ny\nz", span(2, 3), Some(span(2, 4)), 5),
        ("3", "", span(3, 3), None, 3),
        ("4", "x", span(4, 4), Some(span(4, 4)), 4),
    ];
    for (old, new, before, after, total) in cases {
        let host = MemoryHost::new([("a", "1\n2\n3\n4\n")]);
        let output = call(&host, "replace_text", replace(old, new)).unwrap();
        assert_eq!(output["before"], before, "{old:?} {new:?}");
        assert_eq!(output.get("after"), after.as_ref(), "{old:?} {new:?}");
        assert_eq!(output["total_lines"], total, "{old:?} {new:?}");
        assert_eq!(output["hash"], json!(hash(&host.bytes("a").unwrap())));
    }
}

#[test]
fn texts_that_do_not_name_one_location_are_refused() {
    let host = MemoryHost::new([("a", "aaa\nfn main() {\n    run();\n}\n"), ("empty", "")]);
    host.write("binary", b"\x7fELF\0\0abc\0");
    let in_file = |path: &str| json!({ "path": path, "oldText": "abc", "newText": "abd" });
    let cases = [
        (replace("", "x"), ErrorCode::InvalidArguments, "is empty"),
        (replace(" \n\t", "x"), ErrorCode::InvalidArguments, "white space"),
        (replace("aaa", "aaa"), ErrorCode::NoChange, "the same"),
        (replace("}\n", "}\r\n"), ErrorCode::NoChange, "the same"),
        (replace("aa", "b"), ErrorCode::Ambiguous, "occurs 2 times in a"),
        (replace("aaa", "     1\tb"), ErrorCode::InvalidArguments, "line number"),
        (replace("    run(1);", "x"), ErrorCode::NoMatch, "line 3, exactly:\n    run();\n"),
        (
            replace("fn main() { run(); }", "x"),
            ErrorCode::NoMatch,
            "lines 2-4, exactly:\nfn main() {\n    run();\n}\n",
        ),
        (replace("run();", "// ..."), ErrorCode::InvalidArguments, "leaves out: `// ...`"),
        (
            replace("a\n...\nb\n", "c"),
            ErrorCode::InvalidArguments,
            "leave out the same lines for certain",
        ),
        (replace("a\0", "b"), ErrorCode::InvalidArguments, "NUL"),
        (replace("quite another", "x"), ErrorCode::NoMatch, "nor anything like it"),
        (replace("old()", "    run();"), ErrorCode::NoMatch, "does not occur"),
        (
            replace("old(1, 2)", "fn main() {"),
            ErrorCode::AlreadyApplied,
            "already applied: a has `newText` at line 2",
        ),
        (in_file("empty"), ErrorCode::NoMatch, "the file is empty"),
        (in_file("binary"), ErrorCode::Binary, "not a text file"),
        (in_file("none"), ErrorCode::NotFound, "none"),
    ];
    for (arguments, code, message) in cases {
        let error = refused(&host, "replace_text", arguments.clone());
        assert_eq!(error.code, code, "{arguments}: {error}");
        assert!(error.message.contains(message), "{arguments}: {error}");
    }
}

#[test]
fn several_locations_are_listed_up_to_ten() {
    let host = MemoryHost::new([("a", "call(x)\nother\n".repeat(12).as_str())]);
    let error = refused(&host, "replace_text", replace("call(x)", "call(y)"));
    assert!(error.message.starts_with("`oldText` occurs 12 times in a:\nline 1:"), "{error}");
    assert!(error.message.contains("\nline 19:"), "{error}");
    assert!(!error.message.contains("\nline 21:") && error.message.ends_with('…'), "{error}");
    let host = MemoryHost::new([("a", "x".repeat(1000).as_str())]);
    let error = refused(&host, "replace_text", replace("x", "y"));
    assert!(error.message.starts_with("`oldText` occurs at least 100 times"), "{error}");
}

#[test]
fn an_edit_by_text_needs_no_read_and_survives_other_changes() {
    let host = MemoryHost::new([("a", "1\nkey = 1\n")]);
    call(&host, "read_file", json!({ "path": "a" })).unwrap();
    host.write("a", "0\n1\nkey = 1\n");
    call(&host, "replace_text", replace("key = 1", "key = 2")).unwrap();
    assert_eq!(host.text("a").unwrap(), "0\n1\nkey = 2\n");
}

proptest! {
    #[test]
    fn a_unique_text_is_replaced_and_nothing_else(
        head in "([ab]{0,2}(\n|\r\n)){0,4}",
        old in "<[ab\n]{0,6}>",
        new in "[ab\n]{0,6}",
        tail in "((\n|\r\n)[ab]{0,2}){0,4}",
    ) {
        let line_end = if head.contains("\r\n") { "\r\n" } else { "\n" };
        let before = format!("{head}{}{tail}", old.replace('\n', line_end));
        let host = MemoryHost::new([("a", before.as_str())]);
        call(&host, "replace_text", replace(&old, &new)).unwrap();
        let after = host.text("a").unwrap();
        // Whole lines that go take their line end along.
        let tail = match tail.strip_prefix("\r\n").or_else(|| tail.strip_prefix('\n')) {
            Some(rest) if new.is_empty() => rest.to_owned(),
            _ => tail,
        };
        prop_assert!(after.starts_with(&head) && after.ends_with(&tail), "{:?}", after);
        let middle = &after[head.len()..after.len() - tail.len()];
        prop_assert_eq!(middle.replace("\r\n", "\n"), new);
    }

    #[test]
    fn a_text_that_is_not_unique_is_never_replaced(
        text in "[ab\n]{0,12}",
        old in "[ab\n]{1,3}",
        new in "[ab\n]{0,3}",
    ) {
        let host = MemoryHost::new([("a", text.as_str())]);
        let count = text.char_indices().filter(|(at, _)| text[*at..].starts_with(&old)).count();
        match call(&host, "replace_text", replace(&old, &new)) {
            // A line end before the text is not taken away.
            Ok(_) if old.starts_with('\n') => {}
            Ok(_) if count == 1 => {
                let at = text.find(&old).unwrap();
                let (before, after) = (&text[..at], &text[at + old.len()..]);
                let is_line = (before.is_empty() || before.ends_with('\n'))
                    && !old.ends_with('\n')
                    && after.starts_with('\n');
                let after = if new.is_empty() && is_line { &after[1..] } else { after };
                prop_assert_eq!(host.text("a").unwrap(), [before, &new, after].concat());
            }
            // Blank lines may be more or fewer.
            Ok(_) => prop_assert!(count == 0),
            Err(_) => prop_assert_eq!(host.text("a").unwrap(), text),
        }
    }
}
