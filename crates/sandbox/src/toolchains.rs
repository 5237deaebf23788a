//! Where a command's home directory, programs and toolchains lie, as its environment says.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::environment::SelectedEnvironment;
use crate::visible;

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
