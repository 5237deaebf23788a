//! Names of contents: a BLAKE3 hash of a file's bytes, 64 lowercase hexadecimal digits.
//!
//! This file only carries and prints hashes; computing them needs the bytes, and those are behind
//! the workspace's door.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The BLAKE3 hash of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

/// A text that is not 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a content hash: expected 64 hexadecimal digits")]
pub struct InvalidHash;

// === impl ContentHash ===

impl ContentHash {
    /// Wraps the 32 bytes of a BLAKE3 hash.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the first 12 digits: enough for a person to distinguish contents.
    pub fn short(&self) -> String {
        self.0[..6].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ContentHash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(InvalidHash);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |d: u8| (d as char).to_digit(16).ok_or(InvalidHash);
            *byte =
                u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).map_err(|_| InvalidHash)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for ContentHash {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ContentHash".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        let hash = ContentHash::from_bytes(std::array::from_fn(|i| i as u8 * 8));
        assert_eq!(hash.to_string().parse(), Ok(hash));
    }

    #[test]
    fn anything_else_than_64_digits_is_refused() {
        for text in ["", "00", &"g".repeat(64), &"0".repeat(65), &"é".repeat(32)] {
            assert_eq!(text.parse::<ContentHash>(), Err(InvalidHash), "{text}");
        }
    }
}
