//! Edits that were made before.

use moss_sdk::edit::splice;

use super::{Case, check};
use crate::{Miss, Occurrence, locate};

const CASES: &[Case] = &[
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
    (
        "deletion re-sent",
        "alpha\ngamma delta\nomega\n",
        "alpha\nbeta\ngamma delta\n",
        "alpha\ngamma delta\n",
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
];

#[test]
fn an_edit_that_was_made_is_not_made_again() {
    check(CASES);
}

#[test]
fn an_edit_that_was_found_by_its_words_is_known_by_them() {
    for (was, search, replace) in [
        ("x = call( a, b );\n", "call(a, b)", "call(a, c)"),
        ("    return a*b;\n}\n", "return a * b;\n", "return a * b + 1;\n"),
        ("f( one,  two )\ng()\n", "f(one, two)\ng()\n", "f(one, three)\ng(1)\n"),
    ] {
        let located = locate(was, search, replace, Occurrence::Only).unwrap();
        let now = splice(was, &located.splices).unwrap();
        let again = locate(&now, search, replace, Occurrence::Only);
        assert_eq!(again, Err(Miss::Applied(1)), "{now}");
    }
    // Something else that is alike is no sign of it.
    let other = locate("call( a, d );\n", "call(a, b)", "call(a, c)", Occurrence::Only);
    assert_eq!(other, Err(Miss::None));
}
