//! `cargo xtask bench calls` and its like: builds what is measured and what measures, then runs it.
//! `bench all` keeps the results in `docs/performance/` and writes the page of figures from them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use moss_xtask::search_part::SearchPart;

use crate::layout::{BuildProfile, Layout};
use crate::{artifacts, child, node, python};

/// How long the load lasts on either side, in seconds.
const LOAD_SECONDS: &str = "60";
/// The tables of the page, in the order in which they are measured.
const TABLES: [(&str, Measured); 12] = [
    ("calls", Measured::Daemon(&[])),
    ("load", Measured::Daemon(&[LOAD_SECONDS])),
    ("scale", Measured::Daemon(&[])),
    ("plugins", Measured::Daemon(&[])),
    ("edits", Measured::Disk),
    ("search", Measured::Tree),
    ("commands", Measured::Commands),
    ("mcp", Measured::Mcp),
    ("checks", Measured::Checks),
    ("bridge", Measured::Processor),
    ("size", Measured::Size),
    ("build", Measured::Build),
];
/// The test that shows how hostile plugins end; others of its file need plugins besides.
const ZOO: &str = "plugin_zoo::every_member";
/// What is built to measure its build.
const PACKAGE: &str = "moss";

/// The option of `search-quality` for which language servers are needed.
const SERVED: &str = "--server-definitions";

/// What a table is about, and so what has to be there.
#[derive(Debug, Clone, Copy)]
enum Measured {
    /// The daemon with plugins; with more options of its program.
    Daemon(&'static [&'static str]),
    /// The disk of the target directory.
    Disk,
    /// The daemon with a large tree of sources.
    Tree,
    /// The daemon and its sandbox.
    Commands,
    /// The daemon and servers of others, called from Node.js.
    Mcp,
    /// The daemon, its sandbox, Cargo, and a Python with pytest.
    Checks,
    /// Nothing: it runs in the measuring program.
    Processor,
    /// The release binary and what it is made of.
    Size,
    /// Cargo and the compiler.
    Build,
}

/// What to measure and where its results go.
#[derive(Debug, Clone, Copy)]
struct Job<'a> {
    layout: &'a Layout,
    /// Whose build is measured.
    package: &'a str,
    /// Which tree is searched.
    tree: Option<&'a str>,
    /// Which parts of its searches are measured; all where none are named.
    parts: Option<&'a str>,
    /// Whether results are kept for the page.
    is_kept: bool,
}

/// Runs what the words after `bench` say.
pub(crate) fn run(layout: &Layout, words: &[&str]) -> Result<()> {
    let job = Job { layout, package: PACKAGE, tree: None, parts: None, is_kept: false };
    match words {
        ["all"] => all(job, &TABLES.map(|(name, _)| name)),
        ["all", "--only", names] => all(job, &names.split(',').collect::<Vec<_>>()),
        ["page"] => write(layout),
        ["zoo"] => zoo(layout),
        ["build", "--package", package] => Job { package, ..job }.table("build"),
        ["search", "--part", names, trees @ ..] => {
            SearchPart::parse_list(names)?;
            searches(Job { parts: Some(names), ..job }, trees)
        }
        ["search", trees @ ..] if !trees.contains(&"--part") => searches(job, trees),
        ["search-suites", trees @ ..] if !trees.is_empty() => {
            trees.iter().try_for_each(|tree| suites(layout, tree))
        }
        ["search-quality", words @ ..] if !words.is_empty() => quality(layout, words),
        [name] => job.table(name),
        _ => bail!("bench does not know `{}`", words.join(" ")),
    }
}

/// Measures searches of trees, or of the usual one.
fn searches(job: Job<'_>, trees: &[&str]) -> Result<()> {
    if trees.is_empty() {
        return job.table("search");
    }
    trees.iter().try_for_each(|tree| Job { tree: Some(tree), ..job }.table("search"))
}

/// Measures tables and writes the page with them. Each is kept as soon as it is measured.
fn all(job: Job<'_>, names: &[&str]) -> Result<()> {
    for name in names {
        measured(name)?;
    }
    for name in names {
        Job { is_kept: true, ..job }.table(name)?;
    }
    write(job.layout)
}

/// Writes the page from the results that are kept.
fn write(layout: &Layout) -> Result<()> {
    page_program(layout)?;
    child::run(Command::new(layout.bench_page()).arg("write").arg(layout.docs()))
}

fn measured(name: &str) -> Result<Measured> {
    let found = TABLES.iter().find(|(known, _)| *known == name);
    let names = TABLES.map(|(name, _)| name).join(", ");
    let (_, measured) =
        found.with_context(|| format!("there is no table `{name}`; there are: {names}"))?;
    Ok(*measured)
}

/// Measures how well questions are answered over repositories.
fn quality(layout: &Layout, words: &[&str]) -> Result<()> {
    let mut build = child::cargo();
    build.current_dir(&layout.root).args(["build", "--release", "--package", "moss-xtask"]);
    child::run(build.args(["--features", "quality", "--bin", "bench-search-quality"]))?;
    let mut measure = Command::new(layout.bench_search_quality());
    if words.contains(&SERVED) {
        let (source, target) = (layout.language_servers(), layout.language_server_environment());
        measure.arg("--servers").arg(node::install(&source, &target)?);
    }
    child::run(measure.args(words))
}

