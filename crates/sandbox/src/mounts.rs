//! The mounts of which what a command sees is built.

use std::path::{Path, PathBuf};

/// One mount, at the same path inside as outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlannedMount {
    /// A link of the system, as it is.
    Link { target: PathBuf, at: PathBuf },
    /// A file or directory that is read.
    Readable(PathBuf),
    /// One that is written to, too.
    Writable(PathBuf),
    /// A cache: its real path, and the name that the command knows it by. Where a link has taken either name by the
    /// time that it is mounted, it is left out.
    Cache { real: PathBuf, at: PathBuf, is_writable: bool },
    /// An empty directory in memory.
    Scratch(PathBuf),
    /// All there is, as its user has it.
    Everything,
    /// A file of moss's that is seen in the place of another one, and not written.
    Copy { from: PathBuf, at: PathBuf },
    /// A file that cannot be read.
    MaskedFile(PathBuf),
    /// A socket that cannot be reached, in what commands do not write: it may be gone by the time that it is mounted.
    MaskedSocket(PathBuf),
    /// A directory that cannot be entered.
    MaskedDirectory(PathBuf),
}

// === impl PlannedMount ===

impl PlannedMount {
    /// The path that it is mounted at, within the sandbox.
    pub(crate) fn at(&self) -> &Path {
        match self {
            Self::Link { at, .. } | Self::Cache { at, .. } | Self::Copy { at, .. } => at,
            Self::Readable(path)
            | Self::Writable(path)
            | Self::Scratch(path)
            | Self::MaskedFile(path)
            | Self::MaskedSocket(path)
            | Self::MaskedDirectory(path) => path,
            Self::Everything => Path::new("/"),
        }
    }

    /// The file or directory that it shows.
    pub(crate) fn source(&self) -> Option<&Path> {
        match self {
            Self::Readable(path) | Self::Writable(path) | Self::Cache { real: path, .. } => {
                Some(path)
            }
            _ => None,
        }
    }

    /// Whether it keeps something from being read.
    pub(crate) fn is_mask(&self) -> bool {
        matches!(self, Self::MaskedFile(_) | Self::MaskedSocket(_) | Self::MaskedDirectory(_))
    }

    /// Whether what is seen through it is what is there outside.
    pub(crate) fn shows_host(&self) -> bool {
        self.is_writable() || matches!(self, Self::Readable(_) | Self::Cache { .. })
    }

    /// Whether a command can rename and replace what lies in it.
    pub(crate) fn is_writable(&self) -> bool {
        matches!(self, Self::Writable(_) | Self::Cache { is_writable: true, .. } | Self::Everything)
    }

    /// Whether another command could put a link in the stead of what it shows; `before` are those that come before it.
    pub(crate) fn may_be_replaced(&self, before: &[Self]) -> bool {
        let nested = |path: &Path| {
            let mut writable = before.iter().filter(|one| one.is_writable());
            writable.any(|one| path.starts_with(one.at()))
        };
        self.is_cache() || matches!(self, Self::Writable(_)) || self.source().is_some_and(nested)
    }

    /// Whether a command runs without it where it cannot be mounted.
    pub(crate) fn is_cache(&self) -> bool {
        matches!(self, Self::Cache { .. })
    }
}
