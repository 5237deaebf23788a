//! The socket between a keeper and moss: orders come by it, and what became of them goes back.

use std::io::{self, Read as _, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::descriptors;
use crate::order::KeeperReport;
use crate::wire::{Decoder, LENGTH_BYTES};

/// The socket on which moss gives orders and receives how they went.
pub(crate) fn control() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Reads one message, and nothing of the next, with the descriptors that come with it.
pub(super) fn read_with_descriptors(
    control: &mut UnixStream,
) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut length, mut fds) = ([0; LENGTH_BYTES], Vec::new());
    let read = descriptors::receive(control.as_fd(), &mut length, &mut fds)?;
    control.read_exact(&mut length[read..])?;
    Ok((read_rest(control, length)?, fds))
}

/// Reads one message, and nothing of the next.
pub(crate) fn read_message(control: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut length = [0; LENGTH_BYTES];
    control.read_exact(&mut length)?;
    read_rest(control, length)
}

fn read_rest(control: &mut UnixStream, length: [u8; LENGTH_BYTES]) -> io::Result<Vec<u8>> {
    let mut message = vec![0; Decoder::length(length)?];
    control.read_exact(&mut message)?;
    Ok(message)
}

pub(crate) fn send(control: &mut impl Write, report: &KeeperReport) -> io::Result<()> {
    control.write_all(&report.encode()?)
}

/// Has moss hear of a defect that ends this process: once the command runs, nobody reads its standard
/// error.
pub(super) fn report_panics(control: &UnixStream) -> io::Result<()> {
    let control = control.try_clone()?;
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let why = format!("its keeper {panic}").replace('\n', " ");
        // Where moss is gone nobody has to know.
        let _ = send(&mut &control, &KeeperReport::Failed(why));
        usual(panic);
    }));
    Ok(())
}
