//! What was agreed to of each plugin: its surface, by the list that names it. It is kept, so that a
//! version with another one is staged by the next daemon as by this one.

use std::path::Path;

use moss_plugin_host::{Plugin, Surface};
use moss_plugin_list::Sha256Digest;
use moss_sdk::{ErrorCode, ToolError};
use moss_workspace::{dirs::Dirs, hash, own::OwnDir};
use serde::{Deserialize, Serialize};

/// The directory in the state directory.
const DIRECTORY: &str = "agreed-plugins";
/// Largest record, in bytes: 64 tools and 64 requests.
const RECORD_BYTES_MAX: u64 = 256 << 10;
/// Most records: what was not used for longest goes first.
const RECORDS_MAX: usize = 4096;
/// Most differences between two versions that are reported.
const DIFFERENCES_MAX: usize = 8;

/// What was agreed to of one plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agreed {
    /// How the surface was made.
    format: u32,
    list: String,
    plugin: String,
    /// The component that showed it; none where nobody could look at one.
    sha256: Option<String>,
    surface: Option<Surface>,
    /// Whether it was shown only: then no other component loads first.
    is_exact: bool,
}

// === impl Agreed ===

impl Agreed {
    /// What was agreed to where a version serves.
    pub(super) fn serving(list: &Path, plugin: &Plugin) -> Self {
        Self::new(list, plugin.name(), Some((plugin.digest(), plugin.surface())), false)
    }

    /// A version was shown to who trusts a list; none where there was nothing to show.
    pub(super) fn shown(list: &Path, name: &str, plugin: Option<&Plugin>) -> Self {
        Self::new(list, name, plugin.map(|plugin| (plugin.digest(), plugin.surface())), true)
    }

    fn new(list: &Path, name: &str, seen: Option<(Sha256Digest, Surface)>, is_exact: bool) -> Self {
        let (sha256, surface) = seen.unzip();
        Self {
            format: Surface::FORMAT,
            list: list.display().to_string(),
            plugin: name.to_owned(),
            sha256: sha256.map(|digest| digest.to_string()),
            surface,
            is_exact,
        }
    }

    /// What of a version nobody agreed to; none where it may serve.
    pub(super) fn objection(&self, plugin: &Plugin) -> Option<String> {
        let (Some(sha256), Some(surface)) = (&self.sha256, &self.surface) else {
            return Some("nobody saw it when the list was trusted".to_owned());
        };
        let is_other = *sha256 != plugin.digest().to_string();
        if is_other && self.is_exact {
            return Some(format!("the list was trusted with the component of sha256 {sha256}"));
        }
        if self.format != Surface::FORMAT {
            let other = || format!("another moss agreed to the component of sha256 {sha256}");
            return is_other.then(other);
        }
        let mut differences = surface.differences(&plugin.surface());
        let more = differences.len().saturating_sub(DIFFERENCES_MAX);
        differences.truncate(DIFFERENCES_MAX);
        if more > 0 {
            differences.push(format!("{more} more"));
        }
        (!differences.is_empty()).then(|| differences.join("; "))
    }
}

/// Reads what was agreed to of a plugin; none where nothing ever was.
///
/// # Errors
///
/// Where it cannot be read.
pub(super) fn read(dirs: &Dirs, list: &Path, name: &str) -> Result<Option<Agreed>, String> {
    let unreadable = |error: &dyn std::fmt::Display| {
        format!("what was agreed to of `{name}` cannot be read: {error}")
    };
    if !dirs.state.exists() {
        return Ok(None);
    }
    let state = OwnDir::open(&dirs.state).map_err(|error| unreadable(&error))?;
    let directory = state.subdirectory(DIRECTORY).map_err(|error| unreadable(&error))?;
    let file = file_of(list, name);
    let bytes = directory.read(&file, RECORD_BYTES_MAX).map_err(|error| unreadable(&error))?;
    let Some(bytes) = bytes else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        let file = directory.path().join(file);
        unreadable(&format!("{}: {error}; remove the file to agree to it anew", file.display()))
    })
}

/// Keeps what was agreed to of a plugin.
///
/// # Errors
///
/// Where it cannot be kept.
pub(super) fn keep(dirs: &Dirs, agreed: &Agreed) -> Result<(), ToolError> {
    let directory = OwnDir::create(&dirs.state)?.subdirectory(DIRECTORY)?;
    let text = serde_json::to_string(agreed).expect("texts are written as JSON");
    if text.len() as u64 > RECORD_BYTES_MAX {
        let message = format!("the tools of `{}` are too many to be remembered", agreed.plugin);
        return Err(ToolError::new(ErrorCode::LimitExceeded, message));
    }
    let file = file_of(Path::new(&agreed.list), &agreed.plugin);
    directory.write(&file, text.as_bytes())?;
    let mut files = directory.files()?;
    files.sort_by_key(|file| file.modified);
    let surplus = files.len().saturating_sub(RECORDS_MAX);
    files.iter().take(surplus).try_for_each(|old| directory.remove(&old.name))?;
    Ok(())
}

/// Notes that what was agreed to is in use.
///
/// # Errors
///
/// Where that cannot be noted.
pub(super) fn touch(dirs: &Dirs, agreed: &Agreed) -> Result<(), ToolError> {
    let directory = OwnDir::open(&dirs.state)?.subdirectory(DIRECTORY)?;
    directory.touch(&file_of(Path::new(&agreed.list), &agreed.plugin))?;
    Ok(())
}

/// The file of one plugin of one list.
fn file_of(list: &Path, name: &str) -> String {
    format!("{}.json", hash(format!("{}\0{name}", list.display()).as_bytes()))
}
