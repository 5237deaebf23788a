//! What git runs by itself although it only reads: programs that the configuration of a repository names.
//!
//! git that only reads runs unasked where no repository of the workspace names one. Which repository it opens depends on
//! its directory and on the submodules that it finds: so all of the workspace count, and git has to run in a directory
//! that is known. Beside git's own commands that write, those settings count as well which moss replaces while git only
//! reads. Beside others it asks in any case: they may make the repository that it opens.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use moss_commands::{ShellWord, SimpleCommand, git_settings};
use moss_policy::CommandPart;
use moss_sandbox::{RepositorySettings, find_protected, leads_out, repository_settings};
use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use moss_workspace::Workspace;

use super::made::ENTRIES_MAX;
use super::own_programs::hold_own;
use super::parts::{CommandSetting, in_workspace, known_directory, marked_parts, without_parents};

/// Commands of git that write, and neither make a repository nor name one.
const WRITING: [&str; 16] = [
    "add",
    "branch",
    "cherry-pick",
    "commit",
    "fetch",
    "merge",
    "pull",
    "push",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
];
/// Most changes of the directory in one text, and most directories in which git may run, that are followed.
const MOVES_MAX: usize = 8;
const PLACES_MAX: usize = 64;
/// Longest name of a setting that is shown, in characters.
const SHOWN_MAX: usize = 100;

/// Reads a command that is to run in a directory of a workspace.
pub(crate) fn parts_in(
    files: &Workspace,
    command: &str,
    directory: &RelPath,
    setting: CommandSetting,
) -> Vec<CommandPart> {
    let parts = hold_git(files, marked_parts(files, command, directory, setting), directory);
    hold_own(files, parts)
}

/// Marks the parts that are git and only read, where git may run what a repository names.
fn hold_git(files: &Workspace, parts: Vec<CommandPart>, directory: &RelPath) -> Vec<CommandPart> {
    if !parts.iter().any(reads_git) {
        return parts;
    }
    let why = match why_elsewhere(files, &parts, directory) {
        Some(why) => Some(why.to_owned()),
        None => why_configured(files, parts.iter().all(|part| part.only_reads)),
    };
    let Some(why) = why else { return parts };
    let hold =
        |part: CommandPart| if reads_git(&part) { part.running_configured(&why) } else { part };
    parts.into_iter().map(hold).collect()
}

fn reads_git(part: &CommandPart) -> bool {
    part.only_reads && part.command.as_ref().is_some_and(SimpleCommand::is_git)
}

/// Why git may run in a repository that nobody looked at.
fn why_elsewhere(
    files: &Workspace,
    parts: &[CommandPart],
    directory: &RelPath,
) -> Option<&'static str> {
    if parts.iter().all(|part| part.only_reads) {
        let is_known = places(files, parts, directory).is_some_and(|places| {
            places.iter().all(|place| place.as_str().split('/').all(|name| name != ".git"))
        });
        return (!is_known).then_some(
            "in which directory git runs is not known before, and a repository there may name programs that git runs",
        );
    }
    let writes_as_git = parts.iter().filter(|part| !part.only_reads).all(|part| {
        part.command.as_ref().is_some_and(|command| {
            let subcommand = command.words.get(1).and_then(ShellWord::fixed);
            command.via.is_empty()
                && command.is_git()
                && command.writes().next().is_none()
                && subcommand.is_some_and(|subcommand| WRITING.contains(&subcommand))
        })
    });
    let has_options = |command: &SimpleCommand| {
        command.words.get(1).and_then(ShellWord::fixed).is_none_or(|word| word.starts_with('-'))
    };
    let mut git =
        parts.iter().filter_map(|part| part.command.as_ref()).filter(|command| command.is_git());
    let is_at_root = directory.is_root()
        && known_directory(parts, directory).is_some()
        && !git.any(has_options)
        && files.root().join(".git").exists();
    (!writes_as_git || !is_at_root)
        .then_some("beside a command that may write, git may run what that makes")
}

/// The first thing in the repositories of a workspace that may make git run a program; `only_reads` says whether git
/// does nothing else.
fn why_configured(files: &Workspace, only_reads: bool) -> Option<String> {
    let root = files.root();
    let found = find_protected(root, ENTRIES_MAX, &|_| None);
    if !found.is_complete {
        let why = "not every repository of the workspace can be looked at, and one may name programs that git runs";
        return Some(why.to_owned());
    }
    // A directory that moss cannot look into is masked whole: git cannot, either.
    repository_settings(&found.repositories)
        .iter()
        .find_map(|settings| why_of(settings, root, only_reads))
}

