//! What a conversation can be remembered by.

use crate::conversation::{Conversation, Message, MessagePart};

/// The offset of FNV-1a with 128 bits (the FNV specification of Fowler, Noll and Vo).
const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
/// The prime of the same function.
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
/// A field that clients move from turn to turn.
const MOVED: &str = "cache_control";

/// A key that stays the same from turn to turn of a conversation: a hash of its beginning, which
/// is all up to the first message of the user. The API, the model and the tools do not matter.
///
/// It is no secret and no proof: conversations that begin alike have the same key, and who wants
/// to can make two that have. Remember things together with who the client is.
pub fn conversation_key(conversation: &Conversation) -> u128 {
    let mut hash = Fnv(OFFSET);
    for message in &conversation.messages {
        match message {
            Message::System(text) => hash.text(b's', text),
            Message::User(parts) => {
                for part in parts {
                    hash.part(part);
                }
                break;
            }
            Message::Assistant { text, .. } => hash.text(b'a', text),
            Message::Result(result) => hash.text(b'r', &result.call_id),
        }
    }
    hash.0
}

/// FNV-1a: every byte is mixed in and multiplied.
struct Fnv(u128);

// === impl Fnv ===

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }

    /// Mixes in what a text is and how long, so that texts that follow each other stay apart.
    fn text(&mut self, kind: u8, text: &str) {
        self.bytes(&[kind]);
        self.bytes(&(text.len() as u64).to_le_bytes());
        self.bytes(text.as_bytes());
    }

    fn part(&mut self, part: &MessagePart) {
        match part {
            MessagePart::Text(text) => self.text(b't', text),
            MessagePart::Opaque(value) => {
                let mut value = value.clone();
                if let Some(fields) = value.as_object_mut() {
                    fields.shift_remove(MOVED);
                }
                self.text(b'o', &value.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests;
