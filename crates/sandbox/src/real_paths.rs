//! Where paths really lie, as one plan sees it. Most of them lie in the same few directories, and each of these is
//! followed once.
//!
//! What a plan finds may be other by the time that it is carried out, whether it looks once or twice: who mounts it or
//! makes a rule of it opens it without links.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// The real paths of what was asked for, and of the directories around it. Not to be kept for longer than a plan.
#[derive(Debug, Default)]
pub(crate) struct RealPaths(RefCell<HashMap<PathBuf, FollowedPath>>);

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FollowedPath {
    Real(PathBuf),
    /// A link is there that leads to nothing, or to where nobody can follow it.
    Lost(ErrorKind),
    /// Nothing is there, or nobody can look at it.
    Unseen(ErrorKind),
}

/// What the system says of it, where it may be a link.
fn follow_link(path: &Path) -> FollowedPath {
    match fs::canonicalize(path) {
        Ok(real) => FollowedPath::Real(real),
        Err(error) => FollowedPath::Lost(error.kind()),
    }
}

// === impl RealPaths ===

impl RealPaths {
    /// The real path of what is there; none where nobody can follow it.
    pub(crate) fn of(&self, path: &Path) -> Option<PathBuf> {
        match self.follow(path) {
            FollowedPath::Real(real) => Some(real),
            FollowedPath::Lost(_) | FollowedPath::Unseen(_) => None,
        }
    }

    /// Whether something is there, and no link on the way.
    pub(crate) fn is_real(&self, path: &Path) -> bool {
        self.of(path).is_some_and(|real| real == path)
    }

    /// Replaces the links before the last name of a path by what they lead to, as far as that is there.
    pub(crate) fn above(&self, path: &Path) -> PathBuf {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return path.to_owned();
        };
        self.of(parent).unwrap_or_else(|| self.above(parent)).join(name)
    }

    /// The real paths of what is there of some. For one that cannot be looked at, that of the innermost directory
    /// around it that can.
    pub(crate) fn reachable(
        &self,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> impl Iterator<Item = PathBuf> {
        paths.into_iter().filter_map(move |path| self.innermost(path.as_ref()))
    }

    fn innermost(&self, path: &Path) -> Option<PathBuf> {
        let closed = FollowedPath::Unseen(ErrorKind::PermissionDenied);
        let mut seen = path.ancestors().map(|around| self.follow(around));
        match seen.find(|found| *found != closed)? {
            FollowedPath::Real(real) => Some(real),
            FollowedPath::Lost(_) | FollowedPath::Unseen(_) => None,
        }
    }

    fn follow(&self, path: &Path) -> FollowedPath {
        if let Some(known) = self.0.borrow().get(path) {
            return known.clone();
        }
        let found = self.look(path);
        self.0.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }

    fn look(&self, path: &Path) -> FollowedPath {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return follow_link(path);
        };
        let parent = match self.follow(parent) {
            FollowedPath::Real(parent) => parent,
            FollowedPath::Lost(why) | FollowedPath::Unseen(why) => {
                return FollowedPath::Unseen(why);
            }
        };
        let path = parent.join(name);
        match fs::read_link(&path) {
            Ok(_) => follow_link(&path),
            // Something is there that is no link.
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                FollowedPath::Real(path)
            }
            Err(error) => FollowedPath::Unseen(error.kind()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::reached::real_of;

    /// Directories, a file, and links of every kind.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/file"), "x").unwrap();
        for (target, link) in [
            ("a", "to-a"),
            ("to-a/b", "to-b"),
            ("missing", "lost"),
            ("loop", "loop"),
            (".", "a/here"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        (directory, root)
    }

    #[test]
    fn paths_are_followed_as_the_system_follows_them() {
        let (_directory, root) = tree();
        let real = RealPaths::default();
        for name in [
            "",
            "a",
            "a/b",
            "a/file",
            "a/file/x",
            "a/none",
            "to-a",
            "to-a/b",
            "to-b",
            "to-b/none",
            "lost",
            "lost/x",
            "loop",
            "a/here/here/b",
            "a/../to-a/file",
            "to-b/..",
            "none/..",
            "a/.",
        ] {
            let path = root.join(name);
            // The second time it is known.
            for _ in 0..2 {
                assert_eq!(real.of(&path), fs::canonicalize(&path).ok(), "{name}");
                assert_eq!(real.above(&path), real_of(&path), "{name}");
            }
        }
        assert_eq!(real.of(Path::new("/")), Some("/".into()));
        assert!(real.is_real(&root.join("a/b")) && !real.is_real(&root.join("to-a/b")));
    }

    #[test]
    fn of_what_nobody_can_look_at_the_directory_around_it_is_named() {
        let (_directory, root) = tree();
        let reachable = |names: &[&str]| {
            let real = RealPaths::default();
            real.reachable(names.iter().map(|name| root.join(name))).collect::<Vec<_>>()
        };
        let found = reachable(&["to-a/file", "none", "lost", "to-b"]);
        assert_eq!(found, [root.join("a/file"), root.join("a/b")]);
        let mode = |mode| fs::set_permissions(root.join("a"), fs::Permissions::from_mode(mode));
        mode(0o000).unwrap();
        let found = reachable(&["a/b/secret", "to-a/file", "to-b"]);
        let is_open = root.join("a/file").metadata().is_ok();
        mode(0o700).unwrap();
        // Root looks at everything.
        let expected = match is_open {
            true => vec![root.join("a/file"), root.join("a/b")],
            false => vec![root.join("a"), root.join("a")],
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn what_was_found_once_is_not_looked_for_again() {
        let (_directory, root) = tree();
        let real = RealPaths::default();
        assert!(real.of(&root.join("a/b")).is_some());
        fs::rename(root.join("a"), root.join("moved")).unwrap();
        assert_eq!(real.of(&root.join("a/b")), Some(root.join("a/b")));
        assert_eq!(RealPaths::default().of(&root.join("a/b")), None);
    }
}
