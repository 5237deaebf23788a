//! The programs that searches are measured against: every `rg` and every fd that is found in PATH.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use moss_xtask::rival_end::check_rival_end;
use moss_xtask::rows::grouped;

/// Matches that grep_search counts.
pub(super) const COUNTED_MAX: u64 = 100_000;
/// What makes ripgrep search the files that moss searches. The policy closes the last two to searches, whatever
/// they hold: packages publish keys.
const SETTINGS: [&str; 10] = [
    "--no-config",
    "--hidden",
    "--no-ignore-global",
    "--no-ignore-parent",
    "--no-require-git",
    "--no-messages",
    "--color=never",
    "--glob=!.git",
    "--glob=!*.pem",
    "--glob=!*.key",
];

/// What moss is measured against.
pub(super) struct Rivals {
    pub(super) ripgreps: Vec<Ripgrep>,
    pub(super) fds: Vec<FdFinder>,
}

/// A ripgrep of this machine, and the tree that it searches.
pub(super) struct Ripgrep {
    program: PathBuf,
    tree: PathBuf,
    pub(super) version: String,
}

/// A program that lists files.
pub(super) struct FdFinder {
    program: PathBuf,
    tree: PathBuf,
    pub(super) version: String,
    /// What filters its list, where there is one.
    pub(super) fzf: Option<FuzzyFilter>,
}

/// A program that filters names.
pub(super) struct FuzzyFilter {
    program: PathBuf,
    pub(super) version: String,
}

/// What a tree holds.
pub(super) struct TreeSize {
    pub(super) files: Vec<PathBuf>,
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

/// The programs of a name in PATH, each once.
fn programs(name: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    for directory in std::env::split_paths(&path) {
        if let Ok(program) = directory.join(name).canonicalize()
            && !found.contains(&program)
        {
            found.push(program);
        }
    }
    found
}

/// The name and version of a program, of which it says more in the rest of the line.
fn version(program: &Path) -> Result<String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let words = text.lines().next().unwrap_or_default().split(' ').take(2);
    Ok(words.collect::<Vec<_>>().join(" "))
}

// === impl Rivals ===

impl Rivals {
    /// Finds them in PATH.
    pub(super) fn find(tree: &Path) -> Result<Self> {
        let ripgreps = programs("rg").into_iter().map(|program| {
            let version = version(&program)?;
            Ok(Ripgrep { program, tree: tree.to_owned(), version })
        });
        let ripgreps = ripgreps.collect::<Result<Vec<_>>>()?;
        if ripgreps.is_empty() {
            bail!("there is no `rg` in PATH to measure against");
        }
        let fds = [programs("fd"), programs("fdfind")].concat().into_iter().map(|program| {
            let (tree, version) = (tree.to_owned(), version(&program)?);
            let fzf = programs("fzf").into_iter().next();
            let fzf = fzf.map(FuzzyFilter::of).transpose()?;
            Ok(FdFinder { program, tree, version, fzf })
        });
        Ok(Self { ripgreps, fds: fds.collect::<Result<Vec<_>>>()? })
    }

    /// Counts what is in the tree: files that are text, their lines and their bytes.
    pub(super) fn tree_size(&self) -> Result<TreeSize> {
        let ripgrep = &self.ripgreps[0];
        let mut size = TreeSize { files: Vec::new(), lines: 0, bytes: 0 };
        let printed =
            ripgrep.run(&["--count", "--include-zero", "--with-filename", "--null", ""])?;
        for line in printed.lines() {
            let Some((path, count)) = line.split_once('\0') else { continue };
            let path = ripgrep.tree.join(path);
            size.lines += count.parse().unwrap_or(0);
            size.bytes += path.metadata().map_or(0, |metadata| metadata.len());
            size.files.push(path);
        }
        size.files.sort_unstable();
        if size.files.is_empty() {
            bail!("{} holds no text", ripgrep.tree.display());
        }
        Ok(size)
    }
}

impl fmt::Display for Rivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fd = self.fds.iter().map(|fd| fd.version.as_str());
        let all = self.ripgreps.iter().map(|ripgrep| ripgrep.version.as_str()).chain(fd);
        f.write_str(&all.collect::<Vec<_>>().join(", "))
    }
}

// === impl Ripgrep ===

