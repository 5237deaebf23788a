//! What goes wrong with a language server.

use std::time::Duration;

/// Why a server did not say what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerFault {
    /// It took too long. It may be well all the same.
    #[error("it did not respond to `{method}` within {} ms", .after.as_millis())]
    Timeout {
        /// What it was asked.
        method: &'static str,
        /// How long it was waited for.
        after: Duration,
    },
    /// It refused to say.
    #[error("it refused `{method}`: {message}")]
    Refused {
        /// What it was asked.
        method: &'static str,
        /// In its own words, cut to a bound.
        message: String,
    },
    /// It is asked too much already.
    #[error("{0} requests wait for it already")]
    Busy(usize),
    /// Its process has ended.
    #[error("it has ended")]
    Ended,
    /// It does not speak the protocol, or too much of it: the conversation is over.
    #[error("it broke the protocol: {0}")]
    Broken(String),
}

// === impl ServerFault ===

impl ServerFault {
    /// Whether nothing can be asked any more.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Ended | Self::Broken(_))
    }
}
