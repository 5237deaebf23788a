//! Tests of `find_code_location`.

use moss_sdk::ErrorCode;
use moss_sdk::RelPath;
use moss_sdk::code_search::{CodeHit, CodeSearchFound, CodeSearchGoal};
use moss_sdk::editor::{Definitions, EditorState, Location, Position, Span};
use moss_sdk::language_server::{ServerGoal, ServerReply};
use moss_sdk::testing::MemoryHost;
use serde_json::{Value, json};

use crate::check::{call, refused};

mod languages;

const PARSER: &str = "\
/// Reads texts.
pub struct Parser {
    depth: usize,
}

impl Parser {
    /// Parses one text.
    pub fn parse(&self, text: &str) -> usize {
        text.len() + self.depth
    }
}

pub fn parse_all(parser: &Parser, texts: &[&str]) -> usize {
    texts.iter().map(|text| parser.parse(text)).sum()
}
";
const TOOL: &str = "\
from parser import Parser


class Tool:
    \"\"\"Uses a parser.\"\"\"

    def parse(self, text):
        return Parser().parse(text)
";

fn host() -> MemoryHost {
    let host = MemoryHost::new([
        ("src/parser.rs", PARSER),
        ("tests/tool.py", TOOL),
        ("notes.txt", "the parse of it, and parse_all\n"),
        ("README.md", "# Parser\n\nIt does parse.\n"),
        ("closed.rs", "fn parse() {}\n"),
        ("out/gen.rs", "fn parse() {}\n"),
    ]);
    host.deny("closed.rs");
    host.ignore("out");
    host
}

fn find(arguments: Value) -> Value {
    call(&host(), "find_code_location", arguments).unwrap()
}

/// The locations as path, line and name.
fn places(found: &Value) -> Vec<(&str, u64, &str)> {
    let locations = found["locations"].as_array().unwrap();
    locations
        .iter()
        .map(|one| {
            let name = one["name"].as_str().unwrap_or_default();
            (one["path"].as_str().unwrap(), one["line"].as_u64().unwrap(), name)
        })
        .collect()
}

#[test]
fn declarations_say_what_they_are_and_where() {
    let found = find(json!({ "search": "Parser::parse" }));
    assert_eq!(
        found["locations"][0],
        json!({
            "path": "src/parser.rs", "line": 8, "column": 12, "start_line": 7, "end_line": 10, "name": "parse",
            "kind": "method", "container": "Parser",
            "text": "pub fn parse(&self, text: &str) -> usize",
            "documentation": "Parses one text."
        })
    );
    assert_eq!(found["source"], "files");
    assert_eq!(places(&found), [("src/parser.rs", 8, "parse")]);
    let class = find(json!({ "search": "Tool", "searchType": "class" }));
    assert_eq!(class["locations"][0]["documentation"], "Uses a parser.");
    assert_eq!(class["locations"][0]["kind"], "class");
    assert_eq!(class["locations"][0].get("start_line"), None, "it begins with its name");
    let host = MemoryHost::new([("a.py", "@route('/')\n@once\ndef go():\n    pass\n")]);
    let go = &call(&host, "find_code_location", json!({ "search": "go" })).unwrap()["locations"][0];
    assert_eq!(
        (&go["start_line"], &go["line"], &go["end_line"]),
        (&json!(1), &json!(3), &json!(4))
    );
}

#[test]
fn exact_names_come_first_then_those_that_contain_them_by_the_order_of_searches() {
    let found = find(json!({ "search": "parse" }));
    let expected = [
        ("src/parser.rs", 8, "parse"),
        ("tests/tool.py", 7, "parse"),
        ("src/parser.rs", 2, "Parser"),
        ("src/parser.rs", 13, "parse_all"),
        ("README.md", 1, "Parser"),
    ];
    assert_eq!(places(&found), expected, "{found}");
    let exact = find(json!({ "search": "parse", "searchType": "exact" }));
    assert_eq!(places(&exact), expected[..2]);
    let definition = find(json!({ "search": "parse", "findDefinition": true }));
    assert_eq!(places(&definition), expected[..2]);
    let functions = find(json!({ "search": "parse", "searchType": "function" }));
    assert_eq!(places(&functions), [expected[0], expected[1], expected[3]]);
    let matching = find(json!({ "search": "^parse_", "searchType": "regex" }));
    assert_eq!(places(&matching), [expected[3]]);
    let field = find(json!({ "search": "depth", "searchType": "variable" }));
    assert_eq!(places(&field), [("src/parser.rs", 3, "depth")]);
}

