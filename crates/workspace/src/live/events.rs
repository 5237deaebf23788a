//! What the kernel reports of directories: inotify, through held descriptors only.
//!
//! An event is queued before the system call that caused it returns, so that whoever has drained the
//! queue knows of every write that was over when it started. Nothing is queued for writes through
//! another hard link of a file, for pages that a program has mapped and not yet closed, and on file
//! systems that others change too: those are looked at in other ways.

#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, AsRawFd};

#[cfg(target_os = "linux")]
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// What is reported of a directory: all that changes what a listing shows, and contents.
#[cfg(target_os = "linux")]
const CHANGES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    // The end of a mapping that was written to.
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Bytes of one read of the queue.
#[cfg(target_os = "linux")]
const BUFFER_BYTES: usize = 16 << 10;
/// Bytes of an event without its name.
#[cfg(target_os = "linux")]
const EVENT_BYTES: u64 = 16;

/// File systems that only this kernel changes. On others, and on those not known here, files change
/// without an event.
#[cfg(target_os = "linux")]
const REPORTING: &[u64] = &[
    0x0000_ef53, // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0xf2f5_2010, // f2fs
    0x2fc1_2fc1, // zfs
    0xca45_1a4e, // bcachefs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlayfs: what lies beneath must not change while it is mounted
];

/// Whether a type of file systems reports every change.
#[cfg(target_os = "linux")]
fn reports_every_change(kind: u64) -> bool {
    REPORTING.contains(&kind)
}

/// The queue of events of the directories of one tree.
#[derive(Debug)]
pub(super) struct TreeEvents(OwnedFd);

/// What the system says of one directory.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no queue has any"))]
pub(super) enum TreeEvent<'a> {
    /// A name in a directory; none where it is not text.
    Name(i32, Option<&'a str>),
    /// The directory itself has other attributes.
    Attributes(i32),
    /// The directory itself was moved or deleted.
    Moved(i32),
    /// The directory is no longer watched.
    Unwatched(i32),
    /// The queue was full: anything may have changed.
    Lost,
}

// === impl TreeEvents ===

#[cfg(target_os = "linux")]
impl TreeEvents {
    /// Opens a queue, or says why there cannot be one.
    pub(super) fn open(root: &OwnedFd) -> Result<Self, String> {
        Self::check(root)?;
        let opened = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
        opened.map(Self).map_err(|errno| match errno {
            Errno::MFILE => "the limit fs.inotify.max_user_instances is reached".to_owned(),
            errno => format!("the system reports no changes of files: {errno}"),
        })
    }

    /// Says why the file system of a directory cannot be relied on for events, if so.
    pub(super) fn check(directory: &OwnedFd) -> Result<(), String> {
        let found = rustix::fs::fstatfs(directory).map_err(|errno| errno.to_string())?;
        let kind = u64::try_from(found.f_type).unwrap_or_default();
        match reports_every_change(kind) {
            true => Ok(()),
            false => Err(format!("the file system (type {kind:#x}) does not report every change")),
        }
    }

    /// Has changes in a held directory reported from now on, whatever its name leads to by now.
    pub(super) fn watch(&self, directory: &OwnedFd) -> Result<i32, Errno> {
        let held = format!("/proc/self/fd/{}", directory.as_fd().as_raw_fd());
        inotify::add_watch(&self.0, held, CHANGES)
    }

    pub(super) fn unwatch(&self, watch: i32) {
        // The kernel has removed it already where the directory is gone.
        let _ = inotify::remove_watch(&self.0, watch);
    }

    /// Whether none is queued. Where that cannot be said, some may be.
    pub(super) fn are_none_queued(&self) -> bool {
        rustix::io::ioctl_fionread(&self.0).is_ok_and(|queued_bytes| queued_bytes == 0)
    }

    /// Takes out all events that are queued by now. Those that come meanwhile may stay: somebody who
    /// writes without a pause does not keep the others waiting.
    pub(super) fn drain(&self, mut take: impl FnMut(TreeEvent<'_>)) -> Result<(), Errno> {
        let queued_bytes = rustix::io::ioctl_fionread(&self.0)?;
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&self.0, &mut buffer);
        let mut taken_bytes = 0;
        while taken_bytes < queued_bytes || !reader.is_buffer_empty() {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            };
            let name = event.file_name();
            // At most what it took in the queue, where names are padded.
            taken_bytes += EVENT_BYTES + name.map_or(0, |name| name.count_bytes() as u64);
            let (watch, what) = (event.wd(), event.events());
            if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                take(TreeEvent::Lost);
            } else if what.intersects(ReadFlags::IGNORED | ReadFlags::UNMOUNT) {
                take(TreeEvent::Unwatched(watch));
            } else if let Some(name) = name {
                take(TreeEvent::Name(watch, name.to_str().ok()));
            } else if what.contains(ReadFlags::ATTRIB) {
                take(TreeEvent::Attributes(watch));
            } else {
                take(TreeEvent::Moved(watch));
            }
        }
        Ok(())
    }
}

/// Other systems report changes in other ways: there everything is looked at each time.
#[cfg(not(target_os = "linux"))]
impl TreeEvents {
    pub(super) fn open(_: &OwnedFd) -> Result<Self, String> {
        Err("this system reports no changes of files".to_owned())
    }

    pub(super) fn check(_: &OwnedFd) -> Result<(), String> {
        Ok(())
    }

    pub(super) fn watch(&self, _: &OwnedFd) -> Result<i32, Errno> {
        Err(Errno::NOSYS)
    }

    pub(super) fn unwatch(&self, _: i32) {}

    pub(super) fn are_none_queued(&self) -> bool {
        false
    }

    pub(super) fn drain(&self, _: impl FnMut(TreeEvent<'_>)) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "tests look at files from outside")]
mod tests {
    use super::*;

    #[test]
    fn file_systems_that_others_change_do_not_report_every_change() {
        for (name, kind, reports) in [
            ("ext4", 0xef53, true),
            ("xfs", 0x5846_5342, true),
            ("btrfs", 0x9123_683e, true),
            ("tmpfs", 0x0102_1994, true),
            ("overlayfs", 0x794c_7630, true),
            ("nfs", 0x6969, false),
            ("cifs", 0xff53_4d42, false),
            ("smb2", 0xfe53_4d42, false),
            ("fuse", 0x6573_5546, false),
            ("9p", 0x0102_1997, false),
            ("ceph", 0x00c3_6400, false),
            ("virtiofs and others", 0x7372_6973, false),
            ("one not known", 0, false),
        ] {
            assert_eq!(reports_every_change(kind), reports, "{name}");
        }
        // What an open directory says of its own.
        let directory = std::fs::File::open("/proc").expect("it is mounted").into();
        let refused = TreeEvents::check(&directory).expect_err("processes come without an event");
        assert!(refused.contains("does not report every change"), "{refused}");
    }
}
