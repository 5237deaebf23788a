//! Reports when a file may have changed, whatever way it was written: in place, by a rename over
//! it, through a link, or for the first time in a directory that was not there before.
//!
//! Watches directories, not files. It never says what changed: the receiver looks at everything
//! again, so that a lost or doubled event does no harm.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod inotify;
mod trail;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout, timeout_at};

#[cfg(not(target_os = "linux"))]
use self::elsewhere::WatchedDirectories;
#[cfg(target_os = "linux")]
use self::inotify::WatchedDirectories;
use self::trail::Trail;

/// How long files must be left alone before they are read.
const QUIET: Duration = Duration::from_millis(50);
/// Longest wait for that: files that never rest are read as they are.
const QUIET_WAIT_MAX: Duration = Duration::from_millis(500);
/// How often everything is looked at while some directory cannot be watched.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Most directories that are watched; files in others are looked at by polling.
const DIRECTORIES_MAX: usize = 2048;
/// How often directories that change while they are being watched are looked at again.
const ROUNDS_MAX: usize = 8;

/// What is read anew when a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The limits of the daemon.
    Configuration,
    /// The policy of every workspace.
    Policies,
    /// The lists of plugins, and their components.
    Plugins,
}

/// What happened in a watched directory.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WatchEvent {
    /// A file may hold something else.
    Content(PathBuf),
    /// A name may mean another file or directory, or none.
    Name(PathBuf),
    /// Anything: it was not reported.
    Lost,
    /// Nothing is reported any more.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the thread is not moss's"))]
    Deaf,
}

/// Watches the files that were named to it.
#[derive(Debug)]
pub struct FileWatcher {
    heard: Arc<Heard>,
    followed: Mutex<Followed>,
    /// Whether something is looked at by polling.
    blind: AtomicBool,
    rounds: watch::Sender<u64>,
}

/// What the watching thread knows and reports.
#[derive(Debug, Default)]
struct Heard {
    woken: Notify,
    shared: Mutex<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Names whose change counts.
    names: HashSet<PathBuf>,
    /// Directories that may have been moved or replaced.
    moved: HashSet<PathBuf>,
    /// Events were lost: any directory may have been.
    lost: bool,
    /// The watching thread ended: all is looked at by polling.
    deaf: bool,
}

#[derive(Debug)]
struct Followed {
    directories: Option<WatchedDirectories>,
    files: BTreeMap<Group, Vec<PathBuf>>,
    /// Watched directories, as device and inode, and whether what their files hold is watched, too.
    watched: HashMap<PathBuf, ((u64, u64), bool)>,
}

// === impl FileWatcher ===

impl FileWatcher {
    /// Starts the thread that hears about changes; where it cannot be, everything is looked at by polling.
    #[expect(clippy::new_without_default, reason = "it starts a thread")]
    pub fn new() -> Self {
        let heard = Arc::new(Heard::default());
        let of_thread = Arc::clone(&heard);
        let directories = WatchedDirectories::new(move |change| of_thread.hear(change));
        if let Err(error) = &directories {
            let every = POLL_INTERVAL;
            tracing::warn!(%error, ?every, "files cannot be watched; moss polls them");
        }
        let followed = Followed {
            directories: directories.ok(),
            files: BTreeMap::new(),
            watched: HashMap::new(),
        };
        Self {
            heard,
            followed: Mutex::new(followed),
            blind: AtomicBool::new(false),
            rounds: watch::Sender::new(0),
        }
    }

