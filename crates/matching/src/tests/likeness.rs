//! Lines that are alike, locations that are several, and what is too large to be compared.

use super::super::{Miss, Occurrence, locate};
use super::{Case, check, edited};

const CASES: &[Case] = &[
    ("several", "a\nb\na\n", "a\n", "x\n", None),
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
    ("words only", "foo_bar(1)\n", "foo(1)\n", "foo(2)\n", None),
    ("shorter search", "}\n}\n", "}\n", "", None),
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
        "only left over",
        "alpha_beta()\ngamma(1)\n",
        "alpha_beta()\ngamma(2)\n",
        "alpha_beta()\n",
        Some("alpha_beta()\n"),
    ),
];

#[test]
fn likeness_alone_writes_only_where_one_location_is_meant() {
    check(CASES);
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
fn what_is_too_large_for_likeness_says_so() {
    let text = "some line of text\n".repeat(20_001);
    assert_eq!(locate(&text, "a\nb\n", "c\n", Occurrence::Only), Err(Miss::TooLarge));
    let line = "x".repeat(5 << 20);
    assert_eq!(locate(&line, "a\nb\n", "c\n", Occurrence::Only), Err(Miss::TooLarge));
    assert_eq!(locate(&line, "y", "c", Occurrence::Only), Err(Miss::None));
}
