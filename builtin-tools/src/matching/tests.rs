//! Tests of the chain: every shared case, and properties.

use moss_sdk::edit::splice;
use proptest::prelude::*;
use serde_json::Value;

use super::*;

const CASES: &str = include_str!("../../tests/fixtures/edits.json");

fn cases() -> Vec<Value> {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    cases["cases"].as_array().unwrap().clone()
}

/// Applies an edit as a tool does that nobody asks about drift.
fn edited(before: &str, search: &str, replace: &str) -> Result<(String, Located), Miss> {
    let bom = if before.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let text = before.strip_prefix(bom).unwrap();
    let located = locate(text, search, replace, Occurrence::Only)?;
    let after = format!("{bom}{}", splice(text, &located.splices).unwrap());
    Ok((after, located))
}

/// The names under which the cases know a miss.
fn names(miss: &Miss) -> &'static [&'static str] {
    match miss {
        Miss::Empty => &["empty_search"],
        Miss::Blank => &["blank_search"],
        Miss::Nul | Miss::Numbers => &["binary"],
        Miss::Same => &["no_change"],
        Miss::None | Miss::TooLarge => &["not_found"],
        Miss::Several { .. } => &["ambiguous"],
        Miss::Applied(_) => &["already_applied"],
        Miss::Nothing(_) => &["no_change"],
        Miss::Placeholder(_) => &["placeholder_in_replacement"],
        Miss::Escaped => &["over_escaped"],
        Miss::Elision => &["unpaired_elision"],
        Miss::Drift { .. } => &["drift"],
    }
}

