//! Parts of long texts. Each has its own trigrams, so that a long text may match only where what is searched for
//! occurs in one place of it, and not here and there.

/// Cuts a text into parts of about so many bytes: whole lines each, a longer line whole. There is always one, and
/// none is a small rest.
pub(crate) fn parts(text: &[u8], part_bytes: usize) -> impl Iterator<Item = &[u8]> {
    let wanted = text.len() / (text.len() / part_bytes.max(1)).max(1);
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let line_end = text.get(wanted..).and_then(|after| memchr::memchr(b'\n', after));
        match line_end.map(|at| text.split_at(wanted + at + 1)) {
            Some((part, after)) if !after.is_empty() => {
                rest = Some(after);
                Some(part)
            }
            _ => Some(text),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, part_bytes: usize) -> Vec<&str> {
        let texts = parts(text.as_bytes(), part_bytes);
        texts.map(|part| std::str::from_utf8(part).unwrap()).collect()
    }

    #[test]
    fn parts_are_whole_lines_and_together_the_text() {
        let lines: String = (0..999).map(|number| format!("{number}\r\n")).collect();
        let long = format!("{}\nshort\n{}", "a".repeat(300), "b".repeat(50));
        for text in [&lines, &long, "", "\n", "one line", &"\n".repeat(70)] {
            for part_bytes in [0, 1, 7, 64, 4_096] {
                let parts = cut(text, part_bytes);
                assert_eq!(parts.concat(), text);
                let (_, before) = parts.split_last().unwrap();
                assert!(before.iter().all(|part| part.ends_with('\n')));
            }
        }
    }

    #[test]
    fn only_long_texts_are_cut_and_evenly() {
        let text = "0123456\n".repeat(100);
        assert_eq!(cut(&text, 401).len(), 1);
        assert_eq!(cut(&text, 400).iter().map(|part| part.len()).collect::<Vec<_>>(), [408, 392]);
    }
}
