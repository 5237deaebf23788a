//! How paths stand in what a result says of them: few, short and on one line, whatever a command called its files.

use std::path::Path;

/// So many of them are named.
const NAMED_MAX: usize = 5;
/// Longest shown path, in characters: names in an index are whatever a command wrote.
const SHOWN_CHARS_MAX: usize = 256;

/// The first of some paths, and how many more there are; none of none.
pub(crate) fn shown(paths: &[impl AsRef<Path>]) -> Option<String> {
    let (named, more) = paths.split_at(paths.len().min(NAMED_MAX));
    let named: Vec<_> = named.iter().map(|path| shown_path(path.as_ref())).collect();
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")))
}

/// A path on one line, without what a terminal would take for more than text.
pub(crate) fn shown_path(path: &Path) -> String {
    let path = path.to_string_lossy();
    let escaped = path.chars().flat_map(|character| {
        let (plain, escaped) = match character.is_control() {
            true => (None, Some(character.escape_default())),
            false => (Some(character), None),
        };
        plain.into_iter().chain(escaped.into_iter().flatten())
    });
    let mut shown: String = escaped.take(SHOWN_CHARS_MAX + 1).collect();
    if let Some((end, _)) = shown.char_indices().nth(SHOWN_CHARS_MAX) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn few_names_are_shown_and_none_with_control_characters() {
        let long = "a".repeat(5000);
        let names = ["a\u{1b}[31m\n.env", &long, "ä b", "c", "d", "e", "f"].map(PathBuf::from);
        let cut = format!("{}…", "a".repeat(SHOWN_CHARS_MAX));
        let expected = format!("a\\u{{1b}}[31m\\n.env, {cut}, ä b, c, d and 2 more");
        assert_eq!(shown(&names), Some(expected));
    }
}
