//! Sections whose keys are names that people choose, each for one thing that they describe.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// Longest name, in bytes.
const NAME_BYTES_MAX: usize = 32;
/// Most things of a section.
const ENTRIES_MAX: usize = 32;

/// Puts what is described in its place: that of the administrator replaces one of the user. `what` is what it is
/// called in errors.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn put<T: DeserializeOwned>(
    section: &mut Table,
    (name, entry): (&str, Value),
    what: &str,
    check: impl FnOnce(&T) -> Result<(), String>,
) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(is_plain) {
        return Err(format!(
            "the name of a {what} has at most {NAME_BYTES_MAX} characters: letters, digits, `-`, `_` and `.`"
        ));
    }
    let read: T =
        entry.clone().try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
    check(&read)?;
    if !section.contains_key(name) && section.len() == ENTRIES_MAX {
        return Err(format!("there are {ENTRIES_MAX} {what}s already"));
    }
    section.insert(name.to_owned(), entry);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_their_number_are_bounded_and_one_is_replaced() {
        let mut section = Table::new();
        let mut add = |name: &str, entry: i64| {
            put::<i64>(&mut section, (name, entry.into()), "thing", |_| Ok(()))
        };
        for number in 0..ENTRIES_MAX {
            add(&format!("a{number}"), 1).unwrap();
        }
        add("a0", 2).unwrap();
        assert_eq!(add("other", 1).unwrap_err(), "there are 32 things already");
        for name in ["", "a b", &"x".repeat(NAME_BYTES_MAX + 1)] {
            assert!(add(name, 1).unwrap_err().starts_with("the name of a thing"), "{name}");
        }
        assert_eq!(section["a0"].as_integer(), Some(2));
    }
}
