//! Trigrams: three bytes of a text, ASCII letters in lower case. Those that hold a line end are left
//! out: they distinguish few texts, and hardly a pattern asks for them.

/// Three bytes, the first one highest.
pub type Gram = u32;

/// How many trigrams there can be.
const GRAMS: usize = 1 << 24;
const WORD_BITS: usize = u64::BITS as usize;

/// Finds the trigrams of texts, one after the other, with memory for all that there can be.
pub struct GramCollector {
    /// A bit for each trigram; none is set between two texts.
    seen: Box<[u64]>,
    found: Vec<Gram>,
}

/// Returns the trigram of three bytes; none where it holds a line end.
pub(crate) fn gram(bytes: [u8; 3]) -> Option<Gram> {
    let [a, b, c] = bytes.map(|byte| Gram::from(byte.to_ascii_lowercase()));
    let gram = a << 16 | b << 8 | c;
    (!has_line_end(gram)).then_some(gram)
}

fn has_line_end(gram: Gram) -> bool {
    gram.to_be_bytes()[1..].iter().any(|byte| matches!(byte, b'\n' | b'\r'))
}

// === impl GramCollector ===

impl GramCollector {
    /// Makes a collector: 2 MiB.
    pub fn new() -> Self {
        Self { seen: vec![0; GRAMS / WORD_BITS].into_boxed_slice(), found: Vec::new() }
    }

    /// Returns each trigram of a text once, in no order.
    pub fn collect(&mut self, text: &[u8]) -> &[Gram] {
        self.found.clear();
        let mut window: Gram = 0;
        for (at, byte) in text.iter().enumerate() {
            window = (window << 8 | Gram::from(byte.to_ascii_lowercase())) & 0x00ff_ffff;
            let (word, bit) = location(window);
            let seen = &mut self.seen[word];
            if *seen & bit == 0 && at >= 2 {
                *seen |= bit;
                self.found.push(window);
            }
        }
        for gram in &self.found {
            self.seen[location(*gram).0] = 0;
        }
        self.found.retain(|gram| !has_line_end(*gram));
        &self.found
    }
}

impl Default for GramCollector {
    fn default() -> Self {
        Self::new()
    }
}

/// The word of a trigram's bit, and the bit.
fn location(gram: Gram) -> (usize, u64) {
    (gram as usize / WORD_BITS, 1 << (gram as usize % WORD_BITS))
}

#[cfg(test)]
mod tests;
