//! How long builds take: clean ones, what of them takes the time, and those after one crate of the workspace
//! was touched.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use moss_xtask::rows::{Row, Spread, Unit};
use serde::Deserialize;

use crate::parts::largest;

/// Crates that have a row of their own.
const CRATES_MAX: usize = 12;
/// What all grammars may take of a clean debug build.
const GRAMMARS_WANTED: &str = "≤ 60 s";
/// What stands before the list of units in the page that `cargo build --timings` writes.
const UNITS: &str = "const UNIT_DATA = ";

/// A crate of the workspace that the package is built from.
#[derive(Debug, PartialEq, Eq)]
struct Member {
    name: String,
    directory: PathBuf,
}

/// A package that is built into a directory of its own.
struct Build<'a> {
    root: &'a Path,
    package: &'a str,
    target: &'a Path,
}

/// Measures the builds of a package; the directory that it is built into is removed before and after.
pub(crate) fn measure(root: &Path, package: &str, target: &Path) -> Result<Vec<Row>> {
    let build = Build { root, package, target };
    clean(target)?;
    let members = build.members()?;
    let mut rows = vec![build.row("clean debug build", &["--timings"])?];
    let timings = target.join("cargo-timings/cargo-timing.html");
    let timings = fs::read_to_string(&timings)
        .with_context(|| format!("cannot read {}", timings.display()))?;
    let crates = crates(&timings)?;
    rows.push(grammars(&crates));
    rows.extend(largest("one core for", Unit::Nanoseconds, crates, CRATES_MAX));
    rows.push(Row::bytes("disk after the debug build", bytes_below(target)?));
    for Member { name, directory } in &members {
        touch(directory)?;
        rows.push(build.row(&format!("debug, after a change in {name}"), &[])?);
    }
    rows.push(build.row("clean release build", &["--release"])?);
    if let Some(Member { name, directory }) = members.first() {
        touch(directory)?;
        rows.push(build.row(&format!("release, after a change in {name}"), &["--release"])?);
    }
    clean(target)?;
    rows.push(build.row("clean build for the tour", &["--profile", "tour"])?);
    clean(target)?;
    Ok(rows)
}

fn clean(target: &Path) -> Result<()> {
    if target.exists() {
        fs::remove_dir_all(target)
            .with_context(|| format!("cannot remove {}", target.display()))?;
    }
    Ok(())
}

/// Lets the root of a crate look changed.
fn touch(directory: &Path) -> Result<()> {
    let roots = ["src/lib.rs", "src/main.rs"].map(|root| directory.join(root));
    let root = roots.iter().find(|root| root.exists()).context("a crate without a root")?;
    let file = File::options().append(true).open(root);
    let touched = file.and_then(|file| file.set_modified(SystemTime::now()));
    touched.with_context(|| format!("cannot touch {}", root.display()))
}

