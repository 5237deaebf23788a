//! `moss:plugin/context`: log, progress, cancelled, settings.

use std::sync::{Arc, Mutex, PoisonError};

use moss_sdk::context::Progress;
use tokio_util::sync::CancellationToken;

use crate::bindings::context::{Host, Level};
use crate::bindings::previous::context as previous;

/// Most bytes of one log message; the rest is cut.
pub(crate) const LOG_MESSAGE_BYTES_MAX: usize = 4 << 10;
/// Most bytes that one call may log, standard output and error included; the rest is dropped.
pub(crate) const LOG_BYTES_MAX: usize = 256 << 10;
/// Most progress reports of one call; the rest is dropped.
pub(crate) const PROGRESS_REPORTS_MAX: usize = 10_000;
/// What a message costs beside its bytes, so that empty ones are bounded too.
const LOG_MESSAGE_COST: usize = 16;
/// How much of what the guest printed last goes into an error message.
const LAST_WORDS_BYTES_MAX: usize = 2 << 10;

/// Hears what a plugin says while it runs. Must not block.
pub trait GuestEvents: Send + Sync {
    /// Takes one log message.
    fn log(&self, level: LogLevel, message: &str);

    /// Takes one progress report.
    fn progress(&self, progress: Progress);
}

/// How much a log message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// For the author of the plugin.
    Debug,
    /// Worth knowing for whoever runs moss.
    Info,
    /// Something is not as it should be.
    Warn,
    /// What the plugin tried failed.
    Error,
}

/// Passes on what a guest says, up to the limits. Cheap to clone; all clones share the limits.
#[derive(Clone)]
pub(crate) struct GuestReporter {
    events: Arc<dyn GuestEvents>,
    spent: Arc<Mutex<Spent>>,
}

#[derive(Default)]
struct Spent {
    log_bytes: usize,
    is_log_closed: bool,
    progress_reports: usize,
    last_words: String,
}

/// The host's side of the interface for one call.
pub(crate) struct GuestContext {
    pub(crate) voice: GuestReporter,
    pub(crate) cancelled: CancellationToken,
    pub(crate) settings: Arc<str>,
}

/// What Rust says after a panic to who can set variables.
const PANIC_NOTE: &str = "note: run with `RUST_BACKTRACE=";

/// Where nobody wants to hear of a guest.
pub(crate) struct NoEvents;

/// Where a panic of Rust was, and what follows.
fn panic_at(words: &str) -> Option<&str> {
    let start = words.find("thread '")?;
    words[start..].split_once("' ")?.1.split_once("panicked at ").map(|(_, place)| place)
}

// === impl GuestContext ===

impl Host for GuestContext {
    fn log(&mut self, level: Level, message: String) {
        self.voice.log(level.into(), &message);
    }

    fn progress(&mut self, message: String, done: u64, total: Option<u64>) {
        self.voice.progress(Progress { message, done, total });
    }

    fn cancelled(&mut self) -> bool {
        self.cancelled.is_cancelled()
    }

    fn settings(&mut self) -> String {
        self.settings.to_string()
    }
}

impl previous::Host for GuestContext {
    fn log(&mut self, level: previous::Level, message: String) {
        let level = match level {
            previous::Level::Debug => LogLevel::Debug,
            previous::Level::Info => LogLevel::Info,
            previous::Level::Warn => LogLevel::Warn,
            previous::Level::Error => LogLevel::Error,
        };
        self.voice.log(level, &message);
    }

    fn progress(&mut self, message: String, done: u64, total: Option<u64>) {
        Host::progress(self, message, done, total);
    }

    fn cancelled(&mut self) -> bool {
        Host::cancelled(self)
    }

    fn settings(&mut self) -> String {
        Host::settings(self)
    }
}

// === impl GuestReporter ===

impl GuestReporter {
    pub(crate) fn new(events: Arc<dyn GuestEvents>) -> Self {
        Self { events, spent: Arc::default() }
    }

