//! Tests and linters of a project: which there are, how they are run, what their reports say.
//!
//! Text in, values out: nothing here opens a file or starts a process.

mod bash_word;
mod changed_lines;
mod comparison;
mod coverage;
mod declared_names;
mod diagnostic;
mod framework;
mod jvm_names;
mod line_map;
mod lint_memory;
mod lint_output;
mod lint_plan;
mod lint_results;
mod linter;
mod missed_tests;
mod named_sources;
mod parsed_files;
mod passed_projects;
mod progress;
mod project;
mod report;
mod results;
mod run;
mod shortening;
mod source_paths;
mod syntax;
mod test_at;
mod test_command;
mod test_locations;

pub use changed_lines::{GIT_CHANGES, changed_lines, lines_of_git};
pub use coverage::{ChangedCoverage, ChangedFileCoverage, FileCoverage, TestCoverage};
pub use declared_names::declared_names;
pub use diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};
pub use framework::{FoundFramework, TestFramework, test_frameworks};
pub use line_map::LineMap;
pub use lint_memory::{LintChange, LintMemory, PastDiagnostic, line_hashes};
pub use lint_output::LintFormat;
pub use lint_output::column::{CheckedText, ColumnUnit, drop_unplaced_fixes};
pub use lint_plan::{
    LintPlan, LintTarget, OwnLinter, PlannedLint, may_configure_linter, planned_lints,
};
pub use lint_results::{LintResults, LintStatus};
pub use missed_tests::MissedTests;
pub use named_sources::{NamedSources, named_sources};
pub use passed_projects::PassedProjects;
pub use progress::{EndedTests, TestProgress};
pub use project::{MANIFESTS, PROBES, ProjectDirectory, ProjectFiles};
pub use results::{
    SlowTest, TestFailure, TestResults, TestStatus, TestTotals, Unselectable, passed_tests,
    source_names, test_results,
};
pub use run::{CheckCommand, FinishedRun, ReportFile};
pub use source_paths::SourcePaths;
pub use syntax::{SYNTAX_SOURCE, is_parsed, is_same, new_syntax_errors, syntax_diagnostics};
pub use test_command::{TestChoice, TestCommand, TestSelection};
pub use test_locations::{stated_test_directories, test_directory, test_pattern};
