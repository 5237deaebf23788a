//! From a file that changed to the version that serves: for code that is new, and for code that was
//! compiled before.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use moss_xtask::rows::Row;
use tokio::time::timeout;

use super::TOOL;
use crate::caller::Catalogs;
use crate::figures::ready;
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// Versions that are put in place of each other, over and over.
const VERSIONS: u8 = 20;
const ROUNDS: usize = 3;
/// Longest wait for a version to serve.
const WAIT_MAX: Duration = Duration::from_secs(60);

pub(super) async fn measure(place: &Testbed) -> Result<[Row; 2]> {
    eprintln!("replacing a plugin {} times", usize::from(VERSIONS) * ROUNDS);
    let served = place.directory().join("served.wasm");
    let bytes = fs::read(&place.component)?;
    fs::write(&served, &bytes)?;
    place.list_copies(&[("word-count".to_owned(), served.clone())])?;
    let (daemon, caller) = ServerProcess::daemon(place).await?;
    ready(&caller).await?;
    let mut catalogs = caller.watch_tools().await?;
    catalogs.next().await?;
    let (mut fresh, mut kept) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for number in 0..VERSIONS {
            let taken = replace(&mut catalogs, &served, &version(&bytes, number)).await?;
            if round == 0 { fresh.push(taken) } else { kept.push(taken) }
        }
    }
    drop((catalogs, caller));
    daemon.stop().await?;
    Ok([
        Row::timed("a changed file serves, new code", fresh).wanted("< 500 ms"),
        Row::timed("a changed file serves, code kept", kept).wanted("< 150 ms"),
    ])
}

/// Puts a version in place of the one before and waits until clients are notified that it serves.
async fn replace(catalogs: &mut Catalogs, served: &Path, version: &[u8]) -> Result<Duration> {
    let beside = served.with_extension("new");
    fs::write(&beside, version)?;
    let started = Instant::now();
    fs::rename(&beside, served)?;
    let told = timeout(WAIT_MAX, catalogs.next()).await??;
    ensure!(told.changed == [TOOL], "another tool changed: {told:?}");
    Ok(started.elapsed())
}

/// The component with one more custom section, without a name: another digest, the same tools.
fn version(component: &[u8], number: u8) -> Vec<u8> {
    [component, &[0, 2, 0, number]].concat()
}
