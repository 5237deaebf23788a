//! Which files a program wrote that it could not change, since a mount keeps them from commands: git carries on all the
//! same, and leaves a tree that is half of one commit and half of another. A file is named where what the program wrote
//! can mean no other one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

use crate::command::{Profile, SandboxedCommand};

/// What programs write that could not change a file beneath a mount, in lower case.
const SIGNS: [&str; 3] = ["unable to unlink", "read-only file system", "resource busy"];
/// How git begins what it writes of files: their names are from the root of the worktree.
const OF_GIT: [&str; 3] = ["error: ", "warning: ", "fatal: "];
/// What may lead git to another worktree than that of the directory in which a command runs.
const LEADS_ELSEWHERE: [&str; 5] = ["-C", "--git-dir", "--work-tree", "GIT_", "worktree"];
/// Most lines with such a sign that are looked at.
const LINES_MAX: usize = 100;
/// Longest of them, in bytes.
const LINE_BYTES_MAX: usize = 4 << 10;
/// Most names that are looked for among what is mounted.
const NAMES_MAX: usize = 200;

/// The mounts that kept a command from changing files, and what its relative names may start from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HinderingPaths {
    workspace: PathBuf,
    directory: PathBuf,
    /// The roots of worktrees.
    roots: BTreeSet<PathBuf>,
    /// What git that its text starts names its files from, as far as the text shows that.
    git_root: Option<PathBuf>,
    /// What is read-only or hidden in the workspace and in its repositories.
    mounted: BTreeSet<PathBuf>,
}

/// What a program wrote that it could not change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hindered<'a> {
    pub(crate) named: BTreeSet<&'a Path>,
    /// Whether it wrote names besides that may mean several of those.
    pub(crate) is_unsure: bool,
}

/// Whether a path is one of git's own.
pub(crate) fn is_of_git(path: &Path) -> bool {
    path.iter().any(|name| name.as_encoded_bytes().ends_with(b".git"))
}

fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES_MAX)]
}

fn has_sign(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign))
}

/// What may be paths in a line: what is quoted, and words that look like one.
fn names(line: &str) -> impl Iterator<Item = &Path> {
    let quoted = line.split(['\'', '"', '`', '‘', '’']).skip(1).step_by(2);
    let words = line.split_whitespace().map(|word| word.trim_matches(['\'', '"', '`', ':', ',']));
    let words = words.filter(|word| word.contains(['/', '.']));
    quoted.chain(words).map(Path::new)
}

/// A path without `.` and `..`; none where it leads above the root.
pub(crate) fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if plain.pop() => {}
            Component::ParentDir => return None,
            other => plain.push(other),
        }
    }
    Some(plain)
}

/// Where a script works: in the directory in which it begins, or in the one that its first word leads to. None where it
/// may lead elsewhere.
fn workplace(script: &str, begins: &Path) -> Option<PathBuf> {
    let (directory, rest) = match script.trim_start().strip_prefix("cd ") {
        Some(script) => {
            let (to, rest) = script.split_at(script.find([';', '&', '\n'])?);
            let to = to.trim();
            let is_plain =
                !to.is_empty() && !to.contains(|sign: char| " \t\"'\\$`*?[~<>|(".contains(sign));
            (plain(&begins.join(is_plain.then_some(to)?)).filter(|to| to.is_dir())?, rest)
        }
        None => (begins.to_owned(), script),
    };
    let mut words = rest.split(|sign: char| sign.is_whitespace() || ";&|(){}'\"`".contains(sign));
    let leads = |word: &str| {
        matches!(word, "cd" | "pushd")
            || LEADS_ELSEWHERE.iter().any(|start| word.starts_with(start))
    };
    (!words.any(leads)).then_some(directory)
}

/// Where the script of a command works, where its text says so: see [`workplace`].
pub(crate) fn starts_in(command: &SandboxedCommand) -> Option<PathBuf> {
    let script = match &command.arguments[..] {
        [.., option, script] if option == "-c" => script.to_str(),
        _ => None,
    };
    workplace(script?, &command.directory)
}

