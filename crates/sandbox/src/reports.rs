//! What the keeper of a command reports, from moss's side.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::order::KeeperReport;
use crate::running_snapshots::settle_made;
use crate::wire::{Decoder, LENGTH_BYTES};

/// What was made while a command ran, and may not be there.
#[derive(Debug, Default)]
pub(crate) struct MadeMeanwhile {
    /// What the command itself has made.
    pub(crate) own: Option<PathBuf>,
    /// What another one may have made, which was moved aside at once.
    pub(crate) moved: BTreeSet<PathBuf>,
}

/// Reads the next report.
pub(crate) async fn read_report(
    control: &mut (impl AsyncRead + Unpin),
) -> io::Result<KeeperReport> {
    let mut length = [0; LENGTH_BYTES];
    control.read_exact(&mut length).await?;
    let mut message = vec![0; Decoder::length(length)?];
    control.read_exact(&mut message).await?;
    KeeperReport::decode(&message)
}

/// Waits for the last report. What comes into being until then is decided about, one after the other: see
/// [`settle_made`].
pub(crate) async fn last_report(
    reports: &mut (impl AsyncRead + Unpin),
    snapshot: Option<u64>,
    made: &watch::Sender<MadeMeanwhile>,
) -> io::Result<KeeperReport> {
    let mut settling: Option<JoinHandle<()>> = None;
    loop {
        let path = match read_report(reports).await? {
            KeeperReport::Made(path) => path,
            report => return Ok(report),
        };
        // A keeper reports it again as long as it is there, and is never kept from that.
        let is_settling = settling.as_ref().is_some_and(|settling| !settling.is_finished());
        if let Some(number) = snapshot.filter(|_| !is_settling) {
            let made = made.clone();
            settling = Some(spawn_blocking(move || {
                let is_own = settle_made(number, &path);
                made.send_modify(|made| {
                    if is_own {
                        made.own.get_or_insert(path);
                    } else {
                        made.moved.insert(path);
                    }
                });
            }));
        }
    }
}