#[test]
fn what_is_said_before_a_name_is_a_preference() {
    let files = [
        ("src/requests/api.py", "def get(url):\n    pass\n"),
        ("src/requests/sessions.py", "class Session:\n    def get(self, url):\n        pass\n"),
        ("src/walk.rs", "impl State {\n    fn scan(&self) {}\n}\n\nfn scan() {}\n"),
        ("src/flask/sansio.py", "class Scaffold:\n    def route(self):\n        pass\n"),
        ("gin.go", "package gin\n\nfunc New() *Engine {\n\treturn nil\n}\n"),
        ("render/any.go", "package render\n\nfunc New() *Any {\n\treturn nil\n}\n"),
        ("lib/Axios.js", "class Axios {\n  request(url) {}\n}\n"),
        ("web/dispatch.js", "function request() {}\n"),
        ("package-lock.json", "{ \"get\": { \"New\": 1 }, \"scan\": \"a.scanner\" }\n"),
        (
            "src/nested.py",
            "class Outer:\n    class Inner:\n        def deep(self):\n            pass\n",
        ),
    ];
    let host = MemoryHost::new(files);
    let elsewhere = "none belongs to `Blueprint`: these are named so";
    for (search, expected, note) in [
        ("requests.get", &[("src/requests/api.py", 1)][..], ""),
        ("api.get", &[("src/requests/api.py", 1)], ""),
        ("requests.Session", &[("src/requests/sessions.py", 1)], ""),
        ("requests.Session.get", &[("src/requests/sessions.py", 2)], ""),
        ("walk::scan", &[("src/walk.rs", 5)], ""),
        ("crate::walk::scan", &[("src/walk.rs", 5)], ""),
        ("walk::State::scan", &[("src/walk.rs", 2)], ""),
        ("state.scan", &[("src/walk.rs", 2)], ""),
        ("self.route", &[("src/flask/sansio.py", 2)], ""),
        ("Blueprint.route", &[("src/flask/sansio.py", 2)], elsewhere),
        ("gin.New", &[("gin.go", 3)], ""),
        ("render.New", &[("render/any.go", 3)], ""),
        ("Axios.prototype.request", &[("lib/Axios.js", 2)], ""),
        ("Outer.deep", &[("src/nested.py", 3)], ""),
    ] {
        for exact in [false, true] {
            let arguments = json!({ "search": search, "findDefinition": exact });
            let found = call(&host, "find_code_location", arguments).unwrap();
            let at: Vec<_> = places(&found).iter().map(|(path, line, _)| (*path, *line)).collect();
            assert_eq!(at, expected, "{search}: {found}");
            assert_eq!(found["note"].as_str().unwrap_or_default(), note, "{search}");
        }
    }
    let used = json!({ "search": "api.get", "findReferences": true });
    let note = call(&host, "find_code_location", used).unwrap()["note"].to_string();
    assert!(note.contains("declarations were found, but no use"), "{note}");
}

#[test]
fn lines_are_those_that_hold_all_that_is_written_else_the_name_alone_code_first() {
    let host = MemoryHost::new([
        ("a.json", "{ \"scripts\": \"x.run and runs\" }\n"),
        ("b.py", "print('x.run')\nprint('runs')\n"),
        ("c.py", "print('run')\n"),
    ]);
    for (search, expected) in [
        ("x.run", &[("b.py", 1, ""), ("a.json", 1, "")][..]),
        ("y.run", &[("b.py", 1, ""), ("c.py", 1, ""), ("a.json", 1, "")]),
        ("run", &[("b.py", 1, ""), ("c.py", 1, ""), ("a.json", 1, "")]),
        ("un", &[("b.py", 1, ""), ("b.py", 2, ""), ("c.py", 1, ""), ("a.json", 1, "")]),
    ] {
        let found = call(&host, "find_code_location", json!({ "search": search })).unwrap();
        assert_eq!(places(&found), expected, "{search}: {found}");
        let note = found["note"].as_str().unwrap();
        assert!(note.starts_with("nothing is declared by that name: these are lines"), "{note}");
    }
}

#[test]
fn a_path_and_a_type_narrow_it() {
    let file = find(json!({ "search": "parse", "path": "tests/tool.py" }));
    assert_eq!(places(&file), [("tests/tool.py", 7, "parse")]);
    let directory = find(json!({ "search": "parse", "path": "tests" }));
    assert_eq!(places(&directory), places(&file));
    let python = find(json!({ "search": "parse", "fileType": "py" }));
    assert_eq!(places(&python), places(&file));
}

