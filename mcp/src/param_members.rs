//! The parameters of a message, read as far as their keys.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Most members of an object that the protocol defines.
const MEMBERS_MAX: usize = 64;

/// The members of an object, each as its text; none twice.
#[derive(Default)]
pub(crate) struct ParamMembers<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

// === impl ParamMembers ===

impl<'a> ParamMembers<'a> {
    /// Whether the value of a key is a text, or missing.
    pub(crate) fn has_text_or_nothing(&self, key: &str) -> bool {
        self.get(key).is_none_or(|raw| raw.get().starts_with('"') || raw.get() == "null")
    }

    /// The value of a key, as its text.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, raw)| *raw)
    }

    /// All of them, in the order in which they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, raw)| (&**key, *raw))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ParamMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = ParamMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<ParamMembers<'de>, A::Error> {
                let mut members = ParamMembers::default();
                while let Some(key) = map.next_key::<BorrowedKey<'de>>()? {
                    let value = map.next_value::<&'de RawValue>()?;
                    if members.0.len() == MEMBERS_MAX {
                        return Err(A::Error::custom(format!("more than {MEMBERS_MAX} keys")));
                    }
                    if members.get(&key.0).is_some() {
                        return Err(A::Error::custom(format!("the key `{}` twice", key.0)));
                    }
                    members.0.push((key.0, value));
                }
                Ok(members)
            }
        }

        /// A key that is copied only where it has escapes.
        #[derive(serde::Deserialize)]
        struct BorrowedKey<'a>(#[serde(borrow)] Cow<'a, str>);

        deserializer.deserialize_map(MembersVisitor)
    }
}
