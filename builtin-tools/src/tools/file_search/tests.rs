//! Tests of `file_search`.

use moss_sdk::ErrorCode;
use moss_sdk::testing::MemoryHost;
use serde_json::{Value, json};

use super::FILES_MAX;
use crate::check::{call, refused};

const FILES: [&str; 16] = [
    "README.md",
    "app/[id]/page.tsx",
    "app/page.tsx",
    "docs/main-loop.md",
    "main/other.txt",
    "src/HTTPServer.java",
    "src/domain.rs",
    "src/main.rs",
    "src/main.test.ts",
    "src/parser/lexer.rs",
    "src/parser/mod.rs",
    "src/remain.rs",
    "src/user_service.rs",
    "tests/it/main.rs",
    "tests/user_service_test.rs",
    "tools/my_main.py",
];

fn host() -> MemoryHost {
    let host = MemoryHost::new(FILES.iter().map(|path| (*path, "1234")));
    host.write("target/main.rs", "");
    host.ignore("target");
    host
}

fn paths(arguments: Value) -> Vec<String> {
    let output = call(&host(), "file_search", arguments).unwrap();
    let files = output["files"].as_array().unwrap();
    assert_eq!(output["total"], files.len());
    files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_result_says_what_was_found_and_what_was_left_out() {
    assert_eq!(
        call(&host(), "file_search", json!({ "pattern": "lexer" })).unwrap(),
        json!({
            "files": [{ "path": "src/parser/lexer.rs", "size_bytes": 4 }],
            "total": 1,
            "files_searched": 16,
            "truncated": false,
            "skipped": { "ignored": 1, "denied": 0, "unreadable": 0 }
        })
    );
}

#[test]
fn wildcards_find_what_they_say_in_path_order() {
    let cases: [(&str, &[&str]); 14] = [
        ("*.md", &["README.md", "docs/main-loop.md"]),
        ("*.MD", &["README.md", "docs/main-loop.md"]),
        ("main.*", &["src/main.rs", "src/main.test.ts", "tests/it/main.rs"]),
        ("ma?n.rs", &["src/main.rs", "tests/it/main.rs"]),
        (
            "[lm]*.rs",
            &["src/main.rs", "src/parser/lexer.rs", "src/parser/mod.rs", "tests/it/main.rs"],
        ),
        ("*_service{,_test}.rs", &["src/user_service.rs", "tests/user_service_test.rs"]),
        ("*.{py,java}", &["src/HTTPServer.java", "tools/my_main.py"]),
        ("parser/*", &["src/parser/lexer.rs", "src/parser/mod.rs"]),
        (
            "src/**/*.rs",
            &[
                "src/domain.rs",
                "src/main.rs",
                "src/parser/lexer.rs",
                "src/parser/mod.rs",
                "src/remain.rs",
                "src/user_service.rs",
            ],
        ),
        ("/*.md", &["README.md"]),
        ("./parser/*", &[]),
        ("**/it/*", &["tests/it/main.rs"]),
        ("[id]/page.tsx", &["app/[id]/page.tsx"]),
        ("*.none", &[]),
    ];
    for (pattern, expected) in cases {
        assert_eq!(paths(json!({ "pattern": pattern })), expected, "{pattern}");
    }
    let name_only = json!({ "pattern": "[id]", "searchPath": false });
    assert_eq!(paths(name_only), [""; 0]);
    assert_eq!(paths(json!({ "pattern": "[id]" })), ["app/[id]/page.tsx"]);
}

#[test]
fn wildcards_stand_for_characters_of_any_alphabet() {
    let names = ["a.md", "ä.md", "Ünïcode.RS", "中文/文.rs", "жук.go", "e\u{301}.md", r"x\xc3.md"];
    let host = MemoryHost::new(names.map(|name| (name, "")));
    let cases: [(&str, &[&str]); 13] = [
        ("?.md", &["a.md", "ä.md"]),
        ("??.md", &["e\u{301}.md"]),
        ("[äö].md", &["ä.md"]),
        ("[Ä].MD", &["ä.md"]),
        ("[!a].md", &["ä.md"]),
        ("[a-ü].md", &["a.md", "ä.md"]),
        ("üNÏ*", &["Ünïcode.RS"]),
        ("{ünï,жу}*", &["Ünïcode.RS", "жук.go"]),
        ("?文/?.rs", &["中文/文.rs"]),
        ("[а-я]*.go", &["жук.go"]),
        (r"*\\xc3.md", &[r"x\xc3.md"]),
        ("*Ã*", &[]),
        ("?文", &[]),
    ];
    for (pattern, expected) in cases {
        let output = call(&host, "file_search", json!({ "pattern": pattern })).unwrap();
        let files = output["files"].as_array().unwrap();
        let found: Vec<_> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
        assert_eq!(found, expected, "{pattern}");
    }
}

#[test]
fn wildcards_that_fit_everything_find_every_file() {
    for pattern in ["*", "**", "**/*", "/**", "***", "?*", "*?", "{*,?}", "*{,x}*", "**/**/**"] {
        assert_eq!(paths(json!({ "pattern": pattern })).len(), FILES.len(), "{pattern}");
    }
}

#[test]
fn patterns_of_nothing_but_wildcards_are_bounded() {
    let name = format!("{}.rs", "a".repeat(200));
    let host = MemoryHost::new([(name.as_str(), "")]);
    for (unit, count, finds) in [
        ("*a", 499, false),
        ("?", 1_000, false),
        ("*", 1_000, true),
        ("[!b]", 250, false),
        ("[!b-é]*", 125, true),
        ("{a,b}", 200, false),
        ("**/", 333, true),
    ] {
        let pattern = unit.repeat(count) + if unit == "**/" { "*" } else { "" };
        match call(&host, "file_search", json!({ "pattern": pattern })) {
            Ok(output) => assert_eq!(output["total"], u64::from(finds), "{unit}"),
            Err(error) => panic!("{unit}: {error}"),
        }
    }
}

#[test]
fn parts_of_names_are_ranked() {
    let cases: [(Value, &[&str]); 13] = [
        (
            json!({ "pattern": "main", "fuzzy": false }),
            &[
                "src/main.rs",
                "tests/it/main.rs",
                "src/main.test.ts",
                "docs/main-loop.md",
                "tools/my_main.py",
                "src/domain.rs",
                "src/remain.rs",
                "main/other.txt",
            ],
        ),
        (
            json!({ "pattern": "main", "fuzzy": false, "searchPath": false, "fileType": "rust" }),
            &["src/main.rs", "tests/it/main.rs", "src/domain.rs", "src/remain.rs"],
        ),
        (
            json!({ "pattern": "main.rs", "fuzzy": false }),
            &["src/main.rs", "tests/it/main.rs", "src/domain.rs", "src/remain.rs"],
        ),
        (json!({ "pattern": "it/main.rs" }), &["tests/it/main.rs"]),
        (json!({ "pattern": "/src/main" , "fuzzy": false }), &["src/main.rs", "src/main.test.ts"]),
        (json!({ "pattern": "./README.md" }), &["README.md"]),
        (json!({ "pattern": "readme" }), &["README.md"]),
        (
            json!({ "pattern": "parser", "fuzzy": false }),
            &["src/parser/mod.rs", "src/parser/lexer.rs"],
        ),
        (json!({ "pattern": "parser", "searchPath": false }), &[]),
        (
            json!({ "pattern": "UserService" }),
            &["src/user_service.rs", "tests/user_service_test.rs"],
        ),
        (json!({ "pattern": "user service" , "fuzzy": false }), &[]),
        (json!({ "pattern": "usrsvc" }), &["src/user_service.rs", "tests/user_service_test.rs"]),
        (json!({ "pattern": "http_server" }), &["src/HTTPServer.java"]),
    ];
    for (arguments, expected) in cases {
        assert_eq!(paths(arguments.clone()), expected, "{arguments}");
    }
}

#[test]
fn scattered_letters_must_not_be_too_scattered() {
    let host = MemoryHost::new([("alpha/bravo/charlie/delta_echo.rs", ""), ("abc.rs", "")]);
    let output = call(&host, "file_search", json!({ "pattern": "abce" })).unwrap();
    assert_eq!(output["note"], "nothing has this name: these names are similar");
    assert_eq!(output["files"], json!([{ "path": "abc.rs", "size_bytes": 0 }]));
}

#[test]
fn similar_names_are_offered_where_nothing_fits() {
    let output = call(&host(), "file_search", json!({ "pattern": "user_sevrice.rs" })).unwrap();
    assert_eq!(output["files"][0]["path"], "src/user_service.rs");
    assert!(output["note"].as_str().unwrap().contains("similar"));
    for arguments in [
        json!({ "pattern": "user_sevrice.rs", "fuzzy": false }),
        json!({ "pattern": "completely_different" }),
    ] {
        assert_eq!(paths(arguments.clone()), [""; 0], "{arguments}");
    }
}

#[test]
fn a_typo_in_a_name_counts_more_than_its_letters_in_another_path() {
    let names = [
        "src/module.c",
        "src/redis-modules/auth_two.c",
        "unit/counter.c",
        "src/counter.c",
        "hyperloglog/.gitignore",
        "integration/logging.tcl",
    ];
    let host = MemoryHost::new(names.map(|name| (name, "")));
    for (pattern, first) in [
        // Its letters are in `src/redis-modules/auth_two.c`, too.
        ("mdoule.c", "src/module.c"),
        ("unit/conuter", "unit/counter.c"),
        ("uint/counter.c", "unit/counter.c"),
        ("loggign", "integration/logging.tcl"),
        // Another directory is another thing, but better than nothing.
        ("elsewhere/counetr.c", "src/counter.c"),
    ] {
        let output = call(&host, "file_search", json!({ "pattern": pattern })).unwrap();
        assert_eq!(output["files"][0]["path"], first, "{pattern}: {output}");
    }
}

#[test]
fn a_typo_in_a_directory_counts_less_than_one_in_a_name_and_more_than_letters_in_another_path() {
    let names = ["other/service.rs", "service/deep/main.rs", "some/very/long/ice.rs"];
    let host = MemoryHost::new(names.map(|name| (name, "")));
    for (in_paths, expected) in [(true, &names[..]), (false, &names[..1])] {
        let arguments = json!({ "pattern": "sevrice", "searchPath": in_paths });
        let output = call(&host, "file_search", arguments).unwrap();
        let found = output["files"].as_array().unwrap().iter();
        assert_eq!(found.map(|file| &file["path"]).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn words_that_are_left_out_count_little_and_scattered_letters_of_a_name_no_more_than_of_a_path() {
    let names = [
        "freebsd/script.sh",
        "freebsd/before_script.sh",
        "commands/geosearchstore.json",
        "jemalloc/src/hook.c",
    ];
    let host = MemoryHost::new(names.map(|name| (name, "")));
    for (pattern, first) in
        [("fbscript", "freebsd/before_script.sh"), ("srchoo", "jemalloc/src/hook.c")]
    {
        let output = call(&host, "file_search", json!({ "pattern": pattern })).unwrap();
        assert_eq!(output["files"][0]["path"], first, "{pattern}: {output}");
    }
}

#[test]
fn a_typo_in_a_part_of_a_name_or_path_is_forgiven() {
    let cases: [(&str, &[&str]); 7] = [
        ("sevrice", &["src/user_service.rs", "tests/user_service_test.rs"]),
        ("paresr", &["src/parser/mod.rs", "src/parser/lexer.rs"]),
        ("parsre/lexer", &["src/parser/lexer.rs"]),
        ("parser/lexre.rs", &["src/parser/lexer.rs"]),
        ("HTTPSevrer", &["src/HTTPServer.java"]),
        ("servize_tset", &["tests/user_service_test.rs"]),
        // Two wrong letters of seven are another word.
        ("sxvrxce", &[]),
    ];
    for (pattern, expected) in cases {
        assert_eq!(paths(json!({ "pattern": pattern })), expected, "{pattern}");
    }
    assert_eq!(paths(json!({ "pattern": "paresr", "searchPath": false })), [""; 0]);
}

#[test]
fn of_equal_files_those_come_first_that_the_caller_is_busy_with() {
    let names = ["a/mod.rs", "b/mod.rs", "c/mod.rs", "d/mod.rs", "e/mod.rs", "f/model.py"];
    let host = MemoryHost::new(names.map(|name| (name, "x\n")));
    let found = |pattern: &str| -> Vec<String> {
        let output = call(&host, "file_search", json!({ "pattern": pattern })).unwrap();
        let files = output["files"].as_array().unwrap().iter();
        files.map(|file| file["path"].as_str().unwrap()[..1].to_owned()).collect()
    };
    assert_eq!(found("mod.rs"), ["a", "b", "c", "d", "e"]);
    for read in ["b/mod.rs", "c/mod.rs"] {
        call(&host, "read_file", json!({ "path": read })).unwrap();
    }
    assert_eq!(found("mod.rs"), ["c", "b", "a", "d", "e"]);
    call(&host, "create_file", json!({ "path": "d/mod.rs", "content": "", "overwrite": true }))
        .unwrap();
    host.attach(moss_sdk::editor::EditorState {
        editor: "Code".to_owned(),
        focus: None,
        open: vec![moss_sdk::editor::OpenFile {
            path: moss_sdk::RelPath::parse("e/mod.rs").unwrap(),
            unsaved: false,
        }],
    });
    let first = found("mod.rs");
    assert_eq!(first[0], "e", "{first:?}");
    assert_eq!(first, found("mod.rs"), "the same question has the same answer");
    // What fits better is better, whoever reads it.
    call(&host, "read_file", json!({ "path": "f/model.py" })).unwrap();
    assert_eq!(found("mod").last().unwrap(), "f");
    // Wildcards say what they want: by path.
    assert_eq!(found("*/mod.rs"), ["a", "b", "c", "d", "e"]);
}

#[test]
fn more_files_than_the_bound_are_counted_and_said() {
    let names: Vec<String> = (0..FILES_MAX + 5).map(|n| format!("d/name{n:03}.rs")).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    for pattern in ["name", "*.rs"] {
        let output = call(&host, "file_search", json!({ "pattern": pattern })).unwrap();
        let files = output["files"].as_array().unwrap();
        assert_eq!(files.len(), FILES_MAX);
        assert_eq!(files[0]["path"], names[0].as_str(), "equal files come by path");
        assert_eq!((&output["total"], &output["truncated"]), (&json!(105), &json!(true)));
        assert!(output["note"].as_str().unwrap().starts_with("100 of 105 files"));
    }
}

#[test]
fn impossible_patterns_are_refused() {
    let long = "x".repeat(2_000);
    let cases = [
        (json!({ "pattern": "" }), "empty"),
        (json!({ "pattern": " / " }), "empty"),
        (json!({ "pattern": "./" }), "empty"),
        (json!({ "pattern": long }), "longer than 1000 bytes"),
        (json!({ "pattern": "a/b", "searchPath": false }), "`searchPath`"),
        (json!({ "pattern": "[a" }), "unclosed character class"),
        (json!({ "pattern": "{a" }), "unclosed alternate"),
        (json!({ "pattern": "{a}}*" }), "unopened alternate"),
        (json!({ "pattern": "[z-a]" }), "invalid range"),
        (json!({ "pattern": "*\\" }), "dangling"),
        (json!({ "pattern": "a", "fileType": "pyton" }), "`python`"),
    ];
    for (arguments, what) in cases {
        let error = refused(&host(), "file_search", arguments.clone());
        assert_eq!(error.code, ErrorCode::InvalidArguments, "{arguments}: {error}");
        assert!(error.to_string().contains(what), "{arguments}: {error}");
    }
}

#[test]
fn files_are_found_beneath_a_directory_as_seen_from_there() {
    let cases: [(&str, &str, &[&str]); 5] = [
        (
            "src",
            "*.rs",
            &[
                "src/domain.rs",
                "src/main.rs",
                "src/parser/lexer.rs",
                "src/parser/mod.rs",
                "src/remain.rs",
                "src/user_service.rs",
            ],
        ),
        ("src/parser/", "/mod.rs", &["src/parser/mod.rs"]),
        ("src", "src", &[]),
        ("app", "page", &["app/page.tsx", "app/[id]/page.tsx"]),
        ("target", "main", &["target/main.rs"]),
    ];
    for (path, pattern, expected) in cases {
        let arguments = json!({ "path": path, "pattern": pattern, "fuzzy": false });
        assert_eq!(paths(arguments), expected, "{path} {pattern}");
    }
    let missing = refused(&host(), "file_search", json!({ "path": "none", "pattern": "a" }));
    assert_eq!(missing.code, ErrorCode::NotFound);
}

#[test]
fn files_beyond_the_first_are_returned_on_request() {
    let names: Vec<String> = (0..105).map(|number| format!("f{number:03}")).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let page = |offset: usize| {
        call(&host, "file_search", json!({ "pattern": "f*", "offset": offset })).unwrap()
    };
    let rest = page(FILES_MAX);
    let found = rest["files"].as_array().unwrap();
    assert_eq!((found.len(), &found[0]["path"]), (5, &json!("f100")));
    assert_eq!(rest["note"], "files 101 to 105 of 105");
    assert_eq!(page(200)["note"], "there are 105 files: `offset` passes over all of them");
    for (offset, is_truncated) in
        [(0, true), (4, true), (5, false), (FILES_MAX, false), (200, false)]
    {
        assert_eq!(page(offset)["truncated"], is_truncated, "{offset}");
    }
}

#[test]
fn pages_of_long_names_are_small_and_together_the_whole() {
    let directory = "é".repeat(120);
    let name = |n: usize| format!("{directory}/f{n:03}{}", "é".repeat(n % 110));
    let names: Vec<String> = (0..250).map(name).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let mut seen = Vec::new();
    while seen.len() < names.len() {
        let arguments = json!({ "pattern": "f*", "offset": seen.len() });
        let output = call(&host, "file_search", arguments).unwrap();
        let bytes = output.to_string().len();
        assert!(bytes <= 24_000, "{bytes}");
        let before = seen.len();
        let page = output["files"].as_array().unwrap().iter();
        seen.extend(page.map(|file| file["path"].as_str().unwrap().to_owned()));
        assert!(seen.len() > before);
        let note = output["note"].as_str().unwrap();
        let continued = format!("continue with `offset` {}", seen.len());
        assert_eq!(note.ends_with(&continued), seen.len() < names.len(), "{note}");
    }
    assert_eq!(seen, names);
}
