//! Escapes, line numbers and typographic characters: what models write otherwise than the file.

use super::super::Miss;
use super::{Case, check, edited};

const CASES: &[Case] = &[
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
        "numbers that are text",
        "1:  a\n2:  b\nx\n a\n b\n",
        "1: a\n2: b\n",
        "1: c\n2: b\n",
        Some("1:  c\n2:  b\nx\n a\n b\n"),
    ),
];

/// What an edit is called, the text, what is searched for, its replacement, and the text
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
fn other_spellings_are_found_and_written_as_the_file_has_them() {
    check(CASES);
}

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