#[test]
fn shared_cases_end_as_they_accept() {
    let mut wrong = Vec::new();
    for case in cases() {
        let text = |key: &str| case[key].as_str().unwrap();
        let result = edited(text("before"), text("search"), text("replace"));
        let expected = &case["expect"];
        let also = case.get("also").and_then(Value::as_array).into_iter().flatten();
        let any = expected.get("any_of").and_then(Value::as_array);
        let accepted: Vec<&Value> = any
            .map_or_else(|| vec![expected], |any| any.iter().collect())
            .into_iter()
            .chain(also)
            .collect();
        let fits = |accepted: &&&Value| match &result {
            Ok((after, located)) => {
                let level = accepted.get("level").and_then(Value::as_array);
                accepted["ok"] == true
                    && accepted["after"] == after.as_str()
                    && level.is_none_or(|level| level.contains(&located.level.as_str().into()))
                    && (accepted.get("must_report").is_none() || !located.drift.is_empty())
            }
            Err(miss) => {
                accepted["ok"] == false
                    && accepted["error"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .any(|name| names(miss).contains(&name.as_str().unwrap()))
            }
        };
        if !accepted.iter().any(|accepted| fits(&accepted)) {
            wrong.push(format!(
                "{} {}: {result:?}, accepted {accepted:?}",
                case["id"], case["title"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong.join("\n\n"), wrong.len());
}

/// What an edit is called, the text, what is searched for, what takes its place, and the text
/// afterwards; none where nothing may be written.
const FURTHER: &[(&str, &str, &str, &str, Option<&str>)] = &[
    ("several", "a\nb\na\n", "a\n", "x\n", None),
    (
        "append re-sent",
        "fn main() {}\n// end of file\n",
        "fn main() {}\n",
        "fn main() {}\n// end of file\n",
        None,
    ),
    (
        "indented re-sent",
        "  fn main() {}\n  // end of file\n",
        "fn main() {}\n",
        "fn main() {}\n// end of file\n",
        None,
    ),
    ("lf file crlf args", "a\nb\nc\n", "a\r\nb\r\n", "a\r\nB\r\n", Some("a\nB\nc\n")),
    ("insert at eof", "a\nb", "b", "b\nc", Some("a\nb\nc")),
    ("crlf insert end", "a\r\nb", "b\n", "b\nc\n", Some("a\r\nb\r\nc")),
    ("tab trail", "a\t\nb\n", "a\nb\n", "a\nB\n", Some("a\t\nB\n")),
    (
        "2->4",
        "def f():\n    if x:\n        y()\n",
        "if x:\n  y()\n",
        "if x:\n  y()\n  z()\n",
        Some("def f():\n    if x:\n        y()\n        z()\n"),
    ),
    (
        "4->2",
        "function f() {\n  if (x) {\n    y();\n  }\n}\n",
        "if (x) {\n    y();\n}\n",
        "if (x) {\n    y();\n    if (z) {\n        w();\n    }\n}\n",
        Some("function f() {\n  if (x) {\n    y();\n    if (z) {\n      w();\n    }\n  }\n}\n"),
    ),
    (
        "spaces->tabs",
        "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n",
        "    if x {\n        y()\n    }\n",
        "    if x {\n        y()\n        z()\n    }\n",
        Some("func f() {\n\tif x {\n\t\ty()\n\t\tz()\n\t}\n}\n"),
    ),
    (
        "over-indented search",
        "a:\n  b: 1\n  c: 2\n",
        "      b: 1\n      c: 2\n",
        "      b: 1\n      c: 3\n",
        Some("a:\n  b: 1\n  c: 3\n"),
    ),
    (
        "align continuation",
        "x = foo(a,\n        b)\n",
        "x = foo(a,\n    b)\n",
        "x = foo(a,\n    c)\n",
        Some("x = foo(a,\n        c)\n"),
    ),
    (
        "blank insert",
        "class A:\n    def f(self):\n        pass\n",
        "def f(self):\n    pass\n",
        "def f(self):\n    pass\n\ndef g(self):\n    pass\n",
        Some("class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n"),
    ),
    ("delete lines", "a\n    b\n    c\nd\n", "b\nc\n", "", Some("a\nd\n")),
    ("runs", "x  =  1\ny\n", "x = 1\n", "x = 2\n", Some("x  =  2\ny\n")),
    ("dont join", "a\nb\n", "a b\n", "c\n", None),
    (
        "tabs in line",
        "a\t= 1\nb\t= 2\n",
        "a = 1\nb = 2\n",
        "a = 1\nb = 3\n",
        Some("a\t= 1\nb\t= 3\n"),
    ),
    (
        "aligned table",
        "| a   | b |\n| cc  | d |\n",
        "| a | b |\n| cc | d |\n",
        "| a | b |\n| cc | e |\n",
        Some("| a   | b |\n| cc  | e |\n"),
    ),
    ("tab escape", "if x:\n\ty()\n", "if x:\\n\\ty()", "if x:\\n\\tz()", Some("if x:\n\tz()\n")),
    (
        "quotes with literal nl",
        "print(\"a\\n\")\n",
        "print(\\\"a\\n\\\")",
        "print(\\\"b\\n\\\")",
        Some("print(\"b\\n\")\n"),
    ),
    (
        "exact with escapes in replacement",
        "x = 1\n",
        "x = 1\n",
        "x = \"a\\nb\"\n",
        Some("x = \"a\\nb\"\n"),
    ),
    ("backslash t in repl", "p = 1\n", "p = 1", "p = \"\\t\"", Some("p = \"\\t\"\n")),
    ("leading spaces around", "x=foo(1);\n", " foo(1) ", " foo(2) ", Some("x=foo(2);\n")),
    ("gutter", "a\nb\nc\n", "     2\tb\n", "     2\tB\n", Some("a\nB\nc\n")),
    (
        "gutter only search",
        "a\nb = 1\nc\n",
        "2: b = 1\n3: c\n",
        "b = 2\nc\n",
        Some("a\nb = 2\nc\n"),
    ),
    ("ellipsis", "wait… ok\n", "wait... ok\n", "wait... no\n", Some("wait… no\n")),
    ("nbsp", "a\u{a0}b = 1\n", "a b = 1\n", "a b = 2\n", Some("a\u{a0}b = 2\n")),
    ("zero width", "na\u{200b}me = 1\n", "name = 1\n", "name = 2\n", Some("na\u{200b}me = 2\n")),
    ("apostrophe", "don’t stop\nnow\n", "don't stop\n", "don't go\n", Some("don’t go\nnow\n")),
    (
        "extra line in file in changed hunk",
        "def f():\n    a()\n    secret()\n    b()\n    return 1\n",
        "def f():\n    a()\n    b()\n    return 1\n",
        "def f():\n    x()\n    return 1\n",
        None,
    ),
    (
        "missing line",
        "start here\n  a()\n  b()\n  c()\nend here\n",
        "start here\n  a()\n  b()\n  zz()\n  c()\nend here\n",
        "start here\n  a()\n  b()\n  zz()\n  d()\nend here\n",
        Some("start here\n  a()\n  b()\n  d()\nend here\n"),
    ),
    ("number differs", "beta(1)\nbeta(2)\nbeta(3)\n", "beta(9)\n", "beta(10)\n", None),
    ("whole fn", "x\n", "fn z() {\n a\n}\n", "fn z() {\n b\n}\n", None),
    (
        "aligned",
        "let a   = 1;\nlet bb  = 2;\nlet ccc = 3;\n",
        "let a = 1;\nlet bb = 2;\nlet ccc = 3;\n",
        "let a = 1;\nlet bb = 5;\nlet ccc = 3;\n",
        Some("let a   = 1;\nlet bb  = 5;\nlet ccc = 3;\n"),
    ),
    ("elision in replace only", "a\nb\nc\n", "a\nb\n", "a\n// ... existing code ...\n", None),
    (
        "placeholder",
        "def f():\n    a()\n    b()\n",
        "def f():\n    a()\n    b()\n",
        "def f():\n    x()\n    # ... rest of the code ...\n",
        None,
    ),
    (
        "literal ellipsis in file",
        "def f():\n    ...\n",
        "def f():\n    ...\n",
        "def f():\n    return 1\n",
        Some("def f():\n    return 1\n"),
    ),
    (
        "two segments changed",
        "class A {\n  a() {}\n  b() {}\n  c() {}\n}\n",
        "class A {\n  // ...\n  c() {}\n}\n",
        "class B {\n  // ...\n  c() { x }\n}\n",
        Some("class B {\n  a() {}\n  b() {}\n  c() { x }\n}\n"),
    ),
    ("trailing only", "a  \nb\n", "a  \n", "a\n", Some("a\nb\n")),
    ("delete in crlf", "a\r\nb\r\nc\r\n", "b\n", "", Some("a\r\nc\r\n")),
    (
        "python re-indent wrap 2 levels",
        "def f():\n    a()\n    b()\n",
        "    a()\n    b()\n",
        "    with x:\n        a()\n        b()\n",
        Some("def f():\n    with x:\n        a()\n        b()\n"),
    ),
    (
        "flush wrap",
        "def f():\n    a()  # note\n    b()\n",
        "a()  # note\nb()\n",
        "try:\n    a()  # note\n    b()\nexcept E:\n    pass\n",
        Some("def f():\n    try:\n        a()  # note\n        b()\n    except E:\n        pass\n"),
    ),
    (
        "flush-left line becomes several",
        "def f():\n    return 1\n",
        "return 1\n",
        "x = 1\nreturn x\n",
        Some("def f():\n    x = 1\n    return x\n"),
    ),
    (
        "flush-left line is wrapped",
        "def f():\n    return 1\n",
        "return 1\n",
        "if a:\n    return x\n",
        Some("def f():\n    if a:\n        return x\n"),
    ),
    (
        "first line alone is without indentation",
        "def f():\n    return 1\n",
        "return 1\n",
        "x = 1\n    return x\n",
        Some("def f():\n    x = 1\n    return x\n"),
    ),
    (
        "part of a line",
        "def f():\n    return 1\n",
        "return 1",
        "x = 1\n    return x",
        Some("def f():\n    x = 1\n    return x\n"),
    ),
    ("words only", "foo_bar(1)\n", "foo(1)\n", "foo(2)\n", None),
    (
        "part over lines",
        "x = foo(a,\n      b) + 1\n",
        "foo(a,\n    b)",
        "foo(a,\n    c)",
        Some("x = foo(a,\n      c) + 1\n"),
    ),
    (
        "deletion re-sent",
        "alpha\ngamma delta\nomega\n",
        "alpha\nbeta\ngamma delta\n",
        "alpha\ngamma delta\n",
        None,
    ),
    ("line end wanted", "x = 1 + y\n", "x =  1\n", "x =  2\n", None),
    ("shorter search", "}\n}\n", "}\n", "", None),
    (
        "changed blank lines are no boundary",
        "alpha\ntheta\n}\n\n\n\n",
        "alpha\ntheta\n\n\n\n",
        "alpha\ntheta\n\n}\n\n",
        None,
    ),
    (
        "which of equal lines is missing",
        "zeta\nreturn value;\ngamma\nreturn value;\nepsilon\neta\n",
        "zeta\nreturn value;\ngamma\nreturn value;\nreturn value;\nepsilon\neta\n",
        "zeta\nepsilon\nreturn value;\ngamma\nreturn value;\nepsilon\neta\n",
        None,
    ),
    (
        "which of equal lines is removed",
        "first line\n  x = 1\n  y = 2\nreturn value;\n}\n",
        "first line\n  x = 1\n  y = 2\nreturn value;\n}\n}\n",
        "first line\n  x = 1\n  y = 2\nreturn value;\n}\n",
        None,
    ),
    (
        "an added line needs its neighbours",
        "beta\neta\nreturn value;\ngamma\n",
        "beta\nreturn value;\ngamma\n",
        "zeta\nbeta\nreturn value;\ngamma\n",
        None,
    ),
    (
        "an added line that is there already",
        "start here\n  one()\n  new()\n  two()\n  three()\nend here\n",
        "start here\n  one()\n  two()\n  three(1)\nend here\n",
        "start here\n  one()\n  two()\n  new()\n  three(1)\nend here\n",
        None,
    ),
    (
        "left-out lines of another block",
        "def load(p):\n    a()\n\ndef close(p):\n    return sock.ping()\n",
        "def load(p):\n    ...\n    return sock.ping()\n",
        "def load(p):\n    ...\n    return None\n",
        None,
    ),
    (
        "a block that is told by its first line",
        "[production]\nhost = db.internal\nport = 5432\npool = 10\n\n[staging]\nhost = st.internal\nport = 5433\n",
        "[staging]\nhost = db.internal\nport = 5432\npool = 10\n",
        "[staging]\nhost = db.internal\nport = 5432\npool = 1\n",
        None,
    ),
    (
        "a line after what is removed",
        "if a:\n    x()\ny()\n",
        "if a:\nx() \ny()\n",
        "if a:\np()\nq()\ny()\n",
        Some("if a:\n    p()\n    q()\ny()\n"),
    ),
    (
        "a removed line leaves no indentation",
        "def f():\n    foo()\n    bar()\n",
        "foo()\n",
        "",
        Some("def f():\n    bar()\n"),
    ),
    (
        "the first line alone lost its indentation",
        "def f():\n    foo()\n    bar()\n    baz()\n",
        "foo()\n    bar()\n",
        "    bar()\n",
        Some("def f():\n    bar()\n    baz()\n"),
    ),
    (
        "indentation that comes with the new line",
        "def f():\n    foo()\n",
        "foo()\n",
        "    baz()\n",
        Some("def f():\n    baz()\n"),
    ),
    (
        "a block whose first line is flush",
        "def f():\n    b()\n",
        "b()\n",
        "if x:\n        c()\n    d()\n",
        Some("def f():\n    if x:\n        c()\n    d()\n"),
    ),
    (
        "a line end that is not meant",
        "a = 1\n[lib]\nb\n",
        "\n[lib]\n",
        "[other]\n",
        Some("a = 1\n[other]\nb\n"),
    ),
    (
        "a line that is taken out with the line end before it",
        "x\nfoo()\ny\n",
        "\nfoo()",
        "",
        Some("x\ny\n"),
    ),
    (
        "numbers of a listing, one line gone",
        "def f():\n    a()\n    b()\n    c()\n",
        "     2\t    a()\n     3\t    b()\n     4\t    c()\n",
        "     2\t    a()\n     4\t    c()\n",
        Some("def f():\n    a()\n    c()\n"),
    ),
    ("numbers that are data", "id|name\n3|foo\n", "2|foo\n", "2|bar\n", None),
    (
        "escaped once, the replacement too",
        "  \"a\": 2,\n",
        "  \\\"a\\\": 2,",
        "  \\\"a\\\": 2,\\n  \\\"b\\\": 3,",
        Some("  \"a\": 2,\n  \"b\": 3,\n"),
    ),
    (
        "only left over",
        "alpha_beta()\ngamma(1)\n",
        "alpha_beta()\ngamma(2)\n",
        "alpha_beta()\n",
        Some("alpha_beta()\n"),
    ),
    (
        "sent twice, found by likeness",
        "EXTRA_LINE = 1\ndef load(path):\n    data = read(path, 1)\n    return data\n",
        "def load(path):\n    data = read(path, 2)\n    return data\n",
        "EXTRA_LINE = 1\ndef load(path):\n    data = read(path, 2)\n    return data\n",
        None,
    ),
    (
        "sent twice, blank lines between",
        "aaaa()\n\nbbbb()\ncccc_call()\n",
        "aaaa()\nbbbb()\n",
        "aaaa()\nbbbb()\ncccc_call()\n",
        None,
    ),
    (
        "indentation that comes with a part",
        "a:\n  b: 1\n  c: 2\n",
        "b: 1",
        "  b: 2",
        Some("a:\n  b: 2\n  c: 2\n"),
    ),
    ("deeper than the file", "a:\n  b: 1\n", "b: 1", "    b: 1", Some("a:\n      b: 1\n")),
    (
        "numbers that are text",
        "1:  a\n2:  b\nx\n a\n b\n",
        "1: a\n2: b\n",
        "1: c\n2: b\n",
        Some("1:  c\n2:  b\nx\n a\n b\n"),
    ),
];

#[test]
fn further_cases_write_what_is_meant_or_nothing() {
    for (title, before, search, replace, expected) in FURTHER {
        let result = edited(before, search, replace);
        let after = result.as_ref().ok().map(|(after, _)| after.as_str());
        assert_eq!(after, *expected, "{title}: {result:?}");
        // Not by chance: the same amid other text.
        let [head, tail] = ["§ start of the file\n\n", "\n§ end of the file\n"];
        if before.ends_with('\n') {
            let result = edited(&[head, before, tail].concat(), search, replace);
            let after = result.as_ref().ok().map(|(after, _)| after.clone());
            assert_eq!(after, expected.map(|e| [head, e, tail].concat()), "{title}: {result:?}");
        }
    }
}

/// What an edit is called, the text, what is searched for, what takes its place; and the text
/// afterwards where it is made unasked, none where somebody is asked.
const DEPTHS: &[(&str, &str, &str, &str, Option<&str>)] = &[
    (
        "the replacement has the file's indentation",
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n    return 1\n",
        "    def f(self):\n        x = 2\n        return x\n",
        Some("class A:\n    def f(self):\n        x = 2\n        return x\n"),
    ),
    (
        "the replacement has the file's indentation, in blanks for tabs",
        "class A {\n\tf() {\n\t\treturn 1;\n\t}\n}\n",
        "f() {\n    return 1;\n}\n",
        "    f() {\n        return 2;\n    }\n",
        Some("class A {\n\tf() {\n\t\treturn 2;\n\t}\n}\n"),
    ),
    (
        "lines of two depths are searched for as lines of one",
        "for x in y:\n    a(x)\n",
        "for x in y:\na(x)\n",
        "while z:\nb(z)\nc(z)\n",
        None,
    ),
    (
        "lines of two depths that are only renamed",
        "for x in y:\n    a(x)\n",
        "for x in y:\na(x)\n",
        "for x in z:\na(x)\n",
        Some("for x in z:\n    a(x)\n"),
    ),
    (
        "a part of the indentation, and a second line",
        "class A:\n    def f(self):\n        self.init()\n",
        "  self.init()",
        "  self.init()\n  self.more()",
        None,
    ),
    (
        "a part of the indentation, and one line",
        "class A:\n    def f(self):\n        self.init()\n",
        "  self.init()",
        "  self.more()",
        Some("class A:\n    def f(self):\n        self.more()\n"),
    ),
    (
        "the text of a line, and a second line as deep as it",
        "def f():\n    a()\n",
        "a()",
        "a()\n    b()",
        Some("def f():\n    a()\n    b()\n"),
    ),
    (
        "the text of a line, and a second line without depth",
        "def f():\n    a()\n",
        "a()",
        "a()\nb()",
        None,
    ),
    (
        "the first line alone lost its indentation",
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n        return 1\n",
        "def f(self):\n        x = 2\n        return x\n",
        Some("class A:\n    def f(self):\n        x = 2\n        return x\n"),
    ),
    (
        "the first line alone lost its indentation, the replacement all",
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n        return 1\n",
        "def f(self):\n    x = 2\n    return x\n",
        None,
    ),
    (
        "one line of the search is less deep",
        "class A:\n    def f(self):\n        if a:\n            b()\n        c()\n",
        "    def f(self):\n        if a:\n        b()\n        c()\n",
        "    def f(self):\n        if a:\n        b()\n        d()\n        c()\n",
        None,
    ),
    (
        "a block goes on below",
        "def f():\n    if a:\n        b()\n        c()\n",
        "if a:\n    b()\n",
        "b()\n",
        None,
    ),
    (
        "a block ends with the edit",
        "def f():\n    if a:\n        b()\n    c()\n",
        "if a:\n    b()\n",
        "b()\n",
        Some("def f():\n    b()\n    c()\n"),
    ),
    (
        "a line in the place of a blank one",
        "def f():\n    a()\n\n    b()\n",
        "a()\n\nb()\n",
        "a()\nc()\nb()\n",
        Some("def f():\n    a()\n    c()\n    b()\n"),
    ),
];

#[test]
fn a_depth_that_search_and_file_leave_open_is_asked_about() {
    for (title, before, search, replace, expected) in DEPTHS {
        let (after, located) = edited(before, search, replace).unwrap();
        let unasked = located.drift.is_empty().then_some(after.as_str());
        assert_eq!(unasked, *expected, "{title}: {after:?} {located:?}");
    }
}

/// What an edit is called, the text, what is searched for, what takes its place, and the text
/// afterwards.
const SENT: &[(&str, &str, &str, &str, &str)] = &[
    ("whole line deleted", "a\n  b\nc\n", "b", "", "a\nc\n"),
    ("part of a line deleted", "a b\n", "b", "", "a \n"),
    (
        "line end before a text that is there twice",
        "x\n\nf()\nf()\n",
        "\n\nf()",
        "g()",
        "x\ng()\nf()\n",
    ),
    ("blanks at all ends", "a\nb\n", "a  \nb  \n", "a  \nc  \nb  \n", "a\nc\nb\n"),
    (
        "full width in the search only",
        "你好（世界）\n",
        "你好(世界)\n",
        "你好(pi)\n",
        "你好（pi）\n",
    ),
    ("full width in the replacement", "（一），二\n", "(一),二\n", "(一)，三\n", "(一)，三\n"),
    (
        "tab in the file, escape in the replacement",
        "f:\n\ta(1)\n",
        "\ta(1)",
        "\\ta(2)",
        "f:\n\ta(2)\n",
    ),
    ("escape in a string", "f:\n\ta(1)\n", "\ta(1)", "\ta(\"\\t\")", "f:\n\ta(\"\\t\")\n"),
];

#[test]
fn texts_as_models_send_them_are_written_as_they_are_meant() {
    for (title, before, search, replace, expected) in SENT {
        let (after, located) = edited(before, search, replace).unwrap();
        assert_eq!(
            (after.as_str(), &located.drift[..]),
            (*expected, &[][..]),
            "{title}: {located:?}"
        );
    }
    let escaped = edited("x = 1\ny = 2\nz\n", "x = 1\ny = 2\n", "a;\\nb;\n");
    assert_eq!(escaped.unwrap_err(), Miss::Escaped);
}

#[test]
fn drift_names_the_lines() {
    let before = "fn a() {\n  keep_it(1);\n  log_something(\"a\");\n}\n";
    let search = "fn a() {\n  keep_it(1);\n  log_something(\"b\");\n}\n";
    let (after, located) = edited(before, search, "fn a() {\n  keep_it(1);\n}\n").unwrap();
    assert_eq!(after, "fn a() {\n  keep_it(1);\n}\n");
    let [drift] = &located.drift[..] else { panic!("{located:?}") };
    let shown = (drift.line, drift.expected.as_str(), drift.found.as_str());
    assert_eq!(shown, (3, "  log_something(\"b\");", "  log_something(\"a\");"));
}

#[test]
fn all_places_are_replaced_and_none_by_likeness() {
    let all = |text: &str, search, replace| {
        let located = locate(text, search, replace, Occurrence::All);
        located.map(|located| (splice(text, &located.splices).unwrap(), located.places.len()))
    };
    assert_eq!(all("a\nb\na", "a\n", "x\n"), Ok(("x\nb\nx".to_owned(), 2)));
    assert_eq!(all("aaa", "aa", "b"), Ok(("ba".to_owned(), 1)));
    assert_eq!(all("  a \n\ta\n", "a;\n", "b;\n"), Err(Miss::None));
    assert_eq!(all("f( a );\nf(  a);\n", "f(a);\n", "g(a);\n").unwrap().1, 2);
    assert_eq!(all("foo_bar\n", "foo", "foo_bar"), Err(Miss::Applied(1)));
    assert_eq!(all("a\na\na", "a\na\n", "b\n"), Ok(("b\na".to_owned(), 1)));
    let many = "x = 1\n".repeat(10_000);
    assert_eq!(all(&many, "x = 1\n", "y\n"), Ok(("y\n".repeat(10_000), 10_000)));
    let several = locate(&many, "x = 1\n", "y\n", Occurrence::Only).unwrap_err();
    assert!(matches!(several, Miss::Several { more: true, .. }), "{several:?}");
    let elided =
        locate("f() {\n  a\n  b\n}\n", "f() {\n...\n}\n", "g() {\n...\n}\n", Occurrence::Only);
    assert_eq!(elided.unwrap().level, MatchLevel::BlockAnchor, "lines that were not shown");
    let similar = "start here\n  a()\n  b(1)\n  c()\nend here\n";
    assert_eq!(all(similar, &similar.replace('1', "2"), "x\n"), Err(Miss::None));
}

#[test]
fn what_is_too_large_for_likeness_says_so() {
    let text = "some line of text\n".repeat(20_001);
    assert_eq!(locate(&text, "a\nb\n", "c\n", Occurrence::Only), Err(Miss::TooLarge));
    let line = "x".repeat(5 << 20);
    assert_eq!(locate(&line, "a\nb\n", "c\n", Occurrence::Only), Err(Miss::TooLarge));
    assert_eq!(locate(&line, "y", "c", Occurrence::Only), Err(Miss::None));
}

fn lines() -> impl Strategy<Value = String> {
    let line = "[ \t]{0,4}(foo|bar\\(1\\)|baz = \"x  y\"|\\{|\\}|wait — “so”|// \\.\\.\\.|é)?[ ]{0,2}(\n|\r\n)";
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn exact_edits_are_plain_splices(text in lines(), new in lines(), from in 0_usize..12, count in 1_usize..5) {
        let text = text.replace("\r\n", "\n");
        let new = new.replace("\r\n", "\n");
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let to = (from + count).min(all.len());
        if from >= to {
            return Ok(());
        }
        let search = all[from..to].concat();
        if let Ok(located) = locate(&text, &search, &new, Occurrence::Only) {
            prop_assert_eq!(located.level, MatchLevel::Exact);
            prop_assert_eq!(text.matches(&search).count(), 1);
            prop_assert_eq!(splice(&text, &located.splices).unwrap(), text.replacen(&search, &new, 1));
            prop_assert!(located.drift.is_empty());
        }
    }

    #[test]
    fn what_lies_outside_stays_to_the_byte(text in lines(), search in lines(), new in lines()) {
        if let Ok(located) = locate(&text, &search, &new, Occurrence::Only) {
            let span = located.places[0].before.unwrap();
            let all: Vec<&str> = text.split_inclusive('\n').collect();
            let after = splice(&text, &located.splices).unwrap();
            prop_assert!(after.starts_with(&all[..span.start_line - 1].concat()));
            prop_assert!(after.ends_with(&all[span.end_line..].concat()));
            prop_assert_ne!(after, text);
        }
    }

    #[test]
    fn two_equal_places_are_never_written(before in lines(), block in lines(), after in lines(), new in lines()) {
        prop_assume!(!block.trim().is_empty());
        let text = [&*before, &*block, "§\n", &*block, &*after].concat();
        let result = locate(&text, &block, &new, Occurrence::Only);
        prop_assert!(result.is_err(), "{:?}", result);
    }

    #[test]
    fn indentation_alone_never_hides_a_place(text in lines(), from in 0_usize..12, count in 1_usize..5, indent in "[ ]{1,3}") {
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let to = (from + count).min(all.len());
        if from >= to {
            return Ok(());
        }
        let search: String = all[from..to].iter().map(|line| format!("{indent}{line}")).collect();
        let result = locate(&text, &search, "something else entirely\n", Occurrence::Only);
        let found = matches!(result, Ok(_) | Err(Miss::Several { .. } | Miss::Blank));
        prop_assert!(found, "{:?}", result);
    }
}
