//! A look at the files that lists name, without loading anything.

use std::path::Path;

use moss_plugin_list::{PluginEntry, PluginList, Sha256Digest};
use moss_workspace::{Workspace, dirs::Dirs};

pub use crate::list_file::read_list;
use crate::lists::{self, ResolvedEntry};
use crate::settings::Settings;
pub use crate::trust::WORKSPACE_LIST;
use crate::{component, trust};

/// The list of a workspace, where the user trusts what it says.
#[derive(Debug)]
pub enum TrustedList {
    /// It is trusted, and this is what it says.
    Yes(PluginList),
    /// It is not trusted as it is: it loads nothing.
    No,
}

/// Reads the list that a workspace brings along; `None` if it does not exist.
///
/// # Errors
///
/// What is wrong with it.
pub fn workspace_list(dirs: &Dirs, files: &Workspace) -> Option<Result<TrustedList, String>> {
    let path = files.root().join(WORKSPACE_LIST);
    let read = |text: String| {
        if !trust::is_trusted(dirs, &path, &text).map_err(|error| error.to_string())? {
            return Ok(TrustedList::No);
        }
        let list = PluginList::parse_of_workspace(&path.display().to_string(), &text);
        list.map(TrustedList::Yes).map_err(|error| error.to_string())
    };
    lists::workspace_list(files).transpose().map(|text| text.and_then(read))
}

/// Says what keeps plugins of a list from serving, as far as their files show.
pub fn problems(list: &Path, read: PluginList, dirs: &Dirs, settings: &Settings) -> Vec<String> {
    let entries = read.plugins.into_iter();
    entries.filter_map(|entry| problem(list, entry, dirs, settings)).collect()
}

fn problem(list: &Path, entry: PluginEntry, dirs: &Dirs, settings: &Settings) -> Option<String> {
    let (name, pinned, is_remote) = (entry.name.clone(), entry.sha256, entry.is_remote());
    let listed = ResolvedEntry::new(list, None, entry, dirs, settings);
    if let Some(refusal) = listed.refusal {
        return Some(format!("{name}: {refusal}"));
    }
    // What is on the network is fetched when it is needed.
    if is_remote && !listed.source.exists() {
        return None;
    }
    let bytes = match component::read(
        &listed.source.as_path().into(),
        settings.component_bytes_max,
        None,
    ) {
        Ok(read) => read.bytes.unwrap_or_default(),
        Err(why) => return Some(format!("{name}: {why}")),
    };
    let actual = Sha256Digest::of(&bytes);
    let pinned = pinned.filter(|pinned| *pinned != actual)?;
    Some(format!("{name}: the file has the sha256 {actual}, but the list pins {pinned}"))
}
