//! How a workspace is opened, and the bounds on what is read, written and listed in it.

use std::path::PathBuf;

/// How names are resolved beneath the root. Both keep the same promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolver {
    /// By the kernel, with `openat2`. Linux only.
    Kernel,
    /// Component by component, everywhere.
    Walk,
}

/// How a workspace is opened.
#[derive(Debug, Clone)]
pub struct WorkspaceOptions {
    /// Which resolver; none for the best that the system has.
    pub resolver: Option<Resolver>,
    /// Bounds on what is read, written and listed.
    pub limits: FileLimits,
    /// Whether other file systems that are mounted beneath the root are out of reach.
    pub same_filesystem_only: bool,
    /// Permission bits of new files; none for the system's default.
    pub create_mode: Option<u32>,
    /// Directories of moss itself (state, configuration, run time). Where they lie beneath the
    /// root, they are protected.
    pub own: Vec<PathBuf>,
    /// Files with credentials and keys of moss itself, wherever they are: not opened under any name
    /// that they have beneath the root. Those that there are when the workspace is opened.
    pub secrets: Vec<PathBuf>,
}

/// What the bound on files of other programs is called, beside which no setting stands.
pub(crate) const KEPT_OF_OTHERS: &str = "what recovery keeps of another program's file";

/// A bound on the size of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) bytes_max: u64,
    /// What the daemon's configuration calls it.
    pub(crate) setting: &'static str,
}

/// Bounds on what is read, written and listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Largest file that is read as a whole or edited, in bytes.
    pub edit_bytes_max: u64,
    /// Largest file of which windows are read or which is deleted, in bytes.
    pub read_bytes_max: u64,
    /// Largest file whose text is searched, in bytes: it is read into memory.
    pub search_bytes_max: u64,
    /// Most files in one change set.
    pub change_files_max: usize,
    /// Most bytes over all old and new contents of one change set.
    pub change_bytes_max: u64,
    /// Most names that are read from one directory.
    pub directory_names_max: usize,
    /// Largest ignore file that is applied, in bytes.
    pub ignore_bytes_max: u64,
}

// === impl WorkspaceOptions ===

impl Default for WorkspaceOptions {
    fn default() -> Self {
        Self {
            resolver: None,
            limits: FileLimits::default(),
            same_filesystem_only: true,
            create_mode: None,
            own: Vec::new(),
            secrets: Vec::new(),
        }
    }
}

impl FileLimits {
    pub(crate) fn edit(&self) -> Bound {
        Bound { bytes_max: self.edit_bytes_max, setting: "files.edit_bytes_max" }
    }

    pub(crate) fn read(&self) -> Bound {
        Bound { bytes_max: self.read_bytes_max, setting: "files.read_bytes_max" }
    }
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            edit_bytes_max: 10 << 20,
            read_bytes_max: 1 << 30,
            search_bytes_max: 64 << 20,
            change_files_max: 1_000,
            change_bytes_max: 256 << 20,
            directory_names_max: 200_000,
            ignore_bytes_max: 1 << 20,
        }
    }
}