#[test]
fn a_location_gives_what_is_declared_around_it() {
    let around = |search: &str| {
        let found = find(json!({ "search": search }));
        found["locations"][0]["name"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(around("src/parser.rs:9"), "parse");
    assert_eq!(around("src/parser.rs:7:3"), "parse");
    assert_eq!(around("src/parser.rs:14"), "parse_all");
    assert_eq!(around("src/parser.rs:5"), "");
}

#[test]
fn what_stands_before_a_declaration_belongs_to_it_and_an_empty_place_is_named() {
    let text = "import a\n\n@top\ndef one():\n    pass\n\n\nclass View:\n    @route('/')\n    @login\n    \
                def two(self):\n        pass\n";
    let host = MemoryHost::new([
        ("view.py", text),
        ("a.go", "package a\n\nconst (\n\tone = 1\n\ttwo = 2\n)\n"),
        ("b.rs", "#[derive(Debug)]\nstruct B;\n"),
        ("notes.txt", "one\n"),
    ]);
    for (search, expected, note) in [
        ("view.py:3", "one", ""),
        ("view.py:8", "View", ""),
        ("view.py:9", "two", ""),
        ("view.py:10", "two", ""),
        ("a.go:4", "one", ""),
        ("a.go:5", "two", ""),
        ("b.rs:1", "B", ""),
        ("view.py:1", "", "nothing is declared around line 1 of view.py"),
        ("view.py:99999", "", "view.py has 12 lines: there is no line 99999"),
        ("notes.txt:1", "", "nothing is declared around line 1 of notes.txt"),
    ] {
        let found = call(&host, "find_code_location", json!({ "search": search })).unwrap();
        assert_eq!(
            found["locations"][0]["name"].as_str().unwrap_or_default(),
            expected,
            "{search}"
        );
        assert_eq!(found["note"].as_str().unwrap_or_default(), note, "{search}");
    }
}

#[test]
fn an_expression_matches_at_the_ends_of_lines() {
    let host =
        MemoryHost::new([("a.rs", "fn a() {\r\n    let x = 1;\r\n    let x = 12;\r\n}\r\n")]);
    for (search, expected) in [
        (r"^    let x = \d;$", &[("a.rs", 2, "")][..]),
        (r"= \d+;$", &[("a.rs", 2, ""), ("a.rs", 3, "")]),
        (r"^let", &[]),
    ] {
        let arguments = json!({ "search": search, "searchType": "regex" });
        let found = call(&host, "find_code_location", arguments).unwrap();
        assert_eq!(places(&found), expected, "{search}: {found}");
    }
}

#[test]
fn names_are_found_as_they_are_printed_and_written() {
    let host = MemoryHost::new([
        (
            "a.rs",
            "macro_rules! say { () => {} }\n\nstruct File<T>(T);\n\nimpl<T> File<T> {\n    fn open() {}\n}\n",
        ),
        ("app/Models/User.php", "<?php\nnamespace App\\Models;\n\nclass User {}\n"),
        ("a.cpp", "struct A {};\nbool operator==(A a, A b) {\n  return true;\n}\n"),
        (
            "a.go",
            "package a\n\ntype Engine struct{}\n\nfunc (e *Engine) Serve() {}\n\nfunc Serve() {}\n\nfunc ServeAll() {}\n",
        ),
        ("a.py", "class Outer:\n    def deep(self):\n        pass\n\ndeep = 1\n"),
        ("a.rb", "def save!\nend\n\ndef save\nend\n"),
    ]);
    for (search, expected) in [
        ("say!", &[("a.rs", 1, "say")][..]),
        ("File<T>::open", &[("a.rs", 6, "open")]),
        ("App\\Models\\User", &[("app/Models/User.php", 4, "User")]),
        ("operator==", &[("a.cpp", 2, "operator==")]),
        ("(*Engine).Serve", &[("a.go", 5, "Serve")]),
        ("func (e *Engine) Serve()", &[("a.go", 5, "Serve")]),
        ("func Serve(", &[("a.go", 5, "Serve"), ("a.go", 7, "Serve")]),
        ("class Outer", &[("a.py", 1, "Outer")]),
        ("def deep", &[("a.py", 2, "deep")]),
        ("save!", &[("a.rb", 1, "save!")]),
        ("save", &[("a.rb", 4, "save"), ("a.rb", 1, "save!")]),
    ] {
        let found = call(&host, "find_code_location", json!({ "search": search })).unwrap();
        assert_eq!(places(&found), expected, "{search}: {found}");
    }
}

#[test]
fn code_that_names_nothing_is_found_by_its_lines() {
    let found = find(json!({ "search": "text.len() + self" }));
    let line = &found["locations"][0];
    assert_eq!((&line["kind"], &line["line"]), (&json!("line"), &json!(9)));
    assert_eq!(line["container"], "parse");
    assert!(found["note"].as_str().unwrap().contains("lines"), "{found}");
    let nothing = find(json!({ "search": "qqqq" }));
    assert_eq!(nothing["total_locations"], 0);
    assert!(nothing["note"].as_str().unwrap().contains("grep_search"), "{nothing}");
}

#[test]
fn a_location_is_in_its_file_wherever_is_searched() {
    let host = host();
    host.write("src/other.rs", format!("fn other() {{\n{}}}\n", "    run();\n".repeat(20)));
    for path in ["", ".", "src", "src/parser.rs"] {
        for search in ["src/parser.rs:9", "src/parser.rs:9:5"] {
            let arguments = json!({ "search": search, "path": path });
            let found = call(&host, "find_code_location", arguments).unwrap();
            assert_eq!(places(&found), [("src/parser.rs", 8, "parse")], "{path}: {found}");
        }
    }
    for (search, path, code, said) in [
        ("src/parser.rs:9", "tests", ErrorCode::InvalidArguments, "which is not in `path`: tests"),
        ("./src:9", "", ErrorCode::InvalidArguments, "src, which is a directory"),
        ("src/gone.rs:9", "", ErrorCode::NotFound, "src/gone.rs"),
    ] {
        let arguments = json!({ "search": search, "path": path });
        let error = refused(&host, "find_code_location", arguments);
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(said), "{error}");
    }
}

#[test]
fn words_with_a_colon_and_a_number_that_name_no_file_are_code() {
    let host = host();
    host.write("src/net.rs", "const URL: &str = \"localhost:8080\";\n// src:404\n");
    for (search, line) in [("localhost:8080", 1), ("src:404", 2)] {
        let found = call(&host, "find_code_location", json!({ "search": search })).unwrap();
        assert_eq!(places(&found), [("src/net.rs", line, "")], "{search}: {found}");
    }
    host.write("Makefile", "all:\n\ttrue\n");
    let made = call(&host, "find_code_location", json!({ "search": "Makefile:2" })).unwrap();
    assert!(made["note"].as_str().unwrap().contains("around line 2 of Makefile"), "{made}");
}

#[test]
fn a_declaration_behind_more_than_is_parsed_is_found() {
    // More than one look parses, and quick to parse.
    let line = format!("// new {}\n", "x".repeat(9_000));
    let large = line.repeat((4 << 20) / line.len());
    let host = MemoryHost::default();
    for number in 0..17 {
        host.write(&format!("a/f{number}.rs"), large.clone());
    }
    let store =
        "pub struct Store;\n\nimpl Store {\n    pub fn new() -> Self {\n        Store\n    }\n}\n";
    host.write("z/store.rs", store);
    let find = |search: &str| {
        let arguments = json!({ "search": search, "searchType": "exact" });
        call(&host, "find_code_location", arguments).unwrap()
    };
    let expected = [("z/store.rs", 4, "new")];
    // Only one file names the container; of the name alone another one has to know where it is declared.
    assert_eq!(places(&find("Store::new")), expected);
    let unknown = find("new");
    assert_eq!(
        (unknown["locations"][0]["kind"].as_str(), &unknown["truncated"]),
        (Some("line"), &json!(true))
    );
    host.set_code_answer(|asked| {
        let CodeSearchGoal::Declared { names, .. } = &asked.goal else {
            panic!("{:?}", asked.goal)
        };
        assert_eq!(names, &["new"]);
        let path = RelPath::parse("z/store.rs").unwrap();
        assert!((asked.wants)(&path));
        let hit = CodeHit {
            path,
            lines: (4, 6),
            name: Some("new".to_owned()),
            container: Some("Store".to_owned()),
            kind: Some("method"),
            score: 1.0,
            is_named: true,
            is_near: false,
            matched: Vec::new(),
        };
        CodeSearchFound { hits: vec![hit], files: 18, pending: 0, incomplete: 0, ranking: None }
    });
    let known = find("new");
    assert_eq!(places(&known), expected, "{known}");
    assert_eq!(known["truncated"], true, "what is in the rest is unknown all the same");
}

#[test]
fn a_file_that_has_more_than_is_kept_is_counted() {
    let host = MemoryHost::default();
    let nested =
        |depth: usize| format!("{{\"key\": {}{}}}\n", "[\n".repeat(depth), "]".repeat(depth));
    for (depth, is_said) in [(100, false), (1_100, true)] {
        host.write("a.json", nested(depth));
        let found = call(&host, "find_code_location", json!({ "search": "key" })).unwrap();
        assert_eq!(places(&found), [("a.json", 1, "key")]);
        let note = found["note"].as_str().unwrap_or_default();
        assert_eq!(
            note.contains("1 files have more names than are kept of one"),
            is_said,
            "{note}"
        );
    }
}

#[test]
fn names_that_are_keywords_are_found_however_they_are_written() {
    let text = "pub struct Row {\n    pub r#type: u8,\n}\n\nimpl Row {\n    fn r#loop(&self) {\n        \
                loop {}\n    }\n}\n\nfn go(row: &Row) -> u8 {\n    row.r#loop();\n    row.r#type\n}\n";
    let host = MemoryHost::new([("src/row.rs", text)]);
    for (search, line, used) in [
        ("r#type", 2, 13),
        ("type", 2, 13),
        ("Row::r#type", 2, 13),
        ("r#loop", 6, 12),
        ("Row.loop", 6, 12),
    ] {
        let arguments = json!({ "search": search, "searchType": "exact", "findReferences": true });
        let found = call(&host, "find_code_location", arguments).unwrap();
        let name = search.rsplit(['#', ':', '.']).next().unwrap();
        assert_eq!(places(&found), [("src/row.rs", line, name)], "{search}: {found}");
        let uses = found["references"][0]["uses"].as_array().unwrap();
        let lines: Vec<_> = uses.iter().map(|one| one["line"].as_u64().unwrap()).collect();
        assert_eq!(lines, [used], "{search}: {found}");
    }
}

#[test]
fn the_note_says_which_of_declarations_and_uses_was_not_found() {
    let note = |mut arguments: Value, has_references: bool| {
        arguments["findReferences"] = json!(has_references);
        let found = find(arguments);
        found["note"].as_str().unwrap_or_default().to_owned()
    };
    let exact = json!({ "search": "parse_all", "searchType": "exact" });
    assert_eq!(note(exact, false), "", "uses that nobody asked for are not missing");
    let named = |name: &str, kind: &str| json!({ "search": name, "searchType": kind });
    for (arguments, said) in [
        (named("parse", "exact"), ""),
        // Its only mention is in a file without a grammar.
        (named("Tool", "exact"), "declarations were found, but no use of that name"),
        (named("Too", "contains"), "only names that contain `search` were found, and no use"),
        (named("iter", "exact"), "uses were found, but nothing is declared by that name: it may"),
        (named("text", "class"), "uses were found, but no class or other type is declared by"),
        (json!({ "search": "no such line" }), "nothing was found: look for a part"),
        (named("qqqq", "function"), "no function was found: leave out `searchType`, look for"),
        (json!({ "search": "src/parser.rs:9" }), "declarations were found, uses were not looked"),
        (json!({ "search": "Parses" }), "nothing is declared by that name and no code uses it"),
        (json!({ "search": "text.len() + self" }), "nothing is declared by that name: these are"),
    ] {
        let note = note(arguments.clone(), true);
        assert_eq!(note.is_empty(), said.is_empty(), "{arguments}: {note}");
        assert!(note.starts_with(said), "{arguments}: {note}");
    }
}

#[test]
fn references_are_listed_by_file_with_their_kinds() {
    let found = find(json!({ "search": "parse", "searchType": "exact", "findReferences": true }));
    let references = found["references"].as_array().unwrap();
    let of = |path: &str| references.iter().find(|file| file["path"] == path).unwrap();
    let rust = &of("src/parser.rs")["uses"][0];
    assert_eq!((&rust["line"], &rust["kind"]), (&json!(14), &json!("call")));
    assert_eq!(rust["container"], "parse_all");
    assert_eq!(of("tests/tool.py")["uses"][0]["line"], 8);
    let text = &of("notes.txt")["uses"];
    assert_eq!(text.as_array().unwrap().len(), 1, "parse_all is another word: {text}");
    assert!(references.iter().all(|file| file["path"] != "closed.rs"));
    let types = find(json!({ "search": "Parser", "searchType": "class", "findReferences": true }));
    let kinds = types["references"].to_string();
    assert!(kinds.contains("\"type\""), "{kinds}");
}

#[test]
fn of_a_long_line_with_very_many_uses_the_first_is_shown_and_the_start() {
    let line = format!("  {}  {}\n", "parse".repeat(100), "parse is ".repeat(200_000));
    let host = MemoryHost::new([
        ("a.txt", format!("{line}parse\n{line}").as_str()),
        ("a.min.js", format!("let x = \"{}\";\n", "parse ".repeat(100_000)).as_str()),
    ]);
    let arguments = json!({ "search": "parse", "findReferences": true });
    let found = call(&host, "find_code_location", arguments).unwrap();
    assert_eq!(found["total_references"], 3, "{}", found["total_references"]);
    let uses = &found["references"][0]["uses"];
    let at = |number: usize| (&uses[number]["line"], &uses[number]["column"]);
    let all = [at(0), at(1), at(2)].map(|(line, column)| (line.as_u64(), column.as_u64()));
    assert_eq!(all, [(Some(1), Some(505)), (Some(2), Some(1)), (Some(3), Some(505))]);
    assert_eq!(uses[0]["text"], format!("{}…", "parse".repeat(60)));
}

#[test]
fn uses_that_a_language_server_names_in_one_line_are_one() {
    let text = format!("fn parse() {{}}\nfn go() {{ {} }}\n", "parse(); ".repeat(2_000));
    let host = MemoryHost::new([("a.rs", text.as_str())]);
    let places: Vec<_> = (0..2_000).map(|number| ("a.rs", 1, 10 + 9 * number)).collect();
    host.set_server_reply(ServerGoal::References, said(&places));
    let arguments = json!({ "search": "parse", "findReferences": true });
    let found = call(&host, "find_code_location", arguments).unwrap();
    assert_eq!(found["references_source"], "language_server", "{found}");
    assert_eq!((&found["total_references"], &found["note"]), (&json!(1), &Value::Null), "{found}");
    assert_eq!(found["references"][0]["uses"][0]["column"], 11);
}

#[test]
fn what_is_closed_or_ignored_changes_no_count() {
    let found = find(json!({ "search": "parse", "searchType": "exact" }));
    assert_eq!(found["total_locations"], 2);
    assert_eq!(found["skipped"]["denied"], 1);
    assert_eq!(found["skipped"]["ignored"], 1);
}

#[test]
fn an_editor_that_knows_the_definition_puts_it_first() {
    let host = host();
    host.attach(EditorState { editor: "ed".into(), focus: None, open: Vec::new() });
    let at = |line| Position { line, character: 0 };
    let span = Span { start: at(6), end: at(7) };
    let location = Location { path: RelPath::parse("tests/tool.py").unwrap(), span };
    let known = Definitions { locations: vec![location], elsewhere: 0 };
    host.set_definitions("src/parser.rs", Position { line: 7, character: 11 }, known);
    let arguments = json!({ "search": "parse", "findDefinition": true });
    let found = call(&host, "find_code_location", arguments).unwrap();
    assert_eq!(found["source"], "editor");
    assert_eq!(places(&found), [("tests/tool.py", 7, "parse"), ("src/parser.rs", 8, "parse")]);
}

/// Locations that a language server names, as path, line and character from 0.
fn said(places: &[(&str, u32, u32)]) -> ServerReply {
    let location = |&(path, line, character): &(&str, u32, u32)| {
        let at = Position { line, character };
        Location { path: RelPath::parse(path).unwrap(), span: Span { start: at, end: at } }
    };
    let locations = places.iter().map(location).collect();
    ServerReply::Known { server: "server".into(), places: Definitions { locations, elsewhere: 0 } }
}

#[test]
fn uses_that_a_language_server_knows_are_those_of_the_declaration() {
    let host = host();
    // The second is no name now; the third is in a file that is closed.
    let places = [("src/parser.rs", 13, 35), ("src/parser.rs", 9, 0), ("closed.rs", 0, 3)];
    host.set_server_reply(ServerGoal::References, said(&places));
    let arguments = json!({ "search": "Parser::parse", "findReferences": true });
    let found = call(&host, "find_code_location", arguments).unwrap();
    assert_eq!(found["references_source"], "language_server");
    assert_eq!(found["language_server"], "server");
    assert_eq!((&found["source"], &found["total_references"]), (&json!("files"), &json!(1)));
    let used = &found["references"][0]["uses"][0];
    assert_eq!(
        (&used["line"], &used["column"], &used["kind"]),
        (&json!(14), &json!(36), &json!("call"))
    );
    let note = found["note"].as_str().unwrap();
    assert!(note.contains("2 other uses of the name"), "{note}");
    assert!(note.contains("1 uses were left out"), "{note}");
    let asked = host.server_questions();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].positions, [Position { line: 7, character: 11 }]);
    // Where it searches narrows what is shown.
    let arguments = json!({ "search": "parse", "findReferences": true, "path": "tests" });
    let found = call(&host, "find_code_location", arguments).unwrap();
    assert_eq!(found["total_references"], 0, "{found}");
}

