//! Directories that are made where they are missing: private from the first instant, and durable, so that nothing
//! that is made durable in them later is lost with them. And files that others open by their names.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use cap_std::fs::FileType;

use super::checked::check;
use super::{OwnDir, PRIVATE_DIRECTORY};
use crate::error::Error;

/// Makes a directory and its missing parents.
pub(super) fn make(path: &Path) -> io::Result<()> {
    make_syncing(path, &sync)
}

/// As [`make`], with what makes the names in a directory durable.
fn make_syncing(path: &Path, sync: &dyn Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let parent = above.unwrap_or(Path::new("."));
    let make_one = || DirBuilder::new().mode(PRIVATE_DIRECTORY).create(path);
    let made = match make_one() {
        Err(error) if error.kind() == ErrorKind::NotFound && parent != path => {
            make_syncing(parent, sync)?;
            make_one()
        }
        made => made,
    };
    match made {
        Ok(()) => sync(parent),
        Err(_) if path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes the names in a directory durable; not in one that only others may read, as that of a system may be.
fn sync(directory: &Path) -> io::Result<()> {
    match File::open(directory) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        opened => opened?.sync_all(),
    }
}

// === impl OwnDir ===

impl OwnDir {
    /// Makes an empty file where it is missing. One that is there is not opened: to close it would give up the locks
    /// that this process has on it, such as SQLite's.
    ///
    /// # Errors
    ///
    /// `Own` where it is not a regular file of the user; `Io`.
    pub(crate) fn make_file(&self, name: &str) -> Result<(), Error> {
        match self.find(name)? {
            Some(found) => check(&self.path.join(name), &found, FileType::file()),
            None => self.append(name).map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn each_directory_that_is_made_is_made_durable_from_above() {
        let temp = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "a/b", "a/b/c"].map(|name| temp.path().join(name));
        let synced = RefCell::new(Vec::<PathBuf>::new());
        let note = |directory: &Path| -> io::Result<()> {
            synced.borrow_mut().push(directory.to_owned());
            Ok(())
        };
        make_syncing(&c, &note).unwrap();
        assert_eq!(synced.take(), [temp.path(), a.as_path(), b.as_path()]);
        // What is there was made before.
        make_syncing(&c, &note).unwrap();
        assert!(synced.take().is_empty());
    }

    #[test]
    fn a_directory_that_may_be_lost_is_not_reported_as_made() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a/b");
        let refuse = |_: &Path| -> io::Result<()> { Err(ErrorKind::StorageFull.into()) };
        assert_eq!(make_syncing(&path, &refuse).unwrap_err().kind(), ErrorKind::StorageFull);
        fs::write(temp.path().join("file"), "").unwrap();
        assert!(
            make(&temp.path().join("file")).is_err() && make(&temp.path().join("file/a")).is_err()
        );
    }
}
