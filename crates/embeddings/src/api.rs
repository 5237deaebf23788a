//! What endpoints speak, and what can go wrong with them.

use std::time::Duration;

use http::StatusCode;
use moss_plugin_host::services::HttpError;

/// What an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingApi {
    /// `POST URL/api/embed`.
    Ollama,
    /// `POST URL/embeddings`, where the URL ends with the version, as `https://api.openai.com/v1`.
    OpenAi,
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointFault {
    /// It cannot be reached, or may not be.
    #[error("it cannot be asked: {0}")]
    Unreachable(String),
    /// It took too long.
    #[error("it did not respond within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// It responded with another status than success.
    #[error("it responded with {status}{}", with_said(.said))]
    Status {
        /// The HTTP status of the response.
        status: StatusCode,
        /// How what it said of that begins.
        said: String,
    },
    /// It leads elsewhere, which nobody allowed.
    #[error("it redirects elsewhere ({0}), which is not followed")]
    Redirect(StatusCode),
    /// Its response is larger than any that has vectors.
    #[error("its response has more than {0} bytes")]
    TooLarge(u64),
    /// Its response is not what the API says.
    #[error("its response is not that of the API: {0}")]
    NotVectors(String),
    /// It sent more or fewer vectors than texts.
    #[error("it made {made} vectors of {texts} texts")]
    OtherNumber {
        /// How many it made.
        made: usize,
        /// Of how many texts.
        texts: usize,
    },
    /// Its vectors are not as long as they were, or are to be.
    #[error("its vectors have {made} numbers, where {expected} are expected")]
    OtherLength {
        /// How long one is.
        made: usize,
        /// How long it is to be.
        expected: usize,
    },
    /// A vector has no direction: zeros, or numbers that are none.
    #[error("one of its vectors is zero or not finite")]
    NoDirection,
}

fn with_said(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

// === impl EmbeddingApi ===

impl EmbeddingApi {
    /// Reads the word for one.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Ollama, Self::OpenAi].into_iter().find(|api| api.as_str() == word)
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
        }
    }

    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Ollama => "api/embed",
            Self::OpenAi => "embeddings",
        }
    }
}

// === impl EndpointFault ===

impl EndpointFault {
    /// Whether it may be that of one text, such as one that is too long for the model or of which it makes no numbers:
    /// others may well have vectors.
    pub(crate) fn may_be_of_text(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status.as_u16(), 400 | 413 | 422 | 500),
            Self::NotVectors(_) | Self::OtherNumber { .. } | Self::NoDirection => true,
            Self::Unreachable(_)
            | Self::Timeout(_)
            | Self::Redirect(_)
            | Self::TooLarge(_)
            | Self::OtherLength { .. } => false,
        }
    }

    pub(crate) fn of(error: HttpError, whole: Duration) -> Self {
        match error {
            HttpError::ResponseTooLarge(bytes_max) => Self::TooLarge(bytes_max),
            HttpError::Timeout(_) => Self::Timeout(whole),
            other => Self::Unreachable(other.to_string()),
        }
    }
}
