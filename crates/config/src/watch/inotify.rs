//! Watching directories on Linux. Only what changes something is asked for: opening or reading a
//! file in a watched directory wakes nobody.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, Event, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::WatchEvent;

/// What is asked for everywhere: that a name means something else.
const MASK: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR)
    // One directory under two names has one watch.
    .union(WatchFlags::MASK_ADD);
/// What is asked for besides where files themselves are followed. Above them it would wake moss for
/// every write of anybody into the home directory.
const CONTENTS: WatchFlags = WatchFlags::MODIFY.union(WatchFlags::CLOSE_WRITE);
/// The events after which a name may mean something else.
const NAMES: ReadFlags = ReadFlags::CREATE
    .union(ReadFlags::DELETE)
    .union(ReadFlags::MOVED_FROM)
    .union(ReadFlags::MOVED_TO)
    .union(ReadFlags::DELETE_SELF)
    .union(ReadFlags::MOVE_SELF)
    .union(ReadFlags::UNMOUNT);
/// How many bytes of events are read at once.
const EVENTS_BYTES: usize = 16 << 10;

/// Directories that are watched, by the numbers that the system gave them.
type Watched = Arc<Mutex<HashMap<i32, PathBuf>>>;

/// The directories that are watched, until this is dropped.
#[derive(Debug)]
pub(super) struct WatchedDirectories {
    queue: Arc<OwnedFd>,
    watched: Watched,
    /// The thread ends when this is closed.
    _runs: PipeWriter,
}

/// The thread that hears.
struct Listener<F> {
    queue: Arc<OwnedFd>,
    watched: Watched,
    ends: PipeReader,
    hear: F,
}

// === impl WatchedDirectories ===

impl WatchedDirectories {
    /// Starts the thread that hears about changes.
    pub(super) fn new(hear: impl Fn(WatchEvent) + Send + 'static) -> io::Result<Self> {
        let queue = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
        let watched = Watched::default();
        let (ends, runs) = io::pipe()?;
        let listener =
            Listener { queue: Arc::clone(&queue), watched: Arc::clone(&watched), ends, hear };
        thread::Builder::new().name("moss-watch".to_owned()).spawn(move || listener.run())?;
        Ok(Self { queue, watched, _runs: runs })
    }

    /// Watches one directory, without those in it: the names in it, and on demand what its files hold.
    pub(super) fn watch(&mut self, directory: &Path, with_contents: bool) -> io::Result<()> {
        let mask = if with_contents { MASK.union(CONTENTS) } else { MASK };
        // Held over the call: an event may come before it returns.
        let mut watched = lock(&self.watched);
        let number = inotify::add_watch(&*self.queue, directory, mask)?;
        watched.insert(number, directory.to_owned());
        Ok(())
    }

    /// Ends the watch over a directory; it may have ended with the directory.
    pub(super) fn unwatch(&mut self, directory: &Path) {
        let mut watched = lock(&self.watched);
        let numbers = watched.iter().filter(|(_, path)| *path == directory);
        let numbers: Vec<i32> = numbers.map(|(number, _)| *number).collect();
        for number in numbers {
            watched.remove(&number);
            let _ = inotify::remove_watch(&*self.queue, number);
        }
    }
}

// === impl Listener ===

impl<F: Fn(WatchEvent)> Listener<F> {
    fn run(self) {
        if let Err(error) = self.listen() {
            tracing::error!(%error, "files can no longer be watched; moss polls them");
            (self.hear)(WatchEvent::Deaf);
        }
    }

    /// Hears until the other end of the pipe is closed.
    fn listen(&self) -> rustix::io::Result<()> {
        let mut buffer = [MaybeUninit::uninit(); EVENTS_BYTES];
        loop {
            let mut either =
                [PollFd::new(&*self.queue, PollFlags::IN), PollFd::new(&self.ends, PollFlags::IN)];
            match poll(&mut either, None) {
                Ok(_) if !either[1].revents().is_empty() => return Ok(()),
                Ok(_) => self.drain(Reader::new(&*self.queue, &mut buffer))?,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    fn drain(&self, mut events: Reader<'_, &OwnedFd>) -> rustix::io::Result<()> {
        loop {
            match events.next() {
                Ok(event) => self.change(&event).into_iter().for_each(&self.hear),
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    fn change(&self, event: &Event<'_>) -> Option<WatchEvent> {
        let happened = event.events();
        if happened.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Some(WatchEvent::Lost);
        }
        let mut watched = lock(&self.watched);
        if happened.contains(ReadFlags::IGNORED) {
            watched.remove(&event.wd());
            return None;
        }
        // What was asked for before the watch ended is not reported any more.
        let directory = watched.get(&event.wd())?;
        let path = match event.file_name() {
            Some(name) => directory.join(OsStr::from_bytes(name.to_bytes())),
            None => directory.clone(),
        };
        let is_name = happened.intersects(NAMES);
        Some(if is_name { WatchEvent::Name(path) } else { WatchEvent::Content(path) })
    }
}

fn lock(watched: &Watched) -> MutexGuard<'_, HashMap<i32, PathBuf>> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Longest wait for a change to be heard.
    const BOUND: Duration = Duration::from_secs(60);

    #[test]
    fn reading_is_not_heard_and_what_changes_is() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "1").unwrap();
        let (told, changes) = mpsc::channel();
        let mut directories =
            WatchedDirectories::new(move |change| told.send(change).unwrap()).unwrap();
        directories.watch(temp.path(), true).unwrap();
        for _ in 0..100 {
            assert_eq!(fs::read(&file).unwrap(), b"1");
            assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
        }
        let heard = || changes.recv_timeout(BOUND).unwrap();
        // Events come in their order: nothing was heard before this.
        fs::rename(&file, temp.path().join("moved")).unwrap();
        assert_eq!(heard(), WatchEvent::Name(file));
        assert_eq!(heard(), WatchEvent::Name(temp.path().join("moved")));
        fs::write(temp.path().join("moved"), "2").unwrap();
        assert_eq!(heard(), WatchEvent::Content(temp.path().join("moved")));

        directories.unwatch(temp.path());
        fs::write(temp.path().join("unseen"), "").unwrap();
        let other = tempfile::tempdir().unwrap();
        directories.watch(other.path(), true).unwrap();
        fs::write(other.path().join("seen"), "").unwrap();
        let rest = WatchEvent::Content(temp.path().join("moved"));
        let first = std::iter::repeat_with(heard).find(|change| *change != rest).unwrap();
        assert_eq!(first, WatchEvent::Name(other.path().join("seen")));
        assert!(directories.watch(&other.path().join("seen"), true).is_err(), "it is no directory");
        // The thread ends, and with it its end of the channel.
        drop(directories);
        let end = std::iter::repeat_with(|| changes.recv_timeout(BOUND)).find_map(Result::err);
        assert_eq!(end, Some(mpsc::RecvTimeoutError::Disconnected));
    }

    #[test]
    fn above_followed_files_only_names_are_heard() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "1").unwrap();
        let (told, changes) = mpsc::channel();
        let mut directories =
            WatchedDirectories::new(move |change| told.send(change).unwrap()).unwrap();
        directories.watch(temp.path(), false).unwrap();
        fs::write(&file, "2").unwrap();
        fs::rename(&file, temp.path().join("moved")).unwrap();
        assert_eq!(changes.recv_timeout(BOUND).unwrap(), WatchEvent::Name(file));
    }
}
