//! A terminal of a command's own: what the command writes there is its output, what is written to moss's
//! end is typed.

use std::io;
use std::os::fd::OwnedFd;

/// What a person types to end an input: Ctrl-D.
pub(crate) const END_OF_INPUT: u8 = 4;

/// How large it says it is, in characters.
#[cfg(target_os = "linux")]
const SIZE: (u16, u16) = (24, 80);

/// Makes a terminal: moss's end of it, which waits for nothing, and that of the command.
#[cfg(target_os = "linux")]
pub(crate) fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
    use rustix::termios::{OptionalActions, OutputModes, Winsize};
    use rustix::termios::{tcgetattr, tcsetattr, tcsetwinsize};

    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let theirs = ioctl_tiocgptpeer(&ours, flags)?;
    let (rows, columns) = SIZE;
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size)?;
    let mut modes = tcgetattr(&theirs)?;
    // Lines end as they do without a terminal.
    modes.output_modes.remove(OutputModes::ONLCR);
    tcsetattr(&theirs, OptionalActions::Now, &modes)?;
    let flags = rustix::fs::fcntl_getfl(&ours)?;
    rustix::fs::fcntl_setfl(&ours, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok((ours, theirs))
}

/// Commands run on Linux only.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    Err(io::ErrorKind::Unsupported.into())
}