/// Measures how right searches of a tree are, kind by kind.
fn suites(layout: &Layout, tree: &str) -> Result<()> {
    artifacts::daemon(layout, BuildProfile::Release)?;
    let mut measure = calls_program(layout)?;
    measure.args(["search-suites".as_ref(), layout.moss(BuildProfile::Release).as_os_str()]);
    child::run(measure.arg(&layout.target).arg(tree))
}

/// Shows how every hostile plugin ends, and when: the test that holds them to it, with what it prints.
fn zoo(layout: &Layout) -> Result<()> {
    artifacts::daemon(layout, BuildProfile::Release)?;
    let mut test = child::cargo();
    test.current_dir(&layout.root)
        .args(["test", "--package", "moss-tests", "--test", "it", ZOO, "--", "--nocapture"])
        .env("MOSS_TEST_BINARY", layout.moss(BuildProfile::Release));
    child::run(&mut test)
}

// === impl Job ===

impl Job<'_> {
    /// Measures one table and keeps what came out.
    fn table(self, name: &str) -> Result<()> {
        let layout = self.layout;
        let rows = self.rows(name)?;
        let mut measure = match measured(name)? {
            Measured::Daemon(arguments) => {
                artifacts::plugins(layout)?;
                artifacts::daemon(layout, BuildProfile::Release)?;
                let mut measure = calls_program(layout)?;
                measure.arg("--json").arg(&rows).arg(name);
                measure.arg(layout.moss(BuildProfile::Release)).arg(layout.components());
                measure.arg(&layout.target).args(arguments);
                measure
            }
            Measured::Disk => {
                let mut measure = calls_program(layout)?;
                measure.arg("--json").arg(&rows).arg(name).arg(&layout.target);
                measure
            }
            Measured::Tree => {
                let mut measure = self.with_daemon(name, &rows)?;
                measure.arg(self.tree.map_or_else(registry_sources, |tree| Ok(tree.into()))?);
                measure.args(self.parts);
                measure
            }
            Measured::Commands => self.with_daemon(name, &rows)?,
            Measured::Mcp => {
                let modules = node::install(&layout.mcp_clients(), &layout.mcp_environment())?;
                let mut measure = self.with_daemon(name, &rows)?;
                measure.arg(modules);
                measure
            }
            Measured::Checks => {
                let python = python::environment(layout)?;
                let mut measure = self.with_daemon(name, &rows)?;
                measure.arg(python);
                measure
            }
            Measured::Processor => {
                let mut measure = calls_program(layout)?;
                measure.arg("--json").arg(&rows).arg(name);
                measure
            }
            Measured::Size => {
                let binary = artifacts::with_symbols(layout)?;
                artifacts::daemon(layout, BuildProfile::Release)?;
                page_program(layout)?;
                let mut measure = Command::new(layout.bench_page());
                measure.arg("sizes").arg(layout.moss(BuildProfile::Release)).arg(binary).arg(&rows);
                measure
            }
            Measured::Build => {
                page_program(layout)?;
                let mut measure = Command::new(layout.bench_page());
                measure.arg("builds").arg(&layout.root).arg(self.package);
                measure.arg(layout.target.join("bench-build")).arg(&rows);
                measure
            }
        };
        child::run(&mut measure)?;
        if self.is_kept { self.keep(name, &rows) } else { Ok(()) }
    }

    /// What measures a daemon on the disk of the target directory.
    fn with_daemon(self, name: &str, rows: &Path) -> Result<Command> {
        let layout = self.layout;
        artifacts::daemon(layout, BuildProfile::Release)?;
        let mut measure = calls_program(layout)?;
        measure.arg("--json").arg(rows).arg(name);
        measure.arg(layout.moss(BuildProfile::Release)).arg(&layout.target);
        Ok(measure)
    }

    /// Where the program that measures puts its rows.
    fn rows(self, name: &str) -> Result<PathBuf> {
        let directory = self.layout.target.join("bench");
        std::fs::create_dir_all(&directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        Ok(directory.join(format!("{name}.jsonl")))
    }

    /// Puts the rows beside the page.
    fn keep(self, name: &str, rows: &std::path::Path) -> Result<()> {
        let layout = self.layout;
        page_program(layout)?;
        let mut take = Command::new(layout.bench_page());
        take.arg("take").arg(name).arg(rows).arg(layout.moss(BuildProfile::Release));
        child::run(take.arg(layout.docs()))
    }
}

/// The sources that Cargo keeps of what moss is built from: a tree that every developer has.
fn registry_sources() -> Result<PathBuf> {
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir().context("there is no home directory")?.join(".cargo"),
    };
    Ok(home.join("registry/src"))
}

/// Builds the program that measures calls and their parts.
fn calls_program(layout: &Layout) -> Result<Command> {
    let mut build = child::cargo();
    build.current_dir(&layout.root).args(["build", "--release", "--package", "moss-xtask"]);
    child::run(build.args(["--features", "bench", "--bin", "bench-calls"]))?;
    Ok(Command::new(layout.bench_calls()))
}

/// Builds the program that keeps results and writes the page.
fn page_program(layout: &Layout) -> Result<()> {
    let mut build = child::cargo();
    build.current_dir(&layout.root).args(["build", "--quiet", "--package", "moss-xtask"]);
    child::run(build.args(["--features", "page", "--bin", "bench-page"]))
}
