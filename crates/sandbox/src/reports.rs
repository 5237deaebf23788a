//! What the keeper of a command reports, from moss's side.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::order::KeeperReport;
use crate::running_snapshots::settle_made;
use crate::wire::{Decoder, LENGTH_BYTES};

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
) -> io::Result<KeeperReport> {
    let mut settling: Option<JoinHandle<()>> = None;
    loop {
        let path = match read_report(reports).await? {
            KeeperReport::Made(path) => path,
            report => return Ok(report),
        };
        // A keeper reports it again as long as it is there, and is never kept from that.
        let is_settling = settling.as_ref().is_some_and(|settling| !settling.is_finished());
        if !is_settling {
            settling = Some(spawn_blocking(move || settle_made(&path)));
        }
    }
}

/// What is known where no report comes. A keeper that fails says so: one that ends without a word was most likely
/// killed.
pub(crate) fn unheard(error: &io::Error) -> String {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    if matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof) {
        return "its keeper ended without a report, as where it is killed; `sudo dmesg` shows whether the kernel \
                did it, for want of memory"
            .to_owned();
    }
    format!("its keeper cannot be heard: {error}")
}
