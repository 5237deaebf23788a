//! Which files are central and which directories use which, as far as that is known.

use moss_sdk::RelPath;
use moss_sdk::code_map::{CentralFile, UsingModule};
use schemars::JsonSchema;
use serde::Serialize;

/// A file that others use.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CentralFileOutput {
    /// Its path, relative to the workspace.
    path: String,
    /// In how many other files a name stands that it declares.
    used_by: u32,
    /// The names of it that stand in most of them.
    names: Vec<String>,
}

/// A directory whose files use those of others.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ModuleOutput {
    /// Its path; `.` for the workspace root.
    path: String,
    /// The directories that it uses, those that it uses most first, up to 5.
    uses: Vec<String>,
    /// How many directories use it.
    used_by: u32,
}

fn shown(path: &RelPath) -> String {
    if path.is_root() { ".".to_owned() } else { path.to_string() }
}

impl From<CentralFile> for CentralFileOutput {
    fn from(file: CentralFile) -> Self {
        Self { path: file.path.to_string(), used_by: file.used_by, names: file.names }
    }
}

impl From<UsingModule> for ModuleOutput {
    fn from(module: UsingModule) -> Self {
        let uses = module.uses.iter().map(shown).collect();
        Self { path: shown(&module.path), uses, used_by: module.used_by }
    }
}
