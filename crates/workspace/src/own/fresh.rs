//! Directories that are made anew for each use, since a command writes there: whatever it made of one, the next begins
//! with an empty one.

use std::path::{Path, PathBuf};

use super::OwnDir;
use super::checked::{failed, refused};
use crate::error::Error;
use crate::temp_name::temp_name;

// === impl OwnDir ===

impl OwnDir {
    /// Makes an empty, private directory in the stead of what has its name, with its missing parents. What is there
    /// and cannot be removed is moved aside: where to, is returned.
    ///
    /// # Errors
    ///
    /// As [`OwnDir::create`] for the directory that it lies in; `Io` where what is there cannot be moved, either.
    pub fn fresh(path: &Path) -> Result<(Self, Option<PathBuf>), Error> {
        let named = path.parent().zip(path.file_name().and_then(|name| name.to_str()));
        let (parent, name) =
            named.ok_or_else(|| refused(path, "is not the path of a directory"))?;
        let parent = Self::create(parent)?;
        let mut aside = None;
        if moss_removal::remove(&parent.directory, name.as_ref()).is_err() {
            let temp = temp_name()?;
            let moved = parent.directory.rename(name, &parent.directory, &temp);
            moved.map_err(failed(path, "move aside"))?;
            aside = Some(parent.path.join(temp));
        }
        Ok((parent.subdirectory(name)?, aside))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_directory_is_made_anew_whatever_became_of_it() {
        let temp = tempfile::tempdir().unwrap();
        let (path, kept) = (temp.path().join("reports/one"), temp.path().join("kept"));
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "kept").unwrap();
        let spoil: [&dyn Fn(); 5] = [
            &|| {},
            &|| fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap(),
            &|| fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap(),
            &|| {
                fs::remove_dir(&path).unwrap();
                symlink(&kept, &path).unwrap();
            },
            &|| {
                fs::remove_dir(&path).unwrap();
                fs::write(&path, "").unwrap();
            },
        ];
        for spoil in spoil {
            let (own, aside) = OwnDir::fresh(&path).unwrap();
            assert_eq!((own.path(), aside), (path.as_path(), None));
            own.write("report", b"1").unwrap();
            let (own, _) = OwnDir::fresh(&path).unwrap();
            assert!(own.files().unwrap().is_empty());
            let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
            spoil();
        }
        OwnDir::fresh(&path).unwrap();
        assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "kept");
    }
}
