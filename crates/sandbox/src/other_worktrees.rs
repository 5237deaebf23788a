//! What git rewrites of its own accord in other worktrees than that of a command: `HEAD`, `index` and all else in the
//! directory of one. Where nothing keeps it from the command nobody knows who has changed it, and most likely it was
//! the git of a person, or of another command. So a change is noticed, and never restored.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::content_before::ContentBefore;
use crate::reached::real_of;

/// In the directory of a linked worktree: the file that names its `.git`.
pub(crate) const LEADS_BACK: &str = "gitdir";

/// Paths, by what shows whether they changed.
#[derive(Debug, Default)]
pub(crate) struct NoticedPaths(Vec<NoticedPath>);

#[derive(Debug)]
struct NoticedPath {
    path: PathBuf,
    real: PathBuf,
    before: ContentBefore,
}

/// Whether the directory of a linked worktree was removed together with the worktree, by what its [`LEADS_BACK`] held: no
/// `.git` leads to it any more. What lies where the command writes, that may have removed.
pub(crate) fn is_removed(
    directory: &Path,
    leads_back: &ContentBefore,
    writes: impl Fn(&Path) -> bool,
) -> bool {
    let ContentBefore::File { bytes, .. } = leads_back else { return false };
    let dot_git = Path::new(OsStr::from_bytes(bytes.trim_ascii_end()));
    dot_git.is_absolute() && !writes(dot_git) && is_gone(directory) && is_gone(dot_git)
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

// === impl NoticedPaths ===

impl NoticedPaths {
    /// Looks at the paths that lie where a command writes.
    pub(crate) fn look(paths: Vec<PathBuf>, written: &[PathBuf]) -> Self {
        let looked = paths.into_iter().map(|path| {
            let real = real_of(&path);
            NoticedPath { before: ContentBefore::known_at(&real), path, real }
        });
        let is_written = |one: &NoticedPath| written.iter().any(|root| one.real.starts_with(root));
        Self(looked.filter(is_written).collect())
    }

    /// Those that changed, as far as anybody can look at them.
    pub(crate) fn changed(&self) -> Vec<PathBuf> {
        let known = self.0.iter().filter(|one| one.before != ContentBefore::Unknown);
        let changed = known.filter(|one| !one.before.is_at(&one.real));
        changed.map(|one| one.path.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_worktree_was_removed_where_no_git_file_of_the_person_leads_to_its_directory() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (there, gone) = (root.join("there"), root.join("gone"));
        fs::write(&there, "").unwrap();
        let removed = |directory: &Path, dot_git: &Path, written: &Path| {
            let bytes = format!("{}\n", dot_git.display()).into_bytes();
            let leads_back = ContentBefore::File { bytes, mode: 0o644 };
            is_removed(directory, &leads_back, |path| path.starts_with(written))
        };
        assert!(removed(&gone, &gone.join(".git"), &there));
        assert!(!removed(&there, &gone.join(".git"), &there), "its directory is there");
        assert!(!removed(&gone, &there, &gone), "something leads to it");
        assert!(!removed(&gone, &gone.join(".git"), &root), "a command may have removed that");
        assert!(!removed(&gone, Path::new("../gone/.git"), &there), "nobody knows where it is");
        assert!(!is_removed(&gone, &ContentBefore::Missing, |_| false));
    }
}