/// The directories of hooks that the repositories of a workspace name, as far as they lie in the files of their own
/// repository: what is written there runs with the next `git commit` of the person.
pub(super) fn hook_directories(dot_gits: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for settings in repository_settings(dot_gits) {
        let RepositorySettings::File { path, text } = settings else { continue };
        let (all, directory) = (git_settings(&text).unwrap_or_default(), path.parent());
        let value = |name: &str| {
            let last = all.iter().rev().find(|setting| setting.name == name);
            last.and_then(|setting| setting.value.clone())
        };
        let (Some(hooks), Some(directory)) = (value("core.hookspath"), directory) else { continue };
        let top = match value("core.worktree") {
            Some(top) => directory.join(top),
            None => directory.parent().unwrap_or(directory).to_owned(),
        };
        let Ok(top) = top.canonicalize() else { continue };
        let is_plain = |hooks: &Path| {
            hooks.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        };
        let inner = Path::new(&hooks).strip_prefix(&top).unwrap_or(Path::new(&hooks)).to_owned();
        let path = top.join(inner.components().collect::<PathBuf>());
        if is_plain(&inner) && path != top {
            found.insert(path);
        }
    }
    found
}

fn why_of(settings: &RepositorySettings, root: &Path, only_reads: bool) -> Option<String> {
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    match settings {
        RepositorySettings::Unknown(path) => {
            Some(format!("{} cannot be read, and may name programs that git runs", shown(path)))
        }
        RepositorySettings::Hook(path) => {
            (!only_reads).then(|| format!("git may run {}", shown(path)))
        }
        RepositorySettings::File { path, text } => {
            let Some(all) = git_settings(text) else {
                return Some(format!(
                    "{} cannot be read, and may name programs that git runs",
                    shown(path)
                ));
            };
            all.into_iter().find_map(|setting| {
                let name: String = setting.name.escape_debug().take(SHOWN_MAX).collect();
                if setting.may_run(only_reads) {
                    return Some(format!(
                        "`{name}` in {} may make git run another program",
                        shown(path)
                    ));
                }
                let elsewhere = setting.value.filter(|_| setting.name == "core.worktree")?;
                leads_out(path, &elsewhere, root)
                    .then(|| format!("`{name}` in {} leads out of the workspace", shown(path)))
            })
        }
    }
}

/// The directories in which git may run, after all links; none where that is not known.
fn places(
    files: &Workspace,
    parts: &[CommandPart],
    directory: &RelPath,
) -> Option<BTreeSet<RelPath>> {
    let mut moves = Vec::new();
    for part in parts {
        let command = part.command.as_ref()?;
        let Some(name) = command.words.first() else { continue };
        match (name.fixed()?, command.words.get(1..)?) {
            ("cd", [target]) => {
                moves.push(target.fixed().filter(|target| !target.starts_with('-'))?);
            }
            ("cd" | "pushd" | "popd", _) => return None,
            _ => {}
        }
    }
    if moves.len() > MOVES_MAX {
        return None;
    }
    let mut places = BTreeSet::from([directory.clone()]);
    for _ in 0..moves.len() {
        for target in &moves {
            places.extend(reached(files, &places, target)?);
        }
    }
    let mut all = BTreeSet::new();
    for command in
        parts.iter().filter(|part| reads_git(part)).filter_map(|part| part.command.as_ref())
    {
        let mut here = places.clone();
        let mut words = command.words.get(1..)?.iter();
        while let Some(word) =
            words.next().and_then(ShellWord::fixed).filter(|word| word.starts_with('-'))
        {
            match word {
                "-C" => here = reached(files, &here, words.next()?.fixed()?)?,
                // Its value is a setting.
                "-c" => drop(words.next()?),
                _ => {}
            }
        }
        all.extend(here);
    }
    Some(all)
}

/// The directories that a path leads to from others; none where one is not in the workspace.
fn reached(files: &Workspace, from: &BTreeSet<RelPath>, target: &str) -> Option<BTreeSet<RelPath>> {
    let mut found = BTreeSet::new();
    let path = Path::new(target);
    for place in from {
        let joined = match path.is_absolute() {
            true => path.strip_prefix(files.root()).ok()?.to_owned(),
            false => Path::new(place.as_str()).join(path),
        };
        // The kernel takes the directory above the one that a link leads to, the shell the one above the link.
        for named in [without_parents(files, &joined)?, without_names(files, &joined)?] {
            let reached = files.resolve(&named).ok()?;
            if reached.kind == Some(EntryKind::Directory) {
                found.insert(reached.path);
            }
        }
    }
    (found.len() <= PLACES_MAX).then_some(found)
}

