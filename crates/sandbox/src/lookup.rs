//! Which programs there are, as a command would find them: nothing is run to find out.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The program behind the names of Rust's tools, where `rustup` brings them. It has names for tools that are not
/// there, too.
const RUSTUP: &str = "rustup";
/// Most toolchains that are looked into.
const TOOLCHAINS_MAX: usize = 64;
/// Group and others may not write to a program of the system.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Finds a program by its name in this process's `PATH`, from which commands have theirs. A name of `rustup` counts
/// where one of its toolchains has the program.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    let rustup = named.or_else(|| Some(std::env::home_dir()?.join(".rustup")));
    find_in(&path, rustup.as_deref(), name)
}

/// The program that a command finds by a name where it lies beneath a directory, by itself or by a link.
pub fn find_program_beneath(name: &str, directory: &Path) -> Option<PathBuf> {
    find_beneath(&std::env::var_os("PATH").unwrap_or_default(), name, directory)
}

/// A program beneath a directory that a command finds in place of one elsewhere in `PATH`, by the same name; not of
/// those names that are left out.
pub fn find_replacing_beneath(
    directory: &Path,
    is_left_out: &dyn Fn(&str) -> bool,
) -> Option<PathBuf> {
    replacing_beneath(&std::env::var_os("PATH").unwrap_or_default(), directory, is_left_out)
}

/// Finds a program that only the administrator can replace, among the paths that it may have: never in `PATH`, which
/// may begin in a workspace.
pub(crate) fn find_of_system(paths: &[&str]) -> Option<PathBuf> {
    let is_of_system = |path: &&Path| {
        path.metadata().is_ok_and(|found| {
            found.is_file() && found.uid() == 0 && found.mode() & WRITABLE_BY_OTHERS == 0
        })
    };
    paths.iter().map(Path::new).find(is_of_system).map(Path::to_owned)
}

fn find_in(path: &OsStr, rustup: Option<&Path>, name: &str) -> Option<PathBuf> {
    let found = first_in(path, name)?;
    let is_proxy = found.canonicalize().is_ok_and(|real| {
        real.file_stem() == Some(OsStr::new(RUSTUP)) && found.file_stem() != real.file_stem()
    });
    let is_there = !is_proxy || rustup.is_some_and(|rustup| is_in_toolchain(rustup, name));
    is_there.then_some(found)
}

/// What a shell finds first.
fn first_in(path: &OsStr, name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains('\0') {
        return None;
    }
    match Path::new(name).is_absolute() {
        true => Some(PathBuf::from(name)).filter(|path| is_program(path)),
        false if name.contains('/') => None,
        false => {
            let directories = std::env::split_paths(path).filter(|path| path.is_absolute());
            directories.map(|path| path.join(name)).find(|path| is_program(path))
        }
    }
}

fn find_beneath(path: &OsStr, name: &str, directory: &Path) -> Option<PathBuf> {
    let found = first_in(path, name)?;
    let is_beneath = found.canonicalize().is_ok_and(|real| real.starts_with(directory));
    (found.starts_with(directory) || is_beneath).then_some(found)
}

