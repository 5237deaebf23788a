//! Valid code of today, of each language: nothing is said against it, and where a grammar does not know it never more
//! than that it may not parse.

use moss_checks::{CheckSeverity, syntax_diagnostics};
use moss_symbols::Outliner;

/// Texts, each behind a line with its name: `=== a.ts`. A name behind `~` is that of a text that its grammar does not know.
const TEXTS: &str = include_str!("../fixtures/modern.txt");
/// Stands before each name.
const MARK: &str = "=== ";

/// Each text with its name, and whether its grammar knows it.
fn texts() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    TEXTS.split(MARK).skip(1).map(|part| {
        let (name, text) = part.split_once('\n').expect("a name has a line of its own");
        match name.strip_prefix("~ ") {
            Some(name) => (name, text, false),
            None => (name, text, true),
        }
    })
}

#[test]
fn valid_code_of_each_language_is_not_called_wrong() {
    let mut outliner = Outliner::default();
    let mut wrong = Vec::new();
    for (name, text, is_known) in texts() {
        let found = syntax_diagnostics(&mut outliner, name, text).expect("it is short");
        for one in found.unwrap_or_default() {
            if is_known || one.severity == CheckSeverity::Error {
                wrong.push(format!("{name}:{}:{} {}\n{text}", one.line, one.column, one.message));
            }
        }
    }
    assert!(wrong.is_empty(), "{} claims\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_language_that_is_checked_has_valid_code() {
    for extension in [
        "c", "cpp", "go", "java", "js", "json", "jsx", "lua", "php", "py", "rb", "rs", "toml",
        "ts", "tsx", "yaml",
    ] {
        assert!(texts().any(|(name, ..)| name.ends_with(&format!(".{extension}"))), "{extension}");
    }
}

/// What a closing bracket is taken from is still found, in its line, whatever of the text the grammar does not know.
#[test]
fn an_error_beside_what_a_grammar_does_not_know_is_found_in_its_line() {
    for (name, text, line, is_sure) in [
        ("a.ts", "export type * from \"./x\";\nlet a = f(1;\n", 2, true),
        ("a.ts", "interface A<out T> { x: T }\nlet y = ;\n", 2, false),
        ("a.js", "import defer * as q from \"x\";\nlet y = = 1;\n", 2, false),
        ("a.py", "class C[T = int]: pass\ndef f(:\n    pass\n", 2, true),
        ("a.py", "type X[T = int] = T\nx = 1 +\n", 2, false),
        ("a.rs", "unsafe extern { safe fn f(); }\nfn g() {\n    let x = ;\n}\n", 3, false),
        ("a.rs", "unsafe extern { safe fn f(); }\nfn g() {\n    h([1;\n}\n", 3, true),
        ("a.java", "import module java.base;\nclass A { void f() { g(1; } }\n", 2, true),
        ("a.cpp", "export module a;\nint x = ;\n", 2, false),
        ("a.c", "enum E : unsigned { A };\nint x = ;\n", 2, false),
        ("a.toml", "e = { x = 1, }\nf = \n", 2, false),
        ("tsconfig.json", "{\n  \"a\": 1,\n  \"b\": ,\n}\n", 3, true),
        ("package.json", "{\n  \"a\": 1,\n}\n", 2, true),
        ("a.yaml", "b: 1\na: [1\n", 2, true),
    ] {
        let found = syntax_diagnostics(&mut Outliner::default(), name, text).expect("it is short");
        let found = found.expect("a grammar");
        let lines: Vec<u64> = found.iter().map(|one| one.line).collect();
        assert!(lines.contains(&line), "{name} {text}: {found:?}");
        let severity = if is_sure { CheckSeverity::Error } else { CheckSeverity::Warning };
        let own = found.iter().filter(|one| one.line == line);
        assert!(own.clone().any(|one| one.severity == severity), "{name} {text}: {found:?}");
    }
}
