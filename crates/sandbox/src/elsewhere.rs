//! What stands in for the keeper of commands and for the system's isolation where moss knows neither:
//! on any other system than Linux no tier is found.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command::CommandLimits;
use crate::order::AppliedLayer;
use crate::start::{ForkBounds, StartKind};

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

    pub(crate) fn start(
        &self,
        _process: (StartKind, ForkBounds),
        _fds: &[OwnedFd],
    ) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) fn open_without_links(_path: &Path) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn landlock_version() -> Option<u32> {
    None
}

/// Returns why commands have no control groups of their own.
pub fn group_hindrance(_process: u32) -> Option<String> {
    Some("control groups are a part of Linux".to_owned())
}

/// Where groups of commands would be made.
#[derive(Debug)]
pub(crate) struct CommandGroups;

/// What the group of a command would be.
#[derive(Debug)]
pub(crate) struct CommandGroup;

impl CommandGroups {
    pub(crate) fn prepare() -> Result<Self, String> {
        Err(group_hindrance(0).unwrap_or_default())
    }

    pub(crate) fn make(&self, _limits: &CommandLimits) -> io::Result<CommandGroup> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl CommandGroup {
    pub(crate) fn open(&self) -> io::Result<[OwnedFd; 4]> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// What would keep secrets of the system from commands.
#[derive(Debug, Default)]
pub(crate) struct SystemLayers;

impl SystemLayers {
    pub(crate) fn keep_from(&self, _masked: &[PathBuf]) -> io::Result<Option<AppliedLayer>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
