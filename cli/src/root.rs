//! Which directory is the workspace, as seen from where a command was started.

use std::path::{Path, PathBuf};

use moss_daemon::address::Address;
use moss_dispatch::Outcome;

use super::Session;
use super::error::CliError;

/// What marks the root of a workspace.
const ROOT_MARKS: &[&str] = &[".git", ".moss"];

/// Finds the root above a directory; the directory itself where there is no mark.
fn nearest_root(directory: &Path) -> &Path {
    directory
        .ancestors()
        .find(|ancestor| ROOT_MARKS.iter().any(|mark| ancestor.join(mark).exists()))
        .unwrap_or(directory)
}

// === impl Session ===

impl Session {
    /// The root directory of the workspace, without links in it.
    pub(super) fn root(&self) -> Result<PathBuf, CliError> {
        let unusable = |directory: &Path, why: &dyn std::fmt::Display| {
            let message = format!("the workspace {}: {why}", directory.display());
            CliError::new(Outcome::Invalid, "workspace_unusable", message)
        };
        let (start, named) = match &self.global.workspace {
            Some(directory) => (directory.clone(), true),
            #[expect(clippy::disallowed_methods, reason = "where the person at the terminal is")]
            None => (std::env::current_dir()?, false),
        };
        let start = start.canonicalize().map_err(|error| unusable(&start, &error))?;
        if !start.is_dir() {
            return Err(unusable(&start, &"not a directory"));
        }
        Ok(if named { start } else { nearest_root(&start).to_owned() })
    }

    /// The current directory and the root above it, without links, where it lies in the workspace and is
    /// not its root.
    pub(super) fn here(&self) -> Option<(PathBuf, PathBuf)> {
        if matches!(self.global.remote.server, Some(Address::Tcp(_))) {
            return None;
        }
        #[expect(clippy::disallowed_methods, reason = "where the person at the terminal is")]
        let directory = std::env::current_dir().ok()?.canonicalize().ok()?;
        let root = self.root().ok()?;
        (directory != root && directory.starts_with(&root)).then_some((directory, root))
    }

    /// The root directory of the workspace as the daemon that was named knows it; none for its only
    /// one. A directory of another machine is taken as it is written.
    pub(super) fn named_root(&self) -> Result<Option<PathBuf>, CliError> {
        match &self.global.remote.server {
            Some(Address::Tcp(_)) => Ok(self.global.workspace.clone()),
            _ => self.root().map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_the_nearest_directory_with_a_mark() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(dir.path().join("a/.moss")).unwrap();
        assert_eq!(nearest_root(&deep), dir.path().join("a"));
        // A work tree that is linked has a file of that name.
        std::fs::write(dir.path().join("a/b/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(nearest_root(&deep), dir.path().join("a/b"));
    }
}
