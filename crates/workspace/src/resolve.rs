//! Resolution of names beneath the root: which directory holds a file, under which name, after
//! all links.
//!
//! The result is a held descriptor of that directory and a single name in it. Texts of paths are
//! for people and policies; nothing is ever opened by one again. Two resolvers give the same
//! results: [`kernel`] asks `openat2`, [`walk`] goes component by component.
//!
//! moss's own directories go through `cap_std::fs::Dir`; what is beneath a root does not. That
//! crosses mounts, has no real path for policies that is sure to be the opened file's, and cannot
//! exchange two names, as `commit` does.

#[cfg(target_os = "linux")]
pub(crate) mod kernel;
mod listed;
mod walk;

use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::Error;
use crate::handle::{self, Identity, Stat};
use crate::mount::Mount;
use crate::options::Resolver;
use crate::root::Workspace;

/// Most symbolic links on one way, as in the kernel.
pub(crate) const LINKS_MAX: usize = 40;
/// How often a way that changes under our feet is walked again.
pub(crate) const ATTEMPTS_MAX: usize = 128;

/// What a path leads to, for policies and people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The real path beneath the root, after all links. For a path that does not exist yet, the
    /// path at which it would be made.
    pub path: RelPath,
    /// What is there; none where nothing is.
    pub kind: Option<EntryKind>,
    /// Which file it is; none where nothing is.
    pub identity: Option<Identity>,
}

/// Where a path leads.
#[derive(Debug)]
pub(crate) enum PathTarget {
    Existing(ResolvedPath),
    Missing(Gap),
}

/// An existing file or directory: a name in a held directory.
#[derive(Debug)]
pub(crate) struct ResolvedPath {
    /// The directory that holds it; the root itself for the root.
    pub(crate) parent: OwnedFd,
    /// Its name there; `.` for the root.
    pub(crate) name: String,
    /// The path beneath the root, after all links.
    pub(crate) path: RelPath,
    pub(crate) stat: Stat,
}

/// A path that does not exist: the nearest existing directory and the names that are missing.
#[derive(Debug)]
pub(crate) struct Gap {
    pub(crate) directory: OwnedFd,
    /// The real path of that directory.
    pub(crate) path: RelPath,
    /// At least one name.
    pub(crate) missing: Vec<String>,
}

/// Picks the resolver: the wanted one, or the best that works here.
pub(crate) fn choose(root: &OwnedFd, wanted: Option<Resolver>) -> Result<Resolver, Errno> {
    #[cfg(target_os = "linux")]
    let probe = kernel::probe(root);
    #[cfg(not(target_os = "linux"))]
    let probe = {
        let _ = root;
        Err(Errno::NOSYS)
    };
    match (wanted, probe) {
        (Some(Resolver::Walk), _) | (None, Err(_)) => Ok(Resolver::Walk),
        (_, Ok(())) => Ok(Resolver::Kernel),
        (Some(Resolver::Kernel), Err(errno)) => Err(errno),
    }
}

// === impl Workspace ===

impl Workspace {
    /// Follows a path beneath the root and says what it leads to.
    ///
    /// # Errors
    ///
    /// `Outside`, `OtherFilesystem`, `LinkLoop`, `Dangling`, `NotADirectory`, `Unnameable` and
    /// what the system refuses.
    pub fn resolve(&self, path: &RelPath) -> Result<Resolved, Error> {
        Ok(match self.find(path)? {
            PathTarget::Existing(place) => Resolved {
                path: place.path,
                kind: Some(place.stat.kind),
                identity: Some(place.stat.identity),
            },
            PathTarget::Missing(gap) => Resolved { path: gap.real()?, kind: None, identity: None },
        })
    }

    /// Opens a directory for reading, after all links.
    pub(crate) fn open_directory(&self, path: &RelPath) -> Result<(ResolvedPath, OwnedFd), Error> {
        self.retry(path, || {
            let place = self.existing(path)?;
            if place.stat.kind != EntryKind::Directory {
                return Err(Error::NotADirectory { path: path.clone() });
            }
            let directory = self.open_place(&place, OFlags::RDONLY | OFlags::DIRECTORY)?;
            Ok((place, directory))
        })
    }

    /// Follows a path to what it leads to, or to where it would be made.
    pub(crate) fn find(&self, path: &RelPath) -> Result<PathTarget, Error> {
        for _ in 0..ATTEMPTS_MAX {
            let found = match self.resolver {
                #[cfg(target_os = "linux")]
                Resolver::Kernel => kernel::find(self, path)?,
                #[cfg(not(target_os = "linux"))]
                Resolver::Kernel => None,
                Resolver::Walk => walk::find(self, path)?,
            };
            if let Some(found) = found {
                return Ok(found);
            }
            std::thread::yield_now();
        }
        Err(unsteady(path))
    }

    /// Follows a path to something that exists.
    pub(crate) fn existing(&self, path: &RelPath) -> Result<ResolvedPath, Error> {
        match self.find(path)? {
            PathTarget::Existing(place) => Ok(place),
            PathTarget::Missing(_) => Err(Error::NotFound { path: path.clone() }),
        }
    }

    /// Opens the file at a location. Fails with `Busy` where another file has taken the name since.
    pub(crate) fn open_place(&self, place: &ResolvedPath, flags: OFlags) -> Result<OwnedFd, Error> {
        let opened = match self.resolver {
            #[cfg(target_os = "linux")]
            Resolver::Kernel => kernel::open_at(self, &place.parent, &place.name, flags),
            _ => handle::open_at(&place.parent, &place.name, flags),
        };
        let fd = match opened {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::AGAIN) => {
                return Err(unsteady(&place.path));
            }
            Err(Errno::XDEV) => {
                return Err(Error::OtherFilesystem { path: place.path.to_string() });
            }
            Err(errno) => return Err(Error::io(&place.path, "open", errno)),
        };
        let stat = handle::stat(&fd).map_err(|errno| Error::io(&place.path, "look at", errno))?;
        // By its own name the policy refuses it, with a record of that.
        if self.secrets.contains(stat.identity) && !self.is_own(&place.path) {
            return Err(Error::Secret { path: place.path.clone() });
        }
        if stat.identity == place.stat.identity { Ok(fd) } else { Err(unsteady(&place.path)) }
    }

    /// Repeats an attempt that failed because a name changed hands in its midst.
    pub(crate) fn retry<T>(
        &self,
        path: &RelPath,
        mut attempt: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        for _ in 0..ATTEMPTS_MAX {
            match attempt() {
                Err(Error::Busy { .. }) => std::thread::yield_now(),
                outcome => return outcome,
            }
        }
        Err(unsteady(path))
    }

    /// Whether a file lies on a mount that is within reach.
    pub(crate) fn reaches(&self, mount: Mount) -> bool {
        !self.options.same_filesystem_only || mount == self.mount
    }
}

fn unsteady(path: &RelPath) -> Error {
    Error::Busy { what: format!("{path} keeps changing while it is opened") }
}

// === impl Gap ===

impl Gap {
    /// The path at which the file would be made.
    pub(crate) fn real(&self) -> Result<RelPath, Error> {
        Ok(self.missing.iter().try_fold(self.path.clone(), |path, name| path.join(name))?)
    }
}
