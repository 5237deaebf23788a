//! English words without their endings, so that `parsing` and `parsed` are one word: the second
//! version of Porter's algorithm, without its lists of exceptions.

/// Shorter words are left as they are.
const LETTERS_MIN: usize = 4;
/// Endings of the second step and what they become.
const SECOND: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("ization", "ize"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("entli", "ent"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("bli", "ble"),
];
/// Endings of the third step.
const THIRD: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];
/// Endings that the fourth step drops.
const FOURTH: &[&str] = &[
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic",
];

/// Returns the stem of a word of lower-case ASCII letters; other words as they are.
pub(crate) fn stem(word: &str) -> String {
    if word.len() < LETTERS_MIN || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut letters = word.as_bytes().to_vec();
    mark_consonant_ys(&mut letters);
    let first = region(&letters, 0);
    let mut stemmed = Stemmed { first, second: region(&letters, first), letters };
    stemmed.plural();
    stemmed.past();
    stemmed.ending_y();
    stemmed.replace(SECOND);
    stemmed.adverb();
    stemmed.replace(THIRD);
    stemmed.drop_fourth();
    stemmed.drop_last();
    let letters = stemmed.letters.into_iter().map(|letter| letter.to_ascii_lowercase()).collect();
    String::from_utf8(letters).expect("letters are ASCII")
}

/// A word that loses its endings.
struct Stemmed {
    letters: Vec<u8>,
    /// Where the part begins that endings of the first steps must lie in.
    first: usize,
    /// Where that of the last steps begins.
    second: usize,
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// Writes a `y` that is no vowel as `Y`.
fn mark_consonant_ys(letters: &mut [u8]) {
    for at in 0..letters.len() {
        if letters[at] == b'y' && (at == 0 || is_vowel(letters[at - 1])) {
            letters[at] = b'Y';
        }
    }
}

/// Where the part behind the first consonant after a vowel begins.
fn region(letters: &[u8], from: usize) -> usize {
    let pairs = letters[from..].windows(2);
    let at = pairs.enumerate().find(|(_, pair)| is_vowel(pair[0]) && !is_vowel(pair[1]));
    at.map_or(letters.len(), |(at, _)| from + at + 2)
}

// === impl Stemmed ===

impl Stemmed {
    fn ends(&self, ending: &str) -> bool {
        self.letters.ends_with(ending.as_bytes())
    }

    /// Where an ending of so many letters begins.
    fn before(&self, ending: &str) -> usize {
        self.letters.len() - ending.len()
    }

    fn cut(&mut self, at: usize) {
        self.letters.truncate(at);
    }

    fn has_vowel_before(&self, at: usize) -> bool {
        self.letters[..at].iter().any(|letter| is_vowel(*letter))
    }

    fn plural(&mut self) {
        if self.ends("sses") {
            self.cut(self.letters.len() - 2);
        } else if self.ends("ied") || self.ends("ies") {
            let kept = if self.letters.len() > 4 { 2 } else { 1 };
            self.cut(self.letters.len() - kept);
        } else if self.ends("s")
            && !self.ends("us")
            && !self.ends("ss")
            && self.has_vowel_before(self.letters.len().saturating_sub(2))
        {
            self.cut(self.letters.len() - 1);
        }
    }

    fn past(&mut self) {
        for ending in ["eedly", "eed"] {
            if self.ends(ending) {
                if self.before(ending) >= self.first {
                    self.cut(self.before(ending) + 2);
                }
                return;
            }
        }
        let endings = ["ingly", "edly", "ing", "ed"];
        let Some(ending) = endings.into_iter().find(|ending| self.ends(ending)) else { return };
        let at = self.before(ending);
        if !self.has_vowel_before(at) {
            return;
        }
        self.cut(at);
        let doubled = ["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"];
        if self.ends("at") || self.ends("bl") || self.ends("iz") || self.is_short() {
            self.letters.push(b'e');
        } else if doubled.iter().any(|pair| self.ends(pair)) && !self.is_vowel_and_pair() {
            self.cut(self.letters.len() - 1);
        }
    }

