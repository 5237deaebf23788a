//! `cargo xtask install`: puts a release into a directory, and takes away exactly what it put there.
//!
//! The list of what it put there lies beside it. A file that it did not put there is never replaced or
//! removed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use moss_xtask::shipped::{self, LOCAL, ShippedFile};

use crate::artifacts;
use crate::layout::{BuildProfile, Layout};

/// The list of what was installed, directories with a `/` at their ends.
const LIST: &str = "share/moss/installed";
const PREFIX_DEFAULT: &str = ".local";

/// What the command line says.
#[derive(Debug, Default)]
struct InstallOptions<'a> {
    prefix: Option<&'a str>,
    binary: Option<&'a str>,
    removes: bool,
}

pub(crate) fn run(layout: &Layout, arguments: &[&str]) -> Result<()> {
    let options = InstallOptions::parse(arguments)?;
    let prefix = options.prefix()?;
    if options.removes {
        return remove(&prefix);
    }
    let binary = match options.binary {
        Some(binary) => PathBuf::from(binary).canonicalize().context("there is no such binary")?,
        None => {
            artifacts::daemon(layout, BuildProfile::Release)?;
            layout.moss(BuildProfile::Release)
        }
    };
    let installed = prefix.join("bin/moss");
    let unit_binary = installed.to_str().context("the prefix is not UTF-8")?.replace('%', "%%");
    let files = shipped::files(&binary, LOCAL, Some(&unit_binary))?;
    put(&prefix, &files)?;
    println!("installed {} files in {}", files.len(), prefix.display());
    advise(&prefix);
    Ok(())
}

/// Says what a person may have to do besides.
fn advise(prefix: &Path) {
    let bin = prefix.join("bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|directory| directory == bin) {
        println!(
            "{bin} is not in PATH; add it in your shell's profile:\n  export PATH=\"{bin}:$PATH\"",
            bin = bin.display()
        );
    }
    println!(
        "a project is served from your login on with\n  \
         systemctl --user enable --now \"moss@$(systemd-escape --path ~/project)\""
    );
}

/// Puts files below a prefix. What an earlier installation put there and this one does not have is removed.
fn put(prefix: &Path, files: &[ShippedFile]) -> Result<()> {
    let before = listed(prefix)?;
    for file in files {
        let path = prefix.join(&file.path);
        if path.symlink_metadata().is_ok() && !before.contains(&file.path) {
            bail!(
                "{} is there and was not installed by this command: move it away",
                path.display()
            );
        }
    }
    let mut list: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
    list.insert(LIST.to_owned());
    list.extend(before.iter().filter(|path| path.ends_with('/')).cloned());
    for path in files.iter().map(|file| file.path.as_str()).chain([LIST]) {
        make_parents(prefix, path, &mut list)?;
    }
    // The list comes first: what an interrupted installation left can be removed, too.
    let all: BTreeSet<String> = list.union(&before).cloned().collect();
    write_list(prefix, &all)?;
    for file in files {
        write(prefix, file)?;
    }
    for old in before.difference(&list) {
        remove_file(&prefix.join(old))?;
    }
    write_list(prefix, &list)
}

/// Makes the missing directories above a file and adds them to the list.
fn make_parents(prefix: &Path, path: &str, list: &mut BTreeSet<String>) -> Result<()> {
    fs::create_dir_all(prefix).with_context(|| format!("cannot make {}", prefix.display()))?;
    for (end, _) in path.match_indices('/') {
        let directory = prefix.join(&path[..end]);
        if !directory.exists() {
            fs::create_dir(&directory)
                .with_context(|| format!("cannot make {}", directory.display()))?;
            list.insert(path[..=end].to_owned());
        }
    }
    Ok(())
}

fn write_list(prefix: &Path, list: &BTreeSet<String>) -> Result<()> {
    let content: String = list.iter().map(|path| format!("{path}\n")).collect();
    let (path, content) = (LIST.to_owned(), content.into_bytes());
    write(prefix, &ShippedFile { path, is_executable: false, content })
}

