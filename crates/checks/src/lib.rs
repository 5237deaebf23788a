//! Tests and linters of a project: which there are, how they are run, what their reports say.
//!
//! Text in, values out: nothing here opens a file or starts a process.

mod diagnostic;
mod line_map;
mod project;
mod run;
mod syntax;

pub use diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};
pub use line_map::LineMap;
pub use project::{MANIFESTS, PROGRAM_DIRECTORIES, ProjectDirectory, ProjectFiles};
pub use run::{CheckCommand, FinishedRun, ReportFile};
pub use syntax::{SYNTAX_SOURCE, is_same, new_syntax_errors, syntax_diagnostics};
