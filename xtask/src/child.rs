//! Starting other programs: said first, checked after.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// What cargo says of the package of a program that it runs, by the beginnings of the variables' names.
const OF_PACKAGE: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// Cargo, the same one that runs this program.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for name in of_package(std::env::vars_os().map(|(name, _)| name)) {
        // Build scripts look at these: what a person built by `cargo build` would be compiled again.
        cargo.env_remove(name);
    }
    cargo
}

fn of_package(names: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    names.filter(|name| OF_PACKAGE.iter().any(|start| name.to_string_lossy().starts_with(start)))
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

/// The same for two commands that run at the same time; neither is left behind where the other fails.
pub(crate) fn run_beside(command: &mut Command, beside: &mut Command) -> Result<()> {
    let text = announce(beside);
    let mut beside = beside.spawn().with_context(|| format!("cannot start `{text}`"))?;
    let first = run(command);
    if first.is_err() {
        beside.kill().ok();
    }
    let status = beside.wait().with_context(|| format!("cannot wait for `{text}`"))?;
    first?;
    if !status.success() {
        bail!("`{text}` failed ({status})");
    }
    Ok(())
}

/// Prints a command as a person would type it, and returns that text.
pub(crate) fn announce(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    let text = words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ");
    eprintln!("→ {text}");
    text
}

/// Returns a command as a person would type it.
pub(crate) fn typed(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:@%+,^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    // Of KEY=VALUE only the value is quoted, as people do.
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() && key.chars().all(is_plain) => {
            format!("{key}={}", quoted(value))
        }
        _ => quoted(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_package_are_found_among_those_of_cargo() {
        let names = [
            "CARGO",
            "CARGO_HOME",
            "CARGO_PKG_NAME",
            "CARGO_MANIFEST_DIR",
            "CARGO_PROFILE_DEV_DEBUG",
        ];
        let found: Vec<_> = of_package(names.into_iter().map(OsString::from)).collect();
        assert_eq!(found, ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"]);
    }

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let words = ["a", "b c", "", "key=x y", "it's", "*", "$HOME", "--x=1", "path=a/b.rs"];
        let expected = r"a 'b c' '' key='x y' 'it'\''s' '*' '$HOME' --x=1 path=a/b.rs";
        assert_eq!(typed(&words), expected);
    }
}
