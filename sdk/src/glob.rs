//! Globs over characters. The crate that parses them makes regular expressions over bytes; names of
//! files are text, and people mean characters.

/// Turns the regular expression of a glob, which is about bytes, into one about characters: there
/// `?` and `[é]` stand for one of them, and letter case makes no difference in any alphabet.
pub fn over_characters(regex: &str) -> String {
    let regex = regex.strip_prefix("(?-u)").unwrap_or(regex);
    let mut text = Vec::with_capacity(regex.len());
    let mut rest = regex;
    while let Some(at) = rest.find('\\') {
        text.extend(rest[..at].bytes());
        rest = &rest[at..];
        let byte = rest.get(2..4).filter(|_| rest.starts_with(r"\x"));
        match byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                text.push(byte);
                rest = &rest[r"\x00".len()..];
            }
            // Some other character, escaped.
            None => {
                let end = rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end);
                text.extend(rest[..end].bytes());
                rest = &rest[end..];
            }
        }
    }
    text.extend(rest.bytes());
    // The pattern was text, and so is what its bytes were written as.
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_character_become_the_character() {
        assert_eq!(over_characters(r"(?-u)(?i)^\xc3\xa9[^/]\.rs$"), r"(?i)^é[^/]\.rs$");
        assert_eq!(over_characters(r"(?-u)^a\\x41[\xe4\xb8\xad-z]$"), r"^a\\x41[中-z]$");
        assert_eq!(over_characters(""), "");
    }
}
