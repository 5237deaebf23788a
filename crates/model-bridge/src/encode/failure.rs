//! Why there is no reply, and what each API calls that.

use crate::api::Api;
use crate::normalize::{RequestCode, RequestError};

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyFailure {
    /// What kind of failure it is: status, types and codes follow from it.
    pub kind: FailureKind,
    /// What is wrong, where, and what next.
    pub message: String,
    /// The part of the request that is wrong, where one is: `messages[2].content`.
    pub param: Option<String>,
    /// Whether the same request may be sent again.
    pub retry: RetryAdvice,
}

/// A kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The request is wrong.
    InvalidRequest,
    /// The conversation does not fit the model's context.
    ContextTooLong,
    /// The key is missing or wrong.
    Unauthenticated,
    /// The key may not do this.
    Forbidden,
    /// No model has the name.
    UnknownModel,
    /// The request has too many bytes.
    TooLarge,
    /// Too many requests by this client.
    RateLimited,
    /// What asks the model is broken itself.
    Internal,
    /// The model's provider failed, or sent something that is no reply.
    Upstream,
    /// The model's provider did not respond in time.
    UpstreamTimeout,
    /// There is no room for the request now.
    Overloaded,
}

/// Whether a request that failed may be sent again by the client itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAdvice {
    /// It gives the same error again, or does again what must not be done twice.
    Never,
    /// At once, or when the client thinks best.
    Soon,
    /// Not before as many seconds.
    After(u64),
}

// === impl ReplyFailure ===

impl ReplyFailure {
    /// Makes one that may be sent again only where nothing was done for it: the client is one of
    /// too many, or there is no room.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let retry = match kind {
            FailureKind::RateLimited | FailureKind::Overloaded => RetryAdvice::Soon,
            _ => RetryAdvice::Never,
        };
        Self { kind, message: message.into(), param: None, retry }
    }

    /// Says which part of the request is wrong.
    #[must_use]
    pub fn param(self, param: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..self }
    }

    /// Says whether the request may be sent again.
    #[must_use]
    pub fn retry(self, retry: RetryAdvice) -> Self {
        Self { retry, ..self }
    }
}

impl From<&RequestError> for ReplyFailure {
    fn from(error: &RequestError) -> Self {
        let kind = match error.code {
            RequestCode::TooLarge => FailureKind::TooLarge,
            _ => FailureKind::InvalidRequest,
        };
        Self { param: error.param.clone(), ..Self::new(kind, error.message.clone()) }
    }
}

// === impl FailureKind ===

impl FailureKind {
    /// The status of the response. 529 is Anthropic's own for what is 503 elsewhere.
    pub(super) fn status(self, api: Api) -> u16 {
        match self {
            Self::InvalidRequest | Self::ContextTooLong => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::UnknownModel => 404,
            Self::TooLarge => 413,
            Self::RateLimited => 429,
            Self::Internal => 500,
            Self::Upstream => 502,
            Self::UpstreamTimeout => 504,
            Self::Overloaded if api == Api::AnthropicMessages => 529,
            Self::Overloaded => 503,
        }
    }

    /// The `type` of an error of OpenAI.
    pub(super) fn openai_type(self) -> &'static str {
        match self {
            Self::InvalidRequest
            | Self::ContextTooLong
            | Self::Unauthenticated
            | Self::UnknownModel
            | Self::TooLarge => "invalid_request_error",
            Self::Forbidden => "permission_error",
            Self::RateLimited => "rate_limit_error",
            Self::Internal | Self::Upstream | Self::UpstreamTimeout | Self::Overloaded => {
                "server_error"
            }
        }
    }

    /// The `code` of an error of OpenAI, where it has one.
    pub(super) fn openai_code(self) -> Option<&'static str> {
        match self {
            Self::InvalidRequest | Self::Forbidden => None,
            Self::ContextTooLong => Some("context_length_exceeded"),
            Self::Unauthenticated => Some("invalid_api_key"),
            Self::UnknownModel => Some("model_not_found"),
            Self::TooLarge => Some("request_too_large"),
            Self::RateLimited => Some("rate_limit_exceeded"),
            Self::Internal | Self::Upstream | Self::UpstreamTimeout => Some("server_error"),
            Self::Overloaded => Some("server_is_overloaded"),
        }
    }

    /// The `type` of an error of Anthropic.
    pub(super) fn anthropic_type(self) -> &'static str {
        match self {
            Self::InvalidRequest | Self::ContextTooLong => "invalid_request_error",
            Self::Unauthenticated => "authentication_error",
            Self::Forbidden => "permission_error",
            Self::UnknownModel => "not_found_error",
            Self::TooLarge => "request_too_large",
            Self::RateLimited => "rate_limit_error",
            Self::Internal | Self::Upstream => "api_error",
            Self::UpstreamTimeout => "timeout_error",
            Self::Overloaded => "overloaded_error",
        }
    }
}
