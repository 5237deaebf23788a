//! Trees of files that moss makes for a program and removes afterwards. What the program made of one is not
//! trusted: nothing is read there, and no link in it leads out of it.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, OpenOptionsExt as _};
use moss_sdk::RelPath;

use super::checked::{PRIVATE, failed, options, present};
use super::{OwnDir, PRIVATE_DIRECTORY};
use crate::error::Error;
use crate::temp_name::temp_name;

/// A directory under a name of its own; removed with all that is in it when dropped.
#[derive(Debug)]
pub struct ScratchTree {
    /// Its path with all links resolved.
    path: PathBuf,
    name: String,
    parent: Dir,
    directory: Dir,
}

// === impl OwnDir ===

impl OwnDir {
    /// Makes an empty tree in it. Trees that a crash left are removed when they are older than `age_max`.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn scratch_tree(&self, age_max: Duration) -> Result<ScratchTree, Error> {
        self.remove_trees(age_max);
        let name = temp_name()?;
        let path = self.path.join(&name);
        let make = || {
            self.directory.create_dir_with(&name, DirBuilder::new().mode(PRIVATE_DIRECTORY))?;
            let directory = self.directory.open_dir_nofollow(&name)?;
            Ok((self.directory.try_clone()?, directory, std::fs::canonicalize(&path)?))
        };
        let (parent, directory, path) = make().map_err(failed(&path, "create"))?;
        Ok(ScratchTree { path, name, parent, directory })
    }

    /// Removes what can be removed: the next one tries again.
    fn remove_trees(&self, age_max: Duration) {
        for entry in self.directory.entries().into_iter().flatten().flatten() {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let age =
                modified.map(|modified| SystemTime::now().duration_since(modified.into_std()));
            if let Ok(Ok(age)) = age
                && age > age_max
            {
                let _ = moss_removal::remove(&self.directory, &entry.file_name());
            }
        }
    }
}

// === impl ScratchTree ===

impl ScratchTree {
    /// Its real path, for the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file, in place of what is there, with the directories that it lies in.
    ///
    /// # Errors
    ///
    /// `Io`, also where a link is in its way.
    pub fn write(&self, path: &RelPath, bytes: &[u8], is_executable: bool) -> Result<(), Error> {
        let whole = self.path.join(path.as_str());
        let failed = failed(&whole, "write");
        if let Some(parent) = path.parent().filter(|parent| !parent.is_root()) {
            self.directory.create_dir_all(parent.as_str()).map_err(&failed)?;
        }
        let mode = if is_executable { PRIVATE_DIRECTORY } else { PRIVATE };
        let mut options = options();
        options.write(true).create(true).truncate(true).mode(mode);
        let opened = self.directory.open_with(path.as_str(), &options);
        opened.and_then(|mut file| file.write_all(bytes)).map_err(failed)
    }

    /// Makes a link to what lies outside, with the directories that it lies in; what is there stays.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn link(&self, path: &RelPath, target: &Path) -> Result<(), Error> {
        let whole = self.path.join(path.as_str());
        let failed = failed(&whole, "link");
        if let Some(parent) = path.parent().filter(|parent| !parent.is_root()) {
            self.directory.create_dir_all(parent.as_str()).map_err(&failed)?;
        }
        match self.directory.symlink_contents(target, path.as_str()) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made.map_err(failed),
        }
    }

    /// Removes a file; a missing one is fine.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn remove(&self, path: &RelPath) -> Result<(), Error> {
        let removed = present(self.directory.remove_file(path.as_str()));
        let whole = self.path.join(path.as_str());
        removed.map(drop).map_err(failed(&whole, "remove"))
    }
}

impl Drop for ScratchTree {
    fn drop(&mut self) {
        let _ = moss_removal::remove(&self.parent, self.name.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    #[test]
    fn a_tree_is_written_and_removed_and_no_link_leads_out_of_it() {
        let temp = tempfile::tempdir().unwrap();
        let outside = temp.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "kept").unwrap();
        let own = OwnDir::create(&temp.path().join("own")).unwrap();
        let tree = own.scratch_tree(Duration::from_secs(3_600)).unwrap();
        tree.write(&path("a/b.txt"), b"one", false).unwrap();
        tree.write(&path("a/b.txt"), b"2", false).unwrap();
        tree.write(&path("bin/run"), b"#!", true).unwrap();
        tree.link(&path("libs"), &outside).unwrap();
        tree.link(&path("a"), &outside).unwrap();
        assert_eq!(fs::read(tree.path().join("a/b.txt")).unwrap(), b"2");
        assert_eq!(fs::read(tree.path().join("libs/kept")).unwrap(), b"kept");
        let mode = fs::metadata(tree.path().join("bin/run")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        // A program puts a link where moss writes, and where it makes a directory.
        fs::remove_file(tree.path().join("a/b.txt")).unwrap();
        symlink(outside.join("kept"), tree.path().join("a/b.txt")).unwrap();
        tree.write(&path("a/b.txt"), b"escaped", false).unwrap_err();
        tree.write(&path("libs/new"), b"escaped", false).unwrap_err();
        tree.remove(&path("a/b.txt")).unwrap();
        tree.remove(&path("a/b.txt")).unwrap();
        assert_eq!(fs::read(outside.join("kept")).unwrap(), b"kept");
        assert!(!outside.join("new").exists());
        let gone = tree.path().to_owned();
        drop(tree);
        assert!(!gone.exists() && outside.join("kept").exists());
    }

    #[test]
    fn what_a_crash_left_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let own = OwnDir::create(&temp.path().join("own")).unwrap();
        let left = own.scratch_tree(Duration::from_secs(3_600)).unwrap();
        let young = own.scratch_tree(Duration::from_secs(3_600)).unwrap();
        let old = SystemTime::now() - Duration::from_secs(7_200);
        fs::File::open(left.path()).unwrap().set_modified(old).unwrap();
        let new = own.scratch_tree(Duration::from_secs(3_600)).unwrap();
        assert!(!left.path().exists() && young.path().exists() && new.path().exists());
    }
}