/// How many bytes the files in a directory have.
fn bytes_below(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            bytes += bytes_below(&entry.path())?;
        } else if kind.is_file() {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

/// How many nanoseconds each crate took, with its build script, by the page of a build's timings.
fn crates(timings: &str) -> Result<BTreeMap<String, u64>> {
    /// What the page says of one run of the compiler, or of a build script.
    #[derive(Deserialize)]
    struct BuildUnit {
        name: String,
        /// How long it ran, in seconds.
        duration: f64,
    }
    let (_, units) = timings.split_once(UNITS).context("cargo lists no units in its timings")?;
    let mut units = serde_json::Deserializer::from_str(units).into_iter::<Vec<BuildUnit>>();
    let units = units.next().context("cargo's list of units is empty")?;
    let mut crates = BTreeMap::new();
    for unit in units.context("cannot read cargo's list of units")? {
        let duration = Duration::try_from_secs_f64(unit.duration)?;
        *crates.entry(unit.name).or_default() += duration.as_nanos() as u64;
    }
    Ok(crates)
}

/// What the grammars take together.
fn grammars(crates: &BTreeMap<String, u64>) -> Row {
    let grammars = crates.iter().filter(|(name, _)| name.starts_with("tree-sitter-"));
    let value = Spread::single(grammars.map(|(_, nanoseconds)| nanoseconds).sum());
    let row = Row::bytes("one core for all grammars", 0).wanted(GRAMMARS_WANTED);
    Row { unit: Unit::Nanoseconds, value, ..row }
}

/// The crates in what `cargo tree` prints, each once, the package first: `NAME vVERSION (DIRECTORY)`,
/// with `(proc-macro)` and `(*)` between and behind.
fn members(tree: &str) -> Vec<Member> {
    let mut members = Vec::new();
    for line in tree.lines() {
        let name = line.split(' ').next().unwrap_or_default().to_owned();
        let in_brackets = line.split('(').skip(1).filter_map(|part| part.split(')').next());
        let directory = in_brackets.map(PathBuf::from).find(|directory| directory.is_absolute());
        if let Some(directory) = directory {
            let member = Member { name, directory };
            if !members.contains(&member) {
                members.push(member);
            }
        }
    }
    members
}

// === impl Build ===

impl Build<'_> {
    fn row(&self, name: &str, arguments: &[&str]) -> Result<Row> {
        let duration = self.run(arguments)?;
        let value = Spread::single(duration.as_nanos() as u64);
        Ok(Row { unit: Unit::Nanoseconds, value, ..Row::bytes(name, 0) })
    }

    fn run(&self, arguments: &[&str]) -> Result<Duration> {
        let mut build = self.cargo(&["build"]);
        build.args(["--package", self.package, "--target-dir"]).arg(self.target).args(arguments);
        let started = Instant::now();
        let status = build.status().context("cannot start cargo")?;
        if !status.success() {
            bail!("{} does not build", self.package);
        }
        Ok(started.elapsed())
    }

    fn members(&self) -> Result<Vec<Member>> {
        let mut tree = self.cargo(&["tree", "--edges", "normal,build", "--prefix", "none"]);
        tree.args(["--format", "{p}", "--package", self.package]).stderr(Stdio::inherit());
        let output = tree.output().context("cannot start cargo")?;
        if !output.status.success() {
            bail!("cargo knows no package {}", self.package);
        }
        Ok(members(&String::from_utf8_lossy(&output.stdout)))
    }

    fn cargo(&self, words: &[&str]) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(self.root).args(words).arg("--locked");
        cargo
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_crate_has_that_of_its_build_script() {
        let page = "<script>\nconst UNIT_DATA = [{\"i\":0,\"name\":\"a\",\"duration\":1.5},\
                    {\"i\":1,\"name\":\"b\",\"duration\":0.25},\
                    {\"i\":2,\"name\":\"a\",\"duration\":0.5}];\nconst OTHER = [];";
        let expected = [("a".to_owned(), 2_000_000_000), ("b".to_owned(), 250_000_000)];
        assert_eq!(crates(page).unwrap(), expected.into());
        crates("<script>const OTHER = [];").unwrap_err();
    }

    #[test]
    fn grammars_are_summed_up() {
        let crates = [("tree-sitter", 1), ("tree-sitter-c", 2), ("tree-sitter-go", 59_999_999_998)];
        let crates = crates.map(|(name, took)| (name.to_owned(), took));
        let row = grammars(&crates.into());
        assert_eq!((row.unit, row.value.median), (Unit::Nanoseconds, 60_000_000_000));
        assert_eq!(
            moss_xtask::targets::verdict(&row),
            Some(moss_xtask::targets::TargetVerdict::Met)
        );
    }

    #[test]
    fn members_are_the_crates_of_the_workspace() {
        let tree = "moss v0.1.0 (/w/cli)\nanyhow v1.0.0\n\
                    moss-sdk-macros v0.1.0 (proc-macro) (/w/sdk/macros)\n\
                    serde_derive v1.0.0 (proc-macro)\nmoss v0.1.0 (/w/cli) (*)\n";
        let named = |name: &str, directory: &str| Member {
            name: name.to_owned(),
            directory: directory.into(),
        };
        let expected = [named("moss", "/w/cli"), named("moss-sdk-macros", "/w/sdk/macros")];
        assert_eq!(members(tree), expected);
    }
}
