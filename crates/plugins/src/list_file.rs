//! Reading one list, as it lies in its file.

use std::path::Path;

use moss_plugin_list::PluginList;
use moss_workspace::own;

/// Largest plugin list, in bytes.
pub(super) const LIST_BYTES_MAX: u64 = 1 << 20;

/// Reads one list, which only its owner may write.
///
/// # Errors
///
/// What is wrong with it, with its location.
pub fn read_list(list: &Path) -> Result<PluginList, String> {
    let read = read_list_if_there(list)?;
    read.ok_or_else(|| format!("{}: there is no such file", list.display()))
}

/// As [`read_list`]; none where there is no such file.
pub(super) fn read_list_if_there(list: &Path) -> Result<Option<PluginList>, String> {
    let name = list.display().to_string();
    let bytes = own::read_trusted(list, LIST_BYTES_MAX).map_err(|error| error.to_string())?;
    let Some(bytes) = bytes else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|_| format!("{name}: not UTF-8 text"))?;
    PluginList::parse(&name, &text).map(Some).map_err(|error| error.to_string())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look from outside")]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn list_that_others_may_write_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let list = temp.path().join("moss-tools.json");
        assert!(read_list(&list).unwrap_err().contains("there is no such file"));
        fs::write(&list, r#"{"plugins": []}"#).unwrap();
        fs::set_permissions(&list, Permissions::from_mode(0o666)).unwrap();
        let reason = read_list(&list).unwrap_err();
        assert!(reason.contains("can be written by other users"), "{reason}");
    }
}
