//! Where a command's home directory, programs and toolchains lie, as its environment says, and which secrets lie
//! in these.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::command::{Profile, SandboxedCommand};
use crate::environment::SelectedEnvironment;
use crate::listing::NameListing;
use crate::visible;

/// Most entries of a directory in which names are looked for: where there are more, all of it counts.
const ENTRIES_MAX: usize = 1_000;

/// The home directory that a command knows.
pub(crate) fn home(environment: &SelectedEnvironment) -> Option<PathBuf> {
    let home = PathBuf::from(environment.variables.get(OsStr::new("HOME"))?);
    (home.is_absolute() && home.parent().is_some()).then_some(home)
}

/// The directories of programs and toolchains that lie in none of the system's.
pub(crate) fn toolchains(
    environment: &SelectedEnvironment,
    home: Option<&Path>,
) -> BTreeSet<PathBuf> {
    let value = |name: &str| environment.variables.get(OsStr::new(name));
    let named = visible::TOOLCHAINS.iter().filter_map(|name| value(name));
    let named = named.flat_map(std::env::split_paths).filter(|path| Some(path.as_path()) != home);
    let paths = value("PATH").into_iter().flat_map(std::env::split_paths);
    // Programs look beside their own directory for what they need.
    let around = paths.map(|path| match path.parent() {
        Some(parent) if is_toolchain(parent, home) => parent.to_owned(),
        _ => path,
    });
    let outside =
        |path: &PathBuf| path.is_absolute() && path.parent().is_some() && !is_system(path);
    named.chain(around).filter(outside).collect()
}

/// What a command may not read, whether it is there or not, but for what lies deeper in a toolchain: see [`secrets`].
pub(crate) fn masked(
    command: &SandboxedCommand,
    home: Option<&NameListing<'_>>,
    roots: &[NameListing<'_>],
) -> Vec<PathBuf> {
    let of_home = home.into_iter().flat_map(|home| home.candidates(visible::HOME_MASKED));
    // One of these may lie in a directory that is masked otherwise.
    let is_granted = |path: &Path| command.files.sockets.iter().any(|one| one.starts_with(path));
    let of_system = visible::SYSTEM_MASKED.iter().map(PathBuf::from);
    let of_system = of_system.filter(|path| !is_granted(path));
    let of_roots = roots.iter().flat_map(|root| {
        let names = visible::HOME_MASKED.iter().chain(visible::TOOLCHAIN_MASKED);
        root.candidates(names).collect::<Vec<_>>()
    });
    let built_in: Vec<_> = match command.profile {
        Profile::DangerFull => Vec::new(),
        Profile::ReadOnly | Profile::WorkspaceWrite => {
            of_home.chain(of_system).chain(of_roots).collect()
        }
    };
    let all = command.files.masked.iter().cloned().chain(built_in);
    all.filter(|path| !command.files.sockets.contains(path)).collect()
}

/// What the directory of a toolchain may hold that nobody else is to read.
pub(crate) fn secrets(listing: &NameListing<'_>) -> Vec<PathBuf> {
    let directory = listing.directory;
    let mut found = listing.candidates(visible::TOOLCHAIN_MASKED).collect();
    for path in listing.candidates(visible::TOOLCHAIN_SECRETS) {
        let beneath = path.strip_prefix(directory).unwrap_or(&path);
        find(directory.to_owned(), beneath, &mut found);
    }
    found
}

/// Finds what a path with `*` in its names stands for in a directory.
fn find(directory: PathBuf, beneath: &Path, found: &mut Vec<PathBuf>) {
    let mut names = beneath.iter();
    let Some(name) = names.next() else { return found.push(directory) };
    let rest = names.as_path();
    let Some((before, behind)) = split(name) else {
        return find(directory.join(name), rest, found);
    };
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    let names: Vec<_> = entries.take(ENTRIES_MAX + 1).map(|entry| entry.file_name()).collect();
    if names.len() > ENTRIES_MAX {
        return found.push(directory);
    }
    for name in names {
        let inner = name.as_bytes().strip_prefix(before);
        if inner.is_some_and(|inner| inner.ends_with(behind)) {
            find(directory.join(name), rest, found);
        }
    }
}

/// What a name has before and behind its `*`.
fn split(name: &OsStr) -> Option<(&[u8], &[u8])> {
    let name = name.as_bytes();
    let at = name.iter().position(|byte| *byte == b'*')?;
    Some((&name[..at], &name[at + 1..]))
}

/// Whether a path is seen by every command.
fn is_system(path: &Path) -> bool {
    visible::SYSTEM.iter().any(|system| path.starts_with(system))
}

/// Whether all of a directory may be shown because programs lie in it.
fn is_toolchain(directory: &Path, home: Option<&Path>) -> bool {
    let depth = directory.components().count();
    let is_shared = home.is_some_and(|home| {
        home.starts_with(directory)
            || [".local", ".config"].iter().any(|name| directory == home.join(name))
    });
    // A project has more to hide than a toolchain has to show.
    let is_project = || {
        visible::PROJECT_SIGNS.iter().any(|name| directory.join(name).symlink_metadata().is_ok())
    };
    depth > 2 && !is_shared && !is_system(directory) && !is_project()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_their_names_and_those_that_have_a_star() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let all = ["credentials", "servers/a/auth.toml", "servers/b/auth.toml", "upload/other"];
        for path in all {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "x").unwrap();
        }
        let found = secrets(&NameListing::of(root)).into_iter().filter(|path| path.exists());
        let found: BTreeSet<_> = found.collect();
        assert_eq!(found, all[..3].iter().map(|path| root.join(path)).collect());
        for number in 0..=ENTRIES_MAX {
            fs::write(root.join(format!("servers/{number}")), "").unwrap();
        }
        assert!(secrets(&NameListing::of(root)).contains(&root.join("servers")));
    }
}
