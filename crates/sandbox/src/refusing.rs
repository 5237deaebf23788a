//! Commands that cannot be run are refused before anything is set up for them.

use std::ffi::OsString;
use std::path::Path;

use crate::command::{Profile, SandboxedCommand};
use crate::error::SandboxError;

/// Most bytes of arguments and environment together; one of them has at most [`WORD_BYTES_MAX`].
const ARGUMENTS_BYTES_MAX: usize = 2 << 20;
/// Most bytes of one argument: what Linux accepts.
const WORD_BYTES_MAX: usize = (128 << 10) - 1;

/// Refuses what cannot be run.
pub(crate) fn check(command: &SandboxedCommand) -> Result<(), SandboxError> {
    let refuse = |reason: String| Err(SandboxError::Arguments(reason));
    let Some(program) = command.arguments.first() else {
        return refuse("there is no program to run".to_owned());
    };
    if program.is_empty() {
        return refuse("the name of the program is empty".to_owned());
    }
    let bytes = |word: &OsString| word.len();
    if command.arguments.iter().any(|word| word.as_encoded_bytes().contains(&0)) {
        return refuse("an argument contains a NUL character".to_owned());
    }
    if command.arguments.iter().any(|word| bytes(word) > WORD_BYTES_MAX) {
        let text = format!("an argument is longer than {WORD_BYTES_MAX} bytes");
        return refuse(format!("{text}: write it to a file first, and pass the path"));
    }
    if command.arguments.iter().map(bytes).sum::<usize>() > ARGUMENTS_BYTES_MAX {
        return refuse(format!("the arguments are longer than {ARGUMENTS_BYTES_MAX} bytes"));
    }
    check_directory(&command.files.workspace)?;
    if command.directory != command.files.workspace {
        check_directory(&command.directory)?;
    }
    let is_within = command.directory.starts_with(&command.files.workspace);
    if !is_within && command.profile != Profile::DangerFull {
        let reason = format!("it is not in the workspace {}", command.files.workspace.display());
        return Err(SandboxError::Directory { path: command.directory.clone(), reason });
    }
    Ok(())
}

fn check_directory(path: &Path) -> Result<(), SandboxError> {
    let refuse = |reason: String| Err(SandboxError::Directory { path: path.to_owned(), reason });
    if !path.is_absolute() || path.parent().is_none() {
        return refuse("its path is not absolute, or is `/`".to_owned());
    }
    match path.canonicalize() {
        Ok(real) if real != path => refuse(format!("a link leads to it: it is {}", real.display())),
        Ok(real) if !real.is_dir() => refuse("it is no directory".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => refuse(error.to_string()),
    }
}
