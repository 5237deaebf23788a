//! Functions of shell scripts where the grammar has an error.

use moss_symbols::Language;

use crate::reading::{declarations, documentation, signature};

/// What the grammar does not read, and the rest of a file is lost with it.
const BROKEN: &str = "[[ $OSTYPE == *@(linux|darwin)* ]] || return 1\n";

#[test]
fn functions_of_bash_are_declared_after_what_the_grammar_does_not_read() {
    for (text, expected) in [
        ("a() { b; }\n", "function a"),
        ("a()\n{\n  local b=1\n  c=2\n}\n", "function a"),
        ("function a {\n  b\n}\n", "function a"),
        ("function a-b.c () {\n  b\n}\n", "function a-b.c"),
        ("function a\n{\n  b\n}\n", "function a"),
        ("a() (\n  b\n)\n", "function a"),
        ("a() # b\n{\n  c\n}\n", "function a"),
        ("a() {\n  b() {\n    c\n  }\n}\nd() { e; }\n", "function a, function a.b, function d"),
        ("if x; then\n  a() { b; }\nfi\n", "function a"),
        // What is no function.
        ("cat <<END\na() {\n}\nEND\nb() { c; }\n", "function b"),
        ("cat <<-'END'\n\ta() {\n\tEND\nb() { c; }\n", "function b"),
        ("((a = 1 << b))\nc() { d; }\n", "function c"),
        ("# a() {\n", ""),
        ("# cat <<END\na() { b; }\n# END\n", "function a"),
        ("function of the rest\n", ""),
    ] {
        let text = format!("{BROKEN}{text}");
        assert_eq!(declarations(Language::Bash, &text).join(", "), expected, "{text}");
    }
}

#[test]
fn a_function_after_what_the_grammar_does_not_read_is_as_others_are() {
    let text = format!("{BROKEN}\n# Runs it.\nrun() {{\n  helper\n}}\nrun\n");
    assert_eq!(declarations(Language::Bash, &text), ["function run"]);
    assert_eq!(signature(Language::Bash, &text, "run"), "run()");
    let documented = documentation(Language::Bash, &text);
    assert_eq!(documented, [("run".to_owned(), "# Runs it.".to_owned())]);
}

#[test]
fn what_the_grammar_reads_is_not_read_by_lines() {
    let text = "a='\nb() {\n}'\nc() { d; }\n";
    assert_eq!(declarations(Language::Bash, text), ["variable a", "function c"]);
}
