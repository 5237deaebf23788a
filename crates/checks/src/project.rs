//! What is known of a project: what lies in the directories around a file, and its manifests.

use std::collections::{BTreeMap, BTreeSet};

/// Files whose text tells how a project is tested and linted. Others are known by their names only.
pub const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "CMakeLists.txt",
    "Gemfile",
    "biome.json",
    "bunfig.toml",
    "composer.json",
    "deno.json",
    "deno.jsonc",
    "go.mod",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
];
/// Directories of a project that hold its own programs: they go before those of the machine.
pub const PROGRAM_DIRECTORIES: &[&str] =
    &[".venv/bin", "venv/bin", "node_modules/.bin", "vendor/bin", "bin"];

/// The directories from that of a file up to the workspace root, the nearest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    /// The directories, the nearest first; the last is the workspace root.
    pub directories: Vec<ProjectDirectory>,
}

/// What is known of one directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectDirectory {
    /// Relative to the workspace root, with `/`; empty for the root itself.
    pub path: String,
    /// Names of the files in it.
    pub files: BTreeSet<String>,
    /// Names of the directories in it.
    pub directories: BTreeSet<String>,
    /// Texts of those of [`MANIFESTS`] that are in it, by name.
    pub manifests: BTreeMap<String, String>,
    /// Programs in its [`PROGRAM_DIRECTORIES`], relative to it: `node_modules/.bin/jest`.
    pub programs: BTreeSet<String>,
}

// === impl ProjectDirectory ===

impl ProjectDirectory {
    /// The text of a manifest, where it is there.
    pub fn manifest(&self, name: &str) -> Option<&str> {
        self.manifests.get(name).map(String::as_str)
    }

    /// Whether a file of one of these names is there.
    pub fn has_file(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.files.contains(*name))
    }

    /// A program of the project itself, relative to the directory.
    pub fn program(&self, name: &str) -> Option<String> {
        let paths = PROGRAM_DIRECTORIES.iter().map(|directory| format!("{directory}/{name}"));
        paths.into_iter().find(|path| self.programs.contains(path))
    }
}