#[test]
fn a_language_server_that_says_it_of_an_older_text_is_asked_again() {
    let host = MemoryHost::new([
        ("a.py", "def foo():\n    pass\n"),
        ("b.py", "from a import foo as other\nother()\nbar(); foo()\n"),
    ]);
    let uses = |replies: &[ServerReply]| {
        let before = host.server_questions().len();
        host.set_server_replies(ServerGoal::References, replies.to_vec());
        let arguments = json!({ "search": "foo", "searchType": "exact", "findReferences": true });
        let found = call(&host, "find_code_location", arguments).unwrap();
        let uses = found["references"][0]["uses"].as_array().unwrap();
        let places = uses.iter().map(|one| (one["line"].as_u64(), one["column"].as_u64()));
        let places: Vec<_> =
            places.map(|(line, column)| (line.unwrap(), column.unwrap())).collect();
        (places, host.server_questions().len() - before)
    };
    // Where it is used by another name, the file says that.
    let now = said(&[("b.py", 0, 14), ("b.py", 1, 0), ("b.py", 2, 7)]);
    let all = vec![(1, 15), (2, 1), (3, 8)];
    assert_eq!(uses(std::slice::from_ref(&now)), (all.clone(), 1));
    let before = said(&[("b.py", 0, 14), ("b.py", 2, 0)]);
    assert_eq!(uses(&[before.clone(), now]), (all, 2));
    assert_eq!(uses(&[before]), (vec![(1, 15), (3, 1)], 2), "it knows another reason");
}

