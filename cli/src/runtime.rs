//! The threads that everything in this process runs on.

use std::io;

use moss_workspace::dirs::Dirs;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::client;

/// Tasks that a busy worker polls before it looks at sockets and timers again. A plugin that computes
/// keeps its worker for some milliseconds each time: after as many as tokio's default, requests and
/// deadlines would not be noticed for a third of a second where each worker has such a plugin.
const EVENT_INTERVAL: u32 = 3;
/// Threads that may wait for disks at once; more work waits for one of them. Twice as many as calls run by
/// default (`calls.running_max`), so that calls which fill their share keep nobody from deciding or looking.
/// With tokio's 512 a minute of load left a stack and an allocator's cache in each of 170. None of them waits
/// for work that needs another one.
const BLOCKING_THREADS_MAX: usize = 128;

/// Starts them. Beside a daemon this process only passes calls on: one thread does that sooner than two, of which each
/// call would wake the other.
pub(crate) fn start(is_daemon: bool) -> io::Result<Runtime> {
    let mut runtime = Builder::new_multi_thread();
    runtime.event_interval(EVENT_INTERVAL).max_blocking_threads(BLOCKING_THREADS_MAX);
    if !is_daemon && Dirs::of_user().is_ok_and(|dirs| client::has_socket(&dirs)) {
        runtime.worker_threads(1);
    }
    let runtime = runtime.enable_all().build()?;
    let context = runtime.enter();
    // A file that may not grow any more (`ulimit -f`) is an error of whoever writes it, and not the end of this process.
    let _signals = signal(SignalKind::from_raw(libc::SIGXFSZ))?;
    drop(context);
    Ok(runtime)
}
