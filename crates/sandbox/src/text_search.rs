//! Looking for a text in what a job writes, as it comes: each byte is looked at once, however the text repeats itself
//! and however small the pieces are. Looking for a word in a text.

/// A search that goes on where it stopped.
#[derive(Debug)]
pub struct TextSearch {
    text: Vec<u8>,
    /// For each beginning of the text, by its last byte: how long the longest shorter beginning is that it ends with.
    shorter: Vec<usize>,
    /// How many bytes of the text the last bytes are.
    begun: usize,
    /// Where in the output the next byte lies.
    next: u64,
}

/// Whether a word stands in a text by itself: `ENOTFOUND` is no part of `ModuleNotFoundError`.
pub fn stands_alone(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, found)| {
        !text[..at].ends_with(is_part) && !text[at + found.len()..].starts_with(is_part)
    })
}

// === impl TextSearch ===

impl TextSearch {
    /// Looks for a text from a byte of the output on.
    pub fn new(text: &str, since: u64) -> Self {
        let text = text.as_bytes().to_vec();
        let mut search = Self { shorter: vec![0; text.len()], text, begun: 0, next: since };
        for at in 1..search.text.len() {
            search.look_at(search.text[at]);
            search.shorter[at] = search.begun;
        }
        search.begun = 0;
        search
    }

    /// Where in the output the byte lies that it has to look at next.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Looks at what lies at a place of the output. Returns whether the text has come whole.
    pub fn has_come(&mut self, from: u64, bytes: &[u8]) -> bool {
        if from != self.next {
            // What lay between is gone.
            self.begun = 0;
        }
        self.next = from + bytes.len() as u64;
        self.text.is_empty() || bytes.iter().any(|byte| self.look_at(*byte))
    }

    /// Looks at one byte more. Returns whether the text ends with it.
    fn look_at(&mut self, byte: u8) -> bool {
        while self.begun > 0 && self.text.get(self.begun) != Some(&byte) {
            self.begun = self.shorter[self.begun - 1];
        }
        self.begun += usize::from(self.text[self.begun] == byte);
        self.begun == self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All texts of two letters up to a length.
    fn texts(length_max: u32) -> Vec<String> {
        let of = |length: u32| {
            (0..1_u32 << length).map(move |number| {
                let letter = |bit| if number >> bit & 1 == 0 { 'a' } else { 'b' };
                (0..length).map(letter).collect()
            })
        };
        (1..=length_max).flat_map(of).collect()
    }

    #[test]
    fn a_text_is_found_wherever_it_is_and_however_it_comes() {
        let outputs = texts(7);
        for text in texts(4) {
            for output in &outputs {
                for size in 1..=output.len() {
                    let mut search = TextSearch::new(&text, 0);
                    let found = output.as_bytes().chunks(size).any(|piece| {
                        let from = search.next();
                        search.has_come(from, piece)
                    });
                    assert_eq!(found, output.contains(&text), "{text} in {output} by {size}");
                }
            }
        }
    }

    #[test]
    fn a_long_text_that_repeats_itself_is_looked_for_in_one_pass() {
        // Comparing it at each place takes about 10^12 steps.
        let mut search = TextSearch::new(&format!("{}b", "a".repeat(65_000)), 0);
        let piece = vec![b'a'; 60_000];
        for _ in 0..300 {
            let from = search.next();
            assert!(!search.has_come(from, &piece));
        }
        for _ in 0..100_000 {
            let from = search.next();
            assert!(!search.has_come(from, b"a"));
        }
        assert!(search.has_come(search.next(), b"b"));
    }

    #[test]
    fn a_beginning_counts_only_with_what_follows_it() {
        let mut search = TextSearch::new("ready", 5);
        assert!(!search.has_come(5, b"rea"));
        assert_eq!(search.next(), 8);
        assert!(!search.has_come(9, b"dy"));
        assert!(search.has_come(11, b" ready"));
    }
}
