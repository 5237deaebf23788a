//! What a command writes, as it comes in pieces: shown by whole lines.

use std::mem;

use moss_proto::v1;

/// A line that is longer is shown in parts.
const LINE_BYTES_MAX: usize = 16 << 10;

/// The last line of each stream, as long as it is not whole.
#[derive(Debug, Default)]
pub(super) struct OutputLines {
    unfinished: Vec<(String, String)>,
}

// === impl OutputLines ===

impl OutputLines {
    /// Takes a piece; returns the lines that are whole with it, without the last line end, or all there is
    /// of one that is very long.
    pub(super) fn take(&mut self, output: v1::CallOutput) -> Option<String> {
        let v1::CallOutput { stream, text } = output;
        let at = self.unfinished.iter().position(|(known, _)| *known == stream);
        let mut lines = at.map_or_else(String::new, |at| self.unfinished.swap_remove(at).1);
        let known = lines.len();
        lines.push_str(&text);
        if known + text.len() > LINE_BYTES_MAX && !text.contains('\n') {
            return Some(lines);
        }
        let rest = lines.split_off(text.rfind('\n').map_or(0, |end| known + end + 1));
        if !rest.is_empty() {
            self.unfinished.push((stream, rest));
        }
        lines.pop().map(|_| lines)
    }

    /// Whether a line waits for its end.
    pub(super) fn is_waiting(&self) -> bool {
        !self.unfinished.is_empty()
    }

    /// Returns what came without a line end, such as a prompt.
    pub(super) fn flush(&mut self) -> impl Iterator<Item = String> {
        mem::take(&mut self.unfinished).into_iter().map(|(_, rest)| rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(stream: &str, text: &str) -> v1::CallOutput {
        v1::CallOutput { stream: stream.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn pieces_become_lines_of_their_streams() {
        let mut lines = OutputLines::default();
        assert_eq!(lines.take(piece("stderr", "ca")), None);
        assert_eq!(lines.take(piece("stdout", "one\ntwo\nth")).as_deref(), Some("one\ntwo"));
        assert_eq!(lines.take(piece("stderr", "t: no\n")).as_deref(), Some("cat: no"));
        assert!(lines.is_waiting());
        assert_eq!(lines.take(piece("stdout", "ree\n")).as_deref(), Some("three"));
        assert!(!lines.is_waiting());
        assert_eq!(lines.take(piece("stdout", "\n")).as_deref(), Some(""));
        assert_eq!(lines.take(piece("stdout", "")), None);
        let long = "x".repeat(LINE_BYTES_MAX);
        assert_eq!(lines.take(piece("stdout", &long)), None);
        assert_eq!(lines.take(piece("stdout", "y")), Some(long + "y"));
        assert_eq!(lines.take(piece("stderr", "go on? ")), None);
        assert_eq!(lines.flush().collect::<Vec<_>>(), ["go on? "]);
        assert!(!lines.is_waiting());
    }
}
