//! `get_cursor_context` beside an editor that knows what the test says.

use moss_ranking::CodeGathering;
use moss_sdk::context::TextVisitor;
use moss_sdk::editor::{Definitions, Diagnostic, Location, OpenFile, Severity};
use moss_sdk::file::VisitedText;
use moss_sdk::testing::{MemoryHost, hash};
use serde_json::{Value, json};

use super::*;
use crate::check::call;

const SOURCE: &str = "\
use std::fs;

fn load(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap();
    if (text.is_empty()) { return fallback(); }
    parse(&text)
}

fn parse(text: &str) -> String {
    text.to_owned()
}
";

fn place(line: u32, character: u32) -> Position {
    Position { line, character }
}

fn span(start: (u32, u32), end: (u32, u32)) -> Span {
    Span { start: place(start.0, start.1), end: place(end.0, end.1) }
}

fn rel(path: &str) -> RelPath {
    RelPath::parse(path).unwrap()
}

fn focus(cursor: Position) -> Focus {
    Focus {
        path: rel("src/a.rs"),
        cursor,
        selection: Span { start: cursor, end: cursor },
        visible: None,
        diagnostics: Vec::new(),
    }
}

fn symbol(name: &str, kind: &str, span: Span, depth: usize) -> Symbol {
    Symbol { name: name.into(), kind: kind.into(), span, name_span: span, depth }
}

/// A workspace with an editor whose cursor is in `load`.
fn host(focus: Option<Focus>) -> MemoryHost {
    let caller = "fn main() {\n    load(\"x\"); // load(it)\n    reload();\n}\n";
    let host = MemoryHost::new([
        ("src/a.rs", SOURCE),
        ("src/main.rs", caller),
        ("notes.md", "load(now)\n"),
    ]);
    let open = vec![
        OpenFile { path: rel("notes.md"), unsaved: false },
        OpenFile { path: rel("src/a.rs"), unsaved: true },
    ];
    host.attach(EditorState { editor: "Code".into(), focus, open });
    host.set_symbols(
        "src/a.rs",
        vec![
            symbol("a", "module", span((0, 0), (11, 0)), 0),
            symbol("load(&str)", "function", span((2, 0), (6, 1)), 1),
            symbol("parse(&str)", "function", span((8, 0), (10, 1)), 1),
        ],
    );
    host
}

fn context(host: &MemoryHost, arguments: Value) -> Value {
    call(host, "get_cursor_context", arguments).unwrap()
}

#[test]
fn without_an_editor_the_result_says_so() {
    let output = context(&MemoryHost::default(), json!({}));
    assert_eq!(output["attached"], false);
    assert!(output["note"].as_str().unwrap().starts_with("no editor is attached"), "{output}");
    let output = context(&host(None), json!({}));
    assert_eq!(output["note"], "no file of the workspace has the focus");
    assert_eq!((&output["attached"], &output["editor"]), (&json!(true), &json!("Code")));
    let open = json!([
        { "path": "notes.md", "unsaved": false },
        { "path": "src/a.rs", "unsaved": true },
    ]);
    assert_eq!(output["open_files"], open);
}

#[test]
fn lines_around_the_cursor_are_numbered_as_read_file_does() {
    let host = host(Some(focus(place(3, 8))));
    let output = context(&host, json!({ "linesBefore": 1, "linesAfter": 1 }));
    let focus = &output["focus"];
    let content = "     3\tfn load(path: &str) -> String {\n     4\t    let text = \
                   fs::read_to_string(path).unwrap();\n     5\t    if (text.is_empty()) { return \
                   fallback(); }";
    assert_eq!(focus["content"], content);
    assert_eq!((&focus["line"], &focus["column"]), (&json!(4), &json!(9)));
    assert_eq!((&focus["start_line"], &focus["end_line"]), (&json!(3), &json!(5)));
    assert_eq!(focus["total_lines"], 11);
    assert_eq!(focus["hash"], hash(SOURCE.as_bytes()).to_string());
    // What is shown counts as read: line-based edits are checked against it.
    let names: Vec<_> = focus["symbols"].as_array().unwrap().iter().map(|s| &s["name"]).collect();
    assert_eq!(names, ["a", "load(&str)"]);
    assert_eq!(focus["symbols"][1]["end_line"], 7);
}

