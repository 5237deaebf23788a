//! Which lists of workspaces the user trusts: by their file and exactly what they say. A list that
//! changed is not trusted any more.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use moss_sdk::{ContentHash, ErrorCode, ToolError};
use moss_workspace::{dirs::Dirs, hash, own::OwnDir};
use serde::{Deserialize, Serialize};

use crate::list_file::LIST_BYTES_MAX;

/// The list that a workspace brings along.
pub const WORKSPACE_LIST: &str = "moss-tools.json";
/// The file in the state directory.
pub(super) const FILE_NAME: &str = "trusted-lists.json";
/// Largest such file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The directory of what they said, in the state directory.
const TEXTS: &str = "trusted-lists";
/// The lock of it.
const LOCK: &str = "trusted-lists.lock";
/// Longest wait for another process that changes it.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// Most lists that are trusted at once.
const LISTS_MAX: usize = 1024;

/// What is kept: digests by the path of the list.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustedDigests {
    lists: BTreeMap<String, ContentHash>,
}

/// Names what a list says.
pub(super) fn digest(text: &str) -> ContentHash {
    hash(text.as_bytes())
}

/// Whether the user trusts a list with what it says now.
///
/// # Errors
///
/// Where what is kept cannot be read.
pub(super) fn is_trusted(dirs: &Dirs, list: &Path, text: &str) -> Result<bool, ToolError> {
    let Ok(state) = OwnDir::open(&dirs.state) else { return Ok(false) };
    let trusted = read(&state)?;
    Ok(trusted.lists.get(&list.display().to_string()) == Some(&digest(text)))
}

/// What a list said when it was trusted; none where it never was, or that is not known.
///
/// # Errors
///
/// Where what is kept cannot be read.
pub(super) fn trusted_text(dirs: &Dirs, list: &Path) -> Result<Option<String>, ToolError> {
    let Ok(state) = OwnDir::open(&dirs.state) else { return Ok(None) };
    let Some(known) = read(&state)?.lists.remove(&list.display().to_string()) else {
        return Ok(None);
    };
    let bytes = state.subdirectory(TEXTS)?.read(&file_of(list), LIST_BYTES_MAX)?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text.filter(|text| digest(text) == known))
}

/// Trusts a list with what it says now.
///
/// # Errors
///
/// Where it cannot be kept.
pub(super) fn trust(dirs: &Dirs, list: &Path, text: &str) -> Result<(), ToolError> {
    let state = OwnDir::create(&dirs.state)?;
    let _lock = state.lock(LOCK, LOCK_WAIT)?;
    let mut trusted = read(&state)?;
    trusted.lists.insert(list.display().to_string(), digest(text));
    if trusted.lists.len() > LISTS_MAX {
        let message = format!("more than {LISTS_MAX} lists are trusted");
        return Err(ToolError::new(ErrorCode::LimitExceeded, message)
            .hint(format!("take some out of {}", state.path().join(FILE_NAME).display())));
    }
    state.subdirectory(TEXTS)?.write(&file_of(list), text.as_bytes())?;
    write(&state, &trusted)
}

/// Trusts a list no more.
///
/// # Errors
///
/// `NotFound` where nobody trusts it; where that cannot be kept.
pub(super) fn untrust(dirs: &Dirs, list: &Path) -> Result<(), ToolError> {
    let state = OwnDir::create(&dirs.state)?;
    let _lock = state.lock(LOCK, LOCK_WAIT)?;
    let mut trusted = read(&state)?;
    if trusted.lists.remove(&list.display().to_string()).is_none() {
        let message = format!("{} is not trusted", list.display());
        return Err(ToolError::new(ErrorCode::NotFound, message));
    }
    write(&state, &trusted)?;
    state.subdirectory(TEXTS)?.remove(&file_of(list))?;
    Ok(())
}

fn write(state: &OwnDir, trusted: &TrustedDigests) -> Result<(), ToolError> {
    let text = serde_json::to_string_pretty(trusted).expect("texts are written as JSON");
    state.write(FILE_NAME, text.as_bytes())?;
    Ok(())
}

/// The file with what a list said.
fn file_of(list: &Path) -> String {
    format!("{}.json", hash(list.display().to_string().as_bytes()))
}

fn read(state: &OwnDir) -> Result<TrustedDigests, ToolError> {
    let Some(bytes) = state.read(FILE_NAME, FILE_BYTES_MAX)? else {
        return Ok(TrustedDigests::default());
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        let file = state.path().join(FILE_NAME);
        ToolError::new(ErrorCode::Io, format!("{}: {error}", file.display()))
            .hint("remove the file, then trust the lists again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_trusted_with_what_it_says() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        let dirs = Dirs::beneath(temp.path());
        let (list, other) = (at("w/moss-tools.json"), at("v/moss-tools.json"));
        let trusted = |list: &Path, text: &str| is_trusted(&dirs, list, text).unwrap();
        assert!(!trusted(&list, "one"));
        trust(&dirs, &list, "one").unwrap();
        assert!(trusted(&list, "one"));
        assert_eq!(trusted_text(&dirs, &list).unwrap().as_deref(), Some("one"));
        assert!(!trusted(&list, "two") && !trusted(&other, "one"));
        trust(&dirs, &list, "two").unwrap();
        assert!(trusted(&list, "two") && !trusted(&list, "one"));
        untrust(&dirs, &list).unwrap();
        assert!(!trusted(&list, "two") && trusted_text(&dirs, &list).unwrap().is_none());
        assert_eq!(untrust(&dirs, &list).unwrap_err().code, ErrorCode::NotFound);
    }
}
