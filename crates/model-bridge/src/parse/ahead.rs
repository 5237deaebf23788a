//! A byte that is looked for ahead of the position of a reader: whoever looks through the rest of a text at
//! every position in it needs for ever.

/// Where the next one of a byte stands, in a text that grows at its end and is cut at its beginning.
#[derive(Debug)]
pub(super) struct NextByte {
    byte: u8,
    /// Where the last one was found, or up to where it is missing, from the beginning of the text.
    searched: usize,
}

// === impl NextByte ===

impl NextByte {
    pub(super) fn new(byte: u8) -> Self {
        Self { byte, searched: 0 }
    }

    /// Where it stands from a position of the text on. No position comes before an earlier one, and
    /// nothing is looked through twice.
    pub(super) fn find(&mut self, text: &str, at: usize) -> Option<usize> {
        let from = self.searched.max(at);
        let found = memchr::memchr(self.byte, &text.as_bytes()[from..]).map(|place| from + place);
        self.searched = found.unwrap_or(text.len());
        found
    }

    /// Takes that so many bytes of the text were cut at its beginning.
    pub(super) fn cut(&mut self, length: usize) {
        self.searched = self.searched.saturating_sub(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_one_is_found_wherever_the_text_is_cut() {
        let mut next = NextByte::new(b'~');
        let mut text = "ab~cd~e".to_owned();
        let finds: Vec<Option<usize>> = (0..=7).map(|at| next.find(&text, at)).collect();
        let two = [Some(2), Some(5)].map(|place| [place; 3]);
        assert_eq!(finds, [&two.concat()[..], &[None; 2]].concat());
        text.drain(..6);
        next.cut(6);
        assert_eq!(next.find(&text, 0), None);
        text.push_str("f~");
        assert_eq!((next.find(&text, 0), next.find(&text, 3)), (Some(2), None));
        next.cut(3);
        assert_eq!(next.find("~", 0), Some(0));
    }

    #[test]
    fn what_was_looked_through_is_not_looked_through_again() {
        let mut next = NextByte::new(b'\n');
        assert_eq!(next.find("abcdef", 0), None);
        // Nobody looks where this text is another one.
        assert_eq!(next.find("ab\ndefgh", 1), None);
        assert_eq!(next.find("abcdefgh\ni", 1), Some(8));
        assert_eq!(next.find("ab\ndefgh\ni", 2), Some(8));
    }
}