#[test]
fn locations_past_the_text_are_brought_into_it() {
    let far = place(u32::MAX, u32::MAX);
    let mut beyond = focus(far);
    beyond.selection = Span { start: place(8, 3), end: far };
    beyond.visible = Some(Span { start: place(0, 0), end: far });
    let output = context(&host(Some(beyond)), json!({ "linesAfter": 1000 }));
    assert_eq!((&output["focus"]["line"], &output["focus"]["column"]), (&json!(12), &json!(1)));
    // The empty last line is one of those that are shown and counted.
    assert_eq!(
        (&output["focus"]["end_line"], &output["focus"]["total_lines"]),
        (&json!(12), &json!(12))
    );
    assert!(output["focus"]["content"].as_str().unwrap().ends_with("\n    11\t}\n    12\t"));
    assert_eq!(output["focus"]["selection"]["text"], &SOURCE[SOURCE.find("parse(text").unwrap()..]);

    let empty = MemoryHost::new([("src/a.rs", "")]);
    let state = EditorState { editor: "x".into(), focus: Some(focus(far)), open: Vec::new() };
    empty.attach(state);
    let output = context(&empty, json!({ "includeCallees": true, "includeCallers": true }));
    assert_eq!(
        (&output["focus"]["content"], &output["focus"]["start_line"]),
        (&json!(""), &json!(0))
    );
}

#[test]
fn columns_are_utf_16_code_units() {
    let host = MemoryHost::new([("src/a.rs", "let 𝄞é = x;\r\nnext\r\n")]);
    let selection = span((0, 4), (0, 7));
    let focus = Focus { selection, ..focus(place(0, 6)) };
    let state = EditorState { editor: "x".into(), focus: Some(focus), open: Vec::new() };
    host.attach(state);
    let output = context(&host, json!({}));
    assert_eq!(output["focus"]["selection"]["text"], "𝄞é");
    assert_eq!(output["focus"]["content"], "     1\tlet 𝄞é = x;\n     2\tnext");
}

#[test]
fn definition_of_the_name_at_the_cursor_is_asked_for() {
    let host = host(Some(focus(place(5, 6))));
    let location = Location { path: rel("src/a.rs"), span: span((8, 3), (8, 8)) };
    let definitions = Definitions { locations: vec![location], elsewhere: 0 };
    host.set_definitions("src/a.rs", place(5, 6), definitions);
    let found = json!([{ "path": "src/a.rs", "line": 9, "column": 4 }]);
    assert_eq!(context(&host, json!({}))["focus"]["definitions"], found);
    let output = context(&host, json!({ "semanticContext": false }));
    assert_eq!(output["focus"].get("definitions"), None);
    assert_eq!(output["focus"].get("symbols"), None);
}