#[test]
fn a_definition_that_a_language_server_knows_is_described_by_its_text() {
    let host = host();
    host.set_server_reply(ServerGoal::Definitions, said(&[("src/parser.rs", 12, 7)]));
    let arguments = json!({ "search": "parse", "path": "tests", "findDefinition": true });
    let found = call(&host, "find_code_location", arguments).unwrap();
    assert_eq!(found["source"], "language_server");
    let first = &found["locations"][0];
    assert_eq!((&first["name"], &first["kind"]), (&json!("parse_all"), &json!("function")));
    assert!(first["text"].as_str().unwrap().starts_with("pub fn parse_all("), "{found}");
    assert_eq!(places(&found)[1], ("tests/tool.py", 7, "parse"));
}

#[test]
fn a_definition_in_another_one_of_its_name_is_not_that_one() {
    let host = MemoryHost::new([(
        "a.py",
        "def f():\n    def f():\n        pass\n    g = f\n    return f\n",
    )]);
    for (line, character, expected) in [(1, 8, (2, "f")), (0, 4, (1, "f")), (3, 4, (4, ""))] {
        host.set_server_reply(ServerGoal::Definitions, said(&[("a.py", line, character)]));
        let arguments = json!({ "search": "f", "findDefinition": true });
        let found = call(&host, "find_code_location", arguments).unwrap();
        let (_, line, name) = places(&found)[0];
        assert_eq!((line, name), expected, "{found}");
    }
}

