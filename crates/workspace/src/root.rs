//! The opened root of a workspace: what it is and holds.

use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use moss_sdk::RelPath;
use moss_sdk::path::{COMPONENTS_MAX, PATH_BYTES_MAX};

use crate::aliases::Aliases;
#[cfg(target_os = "linux")]
use crate::cached::Cached;
use crate::error::Error;
use crate::handle::Identity;
use crate::mount::Mount;
use crate::options::{FileLimits, Resolver, WorkspaceOptions};
use crate::secrets::Secrets;

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
    pub(crate) options: WorkspaceOptions,
    /// moss's own directories, where they lie beneath the root.
    pub(crate) own: Vec<RelPath>,
    /// Files that are not opened under any name.
    pub(crate) secrets: Secrets,
    #[cfg(target_os = "linux")]
    pub(crate) cached: Cached,
}

// === impl Workspace ===

impl Workspace {
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
    pub fn limits(&self) -> &FileLimits {
        &self.options.limits
    }

    /// Reads a path as a caller writes it: relative, or absolute beneath the root, also where it comes
    /// there through a link that lies outside.
    ///
    /// # Errors
    ///
    /// As [`RelPath::parse`].
    pub fn path(&self, text: &str) -> Result<RelPath, Error> {
        let Some(rest) = self.path.to_str().and_then(|root| strip_root(text, root)) else {
            return match self.through_link(text) {
                Some(path) => Ok(RelPath::parse(&path)?),
                None => Ok(RelPath::parse(text)?),
            };
        };
        Ok(if rest.is_empty() { RelPath::root() } else { RelPath::parse(rest)? })
    }

    /// The path beneath the root of an absolute one that a link outside leads there. Only the way to the
    /// root is followed here: the rest is, when the path is opened beneath it.
    #[expect(
        clippy::disallowed_methods,
        reason = "finds the root only: what lies beneath it is resolved when it is opened"
    )]
    fn through_link(&self, text: &str) -> Option<String> {
        let path = Path::new(text);
        let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
        if !path.is_absolute()
            || text.len() > PATH_BYTES_MAX
            || text.contains('\0')
            || !path.components().all(is_plain)
        {
            return None;
        }
        let above: Vec<&Path> = path.ancestors().take(COMPONENTS_MAX).collect();
        for prefix in above.into_iter().rev() {
            let real = prefix.canonicalize().ok()?;
            if let Ok(beneath) = real.strip_prefix(&self.path) {
                let rest = path.strip_prefix(prefix).ok()?;
                let joined = beneath.join(rest);
                let joined = joined.to_str()?;
                return Some(if joined.is_empty() { ".".to_owned() } else { joined.to_owned() });
            }
        }
        None
    }
}

/// Takes the root off an absolute path, by whole components.
fn strip_root<'a>(text: &'a str, root: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(root)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "tests lay out their own files")]
    fn absolute_paths_through_links_into_the_workspace_are_those_beneath_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(at("work/src")).unwrap();
        std::fs::create_dir(at("other")).unwrap();
        for (target, link) in [("work", "link"), ("work/src", "deep"), ("other", "work/out")] {
            std::os::unix::fs::symlink(at(target), at(link)).unwrap();
        }
        let files = Workspace::open(&at("work"), WorkspaceOptions::default()).unwrap();
        let path = |text: &str| files.path(at(text).to_str().unwrap());
        for (text, expected) in [
            ("link", "."),
            ("link/a.txt", "a.txt"),
            ("link/src/new/b.txt", "src/new/b.txt"),
            ("deep/c.txt", "src/c.txt"),
            // What follows beneath the root is for the resolver.
            ("link/out/d.txt", "out/d.txt"),
        ] {
            assert_eq!(path(text).unwrap().as_str(), expected, "{text}");
        }
        for text in ["other", "other/a.txt", "missing/a.txt", "link/../other/a.txt"] {
            assert!(path(text).is_err(), "{text}");
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
