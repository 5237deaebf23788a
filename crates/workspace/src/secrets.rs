//! Files that are kept from everybody under whatever name: known by which file they are. A copy is
//! another file.

#![expect(clippy::disallowed_methods, reason = "secrets of moss are named by ambient paths")]

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};

use crate::handle::{self, Identity};

/// How a secret is held: without the right to read it where the system has that.
#[cfg(target_os = "linux")]
const HOLD: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
/// How a secret is held.
#[cfg(not(target_os = "linux"))]
const HOLD: OFlags = handle::READ.difference(OFlags::NOFOLLOW);

/// Secrets that there were when the workspace was opened.
#[derive(Debug)]
pub(crate) struct Secrets(Vec<SecretFile>);

#[derive(Debug)]
struct SecretFile {
    identity: Identity,
    /// While it is held no other file gets its inode.
    _file: OwnedFd,
}

// === impl Secrets ===

impl Secrets {
    /// Holds the files that there are, after all links.
    pub(crate) fn hold(paths: &[PathBuf]) -> Self {
        let hold = |path: &PathBuf| {
            let file = rustix::fs::open(path, HOLD, Mode::empty()).ok()?;
            let identity = handle::stat(&file).ok()?.identity;
            Some(SecretFile { identity, _file: file })
        };
        Self(paths.iter().filter_map(hold).collect())
    }

    pub(crate) fn contains(&self, identity: Identity) -> bool {
        self.0.iter().any(|held| held.identity == identity)
    }
}
