//! Grams: short pieces of a text, ASCII letters in lower case, by which texts that may match are told apart.
//!
//! Trigrams are any three bytes. Those that hold a line end are left out: they distinguish few texts, and hardly a
//! pattern asks for them. A large text has nearly all trigrams that words are made of, so that they distinguish large
//! texts badly: runs of five letters, or low lines, are grams as well. A text that has one of those has the three
//! trigrams in it.

/// Three bytes, the first one highest, or five letters: those are above all trigrams.
pub type Gram = u32;

/// How many letters a run has that is a gram.
pub(crate) const RUN: usize = 5;

/// How many trigrams there can be.
const GRAMS: usize = 1 << 24;
const WORD_BITS: usize = u64::BITS as usize;
/// Bits of one letter of a run, and of a whole run.
const LETTER_BITS: u32 = 5;
const RUN_BITS: u32 = LETTER_BITS * RUN as u32;
/// What stands before the letters of a run in its gram.
const RUN_MARK: Gram = 1 << RUN_BITS;

/// The number of each byte among the letters of runs, from 1 on; 0 for other bytes.
const LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut at = 0;
    while at < 26 {
        letters[b'a' as usize + at] = at as u8 + 1;
        letters[b'A' as usize + at] = at as u8 + 1;
        at += 1;
    }
    letters[b'_' as usize] = 27;
    letters
};

/// Finds the grams of texts, one after the other, with memory for all that there can be.
pub struct GramCollector {
    /// A bit for each gram, trigrams and then runs; none is set between two texts.
    seen: SeenGrams,
    runs_seen: SeenGrams,
    found: Vec<Gram>,
}

/// Which grams were come to.
struct SeenGrams(Box<[u64]>);

/// Returns the trigram of three bytes; none where it holds a line end.
pub(crate) fn gram(bytes: [u8; 3]) -> Option<Gram> {
    let [a, b, c] = bytes.map(|byte| Gram::from(byte.to_ascii_lowercase()));
    let gram = a << 16 | b << 8 | c;
    (!has_line_end(gram)).then_some(gram)
}

/// Returns the gram of a run of letters; none where other bytes are among them.
pub(crate) fn run_gram(bytes: [u8; RUN]) -> Option<Gram> {
    let mut run = 0;
    for byte in bytes {
        let letter = LETTERS[usize::from(byte)];
        if letter == 0 {
            return None;
        }
        run = run << LETTER_BITS | Gram::from(letter);
    }
    Some(RUN_MARK | run)
}

fn has_line_end(gram: Gram) -> bool {
    gram < GRAMS as Gram && gram.to_be_bytes()[1..].iter().any(|byte| matches!(byte, b'\n' | b'\r'))
}

// === impl GramCollector ===

impl GramCollector {
    /// Makes a collector: 6 MiB.
    pub fn new() -> Self {
        let (seen, runs_seen) = (SeenGrams::of(GRAMS), SeenGrams::of(1 << RUN_BITS));
        Self { seen, runs_seen, found: Vec::new() }
    }

    /// Returns each gram of a text once, in no order.
    pub fn collect(&mut self, text: &[u8]) -> &[Gram] {
        self.found.clear();
        let (mut window, mut run): (Gram, Gram) = (0, 0);
        let mut letters = 0;
        for (at, byte) in text.iter().enumerate() {
            window = (window << 8 | Gram::from(byte.to_ascii_lowercase())) & 0x00ff_ffff;
            if at >= 2 && self.seen.is_new(window) {
                self.found.push(window);
            }
            let letter = LETTERS[usize::from(*byte)];
            letters = if letter == 0 { 0 } else { letters + 1 };
            run = (run << LETTER_BITS | Gram::from(letter)) & (RUN_MARK - 1);
            if letters >= RUN && self.runs_seen.is_new(run) {
                self.found.push(RUN_MARK | run);
            }
        }
        for gram in &self.found {
            match gram.checked_sub(RUN_MARK) {
                Some(run) => self.runs_seen.forget(run),
                None => self.seen.forget(*gram),
            }
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

// === impl SeenGrams ===

impl SeenGrams {
    fn of(count: usize) -> Self {
        Self(vec![0; count / WORD_BITS].into_boxed_slice())
    }

    /// Notes a gram; returns whether it was not noted before.
    fn is_new(&mut self, gram: Gram) -> bool {
        let (word, bit) = location(gram);
        let seen = &mut self.0[word];
        let is_new = *seen & bit == 0;
        *seen |= bit;
        is_new
    }

    /// Forgets a gram, and others that are noted beside it.
    fn forget(&mut self, gram: Gram) {
        self.0[location(gram).0] = 0;
    }
}

/// The word of a gram's bit, and the bit.
fn location(gram: Gram) -> (usize, u64) {
    (gram as usize / WORD_BITS, 1 << (gram as usize % WORD_BITS))
}

#[cfg(test)]
mod tests;
