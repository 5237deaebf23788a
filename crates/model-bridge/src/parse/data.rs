//! JSON that is no call and began the reply: what stands in its strings is none, either.

/// Follows JSON from its first bracket to the one that closes it, or to what is no JSON.
#[derive(Debug, Default)]
pub(super) struct Data {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    is_over: bool,
}

// === impl Data ===

impl Data {
    /// Takes the next piece. Returns how much of it belongs to the JSON.
    pub(super) fn take(&mut self, piece: &str) -> usize {
        for (place, byte) in piece.bytes().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.in_string = false,
                    // A line end: this is no string of JSON.
                    b'\n' => return self.over(place),
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return self.over(place + 1);
                    }
                }
                b',' | b':' | b'-' | b'+' | b'.' => {}
                byte if byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() => {}
                _ => return self.over(place),
            }
        }
        piece.len()
    }

    /// Whether it ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    fn over(&mut self, place: usize) -> usize {
        self.is_over = true;
        place
    }
}
