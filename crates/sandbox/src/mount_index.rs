//! By which of many mounts a path is seen: the last one that it lies in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::mounts::PlannedMount;

/// The places of mounts in their order, by where they are.
#[derive(Debug, Default)]
pub(crate) struct MountIndex(HashMap<PathBuf, usize>);

// === impl MountIndex ===

impl MountIndex {
    pub(crate) fn of(mounts: &[PlannedMount]) -> Self {
        let mut index = Self::default();
        for (place, mount) in mounts.iter().enumerate() {
            index.add(mount.at(), place);
        }
        index
    }

    /// Adds a mount that comes after all others.
    pub(crate) fn add(&mut self, at: &Path, place: usize) {
        self.0.insert(at.to_owned(), place);
    }

    /// The place of the mount by which a path is seen.
    pub(crate) fn find(&self, path: &Path) -> Option<usize> {
        path.ancestors().filter_map(|above| self.0.get(above)).max().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mount_that_a_path_lies_in_is_found() {
        let at = |path: &str| PlannedMount::Readable(path.into());
        let mounts = [at("/a/b"), at("/a"), at("/a/b/c"), at("/a/b")];
        let index = MountIndex::of(&mounts);
        let find = |path: &str| index.find(Path::new(path));
        assert_eq!(find("/a/x"), Some(1));
        assert_eq!(find("/a/b"), Some(3));
        // It was hidden by what came after it.
        assert_eq!(find("/a/b/c/d"), Some(3));
        assert_eq!(find("/b"), None);
    }
}