/// Writes a file beside its location and moves it there: a running binary can be replaced.
fn write(prefix: &Path, file: &ShippedFile) -> Result<()> {
    let path = prefix.join(&file.path);
    let mut beside = path.clone().into_os_string();
    beside.push(".new");
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    let written = fs::write(&beside, &file.content)
        .and_then(|()| fs::set_permissions(&beside, fs::Permissions::from_mode(mode)))
        .and_then(|()| fs::rename(&beside, &path));
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Removes what is in the list: files first, then directories that are empty.
fn remove(prefix: &Path) -> Result<()> {
    let list = listed(prefix)?;
    if list.is_empty() {
        bail!("nothing is installed in {}: there is no {LIST}", prefix.display());
    }
    let (directories, files): (Vec<_>, Vec<_>) = list.iter().partition(|path| path.ends_with('/'));
    for file in files.iter().filter(|file| file.as_str() != LIST) {
        remove_file(&prefix.join(file))?;
    }
    remove_file(&prefix.join(LIST))?;
    // The deepest first. One that holds something else stays.
    for directory in directories.iter().rev() {
        let _ = fs::remove_dir(prefix.join(directory));
    }
    println!("removed {} files from {}", files.len(), prefix.display());
    Ok(())
}

/// Removes a file; one that is gone already is no error.
fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// What was installed below a prefix; nothing where there is no list.
fn listed(prefix: &Path) -> Result<BTreeSet<String>> {
    let file = prefix.join(LIST);
    if !file.exists() {
        return Ok(BTreeSet::new());
    }
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let leads_out =
        |path: &str| Path::new(path).components().any(|c| !matches!(c, Component::Normal(_)));
    if let Some(path) = text.lines().find(|path| path.is_empty() || leads_out(path)) {
        bail!("{} names `{path}`, which is not below the prefix", file.display());
    }
    Ok(text.lines().map(str::to_owned).collect())
}

// === impl InstallOptions ===

impl<'a> InstallOptions<'a> {
    fn parse(mut arguments: &[&'a str]) -> Result<Self> {
        let mut options = Self::default();
        loop {
            arguments = match arguments {
                [] => return Ok(options),
                ["--prefix", directory, rest @ ..] => {
                    options.prefix = Some(*directory);
                    rest
                }
                ["--binary", file, rest @ ..] => {
                    options.binary = Some(*file);
                    rest
                }
                ["--uninstall", rest @ ..] => {
                    options.removes = true;
                    rest
                }
                [other, ..] => bail!("install does not know `{other}`"),
            };
        }
    }

    fn prefix(&self) -> Result<PathBuf> {
        if let Some(prefix) = self.prefix {
            return Ok(std::env::current_dir()?.join(prefix));
        }
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let home = home.filter(|home| home.is_absolute());
        Ok(home.context("HOME is no absolute path: use --prefix DIR")?.join(PREFIX_DEFAULT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of its own, gone afterwards.
    struct Prefix(PathBuf);

    impl Prefix {
        fn new(name: &str) -> Self {
            let name = format!("moss-install-{name}-{}", std::process::id());
            let prefix = Self(std::env::temp_dir().join(name));
            fs::create_dir_all(prefix.0.join("bin")).expect("the directory is writable");
            fs::write(prefix.0.join("bin/other"), "other").expect("the directory is writable");
            prefix
        }

        fn has(&self, path: &str) -> bool {
            self.0.join(path).exists()
        }
    }

    impl Drop for Prefix {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn file(path: &str) -> ShippedFile {
        ShippedFile { path: path.to_owned(), is_executable: true, content: b"text".to_vec() }
    }

    #[test]
    fn uninstall_removes_exactly_what_was_installed() {
        let prefix = Prefix::new("exact");
        put(&prefix.0, &[file("bin/moss"), file("share/man/man1/moss-old.1")]).expect("first");
        put(&prefix.0, &[file("bin/moss"), file("share/man/man1/moss.1")]).expect("again");
        assert!(prefix.has("share/man/man1/moss.1") && !prefix.has("share/man/man1/moss-old.1"));
        fs::write(prefix.0.join("share/mine"), "mine").expect("it is writable");
        remove(&prefix.0).expect("it is installed");
        assert!(prefix.has("bin/other") && prefix.has("share/mine"));
        assert!(!prefix.has("bin/moss") && !prefix.has("share/man") && !prefix.has("share/moss"));
        assert!(remove(&prefix.0).is_err());
    }

    #[test]
    fn a_file_of_somebody_else_is_not_replaced() {
        let prefix = Prefix::new("other");
        assert!(put(&prefix.0, &[file("share/a"), file("bin/other")]).is_err());
        assert!(!prefix.has("share"));
    }

    #[test]
    fn a_list_that_leads_out_is_refused() {
        let prefix = Prefix::new("out");
        fs::create_dir_all(prefix.0.join("share/moss")).expect("it is writable");
        fs::write(prefix.0.join(LIST), "bin/other\n../x\n").expect("it is writable");
        assert!(remove(&prefix.0).is_err());
        assert!(prefix.has("bin/other"));
    }
}
