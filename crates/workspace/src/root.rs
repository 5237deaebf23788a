//! The opened root of a workspace: what it is, which directories it refuses to be, its limits.
//!
//! This is the only place that opens a workspace file by an ambient path, once: the root itself.

#![expect(clippy::disallowed_methods, reason = "a root is named by an ambient path")]

use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use moss_sdk::RelPath;
use rustix::fs::{Mode, OFlags};

use crate::error::Error;
use crate::handle::{self, Identity};
use crate::protect::Secrets;
use crate::resolve::{Aliases, Mount};

/// One opened workspace root. Holds a descriptor of the directory: what is done through it stays
/// beneath that directory, even when the directory is moved.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) path: PathBuf,
    pub(crate) directory: OwnedFd,
    pub(crate) identity: Identity,
    pub(crate) mount: Mount,
    pub(crate) resolver: Resolver,
    /// Where the root's file system can have names that it does not list.
    pub(crate) aliases: Aliases,
    pub(crate) options: Options,
    /// moss's own directories, where they lie beneath the root.
    pub(crate) own: Vec<RelPath>,
    /// Files that are not opened under any name.
    pub(crate) secrets: Secrets,
    #[cfg(target_os = "linux")]
    pub(crate) cached: crate::cached::Cached,
}

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
pub struct Options {
    /// Which resolver; none for the best that the system has.
    pub resolver: Option<Resolver>,
    /// Bounds on what is read, written and listed.
    pub limits: Limits,
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

/// A bound on the size of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) bytes_max: u64,
    /// What the daemon's configuration calls it.
    pub(crate) setting: &'static str,
}

/// Bounds on what is read, written and listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest file that is read as a whole or edited, in bytes.
    pub edit_bytes_max: u64,
    /// Largest file of which windows are read or which is deleted, in bytes.
    pub read_bytes_max: u64,
    /// Most files in one change set.
    pub change_files_max: usize,
    /// Most bytes over all old and new contents of one change set.
    pub change_bytes_max: u64,
    /// Most names that are read from one directory.
    pub directory_names_max: usize,
    /// Largest ignore file that is heeded, in bytes.
    pub ignore_bytes_max: u64,
}

// === impl Options ===

impl Default for Options {
    fn default() -> Self {
        Self {
            resolver: None,
            limits: Limits::default(),
            same_filesystem_only: true,
            create_mode: None,
            own: Vec::new(),
            secrets: Vec::new(),
        }
    }
}

impl Limits {
    pub(crate) fn edit(&self) -> Bound {
        Bound { bytes_max: self.edit_bytes_max, setting: "files.edit_bytes_max" }
    }

    pub(crate) fn read(&self) -> Bound {
        Bound { bytes_max: self.read_bytes_max, setting: "files.read_bytes_max" }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            edit_bytes_max: 10 << 20,
            read_bytes_max: 1 << 30,
            change_files_max: 1_000,
            change_bytes_max: 256 << 20,
            directory_names_max: 200_000,
            ignore_bytes_max: 1 << 20,
        }
    }
}

// === impl Workspace ===

impl Workspace {
    /// Opens a directory as a workspace root.
    ///
    /// # Errors
    ///
    /// `Root` for what is not a directory, for `/`, `/proc`, `/sys`, `/dev` and for the home
    /// directory itself, and for a resolver that the system lacks.
    pub fn open(directory: &Path, options: Options) -> Result<Self, Error> {
        let refused =
            |reason: String| Error::Root { path: directory.display().to_string(), reason };
        let path = std::fs::canonicalize(directory).map_err(|e| refused(e.to_string()))?;
        if let Some(reason) = refusal(&path, std::env::home_dir().as_deref()) {
            return Err(refused(reason.to_owned()));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&path, flags, Mode::empty())
            .map_err(|errno| refused(errno.to_string()))?;
        let identity = handle::stat(&fd).map_err(|errno| refused(errno.to_string()))?.identity;
        let mount = Mount::of(&fd).map_err(|errno| refused(errno.to_string()))?;
        let resolver = crate::resolve::choose(&fd, options.resolver)
            .map_err(|errno| refused(format!("the kernel resolver is not available: {errno}")))?;
        let own: Vec<_> = options.own.iter().filter_map(|own| beneath(identity, own)).collect();
        let mut workspace = Self {
            #[cfg(target_os = "linux")]
            cached: crate::cached::Cached::new(&fd, resolver, options.same_filesystem_only),
            path,
            identity,
            mount,
            resolver,
            aliases: Aliases::of(&fd),
            directory: fd,
            secrets: Secrets::hold(&options.secrets),
            options,
            own: Vec::new(),
        };
        // By the names that are compared: those that listings have.
        let real = |own: RelPath| workspace.resolve(&own).map_or(own, |found| found.path);
        workspace.own = own.into_iter().map(real).collect();
        Ok(workspace)
    }