/// Takes `..` out of a path with the name before it.
fn without_names(files: &Workspace, path: &Path) -> Option<RelPath> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            name => plain.push(name),
        }
    }
    in_workspace(files, &plain)
}

#[cfg(test)]
mod tests {
    use moss_workspace::WorkspaceOptions;

    use super::*;

    /// A workspace with a repository, one in a directory of it, and files of settings.
    fn workspace(settings: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in [".git/hooks", "src/inner", "nest/.git/hooks", "sub/a"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let ordinary = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n[user]\nname=a\n";
        std::fs::write(root.join(".git/config"), ordinary).unwrap();
        for (name, text) in settings {
            std::fs::write(root.join(name), text).unwrap();
        }
        for (target, link) in [("..", "out"), ("nest/.git", "git"), ("src/inner", "link")] {
            let target =
                if target == ".." { folder.path().parent().unwrap() } else { Path::new(target) };
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        let files = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
        (folder, files)
    }

    fn is_held(files: &Workspace, command: &str, directory: &str) -> bool {
        let setting = CommandSetting { is_isolated: true, has_terminal: false };
        let directory = in_workspace(files, Path::new(directory)).unwrap();
        let parts = parts_in(files, command, &directory, setting);
        assert!(parts.iter().any(reads_git), "{command}");
        let held = parts.iter().filter(|part| part.runs_configured());
        let count = held.inspect(|part| assert!(reads_git(part) && !part.is_isolated)).count();
        count > 0
    }

    #[test]
    fn git_in_an_ordinary_repository_runs_unasked() {
        let (_folder, files) = workspace(&[]);
        for command in [
            "git status",
            "git log | head",
            "git -C src diff",
            "cd src/inner && git diff",
            "git -C nest status",
            "git -c color.ui=always -C nest log",
            "git -C link/../inner status",
            "cd missing; git status",
            "sh -c 'cd src; git log'",
            "git add a && git commit -m b && git status",
            "git fetch; git log -1",
        ] {
            assert!(!is_held(&files, command, ""), "{command}");
        }
        assert!(!is_held(&files, "cd ../.. && git status", "src/inner"));
    }

    #[test]
    fn git_asks_where_nobody_knows_which_repository_it_opens() {
        let (_folder, files) = workspace(&[]);
        for command in [
            "cd $x; git status",
            "cd; git status",
            "cd -; git status",
            "cd src; cd ..; git show",
            "cd ..; git status",
            "cd /usr; git status",
            "cd out; git status",
            "git -C out status",
            "git -C nest/.git log",
            "git -c color.ui=always -C nest/.git log",
            "git -c color.ui=always -C out log",
            "git -C git log",
            "cd git; git log",
            "pushd src; git status",
            "git -C \"./$x\" status",
            "sh -c 'cd ..; git log'",
            "cd link/../..; git log; cd ..",
        ] {
            assert!(is_held(&files, command, ""), "{command}");
        }
        assert!(is_held(&files, "git log", ".git"));
    }

    #[test]
    fn git_asks_beside_what_may_make_a_repository() {
        let (_folder, files) = workspace(&[]);
        for command in [
            "touch a; git status",
            "cp -n a nest/.git/config; git -C nest status",
            "git clone x y; git status",
            "git -C nest add a; git status",
            "git add a; git -C nest status",
            "git add a; cd nest; git status",
            "sh -c 'git add a'; git status",
            "git add a >> x; git log",
        ] {
            assert!(is_held(&files, command, ""), "{command}");
        }
        assert!(is_held(&files, "git add a; git status", "src"));
    }

    #[test]
    fn git_asks_where_a_repository_names_a_program() {
        for settings in [
            (".git/config", "[diff]external=x"),
            (".git/config", "[include]path=x"),
            (".git/config", "[core]worktree=/usr"),
            (".git/config", "what is this"),
            (".git/config.worktree", "[diff \"a\"]textconv=x"),
            ("nest/.git/config", "[filter \"a\"]clean=x"),
            ("sub/.git", "gitdir: \0"),
        ] {
            let (_folder, files) = workspace(&[settings]);
            for command in ["git status", "git -C nest diff", "git add a; git diff"] {
                assert!(is_held(&files, command, ""), "{command}: {settings:?}");
            }
        }
        for settings in [
            (".git/config", "[core]fsmonitor=x"),
            ("nest/.git/config", "[core]hooksPath=x"),
            (".git/hooks/post-index-change", "x"),
        ] {
            let (_folder, files) = workspace(&[settings]);
            assert!(!is_held(&files, "git status", ""), "{settings:?}");
            assert!(is_held(&files, "git add a; git status", ""), "{settings:?}");
        }
    }
}
