//! The parts of a command, and the files that the shell opens for them.

use std::path::{Component, Path, PathBuf};

use moss_commands::{MadeLinks, Redirection, RedirectionMode, ShellScript};
use moss_policy::{Action, CommandPart};
use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use moss_workspace::Workspace;

/// Builtins behind which nobody knows in which directory a command runs.
const MOVING: [&str; 3] = ["cd", "popd", "pushd"];

/// A file in the workspace that the shell opens for a part.
#[derive(Debug)]
pub(crate) struct ShellFile {
    /// The path that it is asked for under.
    pub(crate) asked: RelPath,
    /// Its real path, after all links.
    pub(crate) real: RelPath,
    /// What is done to it.
    pub(crate) action: Action,
}

/// How a command is to run, as far as what it means depends on that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandSetting {
    /// Whether on the full tier of the sandbox, which has a `/tmp` for each command.
    pub(crate) is_isolated: bool,
    /// Whether its standard streams are a terminal.
    pub(crate) has_terminal: bool,
}

/// Reads a command; of one that cannot be read the whole text is the only part.
pub(crate) fn parts_of(command: &str, setting: CommandSetting) -> Vec<CommandPart> {
    let read = moss_commands::read(command);
    match read.map(|script| if setting.has_terminal { script.on_terminal() } else { script }) {
        Ok(ShellScript { commands }) => {
            let part = |command| CommandPart::new(command, setting.is_isolated);
            commands.into_iter().map(part).collect()
        }
        Err(error) => vec![CommandPart::unread(command, &error)],
    }
}

/// Reads a command that is to run in a directory of a workspace; what git may run is not looked at.
pub(super) fn marked_parts(
    files: &Workspace,
    command: &str,
    directory: &RelPath,
    setting: CommandSetting,
) -> Vec<CommandPart> {
    let mut parts = parts_of(command, setting);
    if !parts.iter().all(|part| part.only_reads) {
        // They would run where others may write.
        let is_plain = moss_commands::is_plain(command);
        parts = parts.into_iter().map(|part| part.beside_writes(is_plain)).collect();
    }
    let links = MadeLinks::of(parts.iter().filter_map(|part| part.command.as_ref()));
    let opening = ShellOpening {
        files,
        directory: known_directory(&parts, directory),
        has_own_scratch: setting.is_isolated,
        links,
    };
    let mark = |part: CommandPart| match opening.opened(&part) {
        OpenedFiles::Known => part,
        OpenedFiles::ReadsUnknown => part.reading_unknown(),
        OpenedFiles::WritesUnknown => part.writing_unknown(),
        OpenedFiles::Emptied(file) => part.emptying(&file),
    };
    parts.into_iter().map(mark).collect()
}

/// As a part is decided about where `/tmp` is not the command's own: which file is there nobody knows, but for those of
/// the workspace.
pub(crate) fn without_own_scratch(files: &Workspace, part: CommandPart) -> CommandPart {
    let is_shared =
        |opened: &Redirection| is_temporary(opened) && opened_by(files, None, opened).is_none();
    let opens = part.command.as_ref().is_some_and(|command| command.writes().any(is_shared));
    if opens { part.writing_unknown() } else { part }
}

/// The directory in which every part runs; none where one may change it.
pub(crate) fn known_directory<'d>(
    parts: &[CommandPart],
    directory: &'d RelPath,
) -> Option<&'d RelPath> {
    let moves = parts.iter().any(|part| match &part.command {
        None => true,
        Some(command) if command.words.is_empty() => false,
        Some(command) => command.program().is_none_or(|name| MOVING.contains(&name)),
    });
    Some(directory).filter(|_| !moves)
}

/// The files in the workspace that the shell opens for a part, as far as their names are known.
pub(super) fn opened_files(
    files: &Workspace,
    directory: Option<&RelPath>,
    part: &CommandPart,
) -> Vec<ShellFile> {
    let opened = part.command.iter().flat_map(|command| &command.redirections);
    let files_of = |redirection: &Redirection| {
        let file = opened_by(files, directory, redirection);
        let actions: &[Action] = match redirection.mode {
            RedirectionMode::Read => &[Action::Read],
            RedirectionMode::Truncate | RedirectionMode::Append => &[Action::Modify],
            RedirectionMode::ReadWrite => &[Action::Read, Action::Modify],
        };
        let file = file.into_iter();
        file.flat_map(|(asked, real)| {
            actions.iter().map(move |&action| ShellFile {
                asked: asked.clone(),
                real: real.clone(),
                action,
            })
        })
        .collect::<Vec<_>>()
    };
    opened.flat_map(files_of).collect()
}