    /// Returns the canonical path of the root, for display and for ids.
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// Returns which file the root is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the resolver in use.
    pub fn resolver(&self) -> Resolver {
        self.resolver
    }

    /// Returns the bounds in use.
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Reads a path as a caller writes it: relative, or absolute beneath the root.
    ///
    /// # Errors
    ///
    /// As [`RelPath::parse`].
    pub fn path(&self, text: &str) -> Result<RelPath, Error> {
        let Some(rest) = self.path.to_str().and_then(|root| strip_root(text, root)) else {
            return Ok(RelPath::parse(text)?);
        };
        Ok(if rest.is_empty() { RelPath::root() } else { RelPath::parse(rest)? })
    }

    /// Fails where the path of the root leads to another directory than the one that was opened.
    pub(crate) fn check_root(&self) -> Result<(), Error> {
        let moved = || Error::Root {
            path: self.path.display().to_string(),
            reason: "it was moved or replaced since it was opened".to_owned(),
        };
        let now = rustix::fs::lstat(&self.path).map_err(|_| moved())?;
        if handle::Stat::new(&now).identity == self.identity { Ok(()) } else { Err(moved()) }
    }
}

/// Takes the root off an absolute path, by whole components.
fn strip_root<'a>(text: &'a str, root: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(root)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Says why a directory must not be a root, if so.
fn refusal(path: &Path, home: Option<&Path>) -> Option<&'static str> {
    let home = home.and_then(|home| std::fs::canonicalize(home).ok());
    if home.as_deref() == Some(path) {
        return Some("it is the home directory itself");
    }
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    match (names.next(), names.next()) {
        (None, _) => Some("it is the root of the file system"),
        (Some("proc" | "sys"), _) => Some("it belongs to the kernel"),
        // Shared memory is an ordinary file system that happens to live there.
        (Some("dev"), below) if below != Some("shm") => Some("it holds devices"),
        _ => None,
    }
}

/// Makes a directory relative to the root, where it lies beneath it: told by which directory the root
/// is, since file systems may take several texts for its path.
fn beneath(root: Identity, own: &Path) -> Option<RelPath> {
    let own = std::fs::canonicalize(own).unwrap_or_else(|_| own.to_owned());
    let is_root = |above: &&Path| {
        rustix::fs::stat(*above).is_ok_and(|found| handle::Stat::new(&found).identity == root)
    };
    let rest = own.strip_prefix(own.ancestors().find(is_root)?).ok()?;
    RelPath::parse(rest.to_str()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_that_hold_more_than_a_project_are_refused() {
        let home = Some(Path::new("/usr"));
        for path in ["/", "/proc", "/proc/self", "/sys/fs", "/dev", "/dev/pts", "/usr"] {
            assert!(refusal(Path::new(path), home).is_some(), "{path}");
        }
        for path in ["/usr/share", "/dev/shm/project", "/tmp/proc", "/developers"] {
            assert!(refusal(Path::new(path), home).is_none(), "{path}");
        }
    }

    #[test]
    fn absolute_paths_are_compared_by_components() {
        assert_eq!(strip_root("/w/app/x", "/w/app"), Some("x"));
        assert_eq!(strip_root("/w/app", "/w/app"), Some(""));
        assert_eq!(strip_root("/w/app-evil/x", "/w/app"), None);
        assert_eq!(strip_root("/w", "/w/app"), None);
    }
}
