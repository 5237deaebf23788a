//! Standard input as a stream where the runtime cannot wait for it: a file or a terminal. A thread of its
//! own reads it: the runtime would wait for one of its threads when this program is to end.

use std::io::{self, Read as _};

use tokio::io::{AsyncRead, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// Most bytes that are read at once.
const PIECE_BYTES_MAX: usize = 64 * 1024;
/// Most pieces that wait to be read.
const PIECES_MAX: usize = 4;

/// Begins to read. Belongs into a runtime.
///
/// # Errors
///
/// Where there is no thread to be had.
pub(super) fn open() -> io::Result<impl AsyncRead + Send + Unpin + 'static> {
    let (sender, mut pieces) = mpsc::channel::<Vec<u8>>(PIECES_MAX);
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut input = io::stdin().lock();
        let mut piece = vec![0; PIECE_BYTES_MAX];
        loop {
            match input.read(&mut piece) {
                Ok(0) => return,
                Ok(count) if sender.blocking_send(piece[..count].to_vec()).is_ok() => {}
                Ok(_) => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot read standard input");
                    return;
                }
            }
        }
    })?;
    let (mut near, far) = tokio::io::duplex(PIECE_BYTES_MAX);
    tokio::spawn(async move {
        while let Some(piece) = pieces.recv().await {
            if near.write_all(&piece).await.is_err() {
                return;
            }
        }
    });
    Ok(far)
}
