//! What git wants outside of what a command sees or writes, and what a result says of it: a worktree that is thrown away
//! with the command, a repository around the workspace, the repository of a submodule, a remote that is a path. Whether
//! something is there at a path that a command chose, nobody finds out by it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::command::{NetworkMode, Profile, SandboxedCommand};
use crate::hindered::{plain, starts_in};
use crate::other_worktrees::LEADS_BACK;
use crate::repository;
use crate::shown::shown_path;

/// Most new worktrees that are looked at.
const NEW_MAX: usize = 100;
/// How git begins what it writes when it gives up.
const FATAL: &str = "fatal: ";
/// What follows that where it finds no repository.
const NO_REPOSITORY: &str = "not a git repository";
/// What follows the path of a remote where it finds none there.
const NO_REMOTE: [&str; 2] = [" does not appear to be a git repository", " does not exist"];
/// What is written of a file that cannot be made, in lower case.
const NOT_MADE: [&str; 2] = ["read-only file system", "permission denied"];
/// What to do about a repository that lies partly elsewhere.
const SERVED: &str =
    "a person serves a directory with both in it as the workspace, or runs git there";
/// What to do about a remote.
const REMOTE: &str = "lies outside of the workspace, and commands see no repository there: a person runs this git \
                      command, or adds a rule with its words and `profile = \"danger-full\"` to the policy";

/// What lies outside for the git of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitOutside {
    /// The workspace, and where else the command writes.
    kept: BTreeSet<PathBuf>,
    /// Whether the text of the command runs git, so that lines like git's are git's.
    runs_git: bool,
    /// What relative paths of remotes may start from; none where the text leads elsewhere.
    roots: BTreeSet<PathBuf>,
    /// The directories of linked worktrees that there were, by repository.
    worktrees: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// The directory around a workspace without a repository that has one.
    around: Option<PathBuf>,
    /// What git keeps for the workspace, where commands only read that.
    only_read: Option<PathBuf>,
}

/// The path of a remote in what git writes where it finds no repository there.
fn remote(fatal: &str) -> Option<&Path> {
    let quoted = fatal.strip_prefix("repository ").unwrap_or(fatal);
    let (path, why) = quoted.strip_prefix('\'')?.rsplit_once('\'')?;
    NO_REMOTE.contains(&why).then_some(Path::new(path))
}

// === impl GitOutside ===

impl GitOutside {
    /// What there is before a command that writes in these directories, with the `.git`s of these repositories.
    pub(crate) fn of(
        command: &SandboxedCommand,
        written: &[PathBuf],
        repositories: &[PathBuf],
    ) -> Self {
        if command.profile == Profile::DangerFull {
            return Self::default();
        }
        let workspace = &command.files.workspace;
        let dot_git = workspace.join(".git");
        let has_own = dot_git.symlink_metadata().is_ok();
        let mut around = workspace.ancestors().skip(1);
        let around = around.find(|around| !has_own && around.join(".git").exists());
        let is_written = |common: &PathBuf| written.iter().any(|root| common.starts_with(root));
        let commons = repositories.iter().filter_map(|dot_git| repository::common(dot_git));
        let worktrees = commons.filter(is_written).map(|common| {
            let there: BTreeSet<PathBuf> = repository::worktrees(&common).into_iter().collect();
            (common, there)
        });
        let start = starts_in(command);
        let around_start = repositories.iter().filter_map(|dot_git| dot_git.parent());
        let roots = start.iter().flat_map(|start| around_start.clone().chain([start.as_path()]));
        Self {
            kept: written.iter().chain([workspace]).cloned().collect(),
            runs_git: command.runs_git,
            roots: roots.map(Path::to_owned).collect(),
            worktrees: worktrees.collect(),
            around: around.map(Path::to_owned),
            only_read: repository::only_read(&dot_git, workspace),
        }
    }

    /// Where git has registered worktrees meanwhile that are not there any more.
    pub(crate) fn lost_worktrees(&self) -> Vec<PathBuf> {
        // A command may have put a link in its place, to a repository that is none of its own.
        let is_same =
            |common: &Path| common.canonicalize().is_ok_and(|real| real.as_path() == common);
        let known = self.worktrees.iter().filter(|(common, _)| is_same(common));
        let new = known.flat_map(|(common, before)| {
            let now = repository::worktrees(common).into_iter();
            now.filter(move |registered| !before.contains(registered))
        });
        new.take(NEW_MAX).filter_map(|registered| self.lost(&registered)).collect()
    }

