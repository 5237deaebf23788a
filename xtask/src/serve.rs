//! `cargo xtask serve`: everything from a fresh clone to a daemon that serves.
//!
//! The user's configuration is read by the daemon as always and written by nobody.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::layout::{BuildProfile, Layout};
use crate::{artifacts, child};

/// What the command line says.
struct ServeOptions<'a> {
    workspace: Option<&'a str>,
    profile: BuildProfile,
    /// The arguments that go to `moss serve`.
    rest: &'a [&'a str],
}

pub(crate) fn run(layout: &Layout, arguments: &[&str]) -> Result<()> {
    let options = ServeOptions::parse(arguments)?;
    let here = std::env::current_dir().context("there is no current directory")?;
    let workspace = match options.workspace {
        Some(directory) => here.join(directory),
        None => repository(&here),
    };
    let workspace = workspace
        .canonicalize()
        .with_context(|| format!("cannot serve {}", workspace.display()))?;
    artifacts::daemon_and_plugins(layout, options.profile, &[])?;

    let moss = layout.moss(options.profile);
    let mut serve = Command::new(&moss);
    serve.arg("serve").arg("--workspace").arg(&workspace);
    serve.arg("--plugins").arg(layout.plugin_list()).args(options.rest);
    child::announce(&serve);
    suggest(&moss, &workspace, &here);
    // The daemon replaces this program: it gets the terminal's signals itself.
    let error = serve.exec();
    Err(error).with_context(|| format!("cannot start {}", moss.display()))
}

/// Says what is served and what to try in a second terminal.
fn suggest(moss: &Path, workspace: &Path, here: &Path) {
    let moss = moss.strip_prefix(here).unwrap_or(moss).display();
    let directory = workspace.display();
    let at = if repository(here) == workspace {
        String::new()
    } else {
        format!(" --workspace {directory}")
    };
    eprintln!(
        "\nserving {directory} until Ctrl-C; in a second terminal try\n\n  \
         {moss} tools{at}\n  \
         {moss} call list_directory path=.{at}\n  \
         {moss} call create_file path=hello.txt content=hello{at}\n\n\
         the last one shows its diff and asks before it writes\n"
    );
}

/// The nearest directory above that holds a repository, or the directory itself.
fn repository(directory: &Path) -> PathBuf {
    let found = directory.ancestors().find(|above| above.join(".git").exists());
    found.unwrap_or(directory).to_owned()
}

// === impl ServeOptions ===

impl<'a> ServeOptions<'a> {
    fn parse(mut arguments: &'a [&'a str]) -> Result<Self> {
        let mut options = Self { workspace: None, profile: BuildProfile::Tour, rest: &[] };
        loop {
            arguments = match arguments {
                [] => return Ok(options),
                ["--", rest @ ..] => {
                    options.rest = rest;
                    return Ok(options);
                }
                ["--release", rest @ ..] => {
                    options.profile = BuildProfile::Release;
                    rest
                }
                ["--workspace", directory, rest @ ..] => {
                    options.workspace = Some(directory);
                    rest
                }
                [other, ..] => bail!(
                    "serve does not know `{other}`; \
                     put arguments of `moss serve` behind `--`"
                ),
            };
        }
    }
}
