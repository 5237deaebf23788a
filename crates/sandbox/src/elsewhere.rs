//! What stands in for the keeper of commands and for the system's isolation where moss knows neither:
//! on any other system than Linux no tier is found.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The argument by which moss's program knows that it is a keeper.
pub(crate) const KEEPER: &str = "keep-command";

/// The argument by which moss's program knows that it is a launcher.
pub(crate) const LAUNCHER: &str = "launch-command";

/// Returns none: commands have no keeper here.
pub fn keeper(_arguments: &[OsString]) -> Option<ExitCode> {
    None
}

pub(crate) fn inherit(_command: &mut Command, _fds: Vec<OwnedFd>) {}

pub(crate) fn open_without_links(_path: &Path) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn landlock_version() -> Option<u32> {
    None
}