    /// Whether it is a word such as `add`, `egg` or `err`, whose pair belongs to it.
    fn is_vowel_and_pair(&self) -> bool {
        matches!(self.letters.as_slice(), [b'a' | b'e' | b'o', _, _])
    }

    fn ending_y(&mut self) {
        let length = self.letters.len();
        let ends_in_y = matches!(self.letters.last(), Some(b'y' | b'Y'));
        if ends_in_y && length > 2 && !is_vowel(self.letters[length - 2]) {
            self.letters[length - 1] = b'i';
        }
    }

    fn replace(&mut self, endings: &[(&str, &str)]) {
        if let Some((ending, other)) = endings.iter().find(|(ending, _)| self.ends(ending))
            && self.before(ending) >= self.first
        {
            self.cut(self.before(ending));
            self.letters.extend(other.as_bytes());
        }
    }

    fn adverb(&mut self) {
        let length = self.letters.len();
        if self.ends("logi") && length > self.first + 2 {
            self.cut(length - 1);
        } else if self.ends("li")
            && length >= self.first + 2
            && length > 2
            && b"cdeghkmnrt".contains(&self.letters[length - 3])
        {
            self.cut(length - 2);
        }
    }

    fn drop_fourth(&mut self) {
        if self.ends("ative") && self.before("ative") >= self.second {
            self.cut(self.before("ative"));
            return;
        }
        if let Some(ending) = FOURTH.iter().find(|ending| self.ends(ending)) {
            if self.before(ending) >= self.second {
                self.cut(self.before(ending));
            }
        } else if (self.ends("sion") || self.ends("tion")) && self.before("ion") >= self.second {
            self.cut(self.before("ion"));
        }
    }

    fn drop_last(&mut self) {
        let length = self.letters.len();
        if self.ends("e") {
            let at = length - 1;
            let is_dropped = at >= self.second || at >= self.first && !self.is_short_up_to(at);
            if is_dropped {
                self.cut(at);
            }
        } else if self.ends("ll") && length > self.second {
            self.cut(length - 1);
        }
    }

    /// Whether the whole word is a short one.
    fn is_short(&self) -> bool {
        self.first >= self.letters.len() && self.is_short_up_to(self.letters.len())
    }

    /// Whether the letters before a location end with a short syllable.
    fn is_short_up_to(&self, end: usize) -> bool {
        match &self.letters[..end] {
            [vowel, last] => is_vowel(*vowel) && !is_vowel(*last),
            [.., before, vowel, last] => {
                !is_vowel(*before)
                    && is_vowel(*vowel)
                    && !is_vowel(*last)
                    && !matches!(last, b'w' | b'x' | b'Y')
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["parse", "parses", "parsed", "parsing"][..],
            &["query", "queries", "querying", "queried"],
            &["connect", "connected", "connecting", "connection", "connections"],
            &["validate", "validates", "validation", "validating", "validator"],
            &["running", "runs"],
            &["add", "adds", "added", "adding"],
            &["err", "errs", "erred", "erring"],
            &["stopped", "stopping", "stops"],
            &["retries", "retry", "retrying", "retried"],
            &["initialize", "initialized", "initialization", "initializer"],
            &["classes", "class"],
            &["use", "used", "using", "uses"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{forms:?}: {stems:?}");
        }
    }

    #[test]
    fn other_words_stay_apart() {
        for (one, other) in
            [("file", "fill"), ("write", "wrist"), ("cache", "cash"), ("status", "state")]
        {
            assert_ne!(stem(one), stem(other), "{one} {other}");
        }
        for same in ["utf8", "été", "x", "", "css", "status"] {
            assert_eq!(stem(same), same);
        }
    }

    proptest! {
        #[test]
        fn any_word_has_a_stem(word in "[a-z]{0,20}") {
            let stemmed = stem(&word);
            prop_assert!(stemmed.len() <= word.len() + 1);
            prop_assert!(word.is_empty() || !stemmed.is_empty());
        }
    }
}
