//! How right searches are: generated patterns whose lines are compared with ripgrep's, and files that are asked for
//! as people remember them. Kind by kind. Lines that differ, with the index or without it, are an error; of files it
//! reports how many are found.

mod drawing;
mod grep;
mod paths;
mod patterns;
mod remembered;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};

use super::rivals::Rivals;
use super::{WITHOUT_INDEX, number_of, ready};
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// How many patterns and how many files are asked for, unless `MOSS_BENCH_PATTERNS` and `MOSS_BENCH_PATHS` say
/// otherwise.
const ASKED: usize = 2_000;

/// Measures both over a tree and prints what came out.
pub(crate) async fn measure(moss: PathBuf, directory: &Path, tree: &Path) -> Result<()> {
    let place = Testbed::of_tree(moss, directory, tree)?;
    let rivals = Rivals::find(&place.workspace())?;
    let size = rivals.tree_size()?;
    println!("{}: {size}; {rivals}", tree.display());
    let patterns = number_of("MOSS_BENCH_PATTERNS", ASKED)?;
    let (daemon, caller) = ServerProcess::daemon(&place).await?;
    ready(&caller).await?;
    let mut differing = grep::measure(&caller, &rivals, &size.files, patterns).await?;
    let paths = number_of("MOSS_BENCH_PATHS", ASKED)?;
    paths::measure(&caller, &rivals, &place.workspace(), paths).await?;
    drop(caller);
    daemon.stop().await?;
    println!("without the index:");
    place.configure(WITHOUT_INDEX)?;
    let (daemon, caller) = ServerProcess::daemon(&place).await?;
    differing += grep::measure(&caller, &rivals, &size.files, patterns).await?;
    drop(caller);
    daemon.stop().await?;
    if differing > 0 {
        bail!("{differing} searches find other lines than ripgrep");
    }
    Ok(())
}

/// The time that a share of the calls stays within, in milliseconds.
fn within(sorted: &[Duration], percent: usize) -> f64 {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(0.0, Duration::as_secs_f64) * 1e3
}
