//! The plugin lists as files that moss edits: one change at a time over all processes, whole or not
//! at all, and only where the list is still what the change was made on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use moss_plugin_list::ListEdit;
use moss_sdk::{ErrorCode, ToolError};
use moss_workspace::{
    dirs::Dirs,
    own::{self, OwnDir},
};

use crate::list_file::LIST_BYTES_MAX;

/// The lock of all lists, in the state directory.
const LOCK: &str = "plugin-lists.lock";
/// Longest wait for another process that edits a list.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// A list's text before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedList {
    /// None where there is no such file yet.
    pub before: Option<String>,
    /// What the file holds afterwards.
    pub after: String,
}

/// Shows what a change makes of a list, and changes nothing.
///
/// # Errors
///
/// Where the list is broken, with line and column, or the change is not one that it can have.
pub(super) fn preview(list: &Path, edits: &[ListEdit]) -> Result<EditedList, ToolError> {
    let bytes = own::read_trusted(list, LIST_BYTES_MAX)?;
    let name = list.display().to_string();
    let before = bytes.map(String::from_utf8).transpose().map_err(|_| {
        ToolError::new(ErrorCode::Encoding, format!("{name} is not UTF-8 text"))
            .hint("fix it by hand")
    })?;
    let mut after = before.clone();
    for edit in edits {
        let edited = edit.apply(&name, after.as_deref());
        after = Some(edited.map_err(|error| {
            let message = format!("the list was not changed: {error}");
            ToolError::new(ErrorCode::InvalidArguments, message)
        })?);
    }
    Ok(EditedList { after: after.unwrap_or_default(), before })
}

/// Changes a list. Waits for the disk, and for other processes that change lists.
///
/// # Errors
///
/// As [`preview`]; `Conflict` where somebody changed the file meanwhile.
pub(super) fn edit(dirs: &Dirs, list: &Path, edits: &[ListEdit]) -> Result<EditedList, ToolError> {
    let state = OwnDir::create(&dirs.state)?;
    let _lock = state.lock(LOCK, LOCK_WAIT)?;
    let list = real(list)?;
    let directory = list.parent().unwrap_or(Path::new("/"));
    let directory = OwnDir::create(directory)?;
    let name = list.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        let message = format!("{} is not the name of a file", list.display());
        ToolError::new(ErrorCode::InvalidArguments, message)
    })?;
    let version = directory.version(name)?;
    let edited = preview(&list, edits)?;
    if directory.version(name)? != version {
        let message = format!("{} changed while it was being edited", list.display());
        return Err(ToolError::new(ErrorCode::Conflict, message).hint("try again"));
    }
    if edited.before.as_deref() != Some(&edited.after) {
        directory.rewrite(name, edited.after.as_bytes())?;
    }
    Ok(edited)
}

/// Follows links, so that a list that is one stays one.
fn real(list: &Path) -> Result<PathBuf, ToolError> {
    match list.canonicalize() {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(list.to_owned()),
        Err(error) => Err(ToolError::new(ErrorCode::Io, format!("{}: {error}", list.display()))),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look from outside")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use serde_json::json;

    use super::*;

    fn dirs(temp: &Path) -> Dirs {
        Dirs::beneath(temp)
    }

    fn add(name: &str) -> [ListEdit; 1] {
        [ListEdit::Add(json!({ "name": name, "source": format!("{name}.wasm") }))]
    }

    #[test]
    fn edits_of_many_at_once_are_all_there() {
        let temp = tempfile::tempdir().unwrap();
        let (dirs, list) = (dirs(temp.path()), temp.path().join("c/moss-tools.json"));
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
                let (dirs, list) = (&dirs, &list);
                scope.spawn(move || edit(dirs, list, &add(name)).unwrap());
            }
        });
        assert_eq!(super::super::read_list(&list).unwrap().plugins.len(), 8);
        assert_eq!(fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o600);
        let left: Vec<_> = fs::read_dir(temp.path().join("c")).unwrap().collect();
        assert_eq!(left.len(), 1);
    }

    #[test]
    fn a_link_stays_a_link_and_a_broken_list_what_it_is() {
        let temp = tempfile::tempdir().unwrap();
        let dirs = dirs(temp.path());
        fs::create_dir(temp.path().join("c")).unwrap();
        let (kept, list) = (temp.path().join("kept.json"), temp.path().join("c/moss-tools.json"));
        fs::write(&kept, "{ \"version\": 1, \"plugins\": [] } // mine\n").unwrap();
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o644)).unwrap();
        symlink(&kept, &list).unwrap();
        edit(&dirs, &list, &add("a")).unwrap();
        assert!(list.symlink_metadata().unwrap().is_symlink());
        assert!(fs::read_to_string(&kept).unwrap().ends_with("// mine\n"));
        assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o644);

        fs::write(&kept, "{\n oops").unwrap();
        let error = edit(&dirs, &list, &add("b")).unwrap_err();
        assert!(error.message.contains("kept.json:2:2: not JSON"), "{error}");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "{\n oops");
    }
}
