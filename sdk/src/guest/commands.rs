//! Commands of the machine, in moss's sandbox. Capability [`command`](crate::Capability::command).
//!
//! ```no_run
//! # extern crate moss_sdk as moss;
//! use moss::{ErrorCode, ToolError};
//! use moss::guest::commands;
//!
//! fn head() -> Result<String, ToolError> {
//!     let ended = commands::run(["git", "rev-parse", "HEAD"])?;
//!     match ended.exit_code {
//!         Some(0) => Ok(ended.stdout.trim().to_owned()),
//!         _ => Err(ToolError::new(ErrorCode::PluginFailed, ended.stderr)),
//!     }
//! }
//! ```

use crate::error::ToolError;
use crate::guest::bindings::moss::plugin::commands as wit;

pub use wit::{Command, Ended};

/// Runs a command in the root of the workspace and waits for its end.
///
/// # Errors
///
/// `Denied` without the grant or by policy; `LimitExceeded` where the machine cannot isolate it.
pub fn run(words: impl IntoIterator<Item = impl Into<String>>) -> Result<Ended, ToolError> {
    let words = words.into_iter().map(Into::into).collect();
    run_in(&Command { words, directory: None })
}

/// Runs a command where it says, and waits for its end.
///
/// # Errors
///
/// As [`run`]; `NotFound` and `NotADirectory` for its directory.
pub fn run_in(command: &Command) -> Result<Ended, ToolError> {
    Ok(wit::run(command)?)
}
