//! What a release of moss consists of: the binary, its manual pages, the completions of shells and a unit
//! for systemd. All texts but the unit come from the binary itself.
//!
//! It reads and makes; where it goes is for others.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A file below a prefix such as `/usr` or `~/.local`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShippedFile {
    /// Its path, relative to the prefix.
    pub path: String,
    /// Whether it is a program.
    pub is_executable: bool,
    /// The bytes of the file.
    pub content: Vec<u8>,
}

/// Where a system looks for what.
#[derive(Debug, Clone, Copy)]
pub struct SystemDirectories {
    /// Units of users' services.
    pub units: &'static str,
    /// Where zsh looks for completions.
    pub zsh: &'static str,
    /// Where the binary will lie, for the unit.
    pub binary: &'static str,
}

/// For a home or `/usr/local`.
pub const LOCAL: SystemDirectories = SystemDirectories {
    units: "share/systemd/user",
    zsh: "share/zsh/site-functions",
    binary: "%h/.local/bin/moss",
};
/// For packages of Debian.
pub const DEBIAN: SystemDirectories = SystemDirectories {
    units: "lib/systemd/user",
    zsh: "share/zsh/vendor-completions",
    binary: "/usr/bin/moss",
};

/// Most words of a command: `moss history undo` has two behind its own.
const WORDS_MAX: usize = 3;
/// How a page ends each line of its list of commands.
const SECTION: &str = "(1)";

/// Returns all files. The unit starts `unit_binary`, or what the directories say.
///
/// # Errors
///
/// Fails where the binary cannot be read or does not print its pages and completions.
pub fn files(
    binary: &Path,
    directories: SystemDirectories,
    unit_binary: Option<&str>,
) -> Result<Vec<ShippedFile>> {
    let content = fs::read(binary).with_context(|| format!("cannot read {}", binary.display()))?;
    let mut files = vec![ShippedFile { path: "bin/moss".to_owned(), is_executable: true, content }];
    let text = |path: String, content: Vec<u8>| ShippedFile { path, is_executable: false, content };
    let mut pages = Vec::new();
    add_pages(binary, &[], &mut pages)?;
    for (words, page) in pages {
        let name: Vec<&str> =
            ["moss"].into_iter().chain(words.iter().map(String::as_str)).collect();
        files.push(text(format!("share/man/man1/{}.1", name.join("-")), page));
    }
    for (shell, path) in [
        ("bash", "share/bash-completion/completions/moss".to_owned()),
        ("fish", "share/fish/vendor_completions.d/moss.fish".to_owned()),
        ("zsh", format!("{}/_moss", directories.zsh)),
    ] {
        files.push(text(path, printed(binary, ["completions", shell])?));
    }
    let unit = unit(unit_binary.unwrap_or(directories.binary));
    files.push(text(format!("{}/moss@.service", directories.units), unit.into_bytes()));
    Ok(files)
}

/// Adds the page of a command and those of the commands below it.
fn add_pages(
    binary: &Path,
    words: &[String],
    pages: &mut Vec<(Vec<String>, Vec<u8>)>,
) -> Result<()> {
    let arguments = ["man"].into_iter().chain(words.iter().map(String::as_str));
    let page = printed(binary, arguments)?;
    let below = commands(&String::from_utf8_lossy(&page), words);
    pages.push((words.to_owned(), page));
    if words.len() < WORDS_MAX {
        for name in below {
            let words: Vec<String> = words.iter().cloned().chain([name]).collect();
            add_pages(binary, &words, pages)?;
        }
    }
    Ok(())
}

/// The commands that a page lists below its own. `help` has no page.
fn commands(page: &str, words: &[String]) -> Vec<String> {
    let own = words.iter().fold("moss-".to_owned(), |own, word| format!("{own}{word}-"));
    let names = page.lines().filter_map(|line| {
        let line = line.strip_suffix(SECTION)?.replace("\\-", "-");
        line.strip_prefix(&own).map(str::to_owned)
    });
    names.filter(|name| name != "help").collect()
}

fn printed<S: AsRef<OsStr>>(
    binary: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Result<Vec<u8>> {
    let mut command = Command::new(binary);
    let output = command.args(arguments).output();
    let output = output.with_context(|| format!("cannot start {}", binary.display()))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

/// A service for each directory that is named behind the `@`, as `systemd-escape --path` writes it.
fn unit(binary: &str) -> String {
    format!(
        "\
[Unit]
Description=moss serves %f

[Service]
Type=notify
ExecStart=\"{binary}\" serve --workspace %f
Restart=on-failure
# The memory and the processes of commands are bounded by the kernel. One that is over ends alone.
Delegate=yes
OOMPolicy=continue
# Running calls get shutdown.grace_ms to end, then 5 seconds to notice that they are cancelled.
TimeoutStopSec=30

[Install]
WantedBy=default.target
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_below_a_page_are_those_that_it_lists() {
        let page = "see\n.TP\nmoss\\-check\\-data(1)\n.TP\nmoss\\-help(1)\nmoss\\-call(1)\n";
        assert_eq!(commands(page, &[]), ["check-data", "call"]);
        let page = ".TP\nmoss\\-history\\-list(1)\nmoss\\-call(1)\n";
        assert_eq!(commands(page, &["history".to_owned()]), ["list"]);
    }
}