/// As [`opened_files`], for each part of a command that is to run in a directory.
pub(crate) fn files_of_parts(
    files: &Workspace,
    parts: &[CommandPart],
    directory: &RelPath,
) -> Vec<Vec<ShellFile>> {
    let known = known_directory(parts, directory);
    parts.iter().map(|part| opened_files(files, known, part)).collect()
}

/// What is known of the files that the shell opens for a part.
enum OpenedFiles {
    Known,
    /// Nobody can say where one that is read lies, and nothing else keeps it.
    ReadsUnknown,
    /// Nobody can say where one that is written lies, or it is outside of the workspace.
    WritesUnknown,
    /// One is emptied of which the words alone do not say so.
    Emptied(String),
}

/// What the names that the shell opens depend on.
struct ShellOpening<'a> {
    files: &'a Workspace,
    directory: Option<&'a RelPath>,
    /// Whether `/tmp` is the command's own.
    has_own_scratch: bool,
    links: MadeLinks,
}

// === impl ShellOpening ===

impl ShellOpening<'_> {
    fn opened(&self, part: &CommandPart) -> OpenedFiles {
        for written in part.command.iter().flat_map(|command| command.writes()) {
            match opened_by(self.files, self.directory, written) {
                Some((asked, real)) if self.leads_elsewhere(&asked, &real) => {
                    return OpenedFiles::WritesUnknown;
                }
                Some(_) if is_temporary(written) && written.mode == RedirectionMode::Truncate => {
                    return OpenedFiles::Emptied(written.target.shown());
                }
                Some(_) => {}
                None if self.is_own(written) => {}
                None => return OpenedFiles::WritesUnknown,
            }
        }
        // Where the sandbox has no view of its own for the command, only the decision keeps a file from it.
        let reads = part.command.iter().flat_map(|command| &command.redirections);
        let mut reads = reads.filter(|opened| opened.mode == RedirectionMode::Read);
        let is_device = |path: &str| path.starts_with("/dev/") && !path.contains("..");
        let is_kept = |opened: &Redirection| {
            opened.target.fixed().is_some_and(is_device)
                || opened_by(self.files, self.directory, opened)
                    .is_some_and(|(asked, real)| !self.leads_elsewhere(&asked, &real))
        };
        if !self.has_own_scratch && !reads.all(is_kept) {
            return OpenedFiles::ReadsUnknown;
        }
        OpenedFiles::Known
    }

    /// Whether a file is in the command's own temporary directory, which is empty when it starts.
    fn is_own(&self, opened: &Redirection) -> bool {
        let path = opened.target.fixed().map(Path::new);
        self.has_own_scratch
            && is_temporary(opened)
            && path.is_some_and(|path| !self.links.may_lead(path))
    }

    /// Whether a link that the text makes itself may lead to another file.
    fn leads_elsewhere(&self, asked: &RelPath, real: &RelPath) -> bool {
        let in_root = |path: &RelPath| self.files.root().join(path.as_str());
        [asked, real].into_iter().any(|path| self.links.may_lead(&in_root(path)))
    }
}

fn is_temporary(opened: &Redirection) -> bool {
    opened.target.fixed().is_some_and(|path| path.starts_with("/tmp/") && !path.contains(".."))
}

/// The file in the workspace that the shell opens: the path that it is asked for under, and the real one. None
/// where that is not known.
fn opened_by(
    files: &Workspace,
    directory: Option<&RelPath>,
    redirection: &Redirection,
) -> Option<(RelPath, RelPath)> {
    let path = Path::new(redirection.target.fixed()?);
    let relative = match path.is_absolute() {
        true => path.strip_prefix(files.root()).ok()?.to_owned(),
        false => Path::new(directory?.as_str()).join(path),
    };
    let asked = without_parents(files, &relative)?;
    let real = files.resolve(&asked).ok()?.path;
    Some((asked, real))
}

/// Takes `..` out of a path as the kernel does: what stands before it is followed first. None where it leads out of
/// the workspace.
pub(super) fn without_parents(files: &Workspace, path: &Path) -> Option<RelPath> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        if component == Component::CurDir {
            continue;
        }
        if component == Component::ParentDir {
            let real = files.resolve(&files.path(plain.to_str()?).ok()?).ok()?;
            plain = PathBuf::from(real.path.as_str());
            if real.kind != Some(EntryKind::Directory) || !plain.pop() {
                return None;
            }
        } else {
            plain.push(component);
        }
    }
    in_workspace(files, &plain)
}