    /// Hears about every round in which something may have changed.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.rounds.subscribe()
    }

    /// Follows these files in place of what the group followed before. A change that happens after
    /// this returns is reported. Blocks for a few system calls.
    pub fn follow(&self, group: Group, files: Vec<PathBuf>) {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.files.insert(group, files);
        let is_blind = !followed.watch(&self.heard);
        if is_blind && !self.blind.swap(is_blind, Ordering::Relaxed) {
            self.heard.woken.notify_one();
        }
        self.blind.store(is_blind, Ordering::Relaxed);
    }

    /// Turns what is heard into rounds, for as long as it is polled.
    pub async fn run(&self) {
        loop {
            let woken = self.heard.woken.notified();
            if self.blind.load(Ordering::Relaxed) {
                // Over in any case: then it is time to look.
                let _ = timeout(POLL_INTERVAL, woken).await;
            } else {
                woken.await;
            }
            let end = Instant::now() + QUIET_WAIT_MAX;
            loop {
                let quiet = (Instant::now() + QUIET).min(end);
                let is_quiet = timeout_at(quiet, self.heard.woken.notified()).await.is_err();
                if is_quiet || Instant::now() >= end {
                    break;
                }
            }
            self.rounds.send_modify(|round| *round += 1);
        }
    }
}

// === impl Heard ===

impl Heard {
    /// Runs on the watching thread.
    fn hear(&self, change: WatchEvent) {
        let counts = self.lock().take(change);
        if counts {
            self.woken.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Shared ===

impl Shared {
    /// Whether a change is about a followed file.
    fn take(&mut self, change: WatchEvent) -> bool {
        match change {
            WatchEvent::Content(path) => self.names.contains(&path),
            WatchEvent::Name(path) => {
                let counts = self.names.contains(&path);
                if counts {
                    self.moved.insert(path);
                }
                counts
            }
            WatchEvent::Lost => {
                self.lost = true;
                true
            }
            WatchEvent::Deaf => {
                self.deaf = true;
                true
            }
        }
    }
}

// === impl Followed ===

impl Followed {
    /// Watches every directory on the ways to the files. Returns whether all that matter are.
    fn watch(&mut self, heard: &Heard) -> bool {
        let mut trails = self.trails();
        for _ in 0..ROUNDS_MAX {
            let all_watched = self.watch_trails(heard, &trails);
            let seen = self.trails();
            if seen == trails {
                return all_watched;
            }
            trails = seen;
        }
        // They change all the time: what was not seen now is reported as a change.
        heard.woken.notify_one();
        true
    }

    fn trails(&self) -> Vec<Trail> {
        self.files.values().flatten().map(|file| trail::follow(file)).collect()
    }

    fn watch_trails(&mut self, heard: &Heard, trails: &[Trail]) -> bool {
        let (moved, lost) = {
            let mut shared = heard.lock();
            if shared.deaf {
                self.directories = None;
            }
            shared.names = trails.iter().flat_map(|trail| trail.names.iter().cloned()).collect();
            (std::mem::take(&mut shared.moved), std::mem::take(&mut shared.lost))
        };
        let Some(directories) = &mut self.directories else { return false };
        let names = trails.iter().flat_map(|trail| &trail.names);
        let above = names.filter_map(|name| name.parent()).map(|directory| (directory, false));
        let mut wanted: HashMap<&Path, bool> = above.collect();
        wanted.extend(trails.iter().map(|trail| (trail.directory.as_path(), true)));
        self.watched.retain(|directory, (inode, with_contents)| {
            let stays = !lost
                // A watch ends with that of a directory further up.
                && !moved.iter().any(|moved| directory.starts_with(moved))
                && wanted.get(directory.as_path()) == Some(with_contents)
                && identity(directory) == Some(*inode);
            if !stays {
                directories.unwatch(directory);
            }
            stays
        });
        for (directory, with_contents) in wanted {
            if self.watched.contains_key(directory) || self.watched.len() >= DIRECTORIES_MAX {
                continue;
            }
            let Some(inode) = identity(directory) else { continue };
            match directories.watch(directory, with_contents) {
                Ok(()) => {
                    self.watched.insert(directory.to_owned(), (inode, with_contents));
                }
                Err(error) => {
                    tracing::debug!(%error, directory = %directory.display(), "not watched");
                }
            }
        }
        // A directory further up that may not be read is rarely replaced.
        trails.iter().all(|trail| self.watched.contains_key(&trail.directory))
    }
}

fn identity(directory: &Path) -> Option<(u64, u64)> {
    let metadata = directory.metadata().ok()?;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests;
