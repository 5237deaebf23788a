//! What of git's own directories a command may write. Commits need most of it; what runs code, or
//! leads git elsewhere, stays as it is.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::command::FileView;
use crate::git_names::{LINKS, OF_MAIN, PROTECTED};

/// In the common directory: the directories of linked worktrees.
const WORKTREES: &str = "worktrees";
/// Longest file that leads somewhere, in bytes.
const POINTER_BYTES_MAX: u64 = 8 << 10;
/// Deepest repository of a submodule, in directories: its name, which may have slashes, is whatever somebody chose.
const MODULE_DEPTH_MAX: usize = 64;

/// What of a repository is where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GitAccess {
    /// Directories that are written to, if the profile lets commands write.
    pub(crate) writable: Vec<PathBuf>,
    /// Directories that are only read.
    pub(crate) readable: Vec<PathBuf>,
    /// What stays as it is, whether it exists or not.
    pub(crate) protected: Vec<PathBuf>,
    /// The same, of other worktrees: git there rewrites it all the time, so that where nothing keeps it from a command nobody
    /// knows who has changed it. What decides about code in it is in `protected` as well.
    pub(crate) of_others: Vec<PathBuf>,
    /// The directory that git keeps for this work tree alone, where it is known to be the one that belongs to it.
    pub(crate) own: Option<PathBuf>,
}

/// The `.git`s of a command: that of its workspace first, then those that it names, which commands may have made.
pub(crate) fn all(files: &FileView) -> Vec<PathBuf> {
    let own = files.workspace.join(".git");
    let named: BTreeSet<&PathBuf> = files.repositories.iter().collect();
    let all = [&own].into_iter().chain(named).filter(|path| path.exists());
    // A link may lead to any repository: one that leads out of the workspace is not followed.
    let followed = all.filter_map(|path| Some((path, fs::canonicalize(path).ok()?)));
    let is_own =
        |(path, real): &(&PathBuf, PathBuf)| *path == real || real.starts_with(&files.workspace);
    let mut seen = BTreeSet::new();
    let all = followed.filter(is_own).map(|(_, real)| real);
    all.filter(|real| seen.insert(real.clone())).collect()
}

/// The same, with what each is.
pub(crate) fn read_all(files: &FileView) -> Vec<(PathBuf, GitAccess)> {
    let read = |dot_git: PathBuf| {
        let access = read(&dot_git, &files.workspace);
        (dot_git, access)
    };
    all(files).into_iter().map(read).collect()
}

/// Reads what a `.git` is: a directory, or the file of a worktree or submodule. `workspace` is the
/// root that it lies in.
pub(crate) fn read(dot_git: &Path, workspace: &Path) -> GitAccess {
    let mut access = GitAccess::default();
    if dot_git.is_dir() {
        access.add_common(dot_git);
        access.own = Some(dot_git.to_owned());
        return access;
    }
    access.protected.push(dot_git.to_owned());
    let Some(directory) = directory(dot_git) else { return access };
    let common = pointed_to(&directory.join("commondir"), None);
    let is_within = |path: &Path| path.starts_with(workspace);
    // What lies in the workspace is whatever a command wrote: it leads to nothing outside.
    let is_shared_by = |common: &Path| {
        let is_own = directory.parent() == Some(&common.join(WORKTREES));
        is_own && (is_within(common) || !is_within(&directory)) && is_repository(common)
    };
    let leads_back = leads_back(&directory, dot_git);
    match common {
        _ if !is_within(&directory) && !leads_back => {
            access.readable.extend(only_read(dot_git, workspace));
        }
        // A worktree: its own part, and what it shares with the others.
        Some(common) if is_shared_by(&common) => {
            access.add_common(&common);
            access.of_others.extend(OF_MAIN.iter().map(|name| common.join(name)));
            let others = worktrees(&common);
            access.of_others.extend(others.into_iter().filter(|other| *other != directory));
            access.own = leads_back.then_some(directory);
        }
        None if is_repository(&directory) => {
            access.add_common(&directory);
            // Outside none leads back but a linked worktree, and what says so here a command may have written.
            access.own = is_within(&directory).then_some(directory);
        }
        _ => access.readable.push(directory),
    }
    access
}