#[test]
fn a_definition_that_a_language_server_names_in_an_older_text_is_left_out() {
    let asked = |places: &[(&str, u32, u32)]| {
        let host = host();
        host.set_server_reply(ServerGoal::Definitions, said(places));
        let arguments = json!({ "search": "parse", "path": "tests", "findDefinition": true });
        call(&host, "find_code_location", arguments).unwrap()
    };
    // Past the end of the text, at a line without a name, in a file that is closed.
    let old = asked(&[("src/parser.rs", 900, 0), ("src/parser.rs", 11, 0), ("closed.rs", 0, 3)]);
    assert_eq!(places(&old), [("tests/tool.py", 7, "parse")]);
    assert_eq!((&old["source"], &old["language_server"]), (&json!("files"), &Value::Null));
    let note = old["note"].as_str().unwrap();
    assert!(note.contains("3 definitions were left out: the text there has changed"), "{note}");
    // What fits stays, and what is defined by a whole file has no name in it.
    let some = asked(&[("src/parser.rs", 12, 7), ("src/parser.rs", 900, 0), ("README.md", 0, 0)]);
    assert_eq!(
        places(&some),
        [("src/parser.rs", 13, "parse_all"), ("README.md", 1, ""), ("tests/tool.py", 7, "parse")]
    );
    assert_eq!(some["locations"][1]["text"], "# Parser");
    assert_eq!((&some["source"], &some["total_locations"]), (&json!("language_server"), &json!(3)));
    assert!(some["note"].as_str().unwrap().contains("1 definitions were left out"), "{some}");
}

