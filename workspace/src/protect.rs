//! Names that are protected wherever they occur: metadata that decides what other programs run,
//! and secrets.
//!
//! Names are compared as a forgiving file system would: see [`crate::spelling`]. This file only names
//! the protection; policy says what follows from it.

use moss_sdk::RelPath;

use crate::error::Error;
use crate::root::Workspace;
use crate::spelling::{bare, fold};

/// Why a path is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protection {
    /// Decides what other programs do: protected against writing.
    Metadata,
    /// Holds a secret: protected against reading and writing.
    Secret,
}

/// Directories of which everything is metadata.
const METADATA_DIRECTORIES: &[&str] = &[".git", "git~1", ".hg", ".svn", ".jj", ".moss"];
/// Files that are metadata.
const METADATA_FILES: &[&str] = &["moss-tools.json", ".gitmodules", ".envrc", ".mcp.json"];
/// Files that are metadata in a directory of this name.
const METADATA_PAIRS: &[(&str, &str)] = &[
    (".vscode", "tasks.json"),
    (".vscode", "launch.json"),
    (".vscode", "settings.json"),
    (".cursor", "mcp.json"),
    (".claude", "settings.json"),
    (".claude", "settings.local.json"),
];
/// Directories of which everything is secret.
const SECRET_DIRECTORIES: &[&str] = &[".ssh", ".gnupg", ".aws"];
/// Files that are secret.
const SECRET_FILES: &[&str] = &[
    ".env",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
];
/// Endings of secret files.
const SECRET_ENDINGS: &[&str] =
    &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"];
/// Endings of environment files that are there to be shown.
const TEMPLATE_ENDINGS: &[&str] = &[".example", ".sample", ".template", ".dist"];

/// Says why a path is protected, by its names alone.
pub fn protection(path: &RelPath) -> Option<Protection> {
    let names: Vec<String> = path.components().map(|name| fold(name).into_owned()).collect();
    let bare = names.iter().map(|name| bare(name).to_owned()).collect::<Vec<_>>();
    protection_of(&names).max(protection_of(&bare))
}

fn protection_of(names: &[String]) -> Option<Protection> {
    let (last, directories) = names.split_last()?;
    let within = |list: &[&str]| names.iter().any(|name| list.contains(&name.as_str()));
    let parent = directories.last().map(String::as_str);
    if within(SECRET_DIRECTORIES) || is_secret_file(last) {
        Some(Protection::Secret)
    } else if within(METADATA_DIRECTORIES)
        || METADATA_FILES.contains(&last.as_str())
        || METADATA_PAIRS.iter().any(|(dir, file)| parent == Some(dir) && last == file)
    {
        Some(Protection::Metadata)
    } else {
        None
    }
}

fn is_secret_file(name: &str) -> bool {
    let is_environment =
        name.starts_with(".env.") && !TEMPLATE_ENDINGS.iter().any(|ending| name.ends_with(ending));
    is_environment
        || SECRET_FILES.contains(&name)
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending) && name != *ending)
}

/// Whether a path is, or lies beneath, a directory, in any spelling.
fn is_within(path: &RelPath, directory: &RelPath) -> bool {
    let mut names = path.components();
    let is_same = |name: &str, component: &str| {
        name == component || bare(&fold(name)) == bare(&fold(component))
    };
    directory
        .components()
        .all(|component| names.next().is_some_and(|name| is_same(name, component)))
}

// === impl Workspace ===

impl Workspace {
    /// Says why a path is protected, by its names alone; moss's own directories are among them.
    pub fn protection(&self, path: &RelPath) -> Option<Protection> {
        if self.is_own(path) { Some(Protection::Secret) } else { protection(path) }
    }

    /// Whether a path is, or lies beneath, one of moss's own directories.
    pub(crate) fn is_own(&self, path: &RelPath) -> bool {
        self.own.iter().any(|own| is_within(path, own))
    }

    /// Says why a path is protected, by its names and by those that it leads to after all links.
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`].
    pub fn protection_resolved(&self, path: &RelPath) -> Result<Option<Protection>, Error> {
        let real = self.resolve(path)?.path;
        Ok(self.protection(path).max(self.protection(&real)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<Protection> {
        protection(&RelPath::parse(text).unwrap())
    }

    #[test]
    fn metadata_is_found_at_any_depth_in_any_spelling() {
        for path in [
            ".git",
            ".git/hooks/pre-commit",
            ".git./x",
            ".git  /x",
            ".git::$INDEX_ALLOCATION/x",
            "moss-tools.json.",
            ".envrc::$DATA",
            "vendor/sub/.git/config",
            ".GiT/config",
            ".g\u{200c}it/config",
            "\u{ff0e}git/config",
            ".g\u{131}t".replace('\u{131}', "I").as_str(),
            "a/.MOSS/Policy.toml",
            "MOSS-tools.json",
            ".vscode/tasks.json",
            "GIT~1/config",
            ".\u{ff47}\u{ff49}\u{ff54}/x",
        ] {
            assert_eq!(check(path), Some(Protection::Metadata), "{path}");
        }
    }

    #[test]
    fn secrets_are_found_in_any_spelling() {
        for path in [
            ".env",
            "a/.ENV",
            ".env.local",
            ".env.production",
            "deploy/id_rsa",
            "x/server.PEM",
            "tls.key",
            ".netrc",
            ".npmrc",
            ".ssh/config",
            "ıd_rsa".replace('ı', "I").as_str(),
        ] {
            assert_eq!(check(path), Some(Protection::Secret), "{path}");
        }
    }

    #[test]
    fn ordinary_names_are_free() {
        for path in [
            "src/main.rs",
            ".gitignore",
            ".gitattributes",
            ".env.example",
            ".env.sample",
            "a/.env.template",
            "git/config",
            "keys.rs",
            "monkey",
            "id_rsa.pub",
            ".vscode/extensions.json",
            "environment",
        ] {
            assert_eq!(check(path), None, "{path}");
        }
        assert_eq!(protection(&RelPath::root()), None);
    }
}