// === impl HinderingPaths ===

impl HinderingPaths {
    /// What a command meets: `mounted` keeps files from it, by their real paths, and `repositories` are its `.git`s.
    pub(crate) fn of(
        command: &SandboxedCommand,
        mounted: impl IntoIterator<Item = PathBuf>,
        repositories: &[PathBuf],
    ) -> Self {
        // Nothing there is written to in any case.
        if command.profile == Profile::ReadOnly {
            return Self::default();
        }
        let workspace = command.files.workspace.clone();
        // A worktree has its repository elsewhere.
        let is_within = |path: &PathBuf| {
            let mut around = repositories.iter().chain([&workspace]);
            *path != workspace && around.any(|around| path.starts_with(around))
        };
        let mounted = mounted.into_iter().filter(is_within).collect();
        let roots = repositories.iter().filter_map(|dot_git| dot_git.parent());
        let roots: BTreeSet<_> = roots.map(Path::to_owned).collect();
        let at = starts_in(command);
        let around = at.as_deref().into_iter().flat_map(Path::ancestors);
        let git_root = around.filter(|_| command.runs_git).find(|path| roots.contains(*path));
        let git_root = git_root.map(Path::to_owned);
        Self { directory: command.directory.clone(), workspace, roots, git_root, mounted }
    }

