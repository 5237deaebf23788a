//! Which files a linter surely parsed: what a grammar says against their syntax is then an error of the grammar.
//!
//! That a linter finds nothing shows nothing: its configuration may leave the file out. It has parsed a file that it
//! lists as checked, or in which it found what only a parsed text shows, and no error that might be one of syntax.

use std::collections::BTreeSet;

use crate::diagnostic::{CheckDiagnostic, CheckSeverity};
use crate::lint_output::LintFormat;

/// Rules by which linters say that something does not parse, or cannot be read.
const SYNTAX_RULES: &[&str] = &[
    "E902",
    "E999",
    "Lint/Syntax",
    "clang-diagnostic-error",
    "invalid-syntax",
    "parse",
    "phpstan.parse",
    "syntax",
    "typecheck",
    // Of rustc: a literal, a comment or a range without its end.
    "E0586",
    "E0758",
    "E0762",
    "E0763",
    "E0765",
    "E0766",
    "E0768",
];
/// How the rules of the TypeScript compiler begin that are about syntax, before three digits.
const SYNTAX_RULES_OF_TSC: &str = "TS1";

/// The files that a linter parsed to their end, by what it found and, where it says so, by what it lists as checked.
pub(crate) fn parsed_files(
    format: LintFormat,
    found: &[CheckDiagnostic],
    listed: Vec<String>,
) -> BTreeSet<String> {
    if !format.parses() {
        return BTreeSet::new();
    }
    let shows_it = found.iter().filter(|one| !is_of_syntax(format, one));
    let mut parsed: BTreeSet<String> = shows_it.map(|one| one.path.clone()).collect();
    parsed.extend(listed);
    for doubt in found.iter().filter(|one| is_of_syntax(format, one)) {
        parsed.remove(&doubt.path);
    }
    parsed
}

/// Whether a finding is one of syntax, or may be one.
fn is_of_syntax(format: LintFormat, found: &CheckDiagnostic) -> bool {
    match found.code.as_deref() {
        Some(code) => {
            let is_of_tsc = code.len() == 6 && code.starts_with(SYNTAX_RULES_OF_TSC);
            is_of_tsc || SYNTAX_RULES.contains(&code)
        }
        // Analyzers of go vet have no names in its output, and run on what was compiled.
        None => format != LintFormat::GoVet || found.severity == CheckSeverity::Error,
    }
}

// === impl LintFormat ===

impl LintFormat {
    /// Whether who writes it parses as the compiler of its language does.
    fn parses(self) -> bool {
        match self {
            Self::Cargo
            | Self::Ruff
            | Self::Mypy
            | Self::Pyright
            | Self::Eslint
            | Self::Tsc
            | Self::Biome
            | Self::Oxlint
            | Self::Golangci
            | Self::GoVet
            | Self::Yamllint
            | Self::Rubocop
            | Self::Phpstan
            | Self::ClangTidy => true,
            Self::Shellcheck
            | Self::Cppcheck
            | Self::Markdownlint
            | Self::MarkdownlintCli2
            | Self::Hadolint
            | Self::Sarif
            | Self::Checkstyle
            | Self::Gnu => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(severity: CheckSeverity, code: &str) -> CheckDiagnostic {
        CheckDiagnostic::at("a", 1, 1, severity, "x", "m").by_rule(Some(code.to_owned()))
    }

    #[test]
    fn a_finding_shows_that_its_file_parses_unless_one_may_be_about_syntax() {
        let (error, warning) = (CheckSeverity::Error, CheckSeverity::Warning);
        for (format, all, is_parsed) in [
            (LintFormat::Ruff, vec![], false),
            (LintFormat::Ruff, vec![(error, "F401")], true),
            (LintFormat::Ruff, vec![(error, "F401"), (error, "invalid-syntax")], false),
            (LintFormat::Tsc, vec![(error, "TS2322")], true),
            (LintFormat::Tsc, vec![(error, "TS1005"), (error, "TS2322")], false),
            (LintFormat::Tsc, vec![(error, "TS18003")], true),
            (LintFormat::Cargo, vec![(warning, "dead_code")], true),
            (LintFormat::Cargo, vec![(warning, "dead_code"), (error, "")], false),
            (LintFormat::Cargo, vec![(error, "E0765")], false),
            (LintFormat::Cargo, vec![(error, "E0308")], true),
            (LintFormat::GoVet, vec![(warning, "")], true),
            (LintFormat::GoVet, vec![(error, "")], false),
            (LintFormat::Oxlint, vec![(error, "")], false),
            (LintFormat::Cppcheck, vec![(error, "nullPointer")], false),
            (LintFormat::Gnu, vec![(warning, "x")], false),
        ] {
            let all: Vec<_> = all.into_iter().map(|(how, code)| found(how, code)).collect();
            let parsed = parsed_files(format, &all, Vec::new());
            assert_eq!(parsed.contains("a"), is_parsed, "{format:?} {all:?}");
        }
        let listed = || vec!["a".to_owned(), "b".to_owned()];
        let fatal = [found(error, "")];
        let parsed = parsed_files(LintFormat::Eslint, &fatal, listed());
        assert_eq!(parsed.into_iter().collect::<Vec<_>>(), ["b"]);
    }
}
