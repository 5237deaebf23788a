//! What separates tokens, noted for a rendering of what was read.

use std::ops::Range;

use super::ShellReader;
use crate::rendering::TokenGap;

// === impl ShellReader ===

impl ShellReader<'_> {
    /// Notes that a token ends and another one begins: what was taken since a place is neither's, be it nothing.
    pub(super) fn note_gap(&mut self, start: usize, is_line: bool) {
        let gap = TokenGap { start, end: self.at, is_line, substitutions: self.substitutions };
        match self.gaps.last_mut() {
            Some(last) if last.end == start && last.substitutions == gap.substitutions => {
                last.end = gap.end;
                last.is_line |= is_line;
            }
            _ => self.gaps.push(gap),
        }
    }

    /// Notes that another line may begin here; not where a here-document would begin with it.
    pub(super) fn note_line(&mut self) {
        self.note_gap(self.at, !self.awaits_document && self.pending.is_empty());
    }
}

/// The body of a here-document as a word of a command that does nothing: in double quotes the same is expanded, but for
/// quotes of that kind.
pub(super) fn in_double_quotes(body: &str, expansions: &[Range<usize>]) -> String {
    let mut word = String::from(": \"");
    let mut at = 0;
    for expansion in expansions {
        push_quoted(&mut word, &body[at..expansion.start]);
        word.push_str(&body[expansion.clone()]);
        at = expansion.end;
    }
    push_quoted(&mut word, &body[at..]);
    word.push('"');
    word
}

fn push_quoted(word: &mut String, text: &str) {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => word.push_str("\\\""),
            '\\' => match letters.next() {
                // In a here-document it stands for itself before such a quote.
                Some('"') => word.push_str("\\\\\\\""),
                escaped => word.extend([letter].into_iter().chain(escaped)),
            },
            letter => word.push(letter),
        }
    }
}
