//! Directories that are opened where they are: nothing is made, and a link of their name is not followed.

use std::path::Path;

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::OwnDir;
use super::checked::{failed, present};
use crate::error::Error;

// === impl OwnDir ===

impl OwnDir {
    /// Opens an existing directory; `None` if it does not exist or its own name is that of a link or a file.
    ///
    /// # Errors
    ///
    /// `Own` where it belongs to somebody else or others can write it; `Io`.
    pub fn open_unlinked(path: &Path) -> Result<Option<Self>, Error> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
        let opened = present(Dir::open_ambient_dir(parent, ambient_authority()));
        let Some(parent) = opened.map_err(failed(path, "open"))? else { return Ok(None) };
        let found = present(parent.symlink_metadata(name)).map_err(failed(path, "look at"))?;
        if !found.is_some_and(|found| found.is_dir()) {
            return Ok(None);
        }
        let directory = parent.open_dir_nofollow(name).map_err(failed(path, "open"))?;
        Self::checked(path.to_owned(), directory).map(Some)
    }
}
