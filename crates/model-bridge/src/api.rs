//! The APIs that clients speak.

/// An API of chat models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Api {
    /// OpenAI Chat Completions, `POST /v1/chat/completions`.
    OpenAiChat,
    /// OpenAI Responses, `POST /v1/responses`.
    OpenAiResponses,
    /// Anthropic Messages, `POST /v1/messages`.
    AnthropicMessages,
    /// Ollama's own chat API, `POST /api/chat`.
    Ollama,
}

// === impl Api ===

impl Api {
    /// Every API, for tables that must cover them all.
    pub const ALL: [Self; 4] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::AnthropicMessages, Self::Ollama];

    /// Returns the stable name, for example `openai_chat`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
            Self::AnthropicMessages => "anthropic_messages",
            Self::Ollama => "ollama",
        }
    }
}
