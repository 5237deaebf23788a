//! Opening a workspace: which directories it refuses to be, what it holds from then on, and whether
//! its path still leads there.
//!
//! This is the only place that opens a workspace file by an ambient path, once: the root itself.

#![expect(clippy::disallowed_methods, reason = "a root is named by an ambient path")]

use std::path::{Component, Path};

use moss_sdk::RelPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::aliases::Aliases;
#[cfg(target_os = "linux")]
use crate::cached::Cached;
use crate::error::Error;
use crate::handle::{self, Identity};
use crate::mount::Mount;
use crate::options::WorkspaceOptions;
use crate::resolve;
use crate::root::Workspace;
use crate::secrets::Secrets;

// === impl Workspace ===

impl Workspace {
    /// Opens a directory as a workspace root.
    ///
    /// # Errors
    ///
    /// `Root` for what is not a directory, for `/`, `/proc`, `/sys`, `/dev` and for the home
    /// directory itself, and for a resolver that the system lacks.
    pub fn open(directory: &Path, options: WorkspaceOptions) -> Result<Self, Error> {
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
        let resolver = resolve::choose(&fd, options.resolver)
            .map_err(|errno| refused(format!("the kernel resolver is not available: {errno}")))?;
        let own: Vec<_> = options.own.iter().filter_map(|own| beneath(identity, own)).collect();
        let mut workspace = Self {
            #[cfg(target_os = "linux")]
            cached: Cached::new(&fd, resolver, options.same_filesystem_only),
            large_texts: Default::default(),
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

    /// Looks whether the path of the root still leads to the directory that was opened. May wait for a disk where
    /// the workspace is not [local](Self::is_local).
    ///
    /// # Errors
    ///
    /// `RootReplaced`; `Io` where the path cannot be looked at.
    pub fn check_root(&self) -> Result<(), Error> {
        let path = self.path.display();
        let found = rustix::fs::lstat(&self.path).map(|found| handle::Stat::new(&found).identity);
        match found {
            Ok(identity) if identity == self.identity => Ok(()),
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                Err(Error::RootReplaced { path: path.to_string() })
            }
            Err(errno) => Err(Error::io(&path, "look at", errno)),
        }
    }

    /// Whether the workspace is known to lie on a file system of this machine.
    pub fn is_local(&self) -> bool {
        #[cfg(target_os = "linux")]
        let is_local = self.cached.works();
        #[cfg(not(target_os = "linux"))]
        let is_local = false;
        is_local
    }
}

/// Says why a directory must not be a root, if so.
fn refusal(path: &Path, home: Option<&Path>) -> Option<&'static str> {
    let home = home.and_then(|home| std::fs::canonicalize(home).ok());
    if home.as_deref() == Some(path) {
        return Some("it is the home directory itself");
    }
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    match (names.next().as_deref(), names.next().as_deref()) {
        (None, _) => Some("it is the root of the file system"),
        (Some("proc" | "sys"), _) => Some("it belongs to the kernel"),
        // Shared memory is an ordinary file system that happens to live there.
        (Some("dev"), below) if below != Some("shm") => Some("it holds devices"),
        _ => None,
    }
}

/// Makes a directory relative to the root, where it lies beneath it: known by which directory the
/// root is, since file systems may take several texts for its path.
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
    fn a_directory_of_the_root_counts_whatever_it_is_called() {
        use std::os::unix::ffi::OsStrExt as _;

        for (path, expected) in [
            (&b"/\xff"[..], None),
            (b"/\xff/proc", None),
            (b"/dev/\xff/shm", Some("it holds devices")),
        ] {
            let path = Path::new(std::ffi::OsStr::from_bytes(path));
            assert_eq!(refusal(path, None), expected, "{}", path.display());
        }
    }
}
