//! Parts of long texts. Each has its own trigrams, so that a long text may match only where what is searched for
//! occurs in one place of it, and not here and there.
//!
//! Where a part lies follows from the size of the text and the number of its parts, so that one may be read alone: of
//! a text in equal steps, each part begins with the first line that begins behind its step.

/// Most parts of a text: those of a longer one are longer.
const PARTS_MAX: usize = 1 << 10;

/// How many parts a text of so many bytes has, of about so many each: at least one.
fn part_count(text_bytes: usize, part_bytes: usize) -> usize {
    (text_bytes / part_bytes.max(1)).clamp(1, PARTS_MAX)
}

/// Cuts a text into parts of about so many bytes: whole lines each, a longer line whole, and nothing in the steps that
/// it goes over. There is always one part, and none is a small rest.
pub(crate) fn parts(text: &[u8], part_bytes: usize) -> impl Iterator<Item = &[u8]> {
    let count = part_count(text.len(), part_bytes);
    let step = text.len() / count;
    let mut start = 0;
    (1..=count).map(move |next| {
        if next < count && start > next * step {
            // A line goes over this step: its end is not looked for again.
            return &text[start..start];
        }
        let line_end = memchr::memchr(b'\n', &text[next * step..]).filter(|_| next < count);
        let end = line_end.map_or(text.len(), |at| next * step + at + 1);
        let part = &text[start..end];
        start = end;
        part
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
                assert_eq!(parts.len(), part_count(text.len(), part_bytes));
                let (_, before) = parts.split_last().unwrap();
                let is_lines = |part: &&str| part.is_empty() || part.ends_with('\n');
                let last = before.iter().rposition(|part| !is_lines(part));
                // A text that does not end with a line may end before its last step.
                assert!(last.is_none_or(|at| parts[at + 1..].iter().all(|part| part.is_empty())));
            }
        }
    }

    #[test]
    fn only_long_texts_are_cut_and_evenly() {
        let text = "0123456\n".repeat(100);
        assert_eq!(cut(&text, 401).len(), 1);
        assert_eq!(cut(&text, 400).iter().map(|part| part.len()).collect::<Vec<_>>(), [408, 392]);
    }

    #[test]
    fn a_part_is_found_by_its_number_alone() {
        let lines = "short\n".repeat(40) + &"long ".repeat(60) + "\nend\nno line end";
        for part_bytes in [5, 16, 100] {
            let parts = cut(&lines, part_bytes);
            let step = lines.len() / parts.len();
            let behind = |place: usize| lines[place..].find('\n').map(|at| place + at + 1);
            for (number, part) in parts.iter().enumerate() {
                let start = if number == 0 { Some(0) } else { behind(number * step) };
                let end = behind((number + 1) * step).filter(|_| number + 1 < parts.len());
                let expected = start.map_or("", |start| &lines[start..end.unwrap_or(lines.len())]);
                assert_eq!(*part, expected, "{number} of {part_bytes}");
            }
        }
    }

    #[test]
    fn a_very_long_text_has_longer_parts() {
        let text = "0123456\n".repeat(PARTS_MAX * 4);
        let parts = cut(&text, 8);
        assert_eq!((parts.len(), parts[1].len()), (PARTS_MAX, 32));
    }

    #[test]
    fn a_text_without_line_ends_is_one_part_and_is_looked_through_once() {
        let text = vec![b'a'; 32 << 20];
        let lengths: Vec<usize> = parts(&text, 8).map(<[u8]>::len).collect();
        assert_eq!((lengths.len(), lengths[0]), (PARTS_MAX, text.len()));
        assert!(lengths[1..].iter().all(|length| *length == 0));
    }
}