/// A path without `..`, as the workspace names it.
pub(super) fn in_workspace(files: &Workspace, plain: &Path) -> Option<RelPath> {
    if plain.as_os_str().is_empty() {
        return Some(RelPath::root());
    }
    files.path(plain.to_str()?).ok()
}

#[cfg(test)]
mod tests {
    use moss_workspace::WorkspaceOptions;

    use super::*;

    const FULL: CommandSetting = CommandSetting { is_isolated: true, has_terminal: false };
    const LOWER: CommandSetting = CommandSetting { is_isolated: false, has_terminal: false };
    const TERMINAL: CommandSetting = CommandSetting { is_isolated: true, has_terminal: true };

    fn asks_in(files: &Workspace, command: &str, setting: CommandSetting) -> bool {
        let parts = marked_parts(files, command, &RelPath::root(), setting);
        parts.iter().any(CommandPart::always_asks)
    }

    fn always_asks(files: &Workspace, command: &str) -> bool {
        asks_in(files, command, FULL)
    }

    /// The files that the shell opens for a command, and what is done to them.
    fn opened(files: &Workspace, command: &str, setting: CommandSetting) -> Vec<(String, Action)> {
        let directory = RelPath::parse("sub").unwrap();
        let parts = marked_parts(files, command, &directory, setting);
        let opened = files_of_parts(files, &parts, &directory).into_iter().flatten();
        opened.map(|file| (file.real.to_string(), file.action)).collect()
    }

