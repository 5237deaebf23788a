//! Indentation that differs, and depths that search and file leave open.

use super::{Case, check, edited};

const CASES: &[Case] = &[
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
    (
        "part over lines",
        "x = foo(a,\n      b) + 1\n",
        "foo(a,\n    b)",
        "foo(a,\n    c)",
        Some("x = foo(a,\n      c) + 1\n"),
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
        "indentation that comes with a part",
        "a:\n  b: 1\n  c: 2\n",
        "b: 1",
        "  b: 2",
        Some("a:\n  b: 2\n  c: 2\n"),
    ),
    ("deeper than the file", "a:\n  b: 1\n", "b: 1", "    b: 1", Some("a:\n      b: 1\n")),
];

/// Cases in which somebody may be asked: the text afterwards is none where that is so.
const DEPTHS: &[Case] = &[
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
        "a block continues below",
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
        "a line in place of a blank one",
        "def f():\n    a()\n\n    b()\n",
        "a()\n\nb()\n",
        "a()\nc()\nb()\n",
        Some("def f():\n    a()\n    c()\n    b()\n"),
    ),
];

#[test]
fn new_lines_are_as_deep_as_those_around_them() {
    check(CASES);
}

#[test]
fn a_depth_that_search_and_file_leave_open_is_asked_about() {
    for (title, before, search, replace, expected) in DEPTHS {
        let (after, located) = edited(before, search, replace).unwrap();
        let unasked = located.drift.is_empty().then_some(after.as_str());
        assert_eq!(unasked, *expected, "{title}: {after:?} {located:?}");
    }
}
