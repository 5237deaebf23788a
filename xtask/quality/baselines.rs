//! What the ranking is measured against: counting the words of a question, as an agent with ripgrep
//! does, and plain BM25 over words.

use std::collections::{BTreeMap, HashMap, HashSet};

/// The usual parameters of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Words of a question that nobody would search for.
const STOP_WORDS: [&str; 24] = [
    "the", "a", "an", "of", "to", "in", "for", "and", "or", "is", "are", "on", "with", "by", "be",
    "that", "this", "it", "as", "from", "at", "if", "when", "not",
];

/// Texts under names, ranked for a question.
pub(crate) struct PlainTexts {
    names: Vec<String>,
    lower: Vec<String>,
    /// How often each word is in each text.
    counts: HashMap<String, Vec<(usize, u32)>>,
    lengths: Vec<usize>,
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn asked(question: &str) -> HashSet<String> {
    let all = words(question).map(str::to_lowercase);
    all.filter(|word| word.len() > 1 && !STOP_WORDS.contains(&word.as_str())).collect()
}

// === impl PlainTexts ===

impl PlainTexts {
    pub(crate) fn new(texts: &BTreeMap<String, String>) -> Self {
        let mut all = Self {
            names: Vec::new(),
            lower: Vec::new(),
            counts: HashMap::new(),
            lengths: Vec::new(),
        };
        for (at, (name, text)) in texts.iter().enumerate() {
            let lower = text.to_lowercase();
            let mut own: HashMap<&str, u32> = HashMap::new();
            let mut length = 0;
            for word in words(&lower) {
                *own.entry(word).or_default() += 1;
                length += 1;
            }
            for (word, count) in own {
                all.counts.entry(word.to_owned()).or_default().push((at, count));
            }
            all.names.push(name.clone());
            all.lengths.push(length);
            all.lower.push(lower);
        }
        all
    }

    /// Ranks by how many words of the question are somewhere in a text.
    pub(crate) fn by_words(&self, question: &str, count: usize) -> Vec<&str> {
        let asked = asked(question);
        let score =
            |text: &String| asked.iter().filter(|word| text.contains(word.as_str())).count();
        self.best(self.lower.iter().map(|text| score(text) as f64).collect(), count)
    }

    /// Ranks by BM25: rare words count more, and those of long texts less.
    pub(crate) fn by_bm25(&self, question: &str, count: usize) -> Vec<&str> {
        let total = self.names.len() as f64;
        let average = self.lengths.iter().sum::<usize>() as f64 / total.max(1.0);
        let mut scores = vec![0.0; self.names.len()];
        for word in asked(question) {
            let Some(having) = self.counts.get(&word) else { continue };
            let n = having.len() as f64;
            let rarity = (1.0 + (total - n + 0.5) / (n + 0.5)).ln();
            for (at, times) in having {
                let times = f64::from(*times);
                let length = self.lengths[*at] as f64 / average.max(1.0);
                scores[*at] += rarity * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length));
            }
        }
        self.best(scores, count)
    }

    fn best(&self, scores: Vec<f64>, count: usize) -> Vec<&str> {
        let mut all: Vec<(f64, &str)> =
            scores.into_iter().zip(self.names.iter().map(String::as_str)).collect();
        all.retain(|(score, _)| *score > 0.0);
        all.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
        all.truncate(count);
        all.into_iter().map(|(_, name)| name).collect()
    }
}
