//! How the files of a workspace use each other, as far as names show it.

use crate::path::RelPath;

/// The files that others use most, and which directories use which.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CodeMap {
    /// The files, the most central first.
    pub files: Vec<CentralFile>,
    /// The directories that use others or are used, those with most of that first.
    pub modules: Vec<UsingModule>,
}

/// A file that others use.
#[derive(Debug, Clone, PartialEq)]
pub struct CentralFile {
    /// The path of the file, relative to the workspace.
    pub path: RelPath,
    /// In how many other files a name stands that it declares.
    pub used_by: u32,
    /// Which of its names stand in most of them.
    pub names: Vec<String>,
}

/// A directory whose files use those of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsingModule {
    /// The path of the directory, relative to the workspace.
    pub path: RelPath,
    /// The directories that it uses, those that it uses most first.
    pub uses: Vec<RelPath>,
    /// How many directories use it.
    pub used_by: u32,
}
