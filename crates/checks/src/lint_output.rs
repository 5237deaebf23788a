//! What compilers and linters write, as diagnostics.
//!
//! Each format has a reader of its own. Columns come in the unit of the tool: [`ColumnUnit`] makes them
//! characters once the text of the file is there.

pub(crate) mod biome;
pub(crate) mod cargo;
pub(crate) mod checkstyle;
pub(crate) mod column;
pub(crate) mod eslint;
pub(crate) mod fields;
pub(crate) mod gnu;
pub(crate) mod golangci;
pub(crate) mod hadolint;
pub(crate) mod markdownlint;
pub(crate) mod mypy;
pub(crate) mod oxlint;
pub(crate) mod phpstan;
pub(crate) mod pyright;
pub(crate) mod rubocop;
pub(crate) mod ruff;
pub(crate) mod rustc_text;
pub(crate) mod sarif;
pub(crate) mod shellcheck;
pub(crate) mod tsc;

use self::column::ColumnUnit;
use self::gnu::GnuDialect;
use crate::diagnostic::CheckDiagnostic;
use crate::run::FinishedRun;

/// Most diagnostics of one run that are kept; more are counted.
const FOUND_MAX: usize = 100_000;

/// How a tool writes what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LintFormat {
    /// JSON lines of `--message-format=json` of cargo.
    Cargo,
    /// JSON lines of `--output-format=json-lines` of ruff.
    Ruff,
    /// JSON lines of `--output=json` of mypy.
    Mypy,
    /// One JSON document: `--outputjson` of pyright.
    Pyright,
    /// `-f json` of ESLint.
    Eslint,
    /// `--pretty false` of the TypeScript compiler.
    Tsc,
    /// JSON in the form of reviewdog: `--reporter=rdjson` of Biome.
    Biome,
    /// One JSON document: `--format=json` of oxlint.
    Oxlint,
    /// The JSON of golangci-lint.
    Golangci,
    /// Lines for people, of `go vet`.
    GoVet,
    /// `-f json1` of ShellCheck.
    Shellcheck,
    /// `-f parsable` of yamllint.
    Yamllint,
    /// `--format json` of RuboCop.
    Rubocop,
    /// One JSON document: `--error-format=json` of PHPStan.
    Phpstan,
    /// A template of cppcheck in GNU style.
    Cppcheck,
    /// Lines for people, of clang-tidy.
    ClangTidy,
    /// One JSON document: `--json` of markdownlint-cli.
    Markdownlint,
    /// Lines for people, of markdownlint-cli2.
    MarkdownlintCli2,
    /// `-f json` of hadolint.
    Hadolint,
    /// SARIF 2.1.0, of any tool.
    Sarif,
    /// Checkstyle XML, of any tool.
    Checkstyle,
    /// `file:line:column: severity: message`, of any tool.
    Gnu,
}

/// What a tool wrote, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LintReport {
    pub(crate) found: Vec<CheckDiagnostic>,
    /// How many more there are.
    pub(crate) left_out: u64,
    /// Files that it names as checked, where it names them.
    pub(crate) checked: Vec<String>,
    /// Files that its own configuration leaves out, each with what it says of that.
    pub(crate) excluded: Vec<(String, String)>,
    /// In which unit its columns count.
    pub(crate) unit: ColumnUnit,
    /// Why it is not whole, or cannot be read at all.
    pub(crate) problem: Option<String>,
}

// === impl LintReport ===

impl LintReport {
    pub(crate) fn of(unit: ColumnUnit) -> Self {
        Self { unit, ..Self::default() }
    }

    /// A report that cannot be read.
    pub(crate) fn unreadable(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }

    pub(crate) fn push(&mut self, found: CheckDiagnostic) {
        if self.found.len() < FOUND_MAX {
            self.found.push(found);
        } else {
            self.left_out += 1;
        }
    }
}

// === impl LintFormat ===

impl LintFormat {
    /// Reads what a run of the tool `source` left behind.
    pub(crate) fn read(self, source: &str, finished: &FinishedRun<'_>) -> LintReport {
        let (stdout, stderr) = (finished.stdout, finished.stderr);
        let own = |dialect: GnuDialect, text: &str| gnu::read_as(text, source, dialect);
        match self {
            Self::Cargo => cargo::read(stdout),
            Self::Ruff => ruff::read(stdout),
            Self::Mypy => mypy::read(stdout),
            Self::Pyright => pyright::read(stdout),
            Self::Eslint => eslint::read(stdout),
            Self::Tsc => tsc::read(stdout),
            Self::Biome => biome::read(stdout),
            Self::Oxlint => oxlint::read(stdout),
            Self::Golangci => golangci::read(stdout),
            Self::GoVet => own(GnuDialect::GoVet, stderr),
            Self::Shellcheck => shellcheck::read(stdout),
            Self::Yamllint => own(GnuDialect::Yamllint, stdout),
            Self::Rubocop => rubocop::read(stdout),
            Self::Phpstan => phpstan::read(stdout),
            Self::Cppcheck => own(GnuDialect::Plain, stderr),
            Self::ClangTidy => own(GnuDialect::Clang, stdout),
            Self::Markdownlint => markdownlint::read(stderr),
            Self::MarkdownlintCli2 => markdownlint::read_cli2(stderr),
            Self::Hadolint => hadolint::read(stdout, stderr),
            Self::Sarif => sarif::read(stdout, source),
            Self::Checkstyle => checkstyle::read(stdout, source),
            Self::Gnu => match own(GnuDialect::Plain, stdout) {
                report if report.found.is_empty() => own(GnuDialect::Plain, stderr),
                report => report,
            },
        }
    }
}

#[cfg(test)]
mod tests;
