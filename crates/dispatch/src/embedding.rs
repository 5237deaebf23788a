//! An endpoint of embeddings that is asked about, as every front shows it.

/// What a person is asked to let texts be sent to. The call goes on without it where nobody allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingQuestion {
    /// The URL that texts would be sent to.
    pub url: String,
    /// The model that makes vectors there.
    pub model: String,
    /// Whether the URL says that it is on this machine.
    pub is_this_machine: bool,
}