/// The directory outside of a workspace that the `.git` of the workspace itself names and that does not name it: commands
/// only read there.
pub(crate) fn only_read(dot_git: &Path, workspace: &Path) -> Option<PathBuf> {
    // That of the workspace was there before any command; one further down may be a command's.
    if dot_git.parent() != Some(workspace) || dot_git.is_dir() {
        return None;
    }
    let directory = directory(dot_git)?;
    let is_elsewhere = !directory.starts_with(workspace) && !leads_back(&directory, dot_git);
    (is_elsewhere && is_repository(&directory)).then_some(directory)
}

/// Whether what belongs to a `.git` names it: whoever wrote the file may have named any repository, and only one that
/// leads back is meant.
fn leads_back(directory: &Path, dot_git: &Path) -> bool {
    pointed_to(&directory.join("gitdir"), None)
        .is_some_and(|back| fs::canonicalize(dot_git).is_ok_and(|dot_git| back == dot_git))
}

/// The directory in which git keeps what belongs to a `.git`.
pub(crate) fn directory(dot_git: &Path) -> Option<PathBuf> {
    match dot_git.is_dir() {
        true => Some(dot_git.to_owned()),
        false => pointed_to(dot_git, Some("gitdir:")),
    }
}

/// The directory of what a `.git` shares with its linked worktrees.
pub(crate) fn common(dot_git: &Path) -> Option<PathBuf> {
    directory(dot_git).map(common_of)
}

fn common_of(directory: PathBuf) -> PathBuf {
    pointed_to(&directory.join("commondir"), None).unwrap_or(directory)
}

/// Whether git writes the index of this directory in parts, as far as its configuration or that of the person says so.
pub(crate) fn splits_index(directory: &Path) -> bool {
    let common = common_of(directory.to_owned());
    let own = [common.join("config"), directory.join("config.worktree")];
    let home = std::env::home_dir().unwrap_or_default();
    let of_person = [home.join(".gitconfig"), home.join(".config/git/config")];
    let says_so = |line: &str| {
        let value = line.rsplit('=').next().unwrap_or_default().trim();
        line.contains("splitindex") && !matches!(value, "false" | "no" | "off" | "0")
    };
    own.iter().chain(&of_person).any(|path| {
        let text = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&text).to_lowercase().lines().any(says_so)
    })
}

/// Follows a file that names a path, which may be relative to its directory.
fn pointed_to(file: &Path, prefix: Option<&str>) -> Option<PathBuf> {
    fs::canonicalize(file.parent()?.join(pointer(file, prefix)?)).ok()
}

/// Reads the path that a file names behind a prefix.
pub(crate) fn pointer(file: &Path, prefix: Option<&str>) -> Option<String> {
    let mut text = String::new();
    // A pipe there is not waited for, and a link not followed: git makes neither.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(file, flags, Mode::empty()).ok().map(fs::File::from);
    let opened = opened.filter(is_file)?;
    opened.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let target = text.trim_end_matches(['\r', '\n']);
    let target = match prefix {
        Some(prefix) => target.strip_prefix(prefix)?.trim_start(),
        None => target,
    };
    Some(target.to_owned())
}

/// Whether a directory has what git wants of a repository.
fn is_repository(directory: &Path) -> bool {
    directory.join("HEAD").exists() && directory.join("objects").is_dir()
}

