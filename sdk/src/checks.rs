//! What the host does for tools that check the workspace: it runs tests and linters of the project, and
//! keeps what such a tool wants to know at its next call.

use crate::command::{CheckReport, CheckRequest, ConfiguredLinter, FollowedCheck};
use crate::error::ToolError;
use crate::progress::BoxFuture;

/// Runs checks, and remembers.
pub trait Checks: Send + Sync {
    /// The directory into which checks write reports: an absolute path, the same for each check of the
    /// workspace.
    fn report_directory(&self) -> String;

    /// Runs a command as [`Host::run_command`](crate::context::Host::run_command) does, and returns all that
    /// it wrote: its output, and the files in [`Checks::report_directory`], which is empty before. Checks of
    /// one workspace take turns.
    ///
    /// # Errors
    ///
    /// As [`Host::run_command`](crate::context::Host::run_command).
    fn run_check(&self, request: CheckRequest) -> BoxFuture<'_, Result<CheckReport, ToolError>>;

    /// Runs a check as [`Checks::run_check`] does, and shows what it writes while it runs.
    ///
    /// # Errors
    ///
    /// As [`Checks::run_check`].
    fn follow_check(&self, check: FollowedCheck) -> BoxFuture<'_, Result<CheckReport, ToolError>>;

    /// The linters that the user configured, in the order of their names.
    fn configured_linters(&self) -> Vec<ConfiguredLinter>;

    /// Returns the value that this tool keeps for the caller's session under a name.
    fn remembered(&self, name: &str) -> Option<Vec<u8>>;

    /// Keeps a value of this tool for the caller's session under a name, in memory alone, and returns the
    /// one that was kept before. In a dry run the value is not kept. Of values that take too much memory together
    /// the oldest are forgotten; one that is too large by itself is not kept.
    fn remember(&self, name: &str, value: Vec<u8>) -> Option<Vec<u8>>;
}