#[test]
fn calls_are_found_by_name() {
    let host = host(Some(focus(place(4, 10))));
    let definitions = Definitions {
        locations: vec![Location { path: rel("src/a.rs"), span: span((8, 3), (8, 8)) }],
        elsewhere: 0,
    };
    host.set_definitions("src/a.rs", place(5, 4), definitions);
    let output = context(&host, json!({ "includeCallers": true, "includeCallees": true }));
    let called = json!([{
        "path": "src/main.rs", "line": 2, "container": "main", "text": "load(\"x\"); // load(it)"
    }]);
    assert_eq!(output["focus"]["callers"], called);
    let callees = output["focus"]["callees"].as_array().unwrap();
    let names: Vec<_> = callees.iter().map(|callee| callee["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["read_to_string", "unwrap", "is_empty", "fallback", "parse"]);
    assert_eq!(callees[4]["definitions"], json!([{ "path": "src/a.rs", "line": 9, "column": 4 }]));
}

#[test]
fn calls_are_found_across_files_whose_languages_use_names_of_each_other() {
    for (at, declaring, calling, other) in [
        (
            ("web/a.ts", "export function load(x: string) {\n  draw(x);\n}\n"),
            ("web/b.tsx", "export function draw(x: string) {\n}\n"),
            ("web/c.tsx", "export function View() {\n  load('x');\n}\n"),
            ("c.py", "def go():\n    load('x')\n\ndef draw(x):\n    pass\n"),
        ),
        (
            ("lib/a.h", "inline void load(int x) {\n  draw(x);\n}\n"),
            ("lib/b.cpp", "void draw(int x) {\n}\n"),
            ("lib/c.cc", "void view() {\n  load(1);\n}\n"),
            ("d.rs", "fn go() {\n    load(1)\n}\nfn draw(x: u8) {}\n"),
        ),
    ] {
        let files = [at, declaring, calling, other];
        let host = MemoryHost::new(files);
        let focus = Focus { path: rel(at.0), ..focus(place(1, 3)) };
        host.attach(EditorState { editor: "x".into(), focus: Some(focus), open: Vec::new() });
        host.set_code_answer(move |search| {
            let mut gathering = CodeGathering::new(&search);
            let mut scanner = gathering.scanner();
            for (path, text) in files {
                let path = rel(path);
                let found = scanner.scan(VisitedText { path: &path, text });
                let _ = gathering.gather(found.expect("each text has words"));
            }
            gathering.answer(&search)
        });
        let output = context(&host, json!({ "includeCallers": true, "includeCallees": true }));
        let callers = output["focus"]["callers"].as_array().unwrap();
        let paths: Vec<_> = callers.iter().map(|one| one["path"].as_str().unwrap()).collect();
        assert_eq!(paths, [calling.0], "{output}");
        let callee = &output["focus"]["callees"][0];
        assert_eq!(callee["name"], "draw", "{output}");
        let declared: Vec<_> = callee["definitions"].as_array().unwrap().iter().collect();
        assert_eq!(declared.len(), 1, "{output}");
        assert_eq!(declared[0]["path"], declaring.0);
    }
}

#[test]
fn callers_say_that_there_are_more() {
    for (calls, shown, has_more) in [(25, 50, None), (26, 50, Some(true)), (2, 4, None)] {
        let text = format!("fn go() {{\n{}}}\n", "    load(1);\n".repeat(calls));
        let declaring = "fn load(n: u8) {\n}\n";
        let host = MemoryHost::new([("a.rs", declaring), ("b.rs", &text), ("c.rs", &text)]);
        let focus = Focus { path: rel("a.rs"), ..focus(place(1, 0)) };
        host.attach(EditorState { editor: "x".into(), focus: Some(focus), open: Vec::new() });
        let output = context(&host, json!({ "includeCallers": true }));
        assert_eq!(output["focus"]["callers"].as_array().unwrap().len(), shown);
        assert_eq!(output["focus"].get("more_callers"), has_more.map(Value::Bool).as_ref());
    }
}

#[test]
fn callers_that_are_not_looked_for_in_all_files_may_be_more() {
    let line = format!("// load {}\n", "x".repeat(9_000));
    let large = line.repeat((4 << 20) / line.len());
    let host = MemoryHost::new([
        ("a.rs", "fn load(n: u8) {\n}\n"),
        ("b.rs", "fn go() {\n    load(1);\n}\n"),
    ]);
    for number in 0..17 {
        host.write(&format!("c{number}.rs"), large.clone());
    }
    let focus = Focus { path: rel("a.rs"), ..focus(place(1, 0)) };
    host.attach(EditorState { editor: "x".into(), focus: Some(focus), open: Vec::new() });
    let arguments = json!({ "includeCallers": true, "semanticContext": false });
    let output = context(&host, arguments);
    assert_eq!(output["focus"]["callers"].as_array().unwrap().len(), 1);
    assert_eq!(output["focus"]["more_callers"], true);
}

#[test]
fn imports_are_those_that_count_at_the_cursor_the_nearest_first() {
    let rust = "use a::one;\n\nfn other() {\n    use b::two;\n}\n\nfn here() {\n    use c::three;\n    three();\n}\n\nmod tests {\n    use d::four;\n}\n";
    let many: String = (0..60).map(|number| format!("import m{number}\n")).collect();
    let python = format!("{many}\ndef here():\n    import near\n    near.go()\n");
    for (path, text, cursor, lines) in [
        ("src/a.rs", rust, place(8, 4), vec![8, 1]),
        ("src/a.rs", rust, place(0, 0), vec![1]),
        ("src/a.rs", rust, place(12, 4), vec![13, 1]),
        ("src/a.py", &*python, place(63, 4), std::iter::once(63).chain(1..50).collect()),
    ] {
        let host = MemoryHost::new([(path, text)]);
        let focus = Focus { path: rel(path), ..focus(cursor) };
        host.attach(EditorState { editor: "x".into(), focus: Some(focus), open: Vec::new() });
        let output = context(&host, json!({}));
        let imports = output["focus"]["imports"].as_array().unwrap();
        let found: Vec<_> = imports.iter().map(|one| one["line"].as_u64().unwrap()).collect();
        assert_eq!(found, lines, "{path}: {output}");
    }
}

#[test]
fn callers_of_a_constructor_are_those_that_create_its_type() {
    for (path, text, cursor, other, calling) in [
        (
            "a.py",
            "class Box:\n    def __init__(self, n):\n        self.n = n\n",
            place(2, 10),
            "b.py",
            "def make():\n    return Box(1)\n",
        ),
        (
            "a.ts",
            "export class Box {\n  constructor(n: number) {\n    go(n);\n  }\n}\n",
            place(2, 4),
            "b.ts",
            "function make() {\n  return new Box(1);\n}\n",
        ),
        (
            "a.tsx",
            "export function Box() {\n  return null;\n}\n",
            place(1, 3),
            "b.tsx",
            "function make() {\n  return <Box n={1}/>;\n}\n",
        ),
    ] {
        let host = MemoryHost::new([(path, text), (other, calling)]);
        let focus = Focus { path: rel(path), ..focus(cursor) };
        host.attach(EditorState { editor: "x".into(), focus: Some(focus), open: Vec::new() });
        let output = context(&host, json!({ "includeCallers": true }));
        let callers = &output["focus"]["callers"];
        assert_eq!(callers[0]["path"], other, "{output}");
        assert_eq!((&callers[0]["line"], &callers[0]["container"]), (&json!(2), &json!("make")));
    }
}

#[test]
fn a_decorator_lies_in_what_it_decorates() {
    let text = "class View:\n    @route('/')\n    def two(self):\n        run()\n";
    let host = MemoryHost::new([("src/a.py", text)]);
    let focus = Focus { path: rel("src/a.py"), ..focus(place(1, 6)) };
    host.attach(EditorState { editor: "x".into(), focus: Some(focus), open: Vec::new() });
    let output = context(&host, json!({ "includeCallees": true }));
    assert_eq!(output["focus"]["enclosing"]["name"], "two", "{output}");
    assert_eq!(output["focus"]["callees"][0]["name"], "run", "{output}");
}

#[test]
fn nearest_diagnostics_come_first() {
    let said = |line, severity| Diagnostic {
        span: span((line, 0), (line, 1)),
        severity,
        message: format!("at {line}"),
        source: "rustc".into(),
        code: String::new(),
    };
    let mut focus = focus(place(3, 0));
    focus.diagnostics =
        vec![said(0, Severity::Error), said(4, Severity::Hint), said(4, Severity::Error)];
    let output = context(&host(Some(focus)), json!({}));
    let said = output["focus"]["diagnostics"].as_array().unwrap();
    let shown: Vec<_> = said.iter().map(|one| (&one["line"], one["severity"].as_str())).collect();
    assert_eq!(
        shown,
        [(&json!(5), Some("error")), (&json!(5), Some("hint")), (&json!(1), Some("error"))]
    );
    assert_eq!(said[0].get("code"), None);
}

#[test]
fn file_that_is_gone_is_an_error() {
    let host = MemoryHost::default();
    let state =
        EditorState { editor: "x".into(), focus: Some(focus(place(0, 0))), open: Vec::new() };
    host.attach(state);
    let error = call(&host, "get_cursor_context", json!({})).unwrap_err();
    assert_eq!(error.code, moss_sdk::ErrorCode::NotFound);
}
