//! Line ends, blank lines and runs of white space.

use super::{Case, check};

const CASES: &[Case] = &[
    ("lf file crlf args", "a\nb\nc\n", "a\r\nb\r\n", "a\r\nB\r\n", Some("a\nB\nc\n")),
    ("insert at eof", "a\nb", "b", "b\nc", Some("a\nb\nc")),
    ("crlf insert end", "a\r\nb", "b\n", "b\nc\n", Some("a\r\nb\r\nc")),
    ("tab trail", "a\t\nb\n", "a\nb\n", "a\nB\n", Some("a\t\nB\n")),
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
    ("leading spaces around", "x=foo(1);\n", " foo(1) ", " foo(2) ", Some("x=foo(2);\n")),
    (
        "aligned",
        "let a   = 1;\nlet bb  = 2;\nlet ccc = 3;\n",
        "let a = 1;\nlet bb = 2;\nlet ccc = 3;\n",
        "let a = 1;\nlet bb = 5;\nlet ccc = 3;\n",
        Some("let a   = 1;\nlet bb  = 5;\nlet ccc = 3;\n"),
    ),
    ("trailing only", "a  \nb\n", "a  \n", "a\n", Some("a\nb\n")),
    ("delete in crlf", "a\r\nb\r\nc\r\n", "b\n", "", Some("a\r\nc\r\n")),
    ("line end wanted", "x = 1 + y\n", "x =  1\n", "x =  2\n", None),
    (
        "changed blank lines are no boundary",
        "alpha\ntheta\n}\n\n\n\n",
        "alpha\ntheta\n\n\n\n",
        "alpha\ntheta\n\n}\n\n",
        None,
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
];

#[test]
fn white_space_is_matched_loosely_and_kept_as_it_is() {
    check(CASES);
}
