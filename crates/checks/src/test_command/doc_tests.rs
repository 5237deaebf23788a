//! Tests in documentation of Rust. rustdoc runs them, and splits what it is given at blanks, which their ids have.

use crate::framework::TestFramework;

/// A word that chooses a test in documentation, and as few others as one word can: of `src/lib.rs - a::add (line 3)` what is
/// documented, of `src/lib.rs - (line 3)` the file. None of the id of another test.
pub(super) fn word(id: &str) -> Option<&str> {
    let (file, item) = unnumbered(id)?.split_once(" -")?;
    last_word(item).or_else(|| last_word(file))
}

/// The last word of a text, which ends with the name. One with a dash in front would be an option.
fn last_word(text: &str) -> Option<&str> {
    text.split_whitespace().rfind(|word| !word.starts_with('-'))
}

/// `src/lib.rs - a::add` of `src/lib.rs - a::add (line 3)`.
fn unnumbered(id: &str) -> Option<&str> {
    let (name, line) = id.rsplit_once("(line ")?;
    let number = line.strip_suffix(')')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.trim_end();
    (is_number && format!("{name} ").contains(" - ")).then_some(name)
}

// === impl TestFramework ===

impl TestFramework {
    /// The id of a test in documentation without its line: an edit above it moves that. None of the ids of other tests.
    pub fn unnumbered_id(self, id: &str) -> Option<&str> {
        unnumbered(id).filter(|_| self == Self::Cargo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_in_documentation_is_chosen_by_one_word() {
        for (id, expected) in [
            ("src/lib.rs - add (line 3)", Some("add")),
            ("a/src/lib.rs - deep::Part<T>::new (line 12)", Some("deep::Part<T>::new")),
            ("src/lib.rs - Map<Key, V>::get (line 12)", Some("V>::get")),
            ("src/lib.rs - (line 1)", Some("src/lib.rs")),
            ("my src/lib.rs - (line 1)", Some("src/lib.rs")),
            ("README.md - (line 7)", Some("README.md")),
            ("tests::adds", None),
            ("tests::adds - should panic", None),
            ("src/lib.rs - add (line x)", None),
            ("src/lib.rs (line 3)", None),
            ("", None),
        ] {
            assert_eq!(word(id), expected, "{id}");
        }
        let id = "src/lib.rs - add (line 3)";
        assert_eq!(TestFramework::Cargo.unnumbered_id(id), Some("src/lib.rs - add"));
        assert_eq!(TestFramework::Pytest.unnumbered_id(id), None);
    }
}
