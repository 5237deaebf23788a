//! The standard streams of a keeper: what is its command's is held by nobody else.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use crate::system;

/// The device that is empty to read, and takes whatever is written.
const NULL: &str = "/dev/null";

/// Gives up the streams that are the command's alone from now on.
pub(super) fn release_streams() -> io::Result<()> {
    system::replace_streams(null()?.as_fd(), 0)
}

/// Gives up what the command writes, and keeps the socket.
pub(crate) fn release_output() -> io::Result<()> {
    system::replace_streams(null()?.as_fd(), 1)
}

/// A standard input that is empty.
pub(super) fn empty() -> io::Result<OwnedFd> {
    Ok(File::open(NULL)?.into())
}

fn null() -> io::Result<File> {
    File::options().read(true).write(true).open(NULL)
}
