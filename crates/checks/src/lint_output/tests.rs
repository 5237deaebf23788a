//! Recorded output of real tools, and the documented format of others: what comes out of it.
//!
//! Recorded from clippy and cargo 1.95.0, ruff 0.17.6, mypy 2.4.1, pyright 1.1.414, ESLint 10.15.0,
//! TypeScript 7.0.2, Biome 2.6.8, oxlint 1.94.0, go vet 1.19.8, ShellCheck 0.11.0, yamllint 1.38.0, cppcheck
//! 2.10, clang-tidy 23.1.4, markdownlint-cli 0.48.0, markdownlint-cli2 0.22.1, RuboCop 1.39.0, hadolint 2.15.1; the root
//! is written `/work`. Of golangci-lint and PHPStan, which no registry in reach brings, the tests say by which program of
//! which version the texts are written.

use super::column::{CheckedText, drop_unplaced_fixes};
use super::*;
use crate::diagnostic::CheckFix;

/// Reads an output that comes where the tool writes it, and shows each finding on a line.
fn read(format: LintFormat, source: &str, output: &str) -> LintReport {
    let finished = FinishedRun {
        exit_code: Some(1),
        signal: None,
        stdout: output,
        stderr: "",
        reports: &[],
        left_out: None,
        is_cut: false,
    };
    let on_stderr = FinishedRun { stdout: "", stderr: output, ..finished };
    match format {
        LintFormat::GoVet
        | LintFormat::Cppcheck
        | LintFormat::Markdownlint
        | LintFormat::MarkdownlintCli2 => format.read(source, &on_stderr),
        _ => format.read(source, &finished),
    }
}

fn shown(report: &LintReport) -> Vec<String> {
    let fix = |fix: &CheckFix| {
        let edits = fix.edits.iter().map(|edit| {
            format!(
                "{}:{}-{}:{} {:?}",
                edit.line, edit.column, edit.end_line, edit.end_column, edit.new_text
            )
        });
        format!(" | {:?} {}", fix.safety, edits.collect::<Vec<_>>().join(", "))
    };
    let one = |found: &CheckDiagnostic| {
        let fixes: String = found.fixes.iter().map(fix).collect();
        format!(
            "{} {}:{}-{}:{} {:?} {} {}: {}{fixes}",
            found.path,
            found.line,
            found.column,
            found.end_line,
            found.end_column,
            found.severity,
            found.source,
            found.code.as_deref().unwrap_or("-"),
            found.message.replace('\n', " / "),
        )
    };
    report.found.iter().map(one).collect()
}