    /// Passes on a message, cut to its limit.
    pub(crate) fn log(&self, level: LogLevel, message: &str) {
        let message = &message[..message.floor_char_boundary(LOG_MESSAGE_BYTES_MAX)];
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.is_log_closed {
            return;
        }
        spent.log_bytes += message.len() + LOG_MESSAGE_COST;
        spent.is_log_closed = spent.log_bytes > LOG_BYTES_MAX;
        let is_closed = spent.is_log_closed;
        drop(spent);
        if is_closed {
            self.events.log(LogLevel::Warn, "the plugin logs too much; the rest is dropped");
        } else {
            self.events.log(level, message);
        }
    }

    /// Passes on a line that the guest wrote to its standard error, and keeps it for the error
    /// message in case the guest fails. What a panic says is reported there alone.
    pub(crate) fn complain(&self, line: &str) {
        if line.starts_with(PANIC_NOTE) {
            return;
        }
        if !self.is_panicking(line) {
            self.log(LogLevel::Warn, line);
        }
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let room = LAST_WORDS_BYTES_MAX.saturating_sub(spent.last_words.len());
        let line = &line[..line.floor_char_boundary(room)];
        if !line.is_empty() {
            spent.last_words.push_str(line);
            spent.last_words.push('\n');
        }
    }

    /// Whether a line belongs to what a panic of Rust says.
    fn is_panicking(&self, line: &str) -> bool {
        let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        panic_at(line).is_some() || panic_at(&spent.last_words).is_some()
    }

    /// Returns the panic of a guest in Rust, on one line: where it was and what it said.
    pub(crate) fn panic(&self) -> Option<String> {
        let words = self.last_words();
        let (place, message) = panic_at(&words)?.split_once('\n')?;
        let file = place.rsplit('/').next().unwrap_or(place);
        // The column adds nothing to the line.
        let line = file.trim_end_matches(':').rsplit_once(':').map_or(file, |(line, _)| line);
        Some(format!("panicked at {line}: {}", message.trim().replace('\n', "; ")))
    }

    /// Returns the first of what the guest wrote to its standard error.
    pub(crate) fn last_words(&self) -> String {
        let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.last_words.trim().to_owned()
    }

    fn progress(&self, mut progress: Progress) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.progress_reports += 1;
        if spent.progress_reports > PROGRESS_REPORTS_MAX {
            return;
        }
        drop(spent);
        let end = progress.message.floor_char_boundary(LOG_MESSAGE_BYTES_MAX);
        progress.message.truncate(end);
        self.events.progress(progress);
    }
}

// === impl NoEvents ===

impl GuestEvents for NoEvents {
    fn log(&self, _: LogLevel, _: &str) {}

    fn progress(&self, _: Progress) {}
}

// === impl LogLevel ===

impl LogLevel {
    /// Returns the name, for example `warn`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Warn => Self::Warn,
            Level::Error => Self::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a guest complained, and what of that is passed on.
    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl GuestEvents for Heard {
        fn log(&self, _: LogLevel, message: &str) {
            self.0.lock().unwrap().push(message.to_owned());
        }

        fn progress(&self, _: Progress) {}
    }

    #[test]
    fn a_panic_is_reported_once_and_on_one_line() {
        let heard = Arc::new(Heard::default());
        let voice = GuestReporter::new(Arc::clone(&heard) as Arc<dyn GuestEvents>);
        for line in [
            "careful",
            "thread '<unnamed>' (1) panicked at probe/src/lib.rs:67:20:",
            "as told",
            "twice",
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        ] {
            voice.complain(line);
        }
        assert_eq!(voice.panic().as_deref(), Some("panicked at lib.rs:67: as told; twice"));
        assert_eq!(*heard.0.lock().unwrap(), ["careful"]);
    }

    #[test]
    fn other_last_words_are_no_panic() {
        let voice = GuestReporter::new(Arc::new(NoEvents));
        voice.complain("thread 'x' panicked at");
        voice.complain("it's broken");
        assert_eq!(voice.panic(), None);
    }
}
