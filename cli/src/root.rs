//! Which directory is the workspace, as seen from where a command was started.

use std::path::{Component, Path, PathBuf};

use moss_dispatch::Outcome;
use moss_grpc::address::Address;

use super::Session;
use super::error::CliError;
use super::example::quoted;

/// What marks the root of a workspace.
const ROOT_MARKS: &[&str] = &[".git", ".moss"];

/// Finds the root above a directory; the directory itself where there is no mark.
pub(super) fn nearest_root(directory: &Path) -> &Path {
    directory.ancestors().find(|ancestor| is_marked(ancestor)).unwrap_or(directory)
}

/// Whether a directory has a mark of a root.
pub(super) fn is_marked(directory: &Path) -> bool {
    ROOT_MARKS.iter().any(|mark| directory.join(mark).exists())
}

/// The path from the root of an absolute one that a link outside leads beneath the root; none for any
/// other. Only the way to the root is followed: what comes after is the daemon's to resolve.
pub(super) fn through_link(text: &str, root: &Path) -> Option<String> {
    let path = Path::new(text);
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    if !path.is_absolute() || path.starts_with(root) || !path.components().all(is_plain) {
        return None;
    }
    let above: Vec<&Path> = path.ancestors().collect();
    let beneath = above.into_iter().rev().find_map(|prefix| {
        let real = prefix.canonicalize().ok()?;
        let rest = path.strip_prefix(prefix).ok()?;
        Some(real.strip_prefix(root).ok()?.join(rest))
    })?;
    let text = beneath.to_str()?;
    Some(if text.is_empty() { ".".to_owned() } else { text.to_owned() })
}

/// What somebody is shown whose directory was removed or closed beneath them.
fn nowhere(error: &std::io::Error) -> CliError {
    let message = format!("the current directory cannot be used: {error}");
    CliError::new(Outcome::Invalid, "workspace_unusable", message)
        .hint("change to a directory that is there, or name the workspace with --workspace")
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
            None => (std::env::current_dir().map_err(|error| nowhere(&error))?, false),
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
        let root = self.local_root()?;
        #[expect(clippy::disallowed_methods, reason = "where the person at the terminal is")]
        let directory = std::env::current_dir().ok()?.canonicalize().ok()?;
        (directory != root && directory.starts_with(&root)).then_some((directory, root))
    }

    /// A command that works on the same workspace of the same daemon: typed in the same directory where none is named.
    pub(super) fn elsewhere(&self, command: &str) -> String {
        let options = self.global.remote.of_a_caller().unwrap_or_default().into_iter();
        let named = self.global.workspace.as_deref().map(|named| {
            let absolute = std::path::absolute(named).unwrap_or_else(|_| named.to_owned());
            ("--workspace", absolute.into_os_string())
        });
        options.chain(named).fold(command.to_owned(), |command, (option, value)| {
            format!("{command} {option} {}", quoted(&value.to_string_lossy()))
        })
    }

    /// The root directory, where it is one of this machine.
    pub(super) fn local_root(&self) -> Option<PathBuf> {
        match self.global.remote.server {
            Some(Address::Tcp(_)) => None,
            _ => self.root().ok(),
        }
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
    fn absolute_paths_through_links_are_those_beneath_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(at("work/src")).unwrap();
        std::fs::create_dir(at("other")).unwrap();
        for (target, link) in [("work", "link"), ("work/src", "deep"), ("other", "work/out")] {
            std::os::unix::fs::symlink(at(target), at(link)).unwrap();
        }
        let path = |text: &str| through_link(at(text).to_str().unwrap(), &at("work"));
        for (text, expected) in [
            ("link", "."),
            ("link/a.txt", "a.txt"),
            ("link/src/new/b.txt", "src/new/b.txt"),
            ("deep/c.txt", "src/c.txt"),
            // What follows beneath the root is the daemon's to resolve.
            ("link/out/d.txt", "out/d.txt"),
        ] {
            assert_eq!(path(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["other", "other/a.txt", "missing/a.txt", "link/../other/a.txt", "work/a.txt"] {
            assert_eq!(path(text), None, "{text}");
        }
        assert_eq!(through_link("link/a.txt", &at("work")), None);
    }

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
