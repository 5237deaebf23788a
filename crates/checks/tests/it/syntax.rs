//! What parses, and what an edit broke.

use moss_checks::{CheckDiagnostic, LineMap, new_syntax_errors, syntax_diagnostics};
use moss_symbols::{Outliner, RecentTrees};
use proptest::prelude::*;

fn errors(path: &str, text: &str) -> Option<Vec<CheckDiagnostic>> {
    syntax_diagnostics(&mut Outliner::default(), path, text).expect("it is short")
}

fn broken(path: &str, old: Option<&str>, new: &str) -> Vec<(u64, String)> {
    let found =
        new_syntax_errors(&mut Outliner::default(), &RecentTrees::default(), path, old, new);
    found.expect("it is short").into_iter().map(|error| (error.line, error.message)).collect()
}

#[test]
fn a_text_that_parses_has_no_error_and_one_without_grammar_no_answer() {
    for (path, text) in [
        ("a.rs", "fn main() {\n    println!(\"{}\", 1);\n}\n"),
        (
            "a.py",
            "def f(x: int = 1, *, y) -> str:\n    match x:\n        case 1: return f'{y!r:>{x}}'\n",
        ),
        ("a.ts", "export const f = async <T,>(x: T): Promise<T> => x satisfies T;\n"),
        ("a.tsx", "const A = () => <div className=\"x\">{1}</div>;\n"),
        ("a.go", "package a\n\nfunc F[T any](x T) (T, error) { return x, nil }\n"),
        ("a.java", "record A(int x) { sealed interface B permits C {} }\n"),
        ("a.json", "{\"a\": [1, null]}\n"),
        ("a.toml", "[a]\nb = 1979-05-27T07:32:00Z\n"),
        ("a.yaml", "a:\n  - b: 1\n    c: |\n      d\n"),
        ("a.php", "<?php\nenum A: string { case B = 'b'; }\n"),
        ("a.rb", "def a(b:, **c) = b\n"),
        ("a.c", "int main(void) { return 0; }\n"),
        ("a.cpp", "template <typename T> concept C = requires(T t) { t.x(); };\n"),
        ("a.lua", "local function f(...) return ... end\n"),
    ] {
        assert_eq!(errors(path, text), Some(Vec::new()), "{path}");
    }
    assert_eq!(errors("a.txt", "("), None);
    assert_eq!(errors("a.md", "["), None);
}

#[test]
fn an_error_says_where_and_what() {
    let found = errors("src/a.rs", "fn main() {\n    let x = ;\n}\n").expect("a grammar");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].line, found[0].path.as_str()), (2, "src/a.rs"));
    let found = errors("a.json", "{\"a\": 1").expect("a grammar");
    assert_eq!(found[0].message, "`}` is missing");
    let open = "fn a() {\n    b(1, 2);\n}\n\nfn b() {\n    c([1);\n}\n\nfn d() {}\n";
    let found = errors("a.rs", open).expect("a grammar");
    assert_eq!((found[0].line, found[0].column, found.len()), (6, 9, 1), "{found:?}");
    assert_eq!(found[0].message, "`]` is missing");
    for (path, text) in [
        ("a.py", "def f(:\n    pass\n"),
        ("a.ts", "function f( { return 1 }\n"),
        ("a.go", "package a\n\nfunc F( {\n"),
        ("a.java", "class A { void f( { } }\n"),
        ("a.toml", "[a\nb = 1\n"),
        ("a.yaml", "a: [1\n"),
        ("a.rb", "def a(\nend\n"),
        ("a.c", "int main( {\n"),
    ] {
        let found = errors(path, text).expect("a grammar");
        assert!(!found.is_empty(), "{path}");
    }
}

#[test]
fn only_what_an_edit_broke_is_new() {
    let (good, bad) = ("fn a() {}\n", "fn b( {}\n");
    assert_eq!(broken("a.rs", Some(good), &format!("{good}{bad}")).len(), 1);
    assert_eq!(broken("a.rs", None, bad).len(), 1);
    assert_eq!(broken("a.rs", Some(bad), good), []);
    let old = format!("{good}{bad}{good}");
    // It was there before, and only moved.
    assert_eq!(broken("a.rs", Some(&old), &format!("{good}{good}{bad}{good}")), []);
    assert_eq!(broken("a.rs", Some(&old), &format!("{bad}{good}")), []);
}

proptest! {
    /// Whatever is inserted and removed elsewhere: an unchanged line is found again.
    #[test]
    fn lines_that_an_edit_leaves_alone_keep_their_place(
        lines in prop::collection::vec("[a-f]{1,3}", 1..60),
        at in 0_usize..60, removed in 0_usize..10, added in prop::collection::vec("[x-z]{4}", 0..10),
    ) {
        let numbered: Vec<String> = lines.iter().enumerate().map(|(n, l)| format!("{n}{l}")).collect();
        let at = at.min(numbered.len());
        let removed = removed.min(numbered.len() - at);
        let mut new = numbered.clone();
        new.splice(at..at + removed, added.iter().cloned());
        let map = LineMap::new(&numbered.join("\n"), &new.join("\n"));
        for line in 0..numbered.len() {
            let now = if line < at {
                Some(line)
            } else if line < at + removed {
                None
            } else {
                Some(line - removed + added.len())
            };
            let now = now.map(|now| now as u64 + 1);
            prop_assert_eq!(map.new_line(line as u64 + 1), now);
            if let Some(now) = now {
                prop_assert_eq!(map.old_line(now), Some(line as u64 + 1));
            }
        }
    }

    /// Errors that were there before are never new, whatever is edited around them.
    #[test]
    fn old_errors_are_not_new_after_an_edit_elsewhere(
        before in 0_usize..6, after in 0_usize..6, inserted in 0_usize..5, is_above in any::<bool>(),
    ) {
        let function = |n: usize| format!("fn good_{n}() {{\n    let x = {n};\n}}\n");
        let many = |from: usize, count: usize| (from..from + count).map(function).collect::<String>();
        let bad = "fn bad( {\n}\n";
        let tail = many(100, after);
        let old = format!("{}{bad}{tail}", many(0, before));
        let new = match is_above {
            true => format!("{}{}{bad}{tail}", many(50, inserted), many(0, before)),
            false => format!("{}{bad}{tail}{}", many(0, before), many(50, inserted)),
        };
        prop_assert_eq!(broken("a.rs", Some(&old), &new), []);
    }
}