    /// Where a registered worktree was, unless it lies where the command writes, or somebody else has made it.
    fn lost(&self, registered: &Path) -> Option<PathBuf> {
        let leads_back = repository::pointer(&registered.join(LEADS_BACK), None)?;
        let dot_git = plain(&registered.join(leads_back))?;
        // Whatever else a command wrote there is not even looked for.
        if dot_git.file_name() != Some(OsStr::new(".git")) {
            return None;
        }
        let is_there = || {
            let is_file = dot_git.symlink_metadata().is_ok_and(|found| found.is_file());
            is_file && repository::directory(&dot_git).as_deref() == Some(registered)
        };
        let is_lost = !self.keeps(&dot_git) && !is_there();
        is_lost.then(|| dot_git.parent().unwrap_or(&dot_git).to_owned())
    }

    fn keeps(&self, path: &Path) -> bool {
        self.kept.iter().any(|kept| path.starts_with(kept))
    }

    /// Whether a path leads out, whichever of the known directories it starts from.
    fn leads_out(&self, path: &Path) -> bool {
        let keeps = |path: &Path| plain(path).is_some_and(|path| self.keeps(&path));
        match path.is_absolute() {
            true => !keeps(path),
            false => {
                !self.roots.is_empty() && !self.roots.iter().any(|root| keeps(&root.join(path)))
            }
        }
    }

    /// What git wanted outside and did not find, or could not write, where a command wrote that it did not.
    pub(crate) fn why(&self, written: [&str; 2], network: NetworkMode) -> Option<String> {
        if !self.runs_git {
            return None;
        }
        written.into_iter().flat_map(str::lines).find_map(|line| self.why_in(line, network))
    }

    /// The same of one line.
    fn why_in(&self, line: &str, network: NetworkMode) -> Option<String> {
        if let Some(directory) = &self.only_read
            && line.contains(&*directory.to_string_lossy())
            && NOT_MADE.iter().any(|sign| line.to_ascii_lowercase().contains(sign))
        {
            let directory = shown_path(directory);
            return Some(format!(
                "git keeps what belongs to the workspace in {directory}, which commands only read, since it lies \
                 outside and does not lead back: {SERVED}"
            ));
        }
        let fatal = line.strip_prefix(FATAL)?;
        if let Some(rest) = fatal.strip_prefix(NO_REPOSITORY) {
            return self.why_no_repository(rest);
        }
        // What runs on another machine writes the same of its own paths.
        let path = remote(fatal).filter(|_| network == NetworkMode::Off)?;
        self.leads_out(path).then(|| format!("`{}` {REMOTE}", shown_path(path)))
    }

    /// The same of a line by its end, where git found no repository.
    fn why_no_repository(&self, rest: &str) -> Option<String> {
        if let Some(path) = rest.strip_prefix(": ").map(Path::new) {
            return self.leads_out(path).then(|| {
                let path = shown_path(path);
                format!("a `.git` file leads to {path}, which no command sees: {SERVED}")
            });
        }
        let around = shown_path(self.around.as_ref()?);
        Some(format!(
            "the repository is {around}, around the workspace, and no command sees it: {SERVED}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn outside(workspace: &Path) -> GitOutside {
        let mut command = SandboxedCommand::shell(workspace, "git status");
        command.runs_git = true;
        GitOutside::of(&command, &[workspace.to_owned()], &[workspace.join(".git")])
    }

    #[test]
    fn new_worktrees_that_are_not_there_are_lost_and_those_of_a_person_are_not() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let workspace = root.join("workspace");
        let worktrees = workspace.join(".git/worktrees");
        let register = |name: &str, dot_git: &Path| {
            write(&worktrees.join(name).join(LEADS_BACK), &format!("{}\n", dot_git.display()));
        };
        register("before", &root.join("before/.git"));
        let outside = outside(&workspace);
        register("lost", &root.join("lost/.git"));
        register("relative", Path::new("../../../../far/.git"));
        register("inner", &workspace.join("inner/.git"));
        register("theirs", &root.join("theirs/.git"));
        let leads_there = format!("gitdir: {}\n", worktrees.join("theirs").display());
        write(&root.join("theirs/.git"), &leads_there);
        let mut lost = outside.lost_worktrees();
        lost.sort();
        assert_eq!(lost, [root.join("far"), root.join("lost")]);
        let elsewhere = root.join("elsewhere");
        fs::rename(workspace.join(".git"), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, workspace.join(".git")).unwrap();
        assert_eq!(outside.lost_worktrees(), Vec::<PathBuf>::new(), "a link leads there");
    }

    #[test]
    fn a_repository_around_the_workspace_is_named_where_git_finds_none() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let workspace = root.join("workspace");
        fs::create_dir_all(&workspace).unwrap();
        write(&root.join(".git/HEAD"), "");
        let line = "fatal: not a git repository (or any of the parent directories): .git";
        let why = |line: &str| outside(&workspace).why(["", line], NetworkMode::Off);
        assert!(why(line).unwrap().contains(&root.display().to_string()));
        assert_eq!(why(&line["fatal: ".len()..]), None);
        write(&workspace.join(".git/HEAD"), "");
        assert_eq!(why(line), None);
    }

