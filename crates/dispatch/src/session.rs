//! What a caller calls a conversation.

/// Names a conversation: the credential and the caller's own name for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// Name of the credential.
    pub caller: String,
    /// The caller's name for the conversation.
    pub session_id: String,
}
