//! One protected path that nothing keeps from being changed while a command runs, and how it is restored afterwards. What a
//! command made in its stead is set aside.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::aside::{move_aside, set_aside_in};
use crate::content_before::ContentBefore;
use crate::reached::{ReachedDirectory, real_of};

/// A protected path, and what it held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptPath {
    pub(crate) path: PathBuf,
    /// The same without links before the last name: only there anything is restored.
    pub(crate) real: PathBuf,
    /// What commands write that it lies in: nothing around that is touched.
    pub(crate) root: PathBuf,
    pub(crate) before: ContentBefore,
}

// === impl KeptPath ===

impl KeptPath {
    /// Restores it; `false` where that is not possible.
    pub(crate) fn restore(&self) -> bool {
        // A link above it is a command's: there was a directory.
        if !self.before.can_be_restored() || self.set_aside_links().is_err() {
            return false;
        }
        if move_aside(&self.real).is_err() {
            return false;
        }
        let written = self.write();
        if written.is_err() {
            // On a full disk: half of it would be taken for the whole.
            remove(&self.real);
        }
        // A link that had led here and leads elsewhere now is nobody's to guess.
        written.is_ok() && real_of(&self.path) == self.real
    }

    /// Moves away links, and whatever else is no directory, between what commands write and this. What lies around
    /// that is the person's: a link there is left, and nothing is restored behind it.
    fn set_aside_links(&self) -> io::Result<()> {
        let within = |path: &&Path| path.starts_with(&self.root) && *path != self.root;
        let mut above: Vec<&Path> = self.real.ancestors().skip(1).filter(within).collect();
        above.reverse();
        for around in above {
            let Ok((directory, name)) = ReachedDirectory::above(around) else { continue };
            if directory.stat(name).is_ok_and(|found| found.kind != FileType::Directory) {
                return set_aside_in(&directory, name);
            }
        }
        Ok(())
    }

    fn write(&self) -> io::Result<()> {
        if self.before == ContentBefore::Missing {
            return Ok(());
        }
        let (directory, name) = ReachedDirectory::made_above(&self.real)?;
        self.before.write(&directory, name)
    }
}

/// Removes what was written of a path.
fn remove(path: &Path) {
    // What cannot be removed stays as what could not be restored.
    let _ = ReachedDirectory::above(path).and_then(|(directory, name)| directory.remove(name));
}