#[test]
fn a_language_server_that_knows_no_use_of_what_its_file_calls_knows_nothing() {
    let host = host();
    let twice = "struct A;\nimpl A {\n    fn new() {}\n}\nstruct B;\nimpl B {\n    fn new() {}\n}\nfn go() {\n    B::new();\n}\n";
    host.write("src/twice.rs", twice);
    host.set_server_reply(ServerGoal::References, said(&[]));
    let asked = |search: &str| {
        let arguments = json!({ "search": search, "searchType": "exact", "findReferences": true });
        call(&host, "find_code_location", arguments).unwrap()
    };
    // It is called in line 14, and nothing else there has its name.
    let called = asked("Parser::parse");
    assert_eq!(called["references_source"], "files", "{called}");
    assert_eq!(called["references"][0]["uses"][0]["line"], 14, "{called}");
    let note = called["note"].as_str().unwrap();
    assert!(
        note.contains("server: it names no use of `parse`, which its own file calls"),
        "{note}"
    );
    // Nobody calls the first, and the call in its file may be one of the other.
    for (search, total) in [("parse_all", 0), ("A::new", 0)] {
        let unused = asked(search);
        assert_eq!(unused["references_source"], "language_server", "{search}: {unused}");
        assert_eq!(unused["total_references"], total, "{search}: {unused}");
    }
}

#[test]
fn without_a_language_server_uses_are_those_of_the_name_and_the_note_says_why() {
    let host = host();
    let arguments = json!({ "search": "Parser::parse", "findReferences": true });
    let alone = call(&host, "find_code_location", arguments.clone()).unwrap();
    assert_eq!((&alone["references_source"], &alone["note"]), (&json!("files"), &Value::Null));
    let why = "it is still loading".to_owned();
    let reply = ServerReply::Unavailable { server: "server".into(), why };
    host.set_server_reply(ServerGoal::References, reply);
    let found = call(&host, "find_code_location", arguments).unwrap();
    assert_eq!(found["references"], alone["references"]);
    assert!(
        found["note"].as_str().unwrap().contains("without the language server server: it is still"),
        "{found}"
    );
    // What names no declaration has no server asked.
    let asked = host.server_questions().len();
    call(&host, "find_code_location", json!({ "search": "text.len()", "findReferences": true }))
        .unwrap();
    call(&host, "find_code_location", json!({ "search": "parse" })).unwrap();
    assert_eq!(host.server_questions().len(), asked);
}

