//! Work that nobody waits for, such as reading a large workspace: calls have the processor first.

use std::io;

use tokio::sync::oneshot;

/// By how much such work steps back: it gets about a tenth of a processor that calls want too. Less
/// would let calls wait long where they need what it holds locked.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Does work on a thread of its own, which ends with it. Threads that it starts step back as well.
///
/// # Errors
///
/// Where no thread can be started, and where the work panics.
pub async fn run<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (sender, done) = oneshot::channel();
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(move || {
        step_back();
        // Nobody waits any more: the daemon ends.
        let _ = sender.send(work());
    })?;
    done.await.map_err(|_| io::Error::other("the work panicked"))
}

/// A thread that stepped back cannot come forward again, so none of a pool may.
fn step_back() {
    // By the thread's number it is the thread that is meant on Linux; elsewhere it would be the process.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};

        let thread = Some(rustix::thread::gettid());
        let stepped = getpriority_process(thread)
            .and_then(|before| setpriority_process(thread, before.max(NICENESS)));
        if let Err(error) = stepped {
            tracing::debug!(%error, "background work keeps the priority of calls");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn work_and_what_it_starts_step_back_and_calls_do_not() {
        let priority = || rustix::process::getpriority_process(Some(rustix::thread::gettid()));
        let before = priority().unwrap();
        let both = run("test", move || {
            let started = std::thread::scope(|scope| scope.spawn(priority).join().unwrap());
            (priority().unwrap(), started.unwrap())
        });
        // A test that was started with a niceness of its own above this one keeps it.
        let expected = NICENESS.max(before);
        assert_eq!(both.await.unwrap(), (expected, expected));
        assert_eq!(priority().unwrap(), before);
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let panics = run("test", || assert!(std::hint::black_box(false), "as it is told"));
        assert_eq!(panics.await.unwrap_err().to_string(), "the work panicked");
    }
}
