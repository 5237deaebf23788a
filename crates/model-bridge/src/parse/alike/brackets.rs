//! Follows brackets in text to the one that closes them all.

/// Where in brackets a position is.
#[derive(Debug, Default)]
pub(super) struct BracketPosition {
    depth: usize,
    quote: Option<char>,
    is_escaped: bool,
}

// === impl BracketPosition ===

impl BracketPosition {
    /// Continues to the bracket that ends them all. Returns what follows it, where it is there.
    pub(super) fn end<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        for (place, c) in text.char_indices() {
            match (self.quote, c) {
                (Some(_), _) if self.is_escaped => self.is_escaped = false,
                (Some(_), '\\') => self.is_escaped = true,
                (Some(quote), c) if c == quote => self.quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => self.quote = Some(c),
                (None, '{' | '[' | '(') => self.depth += 1,
                (None, '}' | ']' | ')') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(&text[place + 1..]);
                    }
                }
                (None, _) => {}
            }
        }
        None
    }
}
