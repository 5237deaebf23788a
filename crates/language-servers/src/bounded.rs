//! Lists of which only so many elements are kept.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};

/// The first elements of a list, and how many there were beyond them, which took no memory.
#[derive(Debug)]
pub(crate) struct FirstOf<T, const MAX: usize> {
    pub(crate) first: Vec<T>,
    pub(crate) left_out: usize,
}

struct ListVisitor<T, const MAX: usize>(PhantomData<T>);

// === impl FirstOf ===

impl<T, const MAX: usize> Default for FirstOf<T, MAX> {
    fn default() -> Self {
        Self { first: Vec::new(), left_out: 0 }
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for FirstOf<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

// === impl ListVisitor ===

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
    type Value = FirstOf<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut read = FirstOf::default();
        while read.first.len() < MAX {
            match elements.next_element()? {
                Some(element) => read.first.push(element),
                None => return Ok(read),
            }
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {
            read.left_out += 1;
        }
        Ok(read)
    }
}
