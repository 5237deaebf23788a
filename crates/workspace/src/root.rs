//! The opened root of a workspace: what it is and holds.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use moss_sdk::RelPath;

use crate::aliases::Aliases;
#[cfg(target_os = "linux")]
use crate::cached::Cached;
use crate::error::Error;
use crate::handle::Identity;
use crate::large_texts::LargeTextTurns;
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
    pub(crate) large_texts: LargeTextTurns,
}

/// Names a root directory as text that no other root has: its path, or where that is not UTF-8 its `file` URI, which
/// escapes the rest. On the wire a workspace is called so.
pub fn name_of_root(root: &Path) -> String {
    if let Some(path) = root.to_str() {
        return path.to_owned();
    }
    let mut uri = "file://".to_owned();
    for &byte in root.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

// === impl Workspace ===

impl Workspace {
    /// Returns the canonical path of the root; [`name_of_root`] makes a text of it that names it.
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// Returns which file the root is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the secrets that have another name than the one by which they were named, which may lie anywhere.
    pub fn secrets_elsewhere(&self) -> impl Iterator<Item = Identity> {
        self.secrets.elsewhere()
    }

    /// Returns the resolver in use.
    pub fn resolver(&self) -> Resolver {
        self.resolver
    }

    /// Returns the bounds in use.
    pub fn limits(&self) -> &FileLimits {
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
}

/// Takes the root off an absolute path, by whole components.
fn strip_root<'a>(text: &'a str, root: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(root)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn roots_that_are_not_utf_8_have_names_of_their_own() {
        let named = |path: &[u8]| name_of_root(Path::new(OsStr::from_bytes(path)));
        assert_eq!(named("/w/a b%FF/é".as_bytes()), "/w/a b%FF/é");
        assert_eq!(named(b"/w/a b%\xff/\xc3\xa9"), "file:///w/a%20b%25%FF/%C3%A9");
        assert_eq!(named(b"/w/a b%\xfe"), "file:///w/a%20b%25%FE");
    }

    #[test]
    fn absolute_paths_are_compared_by_components() {
        assert_eq!(strip_root("/w/app/x", "/w/app"), Some("x"));
        assert_eq!(strip_root("/w/app", "/w/app"), Some(""));
        assert_eq!(strip_root("/w/app-evil/x", "/w/app"), None);
        assert_eq!(strip_root("/w", "/w/app"), None);
    }
}
