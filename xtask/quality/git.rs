//! A repository as it was before the questions: its texts, and what later commits changed. Read from
//! git's objects; nothing is checked out.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// How many commits the questions are made of, at most.
const LATER_COMMITS_MAX: usize = 400;
/// Larger files are left out, as data.
const FILE_BYTES_MAX: usize = 2 << 20;

/// A repository at a commit.
pub(crate) struct FrozenRepository {
    /// Its name: that of its directory.
    pub(crate) name: String,
    /// Its texts by path.
    pub(crate) texts: BTreeMap<String, String>,
    /// What was committed until then, as [`moss_ranking::COMMIT_LOG`] prints it.
    pub(crate) log: String,
    /// What was committed later, the newest first.
    pub(crate) later: Vec<LaterCommit>,
}

/// A commit after the one that is searched: what it changes is what its subject asks for.
pub(crate) struct LaterCommit {
    pub(crate) subject: String,
    /// The files that it changes or deletes.
    pub(crate) files: Vec<String>,
}

fn git(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("--no-optional-locks").arg("-C").arg(directory).args(["-c", "core.quotePath=false"]);
    git
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().context("git does not start")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git: {}", said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

// === impl FrozenRepository ===

impl FrozenRepository {
    /// Reads a repository as it was some hundred commits ago.
    pub(crate) fn read(directory: &Path) -> Result<Self> {
        let mut list = git(directory);
        let commits = output(list.args(["rev-list", "--first-parent", "-n", "2000", "HEAD"]))?;
        let commits: Vec<&str> = commits.lines().collect();
        let frozen = LATER_COMMITS_MAX.min(commits.len() / 2);
        let base = commits.get(frozen).context("it has no commits")?;
        let name = directory.components().rev().map(|part| part.as_os_str().to_string_lossy());
        let name = name.into_iter().find(|name| name != "repo" && name != ".git");
        let name = name.unwrap_or_default().into_owned();
        let log = moss_ranking::COMMIT_LOG.split_whitespace().skip(1);
        Ok(Self {
            // A copy may be named by its owner as well.
            name: name.rsplit('+').next().unwrap_or_default().to_owned(),
            log: output(git(directory).args(log).arg(base))?,
            texts: texts(directory, base)?,
            later: later(directory, base)?,
        })
    }
}

fn texts(directory: &Path, commit: &str) -> Result<BTreeMap<String, String>> {
    let listing = output(git(directory).args(["ls-tree", "-r", "-z", "--long", commit]))?;
    let mut wanted = Vec::new();
    for entry in listing.split('\0').filter(|entry| !entry.is_empty()) {
        let (facts, path) = entry.split_once('\t').context("a listing without a path")?;
        let facts: Vec<&str> = facts.split_whitespace().collect();
        let [mode, "blob", object, size] = facts.as_slice() else { continue };
        let is_small = size.parse::<usize>().is_ok_and(|size| size <= FILE_BYTES_MAX);
        if is_small && *mode != "120000" {
            wanted.push((path.to_owned(), (*object).to_owned()));
        }
    }
    let mut cat = git(directory)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = cat.stdin.take().context("git reads nothing")?;
    let asked: String = wanted.iter().map(|(_, object)| format!("{object}\n")).collect();
    let writing = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let mut reader = BufReader::new(cat.stdout.take().context("git writes nothing")?);
    let mut texts = BTreeMap::new();
    for (path, _) in wanted {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let size = header.trim().rsplit(' ').next().unwrap_or_default();
        let Ok(size) = size.parse::<usize>() else { continue };
        let mut content = vec![0; size + 1];
        reader.read_exact(&mut content)?;
        content.pop();
        if let Ok(text) = String::from_utf8(content)
            && !text.contains('\0')
        {
            texts.insert(path, text);
        }
    }
    writing.join().ok().context("the writer broke")??;
    cat.wait()?;
    Ok(texts)
}

fn later(directory: &Path, base: &str) -> Result<Vec<LaterCommit>> {
    let mut log = git(directory);
    log.args(["log", "--first-parent", "--diff-merges=off", "--no-renames", "--name-status"]);
    let log = output(log.arg("--format=%x01%s").arg(format!("{base}..HEAD")))?;
    let commit = |text: &str| {
        let (subject, changes) = text.split_once('\n').unwrap_or((text, ""));
        let files = changes.lines().filter_map(|line| {
            let (status, path) = line.split_once('\t')?;
            matches!(status, "M" | "D").then(|| path.to_owned())
        });
        LaterCommit { subject: subject.to_owned(), files: files.collect() }
    };
    Ok(log.split('\u{1}').filter(|text| !text.is_empty()).map(commit).collect())
}