#[track_caller]
fn holds(format: LintFormat, output: &str, unit: ColumnUnit, expected: &[&str]) {
    let report = read(format, "tool", output);
    assert_eq!(shown(&report), expected);
    assert_eq!((report.problem.as_deref(), report.unit), (None, unit));
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_clippy() {
    let expected = [
        r#"src/lib.rs 3:9-3:10 Warning rustc unused_variables: unused variable: `s` | Safe 3:9-3:10 "_s""#,
        r#"src/lib.rs 3:23-3:29 Warning rustc unused_variables: unused variable: `unused` | Safe 3:23-3:29 "_unused""#,
        r#"src/lib.rs 4:5-4:24 Warning clippy clippy::needless_return: unneeded `return` statement | Safe 4:5-4:24 "v.len() == 0", 4:24-4:25 """#,
        r#"src/lib.rs 2:13-2:21 Warning clippy clippy::ptr_arg: writing `&Vec` instead of `&[_]` involves a new object where a slice will do | Unknown 2:13-2:21 "&[u8]""#,
        r#"src/lib.rs 4:12-4:24 Warning clippy clippy::len_zero: length comparison to zero | Safe 4:12-4:24 "v.is_empty()""#,
    ];
    holds(LintFormat::Cargo, include_str!("../../tests/fixtures/lints/clippy.jsonl"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_cargo_check() {
    let expected = [
        "src/lib.rs 6:20-6:23 Error rustc E0308: mismatched types: expected `u8`, found `&str`",
        r#"src/lib.rs 3:9-3:10 Warning rustc unused_variables: unused variable: `s` | Safe 3:9-3:10 "_s""#,
        r#"src/lib.rs 3:23-3:29 Warning rustc unused_variables: unused variable: `unused` | Safe 3:23-3:29 "_unused""#,
    ];
    holds(LintFormat::Cargo, include_str!("../../tests/fixtures/lints/cargo_check.jsonl"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_ruff() {
    let expected = [
        "/work/bad.py 1:7-1:8 Error ruff invalid-syntax: Expected a parameter or the end of the parameter list",
        "/work/bad.py 2:1-2:1 Error ruff invalid-syntax: unexpected EOF while parsing",
        r#"/work/it's a.py 1:1-1:10 Error ruff I001: Import block is un-sorted or un-formatted | Safe 1:1-2:1 "import os\n\n""#,
        r#"/work/it's a.py 1:8-1:10 Error ruff F401: `os` imported but unused | Safe 1:1-2:1 """#,
        "/work/it's a.py 2:14-2:23 Error ruff F821: Undefined name `undefined`",
    ];
    holds(LintFormat::Ruff, include_str!("../../tests/fixtures/lints/ruff.jsonl"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn findings_of_ruff_in_a_notebook_name_their_cell_and_have_no_fixes() {
    let expected = [
        "/work/a.ipynb 1:1-1:1 Error ruff F401: cell 2, line 2, column 8: `os` imported but unused",
        "/work/a.ipynb 1:1-1:1 Error ruff F401: cell 3, line 1, column 8: `sys` imported but unused",
    ];
    holds(LintFormat::Ruff, include_str!("../../tests/fixtures/lints/ruff_notebook.jsonl"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_mypy() {
    let expected = [
        r#"it's a.py 2:10-2:19 Error mypy name-defined: Name "undefined" is not defined"#,
        r#"it's a.py 4:12-4:13 Error mypy return-value: Incompatible return value type (got "int", expected "str")"#,
    ];
    holds(LintFormat::Mypy, include_str!("../../tests/fixtures/lints/mypy.jsonl"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_mypy_of_a_file_that_does_not_parse() {
    let expected = [
        "bad.py 1:7-1:8 Error mypy syntax: Expected a parameter or the end of the parameter list",
        "bad.py 2:1-2:2 Error mypy syntax: Unexpected EOF while parsing",
    ];
    holds(LintFormat::Mypy, include_str!("../../tests/fixtures/lints/mypy_syntax.jsonl"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_pyright() {
    let expected = [
        r#"/work/it's a.py 2:15-2:24 Error pyright reportUndefinedVariable: "undefined" is not defined"#,
        r#"/work/it's a.py 4:12-4:13 Error pyright reportReturnType: Type "int" is not assignable to return type "str" /   "int" is not assignable to "str""#,
    ];
    holds(LintFormat::Pyright, include_str!("../../tests/fixtures/lints/pyright.json"), ColumnUnit::Utf16, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_eslint() {
    let expected = [
        "/work/bad.js 1:1-1:1 Error eslint -: Parsing error: The keyword 'let' is reserved",
        r#"/work/it's a.js 1:5-1:6 Warning eslint prefer-const: 'x' is never reassigned. Use 'const' instead. | Safe 1:1-1:14 "const x = \"😀\";""#,
        r#"/work/it's a.js 1:19-1:25 Error eslint no-unused-vars: 'unused' is assigned a value but never used. | Unsafe 1:15-1:30 """#,
        r#"/work/it's a.js 1:19-1:25 Warning eslint prefer-const: 'unused' is never reassigned. Use 'const' instead. | Safe 1:15-1:30 "const unused = 1;""#,
        r#"/work/it's a.js 2:7-2:9 Error eslint eqeqeq: Expected '===' and instead saw '=='. | Unsafe 2:7-2:9 "===""#,
    ];
    holds(LintFormat::Eslint, include_str!("../../tests/fixtures/lints/eslint.json"), ColumnUnit::Utf16, &expected);
}

#[test]
#[rustfmt::skip]
fn fixes_of_eslint_do_not_count_a_byte_order_mark() {
    let expected = [
        r#"/work/bom.mjs 1:1-1:11 Error eslint no-var: Unexpected var, use let or const instead. | Safe 1:1-1:11 "let a = 1;""#,
        r#"/work/bom.mjs 2:5-2:6 Error eslint prefer-const: 'b' is never reassigned. Use 'const' instead. | Safe 2:1-2:11 "const b = 2;""#,
    ];
    holds(LintFormat::Eslint, include_str!("../../tests/fixtures/lints/eslint_mark.json"), ColumnUnit::Utf16, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_tsc() {
    let expected = [
        "t (1).ts 1:23-1:23 Error tsc TS2322: Type 'string' is not assignable to type 'number'.",
        "t (1).ts 2:61-2:61 Error tsc TS2322: Type 'string' is not assignable to type 'number'.",
        "t (1).ts 2:80-2:80 Error tsc TS2322: Type '{ b: { c: number; }; }' is not assignable to type '{ b: { c: string; }; }'. /   The types of 'b.c' are incompatible between these types. /     Type 'number' is not assignable to type 'string'.",
    ];
    holds(LintFormat::Tsc, include_str!("../../tests/fixtures/lints/tsc.txt"), ColumnUnit::Utf16, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_biome() {
    let expected = [
        r#"it's a.js 1:1-1:4 Warning biome lint/style/useConst: This let declares a variable that is only assigned once. | Unknown 1:1-1:4 "const""#,
        r#"it's a.js 1:14-1:17 Warning biome lint/style/useConst: This let declares a variable that is only assigned once. | Unknown 1:14-1:17 "const""#,
        r#"it's a.js 1:18-1:24 Warning biome lint/correctness/noUnusedVariables: This variable unused is unused. | Unknown 1:18-1:24 "_unused""#,
        r#"t (1).ts 1:7-1:8 Warning biome lint/correctness/noUnusedVariables: This variable e is unused. | Unknown 1:7-1:8 "_e""#,
        r#"t (1).ts 1:22-1:23 Warning biome lint/correctness/noUnusedVariables: This variable n is unused. | Unknown 1:22-1:23 "_n""#,
        r#"t (1).ts 2:80-2:81 Warning biome lint/correctness/noUnusedVariables: This variable g is unused. | Unknown 2:80-2:81 "_g""#,
        "bad.js 1:1-1:4 Error biome parse: Illegal use of reserved keyword `let` as an identifier in strict mode",
        "bad.js 1:7-1:8 Error biome parse: Expected an expression, or an assignment but instead found ';'.",
        r#"it's a.js 2:7-2:9 Error biome lint/suspicious/noDoubleEquals: Using == may be unsafe if you are relying on type coercion. | Unknown 2:9-2:9 "=""#,
    ];
    holds(LintFormat::Biome, include_str!("../../tests/fixtures/lints/biome.json"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_oxlint() {
    let expected = [
        "bad.js 1:7-1:8 Error oxlint -: Unexpected token",
        "t (1).ts 1:7-1:8 Warning oxlint eslint(no-unused-vars): Variable 'e' is declared but never used. Unused variables should start with a '_'. / Consider removing this declaration.",
        "t (1).ts 1:25-1:26 Warning oxlint eslint(no-unused-vars): Variable 'n' is declared but never used. Unused variables should start with a '_'. / Consider removing this declaration.",
        "t (1).ts 2:80-2:81 Warning oxlint eslint(no-unused-vars): Variable 'g' is declared but never used. Unused variables should start with a '_'. / Consider removing this declaration.",
        "it's a.js 1:21-1:27 Warning oxlint eslint(no-unused-vars): Variable 'unused' is declared but never used. Unused variables should start with a '_'. / Consider removing this declaration.",
    ];
    holds(LintFormat::Oxlint, include_str!("../../tests/fixtures/lints/oxlint.json"), ColumnUnit::Bytes, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_go_vet() {
    let expected = [
        r#"b/b.go 3:23-3:23 Error tool -: cannot use "x" (untyped string constant) as int value in return statement"#,
        r#"a.go 5:12-5:12 Warning tool -: fmt.Printf format %d has arg "é" of wrong type string"#,
        r#"a.go 5:41-5:41 Warning tool -: fmt.Printf format %d has arg "x" of wrong type string"#,
    ];
    holds(LintFormat::GoVet, include_str!("../../tests/fixtures/lints/go_vet.txt"), ColumnUnit::Bytes, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_shellcheck() {
    let expected = [
        r#"a b.sh 2:11-2:13 Info shellcheck SC2086: Double quote to prevent globbing and word splitting. | Unknown 2:11-2:11 "\"", 2:13-2:13 "\"""#,
        "a b.sh 3:1-3:4 Warning shellcheck SC2034: foo appears unused. Verify use (or export if used externally).",
        r#"a b.sh 3:5-3:9 Hint shellcheck SC2006: Use $(...) notation instead of legacy backticks `...`. | Unknown 3:5-3:6 "$(", 3:8-3:9 ")""#,
    ];
    holds(LintFormat::Shellcheck, include_str!("../../tests/fixtures/lints/shellcheck.json"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_yamllint() {
    let expected = [
        r#"y.yaml 1:1-1:1 Warning tool document-start: missing document start "---""#,
        "y.yaml 1:5-1:5 Error tool colons: too many spaces after colon",
        r#"y.yaml 2:1-2:1 Error tool key-duplicates: duplication of key "a" in mapping"#,
        "y.yaml 3:7-3:7 Error tool commas: too few spaces after comma",
        "y.yaml 4:1-4:1 Error tool syntax: syntax error: expected ',' or ']', but got '<stream end>'",
    ];
    holds(LintFormat::Yamllint, include_str!("../../tests/fixtures/lints/yamllint.txt"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_cppcheck() {
    let expected = [
        "c.c 2:14-2:14 Error tool arrayIndexOutOfBounds: Array 'a[2]' accessed at index 3, which is out of bounds.",
        "c.c 2:37-2:37 Error tool nullPointer: Null pointer dereference: p",
    ];
    holds(LintFormat::Cppcheck, include_str!("../../tests/fixtures/lints/cppcheck.txt"), ColumnUnit::Characters, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_clang_tidy() {
    let expected = [
        "/work/c.c 2:13-2:13 Warning tool clang-diagnostic-array-bounds: array index 3 is past the end of the array (that has type 'int[2]')",
        "/work/c.c 3:15-3:15 Warning tool clang-diagnostic-unused-variable: unused variable 's'",
        "/work/c.c 3:29-3:29 Warning tool clang-diagnostic-unused-variable: unused variable 'unused'",
        "/work/c.c 4:12-4:12 Warning tool bugprone-assignment-in-if-condition: an assignment within an 'if' condition is bug-prone",
        "/work/c.c 4:12-4:12 Warning tool bugprone-assignment-in-selection-statement: assignment within condition of 'if' statement may indicate programmer error",
        "/work/c.c 4:12-4:12 Warning tool clang-diagnostic-parentheses: using the result of an assignment as a condition without parentheses",
    ];
    holds(LintFormat::ClangTidy, include_str!("../../tests/fixtures/lints/clang_tidy.txt"), ColumnUnit::Bytes, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_markdownlint() {
    let expected = [
        r#"d e.md 3:1-3:1 Error markdownlint MD022: Headings should be surrounded by blank lines: Expected: 1; Actual: 0; Below | Safe 4:1-4:1 "\n""#,
        "d e.md 3:1-3:1 Error markdownlint MD024: Multiple headings with the same content",
        "d e.md 3:1-3:1 Error markdownlint MD025: Multiple top-level headings in the same document",
        r#"d e.md 4:9-4:26 Error markdownlint MD034: Bare URL used | Safe 4:9-4:26 "<https://a.example>""#,
        r#"d e.md 6:1-6:1 Error markdownlint MD012: Multiple consecutive blank lines: Expected: 1; Actual: 2 | Safe 6:1-7:1 """#,
        r#"d e.md 7:1-7:1 Error markdownlint MD032: Lists should be surrounded by blank lines | Safe 8:1-8:1 "\n""#,
        r#"d e.md 8:1-8:1 Error markdownlint MD032: Lists should be surrounded by blank lines | Safe 8:1-8:1 "\n""#,
        r#"d e.md 8:1-8:2 Error markdownlint MD004: Unordered list style: Expected: dash; Actual: asterisk | Safe 8:1-8:2 "-""#,
    ];
    holds(LintFormat::Markdownlint, include_str!("../../tests/fixtures/lints/markdownlint.json"), ColumnUnit::Utf16, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_markdownlint_cli2() {
    let expected = [
        r##"d e.md 3:1-3:1 Error markdownlint MD022: Headings should be surrounded by blank lines [Expected: 1; Actual: 0; Below] [Context: "# A"]"##,
        r#"d e.md 3:1-3:1 Error markdownlint MD024: Multiple headings with the same content [Context: "A"]"#,
        r#"d e.md 3:1-3:1 Error markdownlint MD025: Multiple top-level headings in the same document [Context: "A"]"#,
        r#"d e.md 4:9-4:9 Error markdownlint MD034: Bare URL used [Context: "https://a.example"]"#,
        "d e.md 6:1-6:1 Error markdownlint MD012: Multiple consecutive blank lines [Expected: 1; Actual: 2]",
        r#"d e.md 7:1-7:1 Error markdownlint MD032: Lists should be surrounded by blank lines [Context: "- x"]"#,
        "d e.md 8:1-8:1 Error markdownlint MD004: Unordered list style [Expected: dash; Actual: asterisk]",
        r#"d e.md 8:1-8:1 Error markdownlint MD032: Lists should be surrounded by blank lines [Context: "* y"]"#,
    ];
    holds(LintFormat::MarkdownlintCli2, include_str!("../../tests/fixtures/lints/markdownlint_cli2.txt"), ColumnUnit::Utf16, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_sarif_of_ruff() {
    let expected = [
        "/work/bad.py 1:7-1:8 Error tool invalid-syntax: Expected a parameter or the end of the parameter list",
        "/work/bad.py 2:1-2:1 Error tool invalid-syntax: unexpected EOF while parsing",
        r#"/work/it's a.py 1:1-1:10 Error tool I001: Import block is un-sorted or un-formatted | Unknown 1:1-2:1 "import os\n\n""#,
        r#"/work/it's a.py 1:8-1:10 Error tool F401: `os` imported but unused | Unknown 1:1-2:1 """#,
        "/work/it's a.py 2:14-2:23 Error tool F821: Undefined name `undefined`",
    ];
    holds(LintFormat::Sarif, include_str!("../../tests/fixtures/lints/sarif_ruff.json"), ColumnUnit::Utf16, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_sarif_of_biome() {
    let expected = [
        "/work/it's a.js 1:1-1:4 Warning tool lint/style/useConst: This let declares a variable that is only assigned once.",
        "/work/it's a.js 1:14-1:17 Warning tool lint/style/useConst: This let declares a variable that is only assigned once.",
        "/work/it's a.js 1:18-1:24 Warning tool lint/correctness/noUnusedVariables: This variable unused is unused.",
        "/work/t (1).ts 1:7-1:8 Warning tool lint/correctness/noUnusedVariables: This variable e is unused.",
        "/work/t (1).ts 1:22-1:23 Warning tool lint/correctness/noUnusedVariables: This variable n is unused.",
        "/work/t (1).ts 2:80-2:81 Warning tool lint/correctness/noUnusedVariables: This variable g is unused.",
        "/work/bad.js 1:1-1:4 Error tool parse: Illegal use of reserved keyword `let` as an identifier in strict mode",
        "/work/bad.js 1:7-1:8 Error tool parse: Expected an expression, or an assignment but instead found ';'.",
        "/work/it's a.js 2:7-2:9 Error tool lint/suspicious/noDoubleEquals: Using == may be unsafe if you are relying on type coercion.",
    ];
    holds(LintFormat::Sarif, include_str!("../../tests/fixtures/lints/sarif_biome.json"), ColumnUnit::Utf16, &expected);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_checkstyle_of_oxlint() {
    let expected = [
        "it's a.js 1:21-1:21 Warning tool eslint(no-unused-vars): Variable 'unused' is declared but never used. Unused variables should start with a '_'.",
        "bad.js 1:7-1:7 Error tool -: Unexpected token",
        "t (1).ts 1:7-1:7 Warning tool eslint(no-unused-vars): Variable 'e' is declared but never used. Unused variables should start with a '_'.",
        "t (1).ts 1:25-1:25 Warning tool eslint(no-unused-vars): Variable 'n' is declared but never used. Unused variables should start with a '_'.",
        "t (1).ts 2:80-2:80 Warning tool eslint(no-unused-vars): Variable 'g' is declared but never used. Unused variables should start with a '_'.",
    ];
    holds(LintFormat::Checkstyle, include_str!("../../tests/fixtures/lints/checkstyle_oxlint.xml"), ColumnUnit::Characters, &expected);
}

/// By `Issue` of `pkg/result/issue.go`, `JSONResult` of `pkg/printers/json.go` and `Data` of `pkg/report`: of 1.64, where
/// an issue has `Replacement`, and of 2, where it may have `SuggestedFixes`, and statistics may follow the object. Before
/// 1.60 a run without issues wrote null.
#[test]
fn golangci_lint_of_both_versions() {
    let issue = |fix: &str| {
        format!(
            r#"{{"FromLinter":"errcheck","Text":"Error return value is not checked","Severity":"","SourceLines":["\tf()"],{fix}"Pos":{{"Filename":"p/a.go","Offset":40,"Line":5,"Column":3}},"ExpectNoLint":false,"ExpectedNoLintLinter":""}}"#
        )
    };
    let typecheck = r#"{"FromLinter":"typecheck","Text":"undefined: x","Severity":"","SourceLines":null,"Pos":{"Filename":"p/b.go","Offset":0,"Line":7,"Column":0},"ExpectNoLint":false,"ExpectedNoLintLinter":""}"#;
    let ranged = r#"{"FromLinter":"revive","Text":"unused-parameter: é","Severity":"warning","SourceLines":["x"],"LineRange":{"From":9,"To":9},"Pos":{"Filename":"p/b.go","Offset":90,"Line":9,"Column":2},"ExpectNoLint":false,"ExpectedNoLintLinter":""}"#;
    let expected = [
        "p/a.go 5:3-5:3 Warning golangci-lint errcheck: Error return value is not checked",
        "p/b.go 7:1-7:1 Error golangci-lint typecheck: undefined: x",
        "p/b.go 9:2-9:2 Warning golangci-lint revive: unused-parameter: é",
    ];
    let report = r#"{"Warnings":[{"Tag":"runner","Text":"a linter is deprecated"}],"Linters":[{"Name":"errcheck","Enabled":true,"EnabledByDefault":true},{"Name":"revive"}]}"#;
    let document = |fix: &str| {
        format!("{{\"Issues\":[{},{typecheck},{ranged}],\"Report\":{report}}}\n", issue(fix))
    };
    let first = document(r#""Replacement":null,"#);
    let second = format!("{}2 issues:\n* errcheck: 1\n* revive: 1\n", document(""));
    for output in [first, second] {
        holds(LintFormat::Golangci, &output, ColumnUnit::Bytes, &expected);
    }
    for none in ["{\"Issues\":null,\"Report\":{}}", "{\"Issues\":[],\"Report\":{\"Linters\":[]}}\n"]
    {
        holds(LintFormat::Golangci, none, ColumnUnit::Bytes, &[]);
    }
    let failed =
        read(LintFormat::Golangci, "x", "{\"Issues\":[],\"Report\":{\"Error\":\"no go files\"}}");
    assert_eq!(failed.problem.as_deref(), Some("no go files"));
}

/// By `buildIssues` of golangci-lint 2 in `pkg/goanalysis/runners.go`, which counts bytes of the file from 0, and by
/// `Replacement` of golangci-lint 1 in `pkg/result/issue.go`.
#[test]
fn fixes_of_golangci_lint() {
    let text = "package a\n\nfunc f() {\n\té := f(`😀`)\n}\n";
    let issue = |fix: &str| {
        format!(
            r#"{{"Issues":[{{"FromLinter":"x","Text":"y",{fix}"Pos":{{"Filename":"a.go","Offset":23,"Line":4,"Column":2}}}}]}}"#
        )
    };
    let suggested = |edits: &str| {
        issue(&format!(r#""SuggestedFixes":[{{"Message":"Use z","TextEdits":[{edits}]}}],"#))
    };
    let start = text.find('😀').unwrap();
    let within = format!(r#"{{"Pos":{start},"End":{},"NewText":"eg=="}}"#, start + '😀'.len_utf8());
    let all = r#"{"Pos":0,"End":9,"NewText":null},{"Pos":11,"End":26,"NewText":"w6kK"}"#;
    let split = format!(r#"{{"Pos":{},"End":{},"NewText":""}}"#, start + 1, start + 2);
    for (output, expected) in [
        (suggested(&within), r#" | Unknown 4:10-4:11 "z""#),
        (suggested(all), r#" | Unknown 1:1-1:10 "", 3:1-4:4 "é\n""#),
        (suggested(&split), ""),
        (suggested(r#"{"Pos":9,"End":4,"NewText":""}"#), ""),
        (suggested(r#"{"Pos":0,"End":9999,"NewText":""}"#), ""),
        (suggested(r#"{"Pos":-1,"End":2,"NewText":""}"#), ""),
        (suggested(r#"{"Pos":0,"End":2,"NewText":"*"}"#), ""),
        (suggested(""), ""),
        (
            issue(
                r#""Replacement":{"NeedOnlyDelete":false,"NewLines":null,"Inline":{"StartCol":9,"Length":6,"NewString":"z"}},"#,
            ),
            r#" | Unknown 4:9-4:12 "z""#,
        ),
        (
            issue(r#""LineRange":{"From":3,"To":4},"Replacement":{"NewLines":["a","é"]},"#),
            r#" | Unknown 3:1-5:1 "a\né\n""#,
        ),
        (
            issue(r#""Replacement":{"NeedOnlyDelete":true,"NewLines":null},"#),
            r#" | Unknown 4:1-5:1 """#,
        ),
        (issue(r#""Replacement":{"NeedOnlyDelete":false,"NewLines":null},"#), ""),
    ] {
        let mut report = read(LintFormat::Golangci, "x", &output);
        assert_eq!(report.problem, None, "{output}");
        report.unit.to_characters(&mut report.found[0], &CheckedText::new(text));
        let found = shown(&report).concat();
        assert_eq!(
            found.strip_prefix("a.go 4:2-4:2 Warning golangci-lint x: y"),
            Some(expected),
            "{output}"
        );
    }
    // Where the file cannot be read, nobody knows where that is.
    let mut report = read(LintFormat::Golangci, "x", &suggested(&within));
    drop_unplaced_fixes(&mut report.found[0]);
    assert_eq!(report.found[0].fixes, []);
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_rubocop() {
    let expected = [
        "calc.rb 1:1-1:2 Hint rubocop Style/FrozenStringLiteralComment: Missing frozen string literal comment.",
        "calc.rb 1:9-1:10 Hint rubocop Naming/MethodParameterName: Method parameter must be at least 3 characters long.",
        "calc.rb 1:12-1:13 Hint rubocop Naming/MethodParameterName: Method parameter must be at least 3 characters long.",
        "calc.rb 2:3-2:4 Warning rubocop Lint/UselessAssignment: Useless assignment to variable - `x`.",
        "calc.rb 3:3-3:9 Hint rubocop Style/RedundantReturn: Redundant `return` detected.",
        "calc.rb 6:10-6:11 Hint rubocop Layout/SpaceInsideParens: Space inside parentheses detected.",
        "calc.rb 6:15-6:16 Hint rubocop Layout/SpaceInsideParens: Space inside parentheses detected.",
    ];
    let output = include_str!("../../tests/fixtures/lints/rubocop.json");
    holds(LintFormat::Rubocop, output, ColumnUnit::Characters, &expected);
}

/// What the recording has none of: a fatal error, a file without offenses.
#[test]
fn offenses_of_rubocop_that_are_fatal() {
    let rubocop = r#"{"metadata":{"rubocop_version":"1.84.0"},"files":[{"path":"lib/a.rb","offenses":[{"severity":"convention","message":"Trailing whitespace detected.","cop_name":"Layout/TrailingWhitespace","corrected":false,"correctable":true,"location":{"start_line":3,"start_column":6,"last_line":3,"last_column":7,"length":2,"line":3,"column":6}},{"severity":"fatal","message":"unexpected token","cop_name":"Lint/Syntax","location":{"start_line":4,"start_column":1,"last_line":4,"last_column":1,"length":1}}]},{"path":"b.rb","offenses":[]}],"summary":{"offense_count":2}}"#;
    let expected = [
        "lib/a.rb 3:6-3:8 Hint rubocop Layout/TrailingWhitespace: Trailing whitespace detected.",
        "lib/a.rb 4:1-4:2 Error rubocop Lint/Syntax: unexpected token",
    ];
    holds(LintFormat::Rubocop, rubocop, ColumnUnit::Characters, &expected);
}

/// By `JsonErrorFormatter` of phpstan-src 2 in `src/Command/ErrorFormatter`: `files` is a list where it is empty and an
/// object elsewhere; `tip` and `identifier` stand only where there is one, `line` may be null; what concerns no file is in
/// `errors`. A file of a trait has behind it who uses it.
#[test]
fn errors_of_phpstan() {
    let phpstan = r#"{"totals":{"errors":0,"file_errors":3},"files":{"/work/src/T.php (in context of class A)":{"errors":1,"messages":[{"message":"Method A::f() has no return type.","line":8,"ignorable":true,"tip":"Add one","identifier":"missingType.return"}]},"/work/src/a b.php":{"errors":2,"messages":[{"message":"Undefined variable: $x","line":null,"ignorable":true},{"message":"Syntax error, unexpected EOF on line 3","line":3,"ignorable":false,"identifier":"phpstan.parse"}]}},"errors":[]}"#;
    let expected = [
        "/work/src/T.php 8:1-8:1 Error phpstan missingType.return: Method A::f() has no return type. / Add one",
        "/work/src/a b.php 1:1-1:1 Error phpstan -: Undefined variable: $x",
        "/work/src/a b.php 3:1-3:1 Error phpstan phpstan.parse: Syntax error, unexpected EOF on line 3",
    ];
    holds(LintFormat::Phpstan, phpstan, ColumnUnit::Characters, &expected);
    let clean = r#"{"totals":{"errors":0,"file_errors":0},"files":[],"errors":[]}"#;
    holds(LintFormat::Phpstan, clean, ColumnUnit::Characters, &[]);
    let failed =
        r#"{"totals":{"errors":1,"file_errors":0},"files":[],"errors":["Unable to autoload"]}"#;
    let failed = read(LintFormat::Phpstan, "phpstan", failed);
    assert_eq!((failed.found.len(), failed.problem.as_deref()), (0, Some("Unable to autoload")));
}

#[test]
#[rustfmt::skip]
fn recorded_output_of_hadolint() {
    let expected = [
        "it's a/Dockerfile 1:1-1:1 Warning hadolint DL3006: Always tag the version of an image explicitly",
        "it's a/Dockerfile 2:1-2:1 Warning hadolint DL3003: Use WORKDIR to switch to a directory",
        "it's a/Dockerfile 2:1-2:1 Info hadolint SC2086: Double quote to prevent globbing and word splitting.",
        "it's a/Dockerfile 3:1-3:1 Warning hadolint DL3014: Use the `-y` switch to avoid manual input `apt-get -y install <package>`",
        "it's a/Dockerfile 3:1-3:1 Info hadolint DL3015: Avoid additional packages by specifying `--no-install-recommends`",
        "it's a/Dockerfile 4:1-4:1 Error hadolint DL4000: MAINTAINER is deprecated",
        "bad.Dockerfile 2:4-2:4 Error hadolint DL1000: missing whitespace",
    ];
    let output = include_str!("../../tests/fixtures/lints/hadolint.json");
    holds(LintFormat::Hadolint, output, ColumnUnit::Characters, &expected);
    // Of a configuration that is none it says so on its standard error, and exits with 0.
    let said = "Error parsing your config file in  '/work/.hadolint.yaml':\nIt should contain one of the keys\n";
    let finished = FinishedRun {
        exit_code: Some(0), stdout: "[]", stderr: said, reports: &[], left_out: None, is_cut: false,
        signal: None,
    };
    let report = LintFormat::Hadolint.read("hadolint", &finished);
    assert!(report.problem.is_some_and(|problem| problem.contains("cannot read its configuration")));
}

#[test]
fn sarif_says_what_is_suppressed_what_failed_and_in_which_unit_it_counts() {
    let result = |more: &str| {
        format!(
            "{{\"ruleId\":\"R1\",\"message\":{{\"text\":\"m\"}},\"locations\":[{{\"physicalLocation\":{{\
             \"artifactLocation\":{{\"uri\":\"a%20%C3%A9.kt\"}},\"region\":{{\"startLine\":2,\"endLine\":3}}}}}}]{more}}}"
        )
    };
    let document = |results: &str, more: &str| {
        format!("{{\"version\":\"2.1.0\",\"runs\":[{{\"results\":[{results}]{more}}}]}}")
    };
    let plain = document(&result(",\"level\":\"note\""), "");
    holds(LintFormat::Sarif, &plain, ColumnUnit::Utf16, &["a é.kt 2:1-3:1 Info tool R1: m"]);
    let points = document(&result(""), ",\"columnKind\":\"unicodeCodePoints\"");
    holds(
        LintFormat::Sarif,
        &points,
        ColumnUnit::Characters,
        &["a é.kt 2:1-3:1 Warning tool R1: m"],
    );
    let hidden = document(&result(",\"suppressions\":[{\"kind\":\"inSource\"}]"), "");
    holds(LintFormat::Sarif, &hidden, ColumnUnit::Utf16, &[]);
    let failed = ",\"invocations\":[{\"executionSuccessful\":false,\"toolExecutionNotifications\":[\
                  {\"level\":\"error\",\"message\":{\"text\":\"it crashed\"}}]}]";
    let failed = read(LintFormat::Sarif, "tool", &document("", failed));
    assert_eq!(failed.problem.as_deref(), Some("it crashed"));
}

/// A SARIF document with one result in a run.
fn sarif(run: &str, result: &str) -> String {
    format!(
        "{{\"version\":\"2.1.0\",\"runs\":[{{{run}\"results\":[{{\"message\":{{\"text\":\"m\"}},{result}}}]}}]}}"
    )
}

#[test]
#[rustfmt::skip]
fn sarif_says_how_bad_a_result_is_by_its_kind_its_level_and_its_rule() {
    let rules = r#""tool":{"driver":{"rules":[{"id":"R0"},{"id":"R1","defaultConfiguration":{"level":"error"},"messageStrings":{"x":{"text":"say {0}"}}}]},"extensions":[{"rules":[{"id":"E1","defaultConfiguration":{"level":"note"}}]}]},"#;
    let at = r#""locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.kt"},"region":{"startLine":1}}}]"#;
    for (result, expected) in [
        (r#""ruleId":"R1""#, "Error tool R1: m"),
        (r#""ruleId":"R1/part""#, "Error tool R1/part: m"),
        (r#""ruleIndex":1"#, "Error tool R1: m"),
        (r#""ruleId":"R1","level":"note""#, "Info tool R1: m"),
        (r#""ruleId":"R0""#, "Warning tool R0: m"),
        (r#""ruleId":"R","ruleIndex":-1"#, "Warning tool R: m"),
        (r#""rule":{"id":"E1","index":0,"toolComponent":{"index":0}}"#, "Info tool E1: m"),
        (r#""ruleId":"R1","kind":"review""#, "Info tool R1: m"),
        (r#""ruleId":"R1","kind":"fail""#, "Error tool R1: m"),
        (r#""ruleId":"R1","suppressions":[{"kind":"external","status":"rejected"}]"#, "Error tool R1: m"),
    ] {
        let expected = format!("a.kt 1:1-1:1 {expected}");
        holds(LintFormat::Sarif, &sarif(rules, &format!("{result},{at}")), ColumnUnit::Utf16, &[&expected]);
    }
    for result in [
        r#""kind":"pass""#, r#""kind":"notApplicable""#, r#""baselineState":"absent""#,
        r#""suppressions":[{"kind":"inSource"}]"#, r#""suppressions":[{"kind":"external","status":"accepted"}]"#,
    ] {
        holds(LintFormat::Sarif, &sarif(rules, &format!("{result},{at}")), ColumnUnit::Utf16, &[]);
    }
    let of_rule = sarif(rules, &format!(r#""ruleId":"R1",{at}"#)).replace(r#"{"text":"m"}"#, r#"{"id":"x","arguments":["é"]}"#);
    holds(LintFormat::Sarif, &of_rule, ColumnUnit::Utf16, &["a.kt 1:1-1:1 Error tool R1: say é"]);
    let failed = sarif(r#""invocations":[{"executionSuccessful":false,"exitCode":3}],"#, at);
    let failed = read(LintFormat::Sarif, "tool", &failed);
    assert!(failed.problem.is_some_and(|problem| problem.contains("executionSuccessful")));
}

#[test]
#[rustfmt::skip]
fn sarif_names_files_by_their_directories_and_by_their_places() {
    let run = r#""originalUriBaseIds":{"ROOT":{"uri":"file:///work/"},"SUB":{"uri":"sub","uriBaseId":"ROOT"},"NONE":{}},"artifacts":[{"location":{"uri":"x.kt","uriBaseId":"SUB"}}],"#;
    for (location, path) in [
        (r#"{"uri":"b.kt","uriBaseId":"SUB"}"#, "/work/sub/b.kt"),
        (r#"{"uri":"b.kt","uriBaseId":"NONE"}"#, "b.kt"),
        (r#"{"uri":"b.kt","uriBaseId":"OTHER"}"#, "b.kt"),
        (r#"{"uri":"file:///c%20d.kt","uriBaseId":"SUB"}"#, "/c d.kt"),
        (r#"{"uri":"file://localhost/c.kt"}"#, "/c.kt"),
        (r#"{"uri":"file:/c.kt"}"#, "/c.kt"),
        (r#"{"index":0}"#, "/work/sub/x.kt"),
        (r#"{"index":7}"#, ""),
        (r#"{"index":-1}"#, ""),
        (r#"{"uri":"b.kt","index":0}"#, "b.kt"),
    ] {
        let at = format!(r#""locations":[{{"physicalLocation":{{"artifactLocation":{location},"region":{{"startLine":1}}}}}}]"#);
        let report = read(LintFormat::Sarif, "tool", &sarif(run, &at));
        assert_eq!(report.found[0].path, path, "{location}");
    }
    // Directories that name one another end somewhere.
    let round = r#""originalUriBaseIds":{"A":{"uri":"a/","uriBaseId":"A"}},"#;
    let at = r#""locations":[{"physicalLocation":{"artifactLocation":{"uri":"b","uriBaseId":"A"}}}]"#;
    assert!(read(LintFormat::Sarif, "tool", &sarif(round, at)).found[0].path.ends_with("a/b"));
}

#[test]
#[rustfmt::skip]
fn fixes_of_sarif_that_cannot_be_placed_are_dropped() {
    let text = CheckedText::new("val a = 1\nval é = 2\n");
    for (region, content, expected) in [
        (r#"{"startLine":2,"startColumn":5,"endColumn":6}"#, r#","insertedContent":{"text":"c"}"#, Some("2:5-2:6 \"c\"")),
        // Without a last column it goes to the end of the line.
        (r#"{"startLine":1,"startColumn":4}"#, "", Some("1:4-1:10 \"\"")),
        (r#"{"byteOffset":14,"byteLength":2}"#, r#","insertedContent":{"text":"c"}"#, Some("2:5-2:6 \"c\"")),
        (r#"{"charOffset":14,"charLength":1}"#, r#","insertedContent":{"text":"c"}"#, None),
        (r#"{"startLine":2,"startColumn":5,"endLine":1,"endColumn":1}"#, "", None),
        (r#"{"startLine":2,"startColumn":5,"endColumn":6}"#, r#","insertedContent":{"binary":"YQ=="}"#, None),
        ("{}", "", None),
    ] {
        let result = format!(
            r#""locations":[{{"physicalLocation":{{"artifactLocation":{{"uri":"a.kt"}},"region":{region}}}}}],"fixes":[{{"artifactChanges":[{{"artifactLocation":{{"uri":"a.kt"}},"replacements":[{{"deletedRegion":{region}{content}}}]}}]}}]"#
        );
        let mut report = read(LintFormat::Sarif, "tool", &sarif("", &result));
        let is_unplaced = region.contains("charOffset");
        assert_eq!(report.found[0].message == "at character 15 of the file: m", is_unplaced, "{region}");
        let mut without_text = report.found[0].clone();
        report.unit.to_characters(&mut report.found[0], &text);
        let fixes: Vec<String> = shown(&report)[0].split(" | Unknown ").skip(1).map(str::to_owned).collect();
        assert_eq!(fixes, expected.into_iter().map(str::to_owned).collect::<Vec<_>>(), "{region}");
        drop_unplaced_fixes(&mut without_text);
        assert_eq!(!without_text.fixes.is_empty(), region.contains("\"startColumn\":5,\"endColumn") && expected.is_some());
    }
}

#[test]
fn lines_in_gnu_style_have_a_place_before_anything_else_counts() {
    let output = "src/a b.c:3:5: warning: unused variable 'x' [-Wunused-variable]\n\
        it's: odd.c:7: fatal error: no such file\n\
        C:\\x.c:1:2: note: here\n\
        ./a.c:9:0: [error] two words [not a rule]\n\
        at 10:30: the build began\n\
        https://host:80: no\n\
        \x20 3:4: indented\n\
        plain text\n\
        a.c:0:1: error: no such line\n\
        a.c:99999999999999999999:1: error: too large\n";
    let expected = [
        "src/a b.c 3:5-3:5 Warning tool -Wunused-variable: unused variable 'x'",
        "C:\\x.c 1:2-1:2 Info tool -: here",
        "a.c 9:1-9:1 Error tool -: two words [not a rule]",
    ];
    holds(LintFormat::Gnu, output, ColumnUnit::Characters, &expected);
}

#[test]
fn what_is_no_output_of_a_tool_is_a_problem_and_no_finding() {
    for (format, output, says) in [
        (LintFormat::Eslint, "", "is not JSON"),
        (LintFormat::Eslint, "Oops! Something went wrong! :(\n", "is not JSON"),
        (LintFormat::Eslint, "[{\"filePath\":\"a.js\",\"messages\":[", "is not whole"),
        (LintFormat::Pyright, "{\"summary\":{}}", "no `generalDiagnostics`"),
        (LintFormat::Biome, "{}", "no `diagnostics`"),
        (LintFormat::Oxlint, "{\"diagnostics\": [}", "is not JSON"),
        (LintFormat::Sarif, "{\"a\":1}", "it is not SARIF"),
        (LintFormat::Checkstyle, "nothing", "not checkstyle XML"),
        (LintFormat::Checkstyle, "<checkstyle><file name=\"a\">", "is not whole"),
        (
            LintFormat::Checkstyle,
            "<!DOCTYPE a [<!ENTITY b \"c\">]><checkstyle/>",
            "not checkstyle XML",
        ),
        (
            LintFormat::Ruff,
            "{\"code\":\"F401\",\"filename\":",
            "1 lines of its output are not whole",
        ),
        (LintFormat::Golangci, "level=error msg=\"no\"", "is not JSON"),
        (LintFormat::Markdownlint, "Error: no such file", "is not JSON"),
        (
            LintFormat::Tsc,
            "error TS18003: No inputs were found in config file\n",
            "TS18003: No inputs",
        ),
    ] {
        let report = read(format, "tool", output);
        assert_eq!(report.found, [], "{format:?} {output}");
        let problem = report.problem.unwrap_or_else(|| panic!("{format:?} {output}"));
        assert!(problem.contains(says), "{format:?}: {problem}");
    }
    // Nothing at all is nothing found, where a tool writes only what it finds.
    for format in [LintFormat::Ruff, LintFormat::Mypy, LintFormat::Tsc, LintFormat::Markdownlint] {
        holds(format, "", read(format, "tool", "").unit, &[]);
    }
}

#[test]
fn fields_of_another_type_than_documented_are_passed_over() {
    for (format, output) in [
        (
            LintFormat::Ruff,
            "{\"code\":null,\"filename\":3,\"location\":null,\"fix\":[],\"message\":{}}",
        ),
        (LintFormat::Mypy, "{\"file\":\"a.py\",\"line\":-1,\"column\":-1,\"message\":null}"),
        (
            LintFormat::Eslint,
            "[{\"filePath\":\"a\",\"messages\":[{\"line\":null,\"fix\":{\"range\":[9,99]}}],\"source\":\"x\"}]",
        ),
        (LintFormat::Shellcheck, "{\"comments\":[{\"fix\":{\"replacements\":{}}}]}"),
        (LintFormat::Oxlint, "{\"diagnostics\":[{\"labels\":[{\"span\":{\"length\":-5}}]}]}"),
        (
            LintFormat::Cargo,
            "{\"reason\":\"compiler-message\",\"message\":{\"level\":\"error\",\"spans\":[{}]}}",
        ),
    ] {
        let report = read(format, "tool", output);
        assert_eq!(report.found.len(), 1, "{format:?}");
        let found = &report.found[0];
        assert!(found.line >= 1 && found.column >= 1, "{found:?}");
    }
}

#[test]
fn fifty_thousand_findings_are_read() {
    let line = "{\"code\":\"F401\",\"filename\":\"/work/a.py\",\"location\":{\"row\":1,\"column\":1},\"message\":\"m\"}\n";
    assert_eq!(read(LintFormat::Ruff, "ruff", &line.repeat(50_000)).found.len(), 50_000);
    let report = read(LintFormat::Ruff, "ruff", &line.repeat(FOUND_MAX + 7));
    assert_eq!((report.found.len(), report.left_out), (FOUND_MAX, 7));
}