fn is_file(file: &fs::File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// The repositories of the submodules of one, or of one of its worktrees. No link is followed: a command can make it
/// lead anywhere.
pub(crate) fn modules(of: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![(of.join("modules"), 0)];
    while let Some((directory, depth)) = directories.pop() {
        if !is_directory(&directory) {
            continue;
        }
        if is_repository(&directory) {
            found.push(directory);
        } else if depth < MODULE_DEPTH_MAX {
            directories.extend(children(&directory).into_iter().map(|path| (path, depth + 1)));
        }
    }
    found
}

/// The directories of the linked worktrees of a repository. As with submodules no link is followed.
pub(crate) fn worktrees(of: &Path) -> Vec<PathBuf> {
    let directory = of.join(WORKTREES);
    let found = if is_directory(&directory) { children(&directory) } else { Vec::new() };
    found.into_iter().filter(|path| is_directory(path)).collect()
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn children(directory: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(directory).into_iter().flatten().flatten();
    listed.map(|entry| entry.path()).collect()
}

// === impl GitAccess ===

impl GitAccess {
    /// Leaves out what belongs to work trees that a command may write as well: `own` are the directories of these.
    pub(crate) fn without(mut self, own: &BTreeSet<PathBuf>) -> Self {
        let is_of_main = |path: &Path| OF_MAIN.iter().any(|name| path.ends_with(name));
        let is_free = |path: &Path| match path.parent() {
            Some(directory) if is_of_main(path) => own.contains(directory),
            _ => own.contains(path),
        };
        self.of_others.retain(|path| !is_free(path));
        self
    }

    /// A directory with objects and references, and what lies in it of worktrees and submodules.
    fn add_common(&mut self, directory: &Path) {
        self.writable.push(directory.to_owned());
        let mut repositories = vec![directory.to_owned()];
        while let Some(repository) = repositories.pop() {
            self.protect(&repository);
            repositories.extend(modules(&repository));
            for worktree in worktrees(&repository) {
                self.protected.extend(LINKS.iter().map(|name| worktree.join(name)));
                repositories.extend(modules(&worktree));
            }
        }
    }

    fn protect(&mut self, directory: &Path) {
        self.protected.extend(PROTECTED.iter().map(|name| directory.join(name)));
        // A main directory has none: with one, git would look for everything elsewhere.
        self.protected.push(directory.join("commondir"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_directory_is_written_but_for_what_runs_code() {
        let root = tempfile::tempdir().unwrap();
        let git = root.path().join(".git");
        write(&git.join("modules/a/HEAD"), "");
        write(&git.join("modules/a/objects/x"), "");
        let access = read(&git, root.path());
        assert_eq!(access.writable, std::slice::from_ref(&git));
        for name in ["hooks", "config", "commondir", "modules/a/hooks", "modules/a/config"] {
            assert!(access.protected.contains(&git.join(name)), "{name}");
        }
    }

    #[test]
    fn every_submodule_is_found_however_it_is_called_and_whose_it_is() {
        let root = tempfile::tempdir().unwrap();
        let git = root.path().join(".git");
        // Many that a command made, which hide no other.
        for number in 0..300 {
            write(&git.join(format!("modules/made/{number}/HEAD")), "");
            write(&git.join(format!("modules/made/{number}/objects/x")), "");
        }
        let deep = "modules/a/b/c/d/e/f/g/h/i/j/k";
        let all = [
            deep.to_owned(),
            format!("{deep}/modules/inner"),
            "worktrees/tree/modules/sub".to_owned(),
            format!("{deep}/worktrees/other/modules/sub"),
        ];
        for module in &all {
            write(&git.join(module).join("HEAD"), "");
            write(&git.join(module).join("objects/x"), "");
        }
        std::os::unix::fs::symlink("..", git.join("modules/loop")).unwrap();
        let access = read(&git, root.path());
        for name in ["config", "hooks", "info/attributes", "commondir"] {
            for module in &all {
                assert!(access.protected.contains(&git.join(module).join(name)), "{module} {name}");
            }
        }
        let link = git.join(deep).join("worktrees/other/commondir");
        assert!(access.protected.contains(&link), "a worktree of a submodule is led elsewhere");
    }

    #[test]
    fn a_worktree_writes_where_its_file_leads_only_if_that_leads_back() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let (workspace, common) = (root.join("tree"), root.join("main/.git"));
        let own = common.join("worktrees/tree");
        let pointer = workspace.join(".git");
        write(&pointer, &format!("gitdir: {}\n", own.display()));
        write(&own.join("commondir"), "../..\n");
        write(&own.join("gitdir"), "/elsewhere/.git\n");
        write(&common.join("worktrees/other/HEAD"), "");
        write(&common.join("HEAD"), "");
        write(&common.join("objects/x"), "");
        let access = read(&pointer, &workspace);
        assert!(access.writable.is_empty(), "{access:?}");

        write(&own.join("gitdir"), &format!("{}\n", pointer.display()));
        let access = read(&pointer, &workspace);
        assert_eq!(access.writable, std::slice::from_ref(&common));
        for path in ["hooks", "config"] {
            assert!(access.protected.contains(&common.join(path)), "{path}");
        }
        for path in ["HEAD", "index", "worktrees/other"] {
            assert!(access.of_others.contains(&common.join(path)), "{path}");
        }
        for name in ["commondir", "gitdir", "config.worktree"] {
            assert!(access.protected.contains(&own.join(name)), "{name}");
        }
        assert!(access.protected.contains(&pointer));
    }

    #[test]
    fn what_a_command_may_have_written_leads_to_nothing_outside() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        // The names are such that the workspace itself looks like the part of a worktree.
        let workspace = root.join("worktrees/tree");
        let other = root.join("other/.git");
        for repository in [&root, &other] {
            write(&repository.join("HEAD"), "");
            write(&repository.join("objects/x"), "");
        }
        let nested = workspace.join("nested/.git");
        for (led_to, common) in [
            ("own", root.clone()),
            ("own/deep/er", root.clone()),
            ("own", workspace.join("own")),
            ("", root.clone()),
            ("", PathBuf::from("/")),
        ] {
            let own = workspace.join(led_to);
            write(&nested, &format!("gitdir: {}\n", own.display()));
            write(&own.join("commondir"), &format!("{}\n", common.display()));
            write(&own.join("gitdir"), &format!("{}\n", nested.display()));
            let access = read(&nested, &workspace);
            let outside = access.writable.iter().chain(&access.readable);
            let outside: Vec<_> = outside.filter(|path| !path.starts_with(&workspace)).collect();
            assert!(outside.is_empty(), "{led_to} {common:?}: {outside:?}");
        }
        // A pipe, which nobody writes to.
        fs::remove_file(&nested).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&nested).status().unwrap();
        assert!(made.success());
        assert_eq!(read(&nested, &workspace).readable, Vec::<PathBuf>::new());
        fs::remove_file(&nested).unwrap();
        // Links, to what the restoring after a command would then be about.
        let main = workspace.join("main/.git");
        write(&main.join("HEAD"), "");
        write(&main.join("objects/x"), "");
        write(&other.join("worktrees/of-other/commondir"), "../..");
        std::os::unix::fs::symlink(other.join("worktrees"), main.join("worktrees")).unwrap();
        let of_link = |path: &&PathBuf| path.starts_with(main.join("worktrees"));
        assert_eq!(read(&main, &workspace).protected.iter().find(of_link), None);
        fs::remove_file(main.join("worktrees")).unwrap();
        fs::create_dir(main.join("worktrees")).unwrap();
        let of_other = other.join("worktrees/of-other");
        std::os::unix::fs::symlink(of_other, main.join("worktrees/link")).unwrap();
        assert_eq!(read(&main, &workspace).protected.iter().find(of_link), None);
        // Another repository, which a person has not opened to commands; the same, named by the workspace's own.
        write(&nested, &format!("gitdir: {}\n", other.display()));
        assert_eq!(read(&nested, &workspace).readable, Vec::<PathBuf>::new());
        write(&workspace.join(".git"), &format!("gitdir: {}\n", other.display()));
        assert_eq!(read(&workspace.join(".git"), &workspace).readable, [other]);
        write(&workspace.join(".git"), &format!("gitdir: {}\n", root.join("home").display()));
        fs::create_dir(root.join("home")).unwrap();
        assert_eq!(read(&workspace.join(".git"), &workspace).readable, Vec::<PathBuf>::new());
    }
}
