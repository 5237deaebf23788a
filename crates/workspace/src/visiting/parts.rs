//! Reading a large text part by part: a window of memory instead of the whole, which stays in the caches of the
//! processor. What has to be decoded is read whole, elsewhere.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::plain_text::PlainProblem;
use crate::text;

/// Larger texts are read in parts of about so many bytes.
pub(super) const PART_BYTES: usize = 256 << 10;
/// Longest line of a text that is read in parts.
pub(super) const LINE_BYTES_MAX: usize = 1 << 20;

/// The parts of an open file.
pub(super) struct TextParts<'a> {
    fd: &'a OwnedFd,
    /// How many bytes it was found to have.
    expected_bytes: u64,
    bytes_max: u64,
    buffer: &'a mut Vec<u8>,
    /// How much of the buffer is read, and how much of that was handed out.
    filled: usize,
    given: usize,
    read_bytes: u64,
    is_at_end: bool,
}

/// Why there are no more parts of a file.
pub(super) enum PartsStop {
    /// It has to be read whole: it is not plain UTF-8, or has a line that is too long.
    NotPlain,
    Problem(PlainProblem),
}

// === impl TextParts ===

impl<'a> TextParts<'a> {
    /// Begins with a file of so many bytes.
    pub(super) fn new(
        (fd, expected_bytes): (&'a OwnedFd, u64),
        bytes_max: u64,
        buffer: &'a mut Vec<u8>,
    ) -> Self {
        let (filled, given, read_bytes) = (0, 0, 0);
        Self { fd, expected_bytes, bytes_max, buffer, filled, given, read_bytes, is_at_end: false }
    }

    /// How much of the file was read.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// Reads the next part: whole lines, or what is left at the end. None behind that.
    pub(super) fn next(&mut self) -> Result<Option<&str>, PartsStop> {
        let is_first = self.read_bytes == 0;
        self.buffer.copy_within(self.given..self.filled, 0);
        self.filled -= self.given;
        self.given = 0;
        let mut searched = 0;
        while self.given == 0 {
            if self.is_at_end {
                self.given = self.filled;
                break;
            }
            self.read_more()?;
            let line_end = memchr::memrchr(b'\n', &self.buffer[searched..self.filled]);
            self.given = line_end.map_or(0, |at| searched + at + 1);
            searched = self.filled;
        }
        let part = &self.buffer[..self.given];
        if is_first && text::mark(part).0.is_some() {
            return Err(PartsStop::NotPlain);
        }
        if memchr::memchr(0, part).is_some() {
            return Err(PartsStop::Problem(PlainProblem::Binary));
        }
        match simdutf8::basic::from_utf8(part) {
            Ok(part) => Ok((!part.is_empty()).then_some(part)),
            Err(_) => Err(PartsStop::NotPlain),
        }
    }

    /// Reads on behind what the buffer holds.
    fn read_more(&mut self) -> Result<(), PartsStop> {
        let room = match self.filled {
            filled if filled < PART_BYTES => PART_BYTES,
            filled if filled < LINE_BYTES_MAX => filled * 2,
            _ => return Err(PartsStop::NotPlain),
        };
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        let wanted = &mut self.buffer[self.filled..room];
        let count = loop {
            match rustix::io::pread(self.fd, &mut *wanted, self.read_bytes) {
                Ok(count) => break count,
                Err(Errno::INTR) => {}
                Err(_) => return Err(PartsStop::Problem(PlainProblem::Unreadable)),
            }
        };
        let is_short = count < wanted.len();
        self.filled += count;
        self.read_bytes += count as u64;
        if self.read_bytes > self.bytes_max {
            return Err(PartsStop::Problem(PlainProblem::TooLarge));
        }
        // A read that wanted more and ended where the file was found to end met its end.
        self.is_at_end = count == 0 || (is_short && self.read_bytes == self.expected_bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The parts of a file, or why it has none; and how much of it was read.
    fn parts(bytes: &[u8], bytes_max: u64) -> (Result<Vec<String>, &'static str>, u64) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let (fd, mut buffer) = (OwnedFd::from(file), Vec::new());
        let mut parts = TextParts::new((&fd, bytes.len() as u64), bytes_max, &mut buffer);
        let mut texts = Vec::new();
        let found = loop {
            match parts.next() {
                Ok(Some(part)) => texts.push(part.to_owned()),
                Ok(None) => break Ok(texts),
                Err(PartsStop::NotPlain) => break Err("not plain"),
                Err(PartsStop::Problem(PlainProblem::Binary)) => break Err("binary"),
                Err(PartsStop::Problem(PlainProblem::TooLarge)) => break Err("too large"),
                Err(PartsStop::Problem(_)) => break Err("unreadable"),
            }
        };
        (found, parts.read_bytes())
    }

    #[test]
    fn parts_are_whole_lines_and_together_the_text() {
        let line = |number: usize| format!("{number} {}é\r\n", "x".repeat(number % 3_000));
        let lines: String = (0..2_000).map(line).collect();
        let long = format!("{}\n{}\nend", "a".repeat(3 * PART_BYTES), "b".repeat(PART_BYTES - 1));
        for text in [lines.as_str(), &long, &"\n".repeat(2 * PART_BYTES + 1), "one line", ""] {
            let (found, read_bytes) = parts(text.as_bytes(), u64::MAX);
            let found = found.unwrap();
            assert_eq!(found.concat(), text);
            assert_eq!(read_bytes, text.len() as u64);
            let whole = found.split_last().map_or(&[][..], |(_, before)| before);
            assert!(whole.iter().all(|part| part.ends_with('\n')));
        }
    }

    #[test]
    fn what_is_no_plain_text_has_no_parts() {
        let text = "some text\n".repeat(PART_BYTES / 4);
        let with = |before: &[u8], after: &[u8]| [before, text.as_bytes(), after].concat();
        for (bytes, expected) in [
            (with(b"", b"\0"), "binary"),
            (with(b"\0", b""), "binary"),
            (with(b"", b"caf\xe9\n"), "not plain"),
            (with(b"\xef\xbb\xbf", b""), "not plain"),
            (with(b"\xff\xfe", b""), "not plain"),
            ("z".repeat(2 * LINE_BYTES_MAX + 1).into_bytes(), "not plain"),
        ] {
            assert_eq!(parts(&bytes, u64::MAX).0.unwrap_err(), expected);
        }
        assert_eq!(parts(text.as_bytes(), text.len() as u64 - 1).0.unwrap_err(), "too large");
        assert!(parts(text.as_bytes(), text.len() as u64).0.is_ok());
    }
}
