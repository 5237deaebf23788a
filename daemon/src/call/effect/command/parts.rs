//! The parts of a command, and the files that the shell opens for them.

use std::path::Path;

use moss_commands::{Redirection, RedirectionMode};
use moss_policy::{Action, CommandPart};
use moss_sdk::RelPath;
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

/// Reads a command; of one that cannot be read the whole text is the only part.
pub(crate) fn parts_of(command: &str, is_isolated: bool) -> Vec<CommandPart> {
    match moss_commands::read(command) {
        Ok(script) => {
            let commands = script.commands.into_iter();
            commands.map(|command| CommandPart::new(command, is_isolated)).collect()
        }
        Err(error) => vec![CommandPart::unread(command, &error)],
    }
}

/// Reads a command that is to run in a directory of a workspace.
pub(crate) fn parts_in(
    files: &Workspace,
    command: &str,
    directory: &RelPath,
    is_isolated: bool,
) -> Vec<CommandPart> {
    let mut parts = parts_of(command, is_isolated);
    if !parts.iter().all(|part| part.only_reads) {
        // They would run where others may write.
        parts = parts.into_iter().map(CommandPart::beside_writes).collect();
    }
    let known = known_directory(&parts, directory);
    let mark = |part: CommandPart| match written(files, known, &part) {
        WrittenFiles::Known => part,
        WrittenFiles::Unknown => part.writing_unknown(),
        WrittenFiles::Emptied(file) => part.emptying(&file),
    };
    parts.into_iter().map(mark).collect()
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
    opened.filter_map(|redirection| opened_by(files, directory, redirection)).collect()
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

/// What is known of the files that the shell writes for a part.
enum WrittenFiles {
    Known,
    /// Nobody can say where one lies, or it is outside of the workspace.
    Unknown,
    /// One is emptied of which the words alone do not say so.
    Emptied(String),
}

/// Looks at the files that the shell writes for a part. The command's own temporary directory does not count,
/// but for a workspace that lies in it.
fn written(files: &Workspace, directory: Option<&RelPath>, part: &CommandPart) -> WrittenFiles {
    for written in part.command.iter().flat_map(|command| command.writes()) {
        let path = written.target.fixed();
        let is_scratch = path.is_some_and(|path| path.starts_with("/tmp/") && !path.contains(".."));
        match opened_by(files, directory, written) {
            None if !is_scratch => return WrittenFiles::Unknown,
            Some(_) if is_scratch && written.mode == RedirectionMode::Truncate => {
                return WrittenFiles::Emptied(written.target.shown());
            }
            _ => {}
        }
    }
    WrittenFiles::Known
}

/// The file in the workspace that the shell opens; none where that is not known.
fn opened_by(
    files: &Workspace,
    directory: Option<&RelPath>,
    redirection: &Redirection,
) -> Option<ShellFile> {
    let path = Path::new(redirection.target.fixed()?);
    let relative = match path.is_absolute() {
        true => path.strip_prefix(files.root()).ok()?.to_owned(),
        false => Path::new(directory?.as_str()).join(path),
    };
    let asked = files.path(relative.to_str()?).ok()?;
    let real = files.resolve(&asked).ok()?.path;
    let action = match redirection.mode {
        RedirectionMode::Read => Action::Read,
        _ => Action::Modify,
    };
    Some(ShellFile { asked, real, action })
}

#[cfg(test)]
mod tests {
    use moss_workspace::WorkspaceOptions;

    use super::*;

    fn always_asks(files: &Workspace, command: &str) -> bool {
        let parts = parts_in(files, command, &RelPath::root(), true);
        parts.iter().any(CommandPart::always_asks)
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
    fn files_that_the_shell_opens_are_found_by_their_real_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        std::fs::write(root.join("sub/a.txt"), "x").unwrap();
        let files = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
        let directory = RelPath::parse("sub").unwrap();
        let parts = parts_in(&files, "make >> a.txt < b.txt; flock lock ls", &directory, true);
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
        let parts = parts_in(&files, "cd x; make >> a.txt", &directory, true);
        assert!(files_of_parts(&files, &parts, &directory).iter().all(Vec::is_empty));
    }
}
