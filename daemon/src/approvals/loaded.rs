//! What the file of approvals says, as it was read last.

use std::path::Path;
use std::sync::Arc;

use moss_workspace::own::{FileVersion, OwnDir};

use super::{FILE_NAME, OLD_FILE_NAME};
use moss_policy::PolicyError;
use moss_policy::standing::StandingApproval;
use moss_policy::standing::file::{self, FILE_BYTES_MAX};

/// What the file says.
#[derive(Debug, Default)]
pub(super) struct LoadedApprovals {
    pub(super) version: Option<FileVersion>,
    pub(super) answers: Vec<Arc<StandingApproval>>,
    pub(super) problem: Option<Box<PolicyError>>,
}

/// Says what is wrong with the approvals that a state directory holds, or how many there are.
///
/// # Errors
///
/// What is wrong with them.
pub fn check(state: &Path) -> Result<usize, String> {
    let Ok(directory) = OwnDir::open(state) else { return Ok(0) };
    let loaded = load(&directory);
    loaded.problem.map_or(Ok(loaded.answers.len()), |problem| Err(problem.one_line()))
}

/// Returns the version of the file; none where it does not exist.
pub(super) fn version(directory: &OwnDir) -> Option<FileVersion> {
    // Every call looks: once where there is a file.
    let found = match directory.version(FILE_NAME) {
        Ok(None) => directory.version(OLD_FILE_NAME),
        found => found,
    };
    found.ok().flatten()
}

/// Returns the name of the file that exists: that of 0.1 only where no change was made since.
fn present(directory: &OwnDir) -> &'static str {
    let exists = |name| !matches!(directory.version(name), Ok(None));
    if !exists(FILE_NAME) && exists(OLD_FILE_NAME) { OLD_FILE_NAME } else { FILE_NAME }
}

/// Reads the file. Waits for the disk.
pub(super) fn load(directory: &OwnDir) -> LoadedApprovals {
    let name = present(directory);
    let path = directory.path().join(name).display().to_string();
    // First: what changes while it is read is read again.
    let version = directory.version(name).ok().flatten();
    let stored = match directory.read(name, FILE_BYTES_MAX as u64) {
        Ok(None) => Ok(Vec::new()),
        Ok(Some(bytes)) => String::from_utf8(bytes)
            .map_err(|_| file::unreadable(&path, "not UTF-8 text".to_owned()))
            .and_then(|text| file::parse(&path, &text)),
        Err(error) => Err(file::unreadable(&path, error.to_string())),
    };
    match stored {
        Ok(stored) => LoadedApprovals::new(version, stored),
        Err(problem) => {
            LoadedApprovals { version, problem: Some(problem), ..LoadedApprovals::default() }
        }
    }
}

// === impl LoadedApprovals ===

impl LoadedApprovals {
    pub(super) fn new(version: Option<FileVersion>, stored: Vec<StandingApproval>) -> Self {
        let answers = stored.into_iter().map(Arc::new).collect();
        Self { version, answers, problem: None }
    }
}
