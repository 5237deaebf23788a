//! What a process writes, collected while it runs.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::BOUND;

/// The text so far of one stream of a process.
pub(super) struct Log(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    ended: bool,
}

// === impl Log ===

impl Log {
    /// Reads a stream to its end on a thread of its own.
    pub(super) fn follow(mut stream: impl Read + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            loop {
                let count = stream.read(&mut buffer).unwrap_or(0);
                let mut state = of_thread.state.lock().unwrap();
                state.bytes.extend(&buffer[..count]);
                state.ended = count == 0;
                of_thread.changed.notify_all();
                if state.ended {
                    return;
                }
            }
        });
        Self(shared)
    }

    /// Returns what has been written so far.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.state.lock().unwrap().bytes).into_owned()
    }

    /// Waits until more is written, or the stream ends, or the time is over.
    pub(super) fn wait_more(&self, time: Duration) {
        let state = self.0.state.lock().unwrap();
        let had = state.bytes.len();
        let unchanged = |state: &mut State| state.bytes.len() == had && !state.ended;
        let state = self.0.changed.wait_timeout_while(state, time, unchanged).unwrap().0;
        if state.ended {
            // The process is about to end: nothing will be told here any more.
            drop(state);
            std::thread::park_timeout(time);
        }
    }

    /// Waits for the end of the stream.
    pub(super) fn wait_end(&self) {
        let state = self.0.state.lock().unwrap();
        let running = |state: &mut State| !state.ended;
        let (state, _) = self.0.changed.wait_timeout_while(state, BOUND, running).unwrap();
        assert!(state.ended, "somebody keeps the stream open");
    }
}
