//! The APIs of chat models that are read and written here.

/// An API of chat models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI's Chat Completions.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    AnthropicMessages,
    /// Ollama's chat.
    Ollama,
}

// === impl Api ===

impl Api {
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