fn replacing_beneath(
    path: &OsStr,
    directory: &Path,
    is_left_out: &dyn Fn(&str) -> bool,
) -> Option<PathBuf> {
    let is_beneath = |part: &PathBuf| {
        part.starts_with(directory)
            || part.canonicalize().is_ok_and(|real| real.starts_with(directory))
    };
    let parts = std::env::split_paths(path).filter(|part| part.is_absolute());
    let (beneath, elsewhere): (Vec<_>, Vec<_>) = parts.partition(is_beneath);
    let elsewhere = std::env::join_paths(elsewhere).ok()?;
    for part in beneath {
        for entry in fs::read_dir(part).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if !is_left_out(&name) && first_in(&elsewhere, &name).is_some() {
                let found = find_beneath(path, &name, directory);
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn is_in_toolchain(rustup: &Path, name: &str) -> bool {
    let Ok(toolchains) = fs::read_dir(rustup.join("toolchains")) else { return false };
    let mut toolchains = toolchains.flatten().take(TOOLCHAINS_MAX);
    toolchains.any(|toolchain| is_program(&toolchain.path().join("bin").join(name)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn make(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_program_that_replaces_one_elsewhere_is_found_whatever_it_is_called() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        for program in ["work/bin/readlink", "work/bin/own", "work/bin/python3", "work/bin/tr"] {
            make(&at(program), 0o755);
        }
        for program in ["usr/readlink", "usr/python3", "first/tr", "usr/tr"] {
            make(&at(program), 0o755);
        }
        let path =
            |parts: &[&str]| std::env::join_paths(parts.iter().map(|part| at(part))).unwrap();
        let is_left_out = |name: &str| name.starts_with("python");
        let find = |parts: &[&str]| replacing_beneath(&path(parts), &at("work"), &is_left_out);
        assert_eq!(find(&["first", "work/bin", "usr"]), Some(at("work/bin/readlink")));
        assert_eq!(find(&["usr", "first", "work/bin"]), None);
        assert_eq!(find(&["work/bin"]), None);
        fs::remove_file(at("work/bin/readlink")).unwrap();
        assert_eq!(find(&["first", "work/bin", "usr"]), None, "tr is found before it");
        fs::remove_file(at("first/tr")).unwrap();
        assert_eq!(find(&["first", "work/bin", "usr"]), Some(at("work/bin/tr")));
        symlink("work/bin", at("link")).unwrap();
        assert_eq!(find(&["link", "usr"]), Some(at("link/tr")));
    }

    #[test]
    fn programs_are_found_where_they_can_be_run() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        make(&at("a/tool"), 0o644);
        make(&at("b/tool"), 0o755);
        let path = std::env::join_paths([at("a"), at("b"), "relative".into()]).unwrap();
        let find = |name: &str| find_in(&path, None, name);
        assert_eq!(find("tool"), Some(at("b/tool")));
        assert_eq!(find(at("b/tool").to_str().unwrap()), Some(at("b/tool")));
        for missing in ["other", "", "b/tool", "to\0ol"] {
            assert_eq!(find(missing), None, "{missing}");
        }
    }

    #[test]
    fn what_comes_first_counts_where_it_lies() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        make(&at("work/bin/cat"), 0o755);
        make(&at("system/cat"), 0o755);
        make(&at("system/ls"), 0o755);
        symlink(at("work/bin/cat"), at("system/linked")).unwrap();
        make(&at("work/bin/rustup"), 0o755);
        symlink("rustup", at("work/bin/sed")).unwrap();
        let find = |directories: [&str; 2], name: &str| {
            let path = std::env::join_paths(directories.map(at)).unwrap();
            find_beneath(&path, name, &at("work"))
        };
        assert_eq!(find(["work/bin", "system"], "cat"), Some(at("work/bin/cat")));
        assert_eq!(find(["system", "work/bin"], "cat"), None);
        assert_eq!(find(["work/bin", "system"], "ls"), None);
        assert_eq!(find(["work/bin", "system"], "sed"), Some(at("work/bin/sed")));
        assert_eq!(find(["work/bin", "system"], "linked"), Some(at("system/linked")));
    }

    #[test]
    fn a_name_of_rustup_counts_where_a_toolchain_has_the_program() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        make(&at("bin/rustup"), 0o755);
        symlink("rustup", at("bin/analyzer")).unwrap();
        let path = at("bin").into_os_string();
        let find = |name: &str| find_in(&path, Some(&at("home")), name);
        assert_eq!((find("analyzer"), find("rustup")), (None, Some(at("bin/rustup"))));
        make(&at("home/toolchains/stable/bin/analyzer"), 0o755);
        assert_eq!(find("analyzer"), Some(at("bin/analyzer")));
    }
}
