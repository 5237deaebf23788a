//! The files with the settings of every repository that git can open in a workspace, for whoever decides whether git
//! may run.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::repository::modules;

/// Longest file of settings that is read, in bytes; and longest one that leads somewhere.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;
/// What git runs after it wrote its index, which also some commands do that only read.
const INDEX_HOOK: &str = "hooks/post-index-change";

/// What decides about a repository which programs git runs in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepositorySettings {
    /// A file of settings, and the directory from which paths in it count.
    File {
        /// Its path, after all links.
        path: PathBuf,
        /// All that it holds.
        text: Vec<u8>,
    },
    /// A hook that git may run although it only reads.
    Hook(PathBuf),
    /// What could not be looked at: nobody knows what it says.
    Unknown(PathBuf),
}

/// What a file that leads to a directory says.
enum LeadsTo {
    Directory(PathBuf),
    /// No directory that there is: git refuses it.
    Nothing,
    Unknown,
}

/// Finds what decides about repositories, by their `.git`s: directories, or the files of worktrees and submodules.
pub fn repository_settings(dot_gits: &[PathBuf]) -> Vec<RepositorySettings> {
    let mut found = Vec::new();
    let mut directories = BTreeSet::new();
    for dot_git in dot_gits {
        let Ok(real) = fs::canonicalize(dot_git) else {
            // A link to nothing opens no repository.
            if fs::metadata(dot_git)
                .is_err_and(|error| error.kind() != std::io::ErrorKind::NotFound)
            {
                found.push(RepositorySettings::Unknown(dot_git.clone()));
            }
            continue;
        };
        let is_directory = real.is_dir();
        let directory =
            if is_directory { LeadsTo::Directory(real) } else { led_to(&real, "gitdir: ") };
        match directory {
            LeadsTo::Directory(directory) => {
                directories.insert(directory);
            }
            LeadsTo::Nothing => {}
            LeadsTo::Unknown => found.push(RepositorySettings::Unknown(dot_git.clone())),
        }
    }
    let mut of_others = BTreeSet::new();
    for directory in &directories {
        let pointer = directory.join("commondir");
        match led_to(&pointer, "") {
            LeadsTo::Directory(common) => {
                of_others.insert(common);
            }
            LeadsTo::Nothing => {}
            LeadsTo::Unknown => found.push(RepositorySettings::Unknown(pointer)),
        }
    }
    directories.extend(of_others);
    // git opens those of submodules where it makes their files.
    let mut pending: Vec<_> = directories.iter().cloned().collect();
    while let Some(directory) = pending.pop() {
        let inner = modules(&directory).into_iter();
        pending.extend(inner.filter(|module| directories.insert(module.clone())));
    }
    for directory in directories {
        for name in ["config", "config.worktree"] {
            let path = directory.join(name);
            match read(&path) {
                Ok(Some(text)) => found.push(RepositorySettings::File { path, text }),
                Ok(None) => {}
                Err(()) => found.push(RepositorySettings::Unknown(path)),
            }
        }
        let hook = directory.join(INDEX_HOOK);
        if hook.symlink_metadata().is_ok() {
            found.push(RepositorySettings::Hook(hook));
        }
    }
    found
}

/// Whether a path that a file of settings names leads out of a workspace.
pub fn leads_out(settings: &Path, named: &str, workspace: &Path) -> bool {
    let beside = settings.parent().unwrap_or(settings);
    fs::canonicalize(beside.join(named)).is_ok_and(|real| !real.starts_with(workspace))
}

fn led_to(file: &Path, prefix: &str) -> LeadsTo {
    let text = match read(file) {
        Ok(Some(text)) => text,
        Ok(None) => return LeadsTo::Nothing,
        Err(()) => return LeadsTo::Unknown,
    };
    // To git a path ends before a zero.
    let text = String::from_utf8(text).ok().filter(|text| !text.contains('\0'));
    let Some(text) = text else { return LeadsTo::Unknown };
    let text = text.trim_end_matches(['\r', '\n']);
    let Some(target) = text.strip_prefix(prefix) else { return LeadsTo::Nothing };
    let beside = file.parent().unwrap_or(file);
    fs::canonicalize(beside.join(target)).map_or(LeadsTo::Nothing, LeadsTo::Directory)
}

/// Reads a file, where there is one.
fn read(path: &Path) -> Result<Option<Vec<u8>>, ()> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(_) => return Err(()),
    };
    // What is no file is not opened: it may wait for a writer.
    if !found.is_file() || found.len() > SETTINGS_BYTES_MAX {
        return Err(());
    }
    let mut text = Vec::new();
    let file = fs::File::open(path).map_err(drop)?;
    file.take(SETTINGS_BYTES_MAX + 1).read_to_end(&mut text).map_err(drop)?;
    if text.len() as u64 > SETTINGS_BYTES_MAX { Err(()) } else { Ok(Some(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_settings_of_every_repository_are_found_wherever_they_lie() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        write(&root.join(".git/config"), "main");
        write(&root.join(".git/modules/sub/config"), "sub");
        write(&root.join(".git/modules/a/b/config"), "module");
        write(&root.join(".git/modules/a/b/HEAD"), "");
        write(&root.join(".git/modules/a/b/objects/x"), "");
        write(&root.join("sub/.git"), "gitdir: ../.git/modules/sub\n");
        write(&root.join("tree/.git"), "gitdir: ../other/worktrees/tree");
        write(&root.join("other/worktrees/tree/commondir"), "../..\n");
        write(&root.join("other/worktrees/tree/config.worktree"), "tree");
        write(&root.join("other/config"), "common");
        write(&root.join("other/hooks/post-index-change"), "");
        write(&root.join("broken/.git"), "gitdir: nowhere");
        write(&root.join("text/.git"), "some text");
        fs::create_dir_all(root.join("strange/.git/config")).unwrap();
        fs::write(root.join("bytes.git"), b"gitdir: \xff").unwrap();
        let repositories = [
            ".git",
            "bytes.git",
            "sub/.git",
            "tree/.git",
            "broken/.git",
            "text/.git",
            "strange/.git",
        ];
        let repositories = repositories.map(|name| root.join(name)).to_vec();
        let found: BTreeSet<_> = repository_settings(&repositories)
            .into_iter()
            .map(|found| match found {
                RepositorySettings::File { text, .. } => String::from_utf8(text).unwrap(),
                RepositorySettings::Hook(path) | RepositorySettings::Unknown(path) => {
                    path.strip_prefix(&root).unwrap().display().to_string()
                }
            })
            .collect();
        let expected = [
            "bytes.git",
            "common",
            "main",
            "module",
            "other/hooks/post-index-change",
            "strange/.git/config",
            "sub",
            "tree",
        ];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
        assert!(leads_out(&root.join(".git/config"), "/usr", &root));
        assert!(!leads_out(&root.join(".git/modules/sub/config"), "../../../sub", &root));
    }
}
