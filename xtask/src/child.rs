//! Starting other programs: said first, checked after.

use std::ffi::OsStr;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Cargo, the same one that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Says what is run, runs it and fails where it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let text = announce(command);
    let status = command.status().with_context(|| format!("cannot start `{text}`"))?;
    if !status.success() {
        bail!("`{text}` failed ({status})");
    }
    Ok(())
}

/// Prints a command as a person would type it, and returns that text.
pub(crate) fn announce(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    let text = words.map(quoted).collect::<Vec<_>>().join(" ");
    eprintln!("→ {text}");
    text
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    if word.is_empty() || word.contains(char::is_whitespace) {
        format!("'{word}'")
    } else {
        word.into_owned()
    }
}