    /// A workspace that does not lie in `/tmp`.
    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("sub/inner")).unwrap();
        for name in ["data.txt", "sub/a.txt"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("sub/inner", root.join("link")).unwrap();
        let files = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
        (folder, files)
    }

    #[test]
    fn every_variable_that_commands_are_given_is_harmless_or_always_asks() {
        let (_folder, files) = workspace();
        for name in moss_sandbox::environment_names() {
            let name = name.replace('*', "X");
            let parts = parts_of(&format!("{name}=C ls"), FULL);
            let is_harmless = parts.iter().all(|part| part.only_reads);
            assert!(is_harmless || always_asks(&files, &format!("{name}=C; make")), "{name}");
        }
    }

    #[test]
    fn a_write_through_a_link_that_the_text_makes_always_asks() {
        let (_folder, files) = workspace();
        for command in [
            "ln -s data.txt /tmp/l; make > /tmp/l",
            "ln -s \"$PWD/data.txt\" /tmp/l && make >> /tmp/l",
            "ln -s \"$PWD\" /tmp/d; make > /tmp/d/data.txt",
            "ln -s $x; make > /tmp/data.txt",
            "make > /tmp/l; sh -c 'ln -s data.txt /tmp/l'",
            "ln data.txt l; make >> l",
            "ln -s ../sub/a.txt link/x; make >> sub/inner/x",
            "cp -ns data.txt /tmp/l; make > /tmp/l",
        ] {
            assert!(always_asks(&files, command), "{command}");
        }
        for command in [
            "ln -s data.txt l; make >> log.txt",
            "ln -s data.txt l; make > /tmp/log.txt",
            "cargo test > /tmp/log.txt; tail /tmp/log.txt",
            "cp -n data.txt copy.txt; make >> log.txt",
        ] {
            assert!(!always_asks(&files, command), "{command}");
        }
    }

    #[test]
    fn a_shared_directory_for_temporary_files_is_like_any_other() {
        let (_folder, files) = workspace();
        for command in ["make > /tmp/l", "make >> /tmp/l", "> /tmp/l", "flock /tmp/l ls"] {
            assert!(asks_in(&files, command, LOWER), "{command}");
            assert!(!asks_in(&files, command, FULL), "{command}");
        }
        assert!(!asks_in(&files, "make >> log.txt 2>/dev/null", LOWER));
    }

    #[test]
    fn without_a_view_of_its_own_what_is_read_unseen_always_asks() {
        let (_folder, files) = workspace();
        for command in [
            "make < ../x",
            "make < $x",
            "make < /etc/passwd",
            "make < /dev/../etc/passwd",
            "make <<< \"$(< ../x)\"",
            "make \"$(< ~/.ssh/id)\"",
            "cd sub; make < a.txt",
            "ln -s ../x l; make < l",
        ] {
            assert!(asks_in(&files, command, LOWER), "{command}");
            assert!(!asks_in(&files, command, FULL), "{command}");
        }
        for command in
            ["make < data.txt", "make < /dev/null", "make < sub/../data.txt", "make 0<&3"]
        {
            assert!(!asks_in(&files, command, LOWER), "{command}");
        }
    }

    #[test]
    fn parents_in_a_path_are_those_of_the_directory_that_is_opened() {
        let (_folder, files) = workspace();
        let read = |name: &str| vec![(name.to_owned(), Action::Read)];
        for (command, expected) in [
            ("cat < ../data.txt", read("data.txt")),
            ("cat < ./a.txt", read("sub/a.txt")),
            ("cat < ../link/../a.txt", read("sub/a.txt")),
            ("echo $(< ../sub/inner/../a.txt)", read("sub/a.txt")),
            ("cat <<< \"$(< ../data.txt)\"", read("data.txt")),
            ("cat < ../../data.txt", Vec::new()),
            ("cat < ../data.txt/../data.txt", Vec::new()),
            ("cat < missing/../a.txt", Vec::new()),
        ] {
            assert_eq!(opened(&files, command, FULL), expected, "{command}");
        }
        let both = ["data.txt"; 2].map(ToOwned::to_owned).into_iter();
        let both: Vec<_> = both.zip([Action::Read, Action::Modify]).collect();
        assert_eq!(opened(&files, "make <> ../data.txt", FULL), both);
    }

    #[test]
    fn nohup_appends_to_its_file_on_a_terminal() {
        let (_folder, files) = workspace();
        let written = [("sub/nohup.out".to_owned(), Action::Modify)];
        for command in ["nohup ls", "env nohup make", "nohup make 2>> ../data.txt"] {
            let found = opened(&files, command, TERMINAL);
            assert_eq!(found.last(), written.last(), "{command}");
        }
        for command in ["nohup ls > /dev/null", "nohup make &> /dev/null", "make"] {
            assert_eq!(opened(&files, command, TERMINAL), [], "{command}");
        }
        assert_eq!(opened(&files, "nohup ls", FULL), []);
        let parts = marked_parts(&files, "cd x; nohup make", &RelPath::root(), TERMINAL);
        assert!(parts.iter().any(CommandPart::always_asks));
    }

    #[test]
    fn a_workspace_among_temporary_files_is_emptied_like_any_other() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("data.txt"), "x").unwrap();
        let files = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
        let root = root.display();
        for command in [
            format!("make > {root}/data.txt"),
            format!("make >| {root}//./data.txt"),
            format!("make &> {root}/new.txt"),
            format!("> {root}/data.txt"),
        ] {
            assert!(always_asks(&files, &command), "{command}");
        }
        for command in [
            format!("make >> {root}/data.txt"),
            format!("make < {root}/data.txt"),
            "make > /tmp/moss-scratch.txt".to_owned(),
            format!("make > {root}.txt"),
        ] {
            assert!(!always_asks(&files, &command), "{command}");
        }
    }

    #[test]
    fn where_nothing_is_its_own_a_temporary_file_outside_of_the_workspace_always_asks() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("data.txt"), "x").unwrap();
        std::os::unix::fs::symlink("/var/tmp", root.join("out")).unwrap();
        let files = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
        let root = root.display();
        let asks = |command: &str| {
            let parts = marked_parts(&files, command, &RelPath::root(), FULL).into_iter();
            let mut parts = parts.map(|part| without_own_scratch(&files, part));
            parts.any(|part| part.always_asks())
        };
        for command in [
            "make >> /tmp/log.txt".to_owned(),
            format!("make >> {root}.txt"),
            format!("make >> {root}/out/log.txt"),
        ] {
            assert!(asks(&command), "{command}");
        }
        for command in [
            format!("make >> {root}/data.txt"),
            format!("make >> {root}/new.txt"),
            "make >> data.txt".to_owned(),
        ] {
            assert!(!asks(&command), "{command}");
        }
    }

    #[test]
    fn files_that_the_shell_opens_are_found_by_their_real_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        std::fs::write(root.join("sub/a.txt"), "x").unwrap();
        let files = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
        let directory = RelPath::parse("sub").unwrap();
        let parts = marked_parts(&files, "make >> a.txt < b.txt; flock lock ls", &directory, FULL);
        let opened: Vec<_> = files_of_parts(&files, &parts, &directory)
            .into_iter()
            .flatten()
            .map(|file| (file.real.to_string(), file.action))
            .collect();
        let expected = [
            ("sub/a.txt".to_owned(), Action::Modify),
            ("sub/b.txt".to_owned(), Action::Read),
            ("sub/lock".to_owned(), Action::Modify),
        ];
        assert_eq!(opened, expected);
        let parts = marked_parts(&files, "cd x; make >> a.txt", &directory, FULL);
        assert!(files_of_parts(&files, &parts, &directory).iter().all(Vec::is_empty));
    }
}
