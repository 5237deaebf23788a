//! That something was mounted or unmounted: a directory that is known shows other files then, and no
//! event of files says so.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};

/// The mounts that this process sees, as Linux shows them.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Reports changes of mounts.
#[derive(Debug)]
pub(super) struct MountEvents(OwnedFd);

// === impl MountEvents ===

impl MountEvents {
    /// None where the system does not report them.
    pub(super) fn open() -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        #[expect(clippy::disallowed_methods, reason = "the system's own file, by its fixed name")]
        let opened = rustix::fs::open(MOUNTS, flags, Mode::empty());
        opened.ok().map(Self)
    }

    /// Whether there were changes since this was asked last. Where that cannot be said there were.
    pub(super) fn have_come(&self) -> bool {
        let mut asked = [PollFd::new(&self.0, PollFlags::PRI)];
        let polled = poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        let changed = PollFlags::PRI | PollFlags::ERR;
        polled.is_err() || asked[0].revents().intersects(changed)
    }
}
