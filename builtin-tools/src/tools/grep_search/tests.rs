//! Tests of `grep_search`.

use moss_sdk::ErrorCode;
use moss_sdk::testing::MemoryHost;
use serde_json::{Value, json};

use super::{COUNTED_MAX, EXTENT};
use crate::check::{call, refused};

fn search(host: &MemoryHost, arguments: Value) -> Value {
    call(host, "grep_search", arguments).unwrap()
}

/// The line, the column and the text of a match.
type ShownHit<'a> = (u64, u64, &'a str);

/// The matches of one file as line, column and text.
fn found(text: &str, arguments: Value) -> Vec<(u64, u64, String)> {
    let output = search(&MemoryHost::new([("a", text)]), arguments);
    let matches = output["matches"].as_array().unwrap();
    assert_eq!(output["total_matches"], matches.len());
    let place = |hit: &Value| {
        let text = hit["text"].as_str().unwrap().to_owned();
        (hit["line"].as_u64().unwrap(), hit["column"].as_u64().unwrap(), text)
    };
    matches.iter().map(place).collect()
}

#[test]
fn matches_say_where_they_are_and_what_is_around_them() {
    let host = MemoryHost::new([
        ("src/b.rs", "1\n2\n3 Needle\n4\n5 needle\n6\n7\n8\n"),
        ("src/a/c.rs", "the needle and the needle"),
        ("notes.txt", "nothing\n"),
        ("out/d.rs", "needle\n"),
    ]);
    host.write("blob", b"needle\0");
    host.write("closed", "needle\n");
    host.ignore("out");
    host.deny("closed");
    assert_eq!(
        search(&host, json!({ "pattern": "needle" })),
        json!({
            "matches": [
                { "path": "src/a/c.rs", "line": 1, "column": 5, "text": "the needle and the needle" },
                {
                    "path": "src/b.rs", "line": 3, "column": 3, "text": "3 Needle",
                    "before": ["1", "2"], "after": ["4"]
                },
                {
                    "path": "src/b.rs", "line": 5, "column": 3, "text": "5 needle",
                    "after": ["6", "7"]
                }
            ],
            "total_matches": 3,
            "files_matched": 2,
            "files_searched": 3,
            "truncated": false,
            "skipped": {
                "ignored": 1, "denied": 1, "unapproved": 0, "binary": 1, "too_large": 0,
                "unreadable": 0
            }
        })
    );
    assert_eq!(host.proposals(), []);
}

