//! Measures how well questions are answered, over repositories of other people: subjects of later commits
//! against the files that they change, documentation against what it documents, Chinese against English;
//! and definitions against those that ctags and language servers have.
//!
//! It reports and never judges. Everything is the same on each run, but for the time that it takes.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the output of this program is for the person at the terminal"
)]

mod baselines;
mod chinese;
mod ctags;
mod definitions;
mod failures;
mod foreign_tag;
mod git;
mod measure;
mod report;
mod repository;
mod server_pipe;
mod servers;
mod speed;
mod suites;
mod weights;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use moss_ranking::Weights;

use self::definitions::Yardstick;
use self::repository::Repository;

const USAGE: &str = "usage: bench-search-quality [--set NAME=VALUE]… [--try NAME=V1,V2,…]… [--tune] \
                     [--show A|B=COUNT]… [--classes] [--speed TREE]… \
                     [--definitions TREE]… [--servers NODE_MODULES] [--server-definitions TREE]… \
                     [--misses COUNT] DIR…";

/// What the command line asks for.
#[derive(Default)]
struct MeasuringOrder {
    directories: Vec<PathBuf>,
    weights: Weights,
    tries: Vec<(String, String)>,
    shows: Vec<(String, String)>,
    trees: Vec<PathBuf>,
    /// Trees whose definitions are compared with those of ctags, and how many misses are shown.
    defining: Vec<PathBuf>,
    /// Trees whose definitions are compared with those of language servers, and where these are installed.
    served: Vec<PathBuf>,
    servers: PathBuf,
    misses: usize,
    is_tuned: bool,
    is_classified: bool,
}

fn main() -> Result<()> {
    let asked = MeasuringOrder::read(std::env::args().skip(1))?;
    asked.trees.iter().try_for_each(|tree| speed::report(tree, &asked.weights))?;
    definitions::report(&asked.defining, Yardstick::Ctags, asked.misses)?;
    definitions::report(&asked.served, Yardstick::Servers(&asked.servers), asked.misses)?;
    let read = asked.directories.iter().map(|directory| Repository::read(directory));
    let repositories = read.collect::<Result<Vec<_>>>()?;
    let mut best = asked.weights.clone();
    if asked.is_tuned {
        let worth = |weights: &Weights| report::worth(&repositories, weights);
        best = weights::tune(best, &worth, &|step| println!("{step}"))?;
        println!("{best:#?}");
    }
    if !repositories.is_empty() {
        report::report(&repositories, &best);
    }
    for (name, values) in &asked.tries {
        for value in values.split(',') {
            let mut other = best.clone();
            weights::set(&mut other, name, value.parse().context(USAGE)?)?;
            let scores = report::suites(&repositories, &other);
            println!(
                "{name}={value}: A {:.4} (with tests {:.4}), B {:.4}",
                scores.code.mean(),
                scores.all.mean(),
                scores.places.mean()
            );
        }
    }
    if asked.is_classified {
        failures::show_classes(&repositories, &best);
    }
    for (suite, count) in &asked.shows {
        let count = count.parse().context(USAGE)?;
        match suite.as_str() {
            "A" => failures::show_files(&repositories, &best, count),
            "B" => failures::show_places(&repositories, &best, count),
            _ => bail!(USAGE),
        }
    }
    Ok(())
}

// === impl MeasuringOrder ===

impl MeasuringOrder {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut asked = Self::default();
        let pair = |word: Option<String>| {
            let word = word.context(USAGE)?;
            let (name, value) = word.split_once('=').context(USAGE)?;
            anyhow::Ok((name.to_owned(), value.to_owned()))
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--set" => {
                    let (name, value) = pair(words.next())?;
                    weights::set(&mut asked.weights, &name, value.parse().context(USAGE)?)?;
                }
                "--try" => asked.tries.push(pair(words.next())?),
                "--show" => asked.shows.push(pair(words.next())?),
                "--speed" => asked.trees.push(words.next().context(USAGE)?.into()),
                "--definitions" => asked.defining.push(words.next().context(USAGE)?.into()),
                "--server-definitions" => asked.served.push(words.next().context(USAGE)?.into()),
                "--servers" => asked.servers = words.next().context(USAGE)?.into(),
                "--misses" => asked.misses = words.next().context(USAGE)?.parse().context(USAGE)?,
                "--tune" => asked.is_tuned = true,
                "--classes" => asked.is_classified = true,
                option if option.starts_with("--") => bail!(USAGE),
                _ => asked.directories.push(PathBuf::from(word)),
            }
        }
        let has_some = [&asked.directories, &asked.trees, &asked.defining, &asked.served];
        ensure!(has_some.iter().any(|list| !list.is_empty()), USAGE);
        let has_servers = asked.served.is_empty() || !asked.servers.as_os_str().is_empty();
        ensure!(has_servers, USAGE);
        Ok(asked)
    }
}
