//! Words of a command for bash.

/// Writes a word so that bash takes it as it is.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,@%+=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Joins words to a command; those that come from outside are quoted already.
pub(crate) fn joined(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        for (word, expected) in [
            ("src/a.rs", "src/a.rs"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$(rm)", "'$(rm)'"),
            ("a\nb", "'a\nb'"),
            ("~/x", "'~/x'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
