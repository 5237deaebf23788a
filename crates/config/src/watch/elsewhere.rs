//! Watching directories where there is no inotify.

use std::io;
use std::path::Path;

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::WatchEvent;

/// The directories that are watched, until this is dropped.
#[derive(Debug)]
pub(super) struct WatchedDirectories(RecommendedWatcher);

// === impl WatchedDirectories ===

impl WatchedDirectories {
    /// Starts the thread that hears about changes.
    pub(super) fn new(hear: impl Fn(WatchEvent) + Send + 'static) -> io::Result<Self> {
        let watcher = notify::recommended_watcher(move |event| match event {
            Ok(event) => changes(event).into_iter().for_each(&hear),
            Err(error) => {
                tracing::warn!(%error, "watching files failed; all of them are checked again");
                hear(WatchEvent::Lost);
            }
        });
        watcher.map(Self).map_err(io::Error::other)
    }

    /// Watches one directory, without those in it. The systems' watches know no difference between names
    /// and what files hold.
    pub(super) fn watch(&mut self, directory: &Path, _with_contents: bool) -> io::Result<()> {
        self.0.watch(directory, RecursiveMode::NonRecursive).map_err(io::Error::other)
    }

    /// Ends the watch over a directory; it may have ended with the directory.
    pub(super) fn unwatch(&mut self, directory: &Path) {
        let _ = self.0.unwatch(directory);
    }
}

fn changes(event: Event) -> Vec<WatchEvent> {
    if event.need_rescan() {
        return vec![WatchEvent::Lost];
    }
    let change = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => WatchEvent::Content,
        // Reading is no change; our own would never end.
        EventKind::Access(_) => return Vec::new(),
        EventKind::Modify(ModifyKind::Name(_)) | EventKind::Create(_) | EventKind::Remove(_) => {
            WatchEvent::Name
        }
        _ => WatchEvent::Content,
    };
    event.paths.into_iter().map(change).collect()
}
