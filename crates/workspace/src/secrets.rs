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
    named: PathBuf,
    identity: Identity,
    /// While it is held no other file gets its inode.
    file: OwnedFd,
}

// === impl Secrets ===

impl Secrets {
    /// Holds the files that there are, after all links.
    pub(crate) fn hold(paths: &[PathBuf]) -> Self {
        let hold = |path: &PathBuf| {
            let file = rustix::fs::open(path, HOLD, Mode::empty()).ok()?;
            let identity = handle::stat(&file).ok()?.identity;
            Some(SecretFile { named: path.clone(), identity, file })
        };
        Self(paths.iter().filter_map(hold).collect())
    }

    pub(crate) fn contains(&self, identity: Identity) -> bool {
        self.0.iter().any(|held| held.identity == identity)
    }

    /// Those that have another name than the one by which they were named.
    pub(crate) fn elsewhere(&self) -> impl Iterator<Item = Identity> {
        self.0.iter().filter(|held| held.is_elsewhere()).map(|held| held.identity)
    }
}

// === impl SecretFile ===

impl SecretFile {
    fn is_elsewhere(&self) -> bool {
        let links = rustix::fs::fstat(&self.file).map_or(0, |found| found.st_nlink);
        let now = rustix::fs::stat(&self.named).map(|found| handle::Stat::new(&found).identity);
        links > 1 || links > 0 && now != Ok(self.identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_elsewhere_where_it_has_two_names_or_was_moved() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["plain", "linked", "moved", "removed", "replaced"] {
            std::fs::write(path(name), name).unwrap();
        }
        let identity =
            |name: &str| handle::Stat::new(&rustix::fs::stat(path(name)).unwrap()).identity;
        let expected = [identity("linked"), identity("moved")];
        let all = ["plain", "linked", "moved", "removed", "replaced"].map(path);
        let secrets = Secrets::hold(&all);
        assert_eq!(secrets.elsewhere().count(), 0);
        std::fs::hard_link(path("linked"), path("other")).unwrap();
        std::fs::rename(path("moved"), path("renamed")).unwrap();
        std::fs::remove_file(path("removed")).unwrap();
        std::fs::rename(path("renamed"), path("again")).unwrap();
        std::fs::write(path("new"), "new").unwrap();
        std::fs::rename(path("new"), path("replaced")).unwrap();
        assert_eq!(secrets.elsewhere().collect::<Vec<_>>(), expected);
    }
}