#[test]
fn files_that_do_not_parse_are_counted_and_the_note_says_which_bounds_there_are() {
    let minified = format!("function parse() {{}}; let x = \"{}\";\n", "y".repeat(30_000));
    let host = MemoryHost::new([("a.js", minified.as_str()), ("b.js", "function parse() {}\n")]);
    let found = call(&host, "find_code_location", json!({ "search": "parse" })).unwrap();
    assert_eq!(places(&found), [("b.js", 1, "parse")]);
    let note = found["note"].as_str().unwrap();
    assert!(
        note.starts_with(
            "1 files are too large, have too long lines, or took too long or too much memory"
        ),
        "{note}"
    );
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let host = host();
    for arguments in [
        json!({ "search": " " }),
        json!({ "search": "a\nb" }),
        json!({ "search": "x".repeat(2_000) }),
        json!({ "search": "(", "searchType": "regex" }),
        json!({ "search": "a", "fileType": "qqqqq" }),
    ] {
        let error = refused(&host, "find_code_location", arguments);
        assert_eq!(error.code, ErrorCode::InvalidArguments);
        assert!(error.hint.is_some(), "{error}");
    }
    let error = refused(&host, "find_code_location", json!({ "search": "a", "path": "no/such" }));
    assert_eq!(error.code, ErrorCode::NotFound);
}

#[test]
fn many_declarations_are_counted_and_cut_with_a_word_on_it() {
    let text: String =
        (0..200).map(|n| format!("fn item_{n}() {{}}\nmod m{n} {{ fn one() {{}} }}\n")).collect();
    let host = MemoryHost::new([("a.rs", text.as_str())]);
    let found = call(&host, "find_code_location", json!({ "search": "one" })).unwrap();
    assert_eq!(found["locations"].as_array().unwrap().len(), 50);
    assert_eq!(found["total_locations"], 200);
    assert_eq!(found["truncated"], true);
    assert!(found["note"].as_str().unwrap().contains("50 of 200"), "{found}");
}

#[test]
fn all_that_is_found_keeps_to_one_bound_places_before_what_stands_there() {
    let wide = |n: usize| {
        format!("/// {}\nfn one(a{n}: {}) {{ one(1); }}\n", "d ".repeat(250), "T".repeat(280))
    };
    let text: String = (0..45).map(wide).collect();
    let host = MemoryHost::new([("a.rs", text.as_str())]);
    let arguments = json!({ "search": "one", "findReferences": true });
    let found = call(&host, "find_code_location", arguments).unwrap();
    assert!(found.to_string().len() < 21_000, "{}", found.to_string().len());
    assert_eq!((places(&found).len(), &found["truncated"]), (45, &json!(true)));
    assert_eq!(found["references"][0]["uses"].as_array().unwrap().len(), 45);
    let has = |at: usize, key: &str| !found["locations"][at][key].is_null();
    assert!(has(0, "text") && !has(44, "documentation"), "{found}");
    assert!(found["note"].as_str().unwrap().contains("read_file shows them"), "{found}");
    let deep = format!("{}a.rs", "a_long_name_of_a_directory/".repeat(40));
    let host = MemoryHost::new([(deep.as_str(), text.as_str())]);
    let found = call(&host, "find_code_location", json!({ "search": "one" })).unwrap();
    assert!(found.to_string().len() < 21_000, "{}", found.to_string().len());
    let shown = places(&found).len();
    assert!(
        found["note"].as_str().unwrap().contains(&format!("{shown} of 45 locations")),
        "{found}"
    );
}

#[test]
fn a_line_is_one_use_and_what_programs_write_is_only_counted() {
    let host = MemoryHost::new([
        ("a.js", "function make() {}\nmake(make(1));\n"),
        ("dist/a.js.map", "{\"a\": \"make make\"}\nmake\n"),
        ("pnpm-lock.yaml", "packages:\n  make: 1\n"),
        ("ci.yaml", "jobs:\n  make: 1\n"),
    ]);
    let arguments = json!({ "search": "make", "findReferences": true });
    let found = call(&host, "find_code_location", arguments).unwrap();
    assert_eq!(places(&found), [("a.js", 1, "make"), ("ci.yaml", 2, "make")]);
    assert_eq!(found["total_references"], 1, "{found}");
    assert_eq!(found["references"][0]["uses"][0]["column"], 1);
    let note = found["note"].as_str().unwrap();
    assert!(note.starts_with("3 more are in lock files and other data that programs"), "{note}");
    assert_eq!((&found["total_locations"], &found["truncated"]), (&json!(2), &json!(false)));
}

#[test]
fn where_a_search_ended_at_its_bound_there_are_at_least_so_many() {
    let text: String = (0..60).map(|n| format!("fn one_{n}() {{}}\n")).collect();
    let host = MemoryHost::new([("a.rs", text.as_str()), ("b.rs", text.as_str())]);
    let found = call(&host, "find_code_location", json!({ "search": "one_" })).unwrap();
    let note = found["note"].as_str().unwrap();
    assert!(note.starts_with("50 of at least 60 locations"), "{note}");
}