#[test]
fn patterns_match_what_they_say() {
    let cases: [(&str, Value, &[ShownHit<'_>]); 19] = [
        ("Ab\nab\n", json!({ "pattern": "AB" }), &[(1, 1, "Ab"), (2, 1, "ab")]),
        ("Ab\nab\n", json!({ "pattern": "ab", "caseSensitive": true }), &[(2, 1, "ab")]),
        ("É\n", json!({ "pattern": "é" }), &[(1, 1, "É")]),
        ("äöü x", json!({ "pattern": "x" }), &[(1, 5, "äöü x")]),
        ("中文 搜索\n", json!({ "pattern": "搜索" }), &[(1, 4, "中文 搜索")]),
        ("a.b\naxb\n", json!({ "pattern": r"a\.b" }), &[(1, 1, "a.b")]),
        ("foo\r\nbar\r\n", json!({ "pattern": "o$" }), &[(1, 3, "foo")]),
        ("foo\nbar", json!({ "pattern": "^bar$" }), &[(2, 1, "bar")]),
        ("foo\nbar", json!({ "pattern": r"foo\s" }), &[]),
        ("foo\nbar\nx", json!({ "pattern": r"o\nb" }), &[(1, 3, "foo\nbar")]),
        ("foo\r\nbar\r\n", json!({ "pattern": r"foo\nbar" }), &[]),
        ("foo\r\nbar\r\n", json!({ "pattern": r"foo\r?\nbar" }), &[(1, 1, "foo\r\nbar")]),
        ("x\n\ny\n", json!({ "pattern": "^$" }), &[(2, 1, "")]),
        ("x\ny", json!({ "pattern": "z*" }), &[(1, 1, "x"), (2, 1, "y")]),
        ("fn a() {}\n", json!({ "pattern": r"fn \w+\(" }), &[(1, 1, "fn a() {}")]),
        ("a b\n", json!({ "pattern": r"\bb\b" }), &[(1, 3, "a b")]),
        ("aa\n", json!({ "pattern": "(?-i)A" }), &[]),
        ("tab\there\n", json!({ "pattern": "\t" }), &[(1, 4, "tab\there")]),
        ("", json!({ "pattern": "x" }), &[]),
    ];
    for (text, arguments, expected) in cases {
        let expected: Vec<_> = expected.iter().map(|(l, c, t)| (*l, *c, (*t).to_owned())).collect();
        assert_eq!(found(text, arguments.clone()), expected, "{arguments} in {text:?}");
    }
}

#[test]
fn only_files_of_the_wanted_types_are_searched() {
    let host = MemoryHost::new([("a.rs", "x"), ("b.py", "x"), ("c.tsx", "x"), ("Dockerfile", "x")]);
    let cases: [(&str, &[&str]); 5] = [
        ("rust", &["a.rs"]),
        (".rs,py", &["a.rs", "b.py"]),
        ("typescript", &["c.tsx"]),
        ("docker", &["Dockerfile"]),
        ("java", &[]),
    ];
    for (types, expected) in cases {
        let output = search(&host, json!({ "pattern": "x", "fileType": types }));
        let matches = output["matches"].as_array().unwrap();
        let paths: Vec<_> = matches.iter().map(|hit| hit["path"].as_str().unwrap()).collect();
        assert_eq!(paths, expected, "{types}");
        assert_eq!(output["files_searched"], expected.len(), "{types}");
        assert_eq!(output.get("note").is_some(), expected.is_empty(), "{types}");
    }
}

#[test]
fn matches_past_the_limit_are_counted() {
    let host = MemoryHost::new([("a", "x\nx\nx\n"), ("b", "x\n1\n2\nx\n3\n"), ("c", "x\n")]);
    let output = search(&host, json!({ "pattern": "x", "limit": 4 }));
    let matches = output["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 4);
    assert_eq!(matches[3]["after"], json!(["1", "2"]), "the last match keeps its context");
    assert_eq!((&output["total_matches"], &output["files_matched"]), (&json!(6), &json!(3)));
    assert_eq!(output["truncated"], true);
    assert!(output["note"].as_str().unwrap().starts_with("4 of 6 matches"));

    let many = "x\n".repeat(usize::try_from(COUNTED_MAX).unwrap() + 10);
    let host = MemoryHost::new([("a", many.as_str()), ("b", "x\n")]);
    let output = search(&host, json!({ "pattern": "x" }));
    assert_eq!(output["matches"].as_array().unwrap().len(), 50);
    assert_eq!(output["total_matches"], COUNTED_MAX);
    assert_eq!(output["files_searched"], 1, "the search ends where counting ends");
    assert!(output["note"].as_str().unwrap().contains("more than 100000"));
}

#[test]
fn long_lines_are_cut_around_the_match_and_the_result_is_bounded() {
    let long = format!("{}needle{}", "é".repeat(5_000), "y".repeat(10_000));
    let host = MemoryHost::new([("a", long.as_str())]);
    let output = search(&host, json!({ "pattern": "needle" }));
    let hit = &output["matches"][0];
    let text = hit["text"].as_str().unwrap();
    assert!(text.starts_with('…') && text.ends_with('…') && text.contains("éneedley"));
    assert!(text.len() <= 510, "{}", text.len());
    assert_eq!((&hit["cut"], &hit["column"]), (&json!(true), &json!(5_001)));

    let wide = format!("{}\n", "needle ".repeat(100)).repeat(1_000);
    let host = MemoryHost::new([("a", wide.as_str())]);
    let output = search(&host, json!({ "pattern": "needle", "limit": 1_000 }));
    let shown = output["matches"].as_array().unwrap().len();
    assert!((300..500).contains(&shown), "{shown}");
    assert_eq!((&output["total_matches"], &output["truncated"]), (&json!(1_000), &json!(true)));
}

#[test]
fn broken_patterns_say_where_and_how_to_fix_them() {
    let host = MemoryHost::new([("a", "x")]);
    let long = "x".repeat(5_000);
    let nested = "(".repeat(2_000) + &")".repeat(2_000);
    let cases = [
        ("foo(bar", "unclosed group, at character 4: `(bar`", r"escape it: `foo\(bar`"),
        ("é*[", "unclosed character class, at character 3: `[`", r"`é\*\[`"),
        ("*", "at character 1: `*`", r"`\*`"),
        (r"a\", "at character 2", r"`a\\`"),
        (r"\p{Foo}", "Unicode property not found, at character 1", "escape it"),
        ("(?=x)", "look-around", "pick from the matches"),
        (r"(a)\1", "backreferences are not supported, at character 4", "pick from the matches"),
        ("x{2,1}", "invalid repetition count range", "escape it"),
        ("[z-a]", "invalid character class range", "escape it"),
        ("(?P<n", "unclosed capture group name", "escape it"),
        ("(?z)x", "unrecognized flag", "escape it"),
        ("(?-u)\\xff{99999999999}", "decimal", "escape it"),
        (&nested, "nest", "backslash"),
        ("", "empty", "file_search"),
        (&long, "longer than 4096 bytes", "shorter"),
        (r"(\w{500}){500}", "size limit", "smaller"),
    ];
    for (pattern, what, hint) in cases {
        let error = refused(&host, "grep_search", json!({ "pattern": pattern }));
        assert_eq!(error.code, ErrorCode::InvalidArguments, "{pattern}: {error}");
        assert!(error.message.contains(what), "{pattern}: {error}");
        assert!(error.hint.as_ref().unwrap().contains(hint), "{pattern}: {error}");
    }
    let error = refused(&host, "grep_search", json!({ "pattern": "x", "fileType": "rsut" }));
    assert!(error.to_string().contains("`rust`"), "{error}");
}

#[test]
fn patterns_that_match_everything_are_bounded() {
    let lines = |count: usize| "some text\n".repeat(count);
    let names: Vec<String> = (0..300).map(|n| format!("f{n:03}")).collect();
    let texts: Vec<(&str, String)> = names.iter().map(|name| (name.as_str(), lines(400))).collect();
    let host = MemoryHost::new(texts.iter().map(|(name, text)| (*name, text.as_str())));
    for pattern in [".", ".*", "(|x)", "^", "$", r"\b", r"[\s\S]", "(?s).*", r"\w|\W", "(a|)*"] {
        let output = search(&host, json!({ "pattern": pattern, "limit": 1_000 }));
        assert_eq!(output["total_matches"], COUNTED_MAX, "{pattern}");
        assert_eq!(output["files_searched"], 251, "{pattern}: it ends where counting ends");
        assert_eq!(output["truncated"], true, "{pattern}");
        assert!(output.to_string().len() < 512 << 10, "{pattern}");
    }
    for pattern in [r"\n", r"(?s).*\n.*", r"some\s+text\n"] {
        let output = search(&host, json!({ "pattern": pattern, "limit": 1_000 }));
        assert_eq!(output["truncated"], true, "{pattern}");
        assert!(output.to_string().len() < 512 << 10, "{pattern}");
    }
}

#[test]
fn patterns_meant_to_take_long_do_not() {
    let host = MemoryHost::new([("a", "a".repeat(30_000).as_str())]);
    for (pattern, total) in
        [("(a+)+$", 1), ("(a|aa)+b", 0), ("(.*)*x", 0), ("a{0,800}a{0,800}b", 0)]
    {
        let output = search(&host, json!({ "pattern": pattern }));
        assert_eq!(output["total_matches"], total, "{pattern}");
    }
}

#[test]
fn a_cancelled_search_ends() {
    let host = MemoryHost::new([("a", "x")]);
    host.cancel();
    let error = refused(&host, "grep_search", json!({ "pattern": "x" }));
    assert_eq!(error.code, ErrorCode::Cancelled);
}

#[test]
fn a_search_looks_only_where_it_is_told_to() {
    let host = MemoryHost::new([
        ("a.rs", "needle\n"),
        ("src/a.rs", "needle\n"),
        ("src/deep/b.rs", "needle\n"),
        ("src/deep/b.ts", "needle\n"),
        ("app/[id]/page.ts", "needle\n"),
        ("out/c.rs", "needle\n"),
    ]);
    host.ignore("out");
    let cases: [(&str, &[&str]); 9] = [
        ("src", &["src/a.rs", "src/deep/b.rs", "src/deep/b.ts"]),
        ("src/", &["src/a.rs", "src/deep/b.rs", "src/deep/b.ts"]),
        ("src/a.rs", &["src/a.rs"]),
        ("*.rs", &["a.rs", "src/a.rs", "src/deep/b.rs"]),
        ("src/**/*.rs", &["src/a.rs", "src/deep/b.rs"]),
        ("**/b.{rs,ts}", &["src/deep/b.rs", "src/deep/b.ts"]),
        // What is there goes before what brackets mean.
        ("app/[id]/page.ts", &["app/[id]/page.ts"]),
        // Ignore files apply to walks, not to a file that is named.
        ("out/c.rs", &["out/c.rs"]),
        ("*.py", &[]),
    ];
    for (path, expected) in cases {
        let arguments = json!({ "pattern": "needle", "path": path, "output": "files" });
        let output = search(&host, arguments);
        assert_eq!(output["files"], json!(expected), "{path}");
        assert_eq!(output["total_matches"], expected.len(), "{path}");
    }
    let missing = refused(&host, "grep_search", json!({ "pattern": "x", "path": "none/here" }));
    assert_eq!(missing.code, ErrorCode::NotFound);
    let broken = refused(&host, "grep_search", json!({ "pattern": "x", "path": "src/[a" }));
    assert_eq!(broken.code, ErrorCode::InvalidArguments);
    assert!(broken.message.starts_with("`path` is not a pattern of wildcards"), "{broken}");
    let outside = refused(&host, "grep_search", json!({ "pattern": "x", "path": "../*.rs" }));
    assert_eq!(outside.code, ErrorCode::OutsideWorkspace);
}

#[test]
fn files_and_counts_come_in_the_order_of_matches() {
    let host = MemoryHost::new([("docs/a.md", "x\nx x\n"), ("src/b.rs", "x\n"), ("c.rs", "y\n")]);
    let counts = search(&host, json!({ "pattern": "x", "output": "counts" }));
    let expected = json!([
        { "path": "src/b.rs", "matches": 1 },
        { "path": "docs/a.md", "matches": 2 }
    ]);
    assert_eq!(counts["counts"], expected);
    assert_eq!((&counts["matches"], &counts["total_matches"]), (&json!([]), &json!(3)));
    let second = json!({ "pattern": "x", "output": "files", "offset": 1, "limit": 1 });
    let second = search(&host, second);
    assert_eq!(second["files"], json!(["docs/a.md"]));
    assert_eq!(second["note"], "files 2 to 2 of 2");
}

#[test]
fn pages_of_matches_are_the_whole() {
    let long = "x".repeat(450);
    let text: String = (0..700).map(|line| format!("{line} {long}\n")).collect();
    let host = MemoryHost::new([("a.txt", text.as_str()), ("b.txt", "x\nx\n")]);
    let mut lines = Vec::new();
    loop {
        let arguments = json!({ "pattern": "x+", "limit": 1000, "offset": lines.len() });
        let output = search(&host, arguments);
        let page = output["matches"].as_array().unwrap();
        if page.is_empty() {
            assert_eq!(output["note"], "there are 702 matches: `offset` passes over all of them");
            assert_eq!(output["truncated"], false);
            break;
        }
        lines.extend(page.iter().map(|hit| (hit["path"].clone(), hit["line"].as_u64().unwrap())));
        assert_eq!(output["truncated"], lines.len() < 702);
    }
    let expected: Vec<_> = (1..=700)
        .map(|line| (json!("a.txt"), line))
        .chain([(json!("b.txt"), 1), (json!("b.txt"), 2)])
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn context_and_lines_of_a_match_are_as_asked_for() {
    let text = "1\n2\n3\nfn a(\n    b,\n)\n7\n";
    let host = MemoryHost::new([("a.rs", text)]);
    let bare = search(&host, json!({ "pattern": "fn", "context": 0 }));
    let hit = json!({ "path": "a.rs", "line": 4, "column": 1, "text": "fn a(" });
    assert_eq!(bare["matches"], json!([hit]));
    let wide = search(&host, json!({ "pattern": "fn", "context": 10 }));
    assert_eq!(wide["matches"][0]["before"], json!(["1", "2", "3"]));
    let within = search(&host, json!({ "pattern": "fn a.*?\\)" }));
    assert_eq!(within["total_matches"], 0);
    let over = json!({ "pattern": "fn a.*?\\)", "multiline": true, "context": 0 });
    let over = search(&host, over);
    assert_eq!(over["matches"][0]["text"], "fn a(\n    b,\n)");
}

#[test]
fn pages_without_a_limit_are_small_and_together_the_whole() {
    let host = MemoryHost::new([]);
    let mut expected = Vec::new();
    let mut paths = Vec::new();
    // Twice as long as they are returned: fifty of them have no room.
    let quotes = "\"".repeat(120);
    for file in 0..200 {
        let path = format!("{quotes}/{file:03}-{quotes}.txt");
        let lines = if file < 10 { 40 } else { 1 };
        let text = (0..lines).map(|n| format!("x {}\nb\nc\n", "é\t".repeat(6 * n)));
        host.write(&path, text.collect::<String>().as_bytes());
        expected.extend((0..lines as u64).map(|n| (json!(path), 3 * n + 1)));
        paths.push((json!(path), 1));
    }
    for key in ["matches", "counts", "files"] {
        let mut seen = Vec::new();
        loop {
            let mut arguments = json!({ "pattern": "x", "output": key, "offset": seen.len() });
            if key == "files" {
                // Some clients fill in the default of the schema.
                arguments["limit"] = 50.into();
            }
            let output = search(&host, arguments);
            let bytes = output.to_string().len();
            assert!(bytes <= 24_000, "{bytes}");
            let page = output[key].as_array().unwrap().iter();
            let before = seen.len();
            seen.extend(page.map(|hit| {
                let path = hit.get("path").unwrap_or(hit).clone();
                (path, hit.get("line").and_then(|line| line.as_u64()).unwrap_or(1))
            }));
            assert!((1..50).contains(&(seen.len() - before)), "bytes end a page");
            let note = output["note"].as_str().unwrap_or_default();
            let continued = format!("continue with `offset` {}", seen.len());
            if !note.ends_with(&continued) {
                break;
            }
        }
        match key {
            "matches" => assert_eq!(seen, expected),
            _ => assert_eq!(seen, paths),
        }
    }
}

#[test]
fn a_page_behind_the_last_that_can_be_passed_over_is_not_offered() {
    let host = MemoryHost::new([("a", "x\n".repeat(1_200).as_str())]);
    let note = |offset: usize| {
        let output = search(&host, json!({ "pattern": "x", "limit": 100, "offset": offset }));
        output["note"].as_str().unwrap().to_owned()
    };
    assert_eq!(note(900), "matches 901 to 1000 of 1200: continue with `offset` 1000");
    assert_eq!(
        note(1_000),
        "matches 1001 to 1100 of 1200: make the pattern more exact, or give a `fileType` or a `path`"
    );
}

#[test]
fn where_counting_ended_there_are_pages_too() {
    let host = MemoryHost::new([("a", "x\n".repeat(100_001).as_str())]);
    let note = |offset: usize| {
        let arguments = json!({ "pattern": "x", "context": 0, "limit": 40, "offset": offset });
        search(&host, arguments)["note"].as_str().unwrap().to_owned()
    };
    let ended = "more than 100000 matches, where counting ended: make the pattern more exact";
    assert_eq!(note(0), format!("{ended}; matches 1 to 40: continue with `offset` 40"));
    assert_eq!(note(40), format!("{ended}; matches 41 to 80: continue with `offset` 80"));
}

#[test]
fn as_many_matches_as_are_counted_are_all_there_are() {
    let all = "x\n".repeat(usize::try_from(COUNTED_MAX).unwrap());
    let one_more = format!("{all}x\n");
    for (texts, is_more) in
        [([all.as_str(), "y\n"], false), ([&all, "x\n"], true), ([&one_more, "y\n"], true)]
    {
        let host = MemoryHost::new([("a", texts[0]), ("b", texts[1])]);
        for view in ["counts", "matches"] {
            let output = search(&host, json!({ "pattern": "x", "output": view }));
            assert_eq!(output["total_matches"], COUNTED_MAX);
            let note = output["note"].as_str().unwrap_or_default();
            assert_eq!(note.contains("more than 100000 matches"), is_more, "{note}");
            assert_eq!(output["truncated"], is_more || view == "matches");
            if view == "counts" {
                assert_eq!(output["counts"][0], json!({ "path": "a", "matches": COUNTED_MAX }));
            }
        }
    }
}

#[test]
fn a_search_is_not_bound_by_what_it_reads() {
    // An index spares reading: by such a bound, the same search would find less without one.
    assert_eq!(EXTENT.bytes_max, u64::MAX);
}