    #[test]
    fn the_repository_of_a_submodule_that_lies_outside_is_named_where_it_is_not_written() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (workspace, module) = (root.join("sub"), root.join(".git/modules/sub"));
        write(&workspace.join(".git"), "gitdir: ../.git/modules/sub\n");
        write(&module.join("HEAD"), "");
        write(&module.join("objects/x"), "");
        let shown = module.display();
        let why = |line: &str| outside(&workspace).why(["", line], NetworkMode::Off);
        for error in ["Read-only file system", "Permission denied"] {
            let line = format!("fatal: Unable to create '{shown}/index.lock': {error}");
            assert!(why(&line).unwrap().contains(&*module.to_string_lossy()), "{line}");
        }
        assert_eq!(
            why(&format!("fatal: Unable to create '{shown}/index.lock': File exists.")),
            None
        );
        fs::remove_dir_all(&module).unwrap();
        let line =
            format!("fatal: not a git repository: {}/../.git/modules/sub", workspace.display());
        assert!(why(&line).unwrap().contains("a `.git` file leads to"), "{line}");
    }

    #[test]
    fn a_remote_by_a_path_that_leads_out_is_named() {
        let outside = outside(Path::new("/w/project"));
        let why = |line: &str| outside.why(["", line], NetworkMode::Off).is_some();
        for line in [
            "fatal: '../remote' does not appear to be a git repository",
            "fatal: '/w/remote' does not appear to be a git repository",
            "fatal: repository '../remote' does not exist",
            "fatal: repository '/w/project/../remote' does not exist",
        ] {
            assert!(why(line), "{line}");
            let on = outside.why(["", line], NetworkMode::On);
            assert_eq!(on, None, "another machine's: {line}");
            assert_eq!(GitOutside::default().why(["", line], NetworkMode::Off), None);
        }
        for line in [
            "fatal: 'origin' does not appear to be a git repository",
            "fatal: repository 'https://example.org/x/' not found",
            "fatal: repository '/w/project/inner' does not exist",
            "'../remote' does not appear to be a git repository",
            "fatal: '../remote'",
        ] {
            assert!(!why(line), "{line}");
        }
    }

    #[test]
    fn a_remote_is_not_named_where_it_may_start_elsewhere_or_no_git_runs() {
        let workspace = Path::new("/w/project");
        let why = |text: &str, runs_git: bool| {
            let mut command = SandboxedCommand::shell(workspace, text);
            command.runs_git = runs_git;
            let outside = GitOutside::of(&command, &[workspace.to_owned()], &[]);
            let line = "fatal: repository '../remote' does not exist";
            outside.why(["", line], NetworkMode::Off).is_some()
        };
        assert!(why("git clone ../remote", true));
        assert!(!why("cat log", false));
        for text in ["git -C a/b clone ../remote", "sh -c 'cd a; git clone ../remote'"] {
            assert!(!why(text, true), "{text}");
        }
    }
}