impl Ripgrep {
    /// Searches once: how many lines match, and how long that took.
    pub(super) fn search(&self, pattern: &str) -> Result<(u64, Duration)> {
        let started = Instant::now();
        let printed = self.run(&["--ignore-case", "--count", "--no-filename", "-e", pattern])?;
        let duration = started.elapsed();
        let lines = printed.lines().map(|line| line.parse::<u64>().unwrap_or(0)).sum();
        Ok((lines, duration))
    }

    /// The files that it searches, text or not, by path.
    pub(super) fn files(&self) -> Result<Vec<String>> {
        let printed = self.run(&["--files"])?;
        let mut files: Vec<String> =
            printed.lines().map(|path| path.trim_start_matches("./").to_owned()).collect();
        files.sort_unstable();
        Ok(files)
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(SETTINGS).args(arguments).arg("./").current_dir(&self.tree);
        let output = command.stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot start {}", self.program.display()))?;
        // 1: nothing was found. 2 beside output: some file could not be read.
        if !matches!(output.status.code(), Some(0..=2)) {
            bail!("ripgrep failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

// === impl FdFinder ===

impl FdFinder {
    /// Lists once; returns how long that took.
    pub(super) fn list(&self, arguments: &[&str]) -> Result<Duration> {
        let mut command = Command::new(&self.program);
        command.args(["--hidden", "--exclude", ".git"]).args(arguments).current_dir(&self.tree);
        let started = Instant::now();
        let output = command.stdin(Stdio::null()).output();
        let duration = started.elapsed();
        let output = output.with_context(|| format!("cannot start {}", self.program.display()))?;
        check_rival_end(&self.version, output.status, &[0])?;
        Ok(duration)
    }

    /// The files that wildcards fit, in any case of letters: names, or with a slash the ends of paths.
    pub(super) fn matching(&self, glob: &str, tree: &Path) -> Result<BTreeSet<String>> {
        let mut command = Command::new(&self.program);
        command.args(["--hidden", "--exclude", ".git", "--type", "f", "--ignore-case", "--glob"]);
        match glob.contains('/') {
            // It looks at absolute paths.
            true => {
                command.arg("--full-path").arg(format!("/**/{}", glob.trim_start_matches("**/")))
            }
            false => command.arg(glob),
        };
        let output = command.current_dir(tree).stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot start {}", self.program.display()))?;
        check_rival_end(&self.version, output.status, &[0])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().map(|path| path.trim_start_matches("./").to_owned()).collect())
    }

    /// Lists all names and has those filtered that may be meant; returns how long that took.
    pub(super) fn filtered(&self, fzf: &FuzzyFilter, pattern: &str) -> Result<Duration> {
        let started = Instant::now();
        let mut command = Command::new(&self.program);
        command.args(["--hidden", "--exclude", ".git", "--type", "f"]).current_dir(&self.tree);
        let mut listing = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let names = listing.stdout.take().context("it has no output")?;
        let mut filter = Command::new(&fzf.program);
        let filtered = filter.arg("--filter").arg(pattern).stdin(names).output();
        let filtered =
            filtered.with_context(|| format!("cannot start {}", fzf.program.display()))?;
        let listed = listing.wait()?;
        let duration = started.elapsed();
        check_rival_end(&self.version, listed, &[0])?;
        fzf.check(filtered.status)?;
        Ok(duration)
    }
}

// === impl FuzzyFilter ===

impl FuzzyFilter {
    /// fzf says its version alone.
    fn of(program: PathBuf) -> Result<Self> {
        let version = format!("fzf {}", version(&program)?);
        Ok(Self { program, version })
    }

    /// Fails where it has failed. 1: nothing fits.
    fn check(&self, status: ExitStatus) -> Result<()> {
        check_rival_end(&self.version, status, &[0, 1])
    }

    /// The first of the lines that fit what was typed, the best first.
    pub(super) fn ranked(&self, list: &str, typed: &str, count: usize) -> Result<Vec<String>> {
        let mut command = Command::new(&self.program);
        command.arg("--filter").arg(typed).args(["--scheme", "path"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut input = child.stdin.take().context("fzf reads nothing")?;
        let list = list.to_owned();
        let writing = std::thread::spawn(move || input.write_all(list.as_bytes()));
        let output = child.wait_with_output()?;
        // It may end before it has read all.
        drop(writing.join());
        self.check(output.status)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().take(count).map(str::to_owned).collect())
    }
}

// === impl TreeSize ===

impl fmt::Display for TreeSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [files, lines] = [self.files.len() as u64, self.lines].map(grouped);
        write!(f, "{files} files of text, {lines} lines, {} MB", self.bytes / 1_000_000)
    }
}
