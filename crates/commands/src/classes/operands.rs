//! What entries of the table of commands that always ask say of operands: how many there are, and where
//! the last one leads.

use super::AskingEntry;
use crate::ShellWord;

// === impl AskingEntry ===

impl AskingEntry {
    /// Whether the operands are as many, or may be, and lead where the entry says.
    pub(super) fn fits_operands(&self, rest: &[ShellWord]) -> bool {
        let operands = self.operands(rest);
        let is_input = |word: &&ShellWord| matches!(word.fixed(), Some("-" | "/dev/stdin"));
        // What becomes several words may become any number.
        let count = |word: &&ShellWord| if word.is_exactly_one() { 1 } else { 2 };
        // What is read as its input is no reply.
        let counted = operands.iter().filter(|word| !self.answered || !is_input(word));
        let are_enough = counted.map(count).sum::<usize>() >= self.operands_min;
        let is_fed = !self.fed || operands.iter().all(is_input);
        are_enough
            && is_fed
            && self.has_operand(rest)
            && self.leads_away(rest, operands.last().copied())
    }

    fn operands<'w>(&self, rest: &'w [ShellWord]) -> Vec<&'w ShellWord> {
        let mut operands = Vec::new();
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            if word.fixed() == Some("--") {
                operands.extend(words);
                break;
            }
            if word.is_operand() || word.fixed().is_none() {
                operands.push(word);
            } else if self.takes_next(word)
                || self.valued.iter().any(|known| word.fixed() == Some(known))
            {
                words.next();
            }
        }
        operands
    }

    /// Whether an operand has the text that makes it what the entry says, or may have it.
    fn has_operand(&self, rest: &[ShellWord]) -> bool {
        let Some(part) = &self.operand_has else { return true };
        let has = |text: &str| {
            !text.starts_with('-') && text.contains(part.as_str()) && !text.contains("://")
        };
        let is_plain = |word: &ShellWord| word.fixed().is_some_and(|text| !text.starts_with('-'));
        // The first one is where it fetches from, or the value of an option.
        let first = rest.iter().position(is_plain);
        let mut others = rest.iter().enumerate().filter(|(at, _)| Some(*at) != first);
        others.any(|(_, word)| word.fixed().is_none_or(has))
    }

    /// Whether the last operand, or what an option names in its place, begins as the entry says.
    fn leads_away(&self, rest: &[ShellWord], last: Option<&ShellWord>) -> bool {
        if self.into.is_empty() {
            return true;
        }
        let is_away = |text: &str| self.into.iter().any(|start| text.starts_with(start.as_str()));
        let is_named =
            |word: &ShellWord| self.is_word(word, "-t") || self.is_word(word, "--target-directory");
        match rest.iter().any(is_named) {
            true => rest.iter().any(|word| {
                let text = word.starts();
                let before = if text.starts_with("--") { '=' } else { 't' };
                is_away(text) || text.split_once(before).is_some_and(|(_, value)| is_away(value))
            }),
            false => last.is_some_and(|word| is_away(word.starts())),
        }
    }
}