    /// Finds what a command could not change, as far as it wrote so itself.
    pub(crate) fn named(&self, written: [&str; 2]) -> Hindered<'_> {
        let lines = written.into_iter().flat_map(str::lines).filter(|line| has_sign(line));
        let names_in = |line| names(cut(line)).map(move |name| (self.root_of_git(line), name));
        let names = lines.take(LINES_MAX).flat_map(names_in).take(NAMES_MAX);
        let names: BTreeSet<(Option<&Path>, &Path)> = names.collect();
        let mut hindered = Hindered::default();
        if names.is_empty() || self.mounted.is_empty() {
            return hindered;
        }
        let by_last = self.by_last_name();
        for (git_root, name) in names {
            let meant = match git_root {
                Some(root) => self.meant_from([root], name),
                None => self.meant(&by_last, name),
            };
            match meant.len() {
                0 => {}
                1 => hindered.named.extend(meant.into_values()),
                _ => hindered.is_unsure = true,
            }
        }
        hindered
    }

    /// What git that wrote a line names files from, where that is known.
    fn root_of_git(&self, line: &str) -> Option<&Path> {
        let is_of_git = OF_GIT.iter().any(|start| line.trim_start().starts_with(start));
        self.git_root.as_deref().filter(|_| is_of_git)
    }

    /// All paths in the workspace that are mounted or above what is, by their last names.
    fn by_last_name(&self) -> HashMap<&OsStr, BTreeSet<&Path>> {
        let mut by_last: HashMap<&OsStr, BTreeSet<&Path>> = HashMap::new();
        let within = |path: &&Path| path.starts_with(&self.workspace) && *path != self.workspace;
        for path in &self.mounted {
            for around in path.ancestors().take_while(within) {
                let Some(name) = around.file_name() else { continue };
                if !by_last.entry(name).or_default().insert(around) {
                    break;
                }
            }
        }
        by_last
    }

    /// What a name may mean, wherever it is given from: each path, with what is mounted there.
    fn meant<'a>(
        &'a self,
        by_last: &HashMap<&OsStr, BTreeSet<&Path>>,
        name: &Path,
    ) -> BTreeMap<PathBuf, &'a Path> {
        let known = self.roots.iter().chain([&self.workspace, &self.directory]);
        let mut meant = self.meant_from(known.map(PathBuf::as_path), name);
        // From any other directory: what is in the workspace by that name.
        let from_there = name.strip_prefix(".").unwrap_or(name);
        let last = from_there.file_name().and_then(|last| by_last.get(last));
        let ends_so = last.into_iter().flatten().filter(|path| path.ends_with(from_there));
        meant.extend(ends_so.filter_map(|path| Some((path.to_path_buf(), self.mounted_at(path)?))));
        meant
    }

    /// What a name means that is given from one of these directories.
    fn meant_from<'a, 'b>(
        &'a self,
        directories: impl IntoIterator<Item = &'b Path>,
        name: &Path,
    ) -> BTreeMap<PathBuf, &'a Path> {
        let is_name = matches!(name.components().next_back(), Some(Component::Normal(_)));
        let paths =
            directories.into_iter().filter(|_| is_name).filter_map(|from| plain(&from.join(name)));
        paths.filter_map(|path| self.mounted_at(&path).map(|mounted| (path, mounted))).collect()
    }

    /// What is mounted at a path or around it, in the workspace also beneath it.
    fn mounted_at(&self, path: &Path) -> Option<&Path> {
        let around = path.ancestors().find_map(|around| self.mounted.get(around));
        let beneath = || {
            (path.starts_with(&self.workspace) && path != self.workspace).then_some(())?;
            let mut after =
                self.mounted.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded));
            after.next().filter(|mounted| mounted.starts_with(path))
        };
        around.or_else(beneath).map(PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hindering(
        text: &str,
        from: &str,
        mounted: &[&str],
        repositories: &[&str],
    ) -> HinderingPaths {
        let mut command = SandboxedCommand::shell("/w/project", text);
        command.directory = Path::new("/w/project").join(from);
        command.runs_git = text.contains("git ");
        let within = |path: &&str| Path::new("/w/project").join(path);
        let repositories: Vec<_> = repositories.iter().map(within).collect();
        HinderingPaths::of(&command, mounted.iter().map(within), &repositories)
    }

    fn named(hindering: &HinderingPaths, line: &str) -> (Vec<String>, bool) {
        let Hindered { named, is_unsure } = hindering.named(["", line]);
        let shown = |path: &&Path| path.strip_prefix("/w/project").unwrap().display().to_string();
        (named.iter().map(shown).collect(), is_unsure)
    }

    const MOUNTED: [&str; 6] = [
        ".git/config",
        ".git/hooks",
        "cl/.git/config",
        ".github/workflows",
        ".vscode/tasks.json",
        "node_modules/a/test/key.pem",
    ];

    #[test]
    fn a_worktree_meets_what_is_protected_in_its_repository() {
        let git = "/w/main/.git";
        let config = "/w/main/.git/config";
        let hindering = hindering("git config a.b c", "", &[config, ".vscode/x"], &[git, ".git"]);
        let line = format!("error: could not write config file {config}: Device or resource busy");
        let hindered = hindering.named(["", &line]);
        assert_eq!(hindered.named, BTreeSet::from([Path::new(config)]));
        let line = line.replace("config:", "other:");
        assert_eq!(hindering.named(["", &line]), Hindered::default());
    }

    #[test]
    fn a_directory_that_a_quoted_script_goes_to_is_not_known() {
        for text in ["sh -c 'cd cl && git config a.b c'", "bash -lc \"cd cl; git config a.b c\""] {
            let hindering = hindering(text, "", &MOUNTED, &[".git", "cl/.git"]);
            assert_eq!(hindering.git_root, None, "{text}");
        }
    }

    #[test]
    fn what_keeps_a_file_from_a_command_is_found_however_a_program_names_it() {
        let hindering = hindering("make; git switch x", "", &MOUNTED, &[".git", "cl/.git"]);
        for (line, path) in [
            ("error: unable to unlink old '.github/workflows/ci.yml': Read-only file system", 3),
            ("error: could not write config file .git/config: Device or resource busy", 0),
            ("rm: cannot remove 'cl/.git/config': Device or resource busy", 2),
            ("rm: cannot remove 'cl': Device or resource busy", 2),
            ("rm: cannot remove ‘tasks.json’: Read-only file system", 4),
            ("rm: cannot remove '../.vscode/../.vscode/tasks.json': Read-only file system", 4),
            ("Error: EBUSY: resource busy or locked, rmdir '/w/project/.vscode'", 4),
            ("sh: 1: cannot create .git/hooks/pre-commit: Read-only file system", 1),
            ("OSError: [Errno 30] Read-only file system: '/w/project/.vscode/tasks.json'", 4),
            ("rm: cannot remove 'node_modules/a/test/key.pem': Device or resource busy", 5),
            (
                "npm error EBUSY: resource busy or locked, rename '/w/project/node_modules/a' -> 'x'",
                5,
            ),
            ("OSError: [Errno 16] Device or resource busy: 'key.pem'", 5),
        ] {
            assert_eq!(named(&hindering, line), (vec![MOUNTED[path].to_owned()], false), "{line}");
        }
        for line in [
            "sh: 1: cannot create /usr/x: Read-only file system",
            "wrote .git/config",
            "Read-only file system",
            "mount: /: Device or resource busy",
            "rm: cannot remove '..': Device or resource busy",
            // What lies around the workspace, and what only begins or ends like a protected name.
            "rm: cannot remove 'w': Device or resource busy",
            "rm: cannot remove '/w': Device or resource busy",
            "rm: cannot remove 'w/project': Device or resource busy",
            "rm: cannot remove '/w/project': Device or resource busy",
            "cp: cannot create 'config/settings.py': Read-only file system",
            "cp: cannot create 'hooks/use.ts': Read-only file system",
            "error: unable to create file tasks.json: Read-only file system",
        ] {
            assert_eq!(named(&hindering, line), (Vec::new(), false), "{line}");
        }
    }

    #[test]
    fn a_name_that_may_mean_several_files_is_not_guessed() {
        let line = "error: could not write config file .git/config: Device or resource busy";
        let from = |text: &str, from: &str| {
            named(&hindering(text, from, &MOUNTED, &[".git", "cl/.git"]), line)
        };
        let one = |path: &str| (vec![path.to_owned()], false);
        assert_eq!(from("git config a.b c", ""), one(".git/config"));
        assert_eq!(from("git config a.b c", "src"), one(".git/config"));
        assert_eq!(from("git config a.b c", "cl/deep"), one("cl/.git/config"));
        for text in [
            "make",
            "git -C cl config a.b c",
            "cd $x; git config a.b c",
            "x; cd cl; git config a.b c",
        ] {
            assert_eq!(from(text, ""), (Vec::new(), true), "{text}");
        }
        let line = "rm: cannot remove 'config': Device or resource busy";
        let hindering = hindering("rm -f config", ".git", &MOUNTED, &[".git", "cl/.git"]);
        assert_eq!(named(&hindering, line), (Vec::new(), true));
        assert_eq!(hindering.named(["", ""]), Hindered::default());
    }

    #[test]
    fn where_a_script_works_is_read_from_its_beginning() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        for (script, at) in [
            ("git pull", Some("")),
            ("cd a && git pull", Some("a")),
            ("cd a/b/..; git pull", Some("a")),
            ("cd missing; git pull", None),
            ("cd a", None),
            ("cd \"$x\" && git pull", None),
            ("cd a && (cd b && git pull)", None),
            ("git --git-dir=a pull", None),
            ("GIT_DIR=a git pull", None),
        ] {
            let at = at.map(|at| plain(&root.join(at)).unwrap());
            assert_eq!(workplace(script, root), at, "{script}");
        }
    }

    #[test]
    fn what_only_reads_is_kept_from_nothing() {
        let mut command = SandboxedCommand::shell("/w", "rm .env");
        command.profile = Profile::ReadOnly;
        let hindering = HinderingPaths::of(&command, ["/w/.env".into()], &[]);
        let line = "rm: cannot remove '.env': Read-only file system";
        assert_eq!(hindering.named(["", line]), Hindered::default());
    }
}
