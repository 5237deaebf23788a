//! What stands in for the keeper of commands and for the system's isolation where moss knows neither:
//! on any other system than Linux no tier is found.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::order::AppliedLayer;
use crate::start::StartKind;

/// The argument by which moss's program knows that it is a keeper.
pub(crate) const KEEPER: &str = "keep-command";

/// Returns none: commands have no keeper here.
pub fn keeper(_arguments: &[OsString]) -> Option<ExitCode> {
    None
}

/// What would start keepers.
#[derive(Debug)]
pub(crate) struct ForkServer;

impl ForkServer {
    pub(crate) fn new(_program: PathBuf) -> Self {
        Self
    }

    pub(crate) fn start(&self, _kind: StartKind, _fds: &[OwnedFd]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) fn open_without_links(_path: &Path) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn landlock_version() -> Option<u32> {
    None
}

/// What would keep secrets of the system from commands.
#[derive(Debug, Default)]
pub(crate) struct SystemLayers;

impl SystemLayers {
    pub(crate) fn keep_from(&self, _masked: &[PathBuf]) -> io::Result<Option<AppliedLayer>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
