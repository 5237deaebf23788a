//! Tests and linters of a project: which there are, how they are run, what their reports say.
//!
//! Text in, values out: nothing here opens a file or starts a process.

mod diagnostic;
mod project;
mod run;

pub use diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};
pub use project::{MANIFESTS, PROGRAM_DIRECTORIES, ProjectDirectory, ProjectFiles};
pub use run::{CheckCommand, FinishedRun, ReportFile};
