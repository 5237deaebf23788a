//! Reading those parts of a text alone that are of interest. In a text in equal steps, each part begins with the first
//! line that begins behind its step.

use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::known::KnownParts;
use super::parts::{LINE_BYTES_MAX, PART_BYTES, PartsStop};
use crate::plain_text::PlainProblem;

/// So much is read behind a part, where its last line ends.
const BEHIND_BYTES: u64 = 128;
/// Parts with less between them are read at once: to copy so much takes as long as another call of the system.
const GAP_BYTES: u64 = 2 << 10;

/// A file that is read in steps.
pub(super) struct SteppedText<'a> {
    fd: &'a OwnedFd,
    size_bytes: u64,
    buffer: &'a mut Vec<u8>,
    /// What the buffer holds: the bytes from here, so many.
    start: u64,
    filled: usize,
}

/// Returns the bytes between which the lines of interest begin: parts that follow each other together, but no more than
/// are read at once.
pub(super) fn runs(known: &KnownParts, size_bytes: u64) -> Vec<Range<u64>> {
    // Nothing is cut into parts without a byte.
    let step = (size_bytes / u64::from(known.count.max(1))).max(1);
    let parts_max = u32::try_from(PART_BYTES as u64 / step).unwrap_or(u32::MAX).max(1);
    let mut runs: Vec<Range<u32>> = Vec::new();
    for number in &known.numbers {
        match runs.last_mut() {
            Some(last) if last.end == *number && last.end - last.start < parts_max => {
                last.end += 1;
            }
            _ => runs.push(*number..number + 1),
        }
    }
    let place = |number: u32| match number < known.count {
        true => (u64::from(number) * step).min(size_bytes),
        false => size_bytes,
    };
    runs.into_iter().map(|run| place(run.start)..place(run.end)).collect()
}

/// Where the last of those runs ends that are read together with the first.
fn reach(runs: &[Range<u64>]) -> u64 {
    let Some(first) = runs.first() else { return 0 };
    let mut end = first.end;
    for run in &runs[1..] {
        if run.start - end > GAP_BYTES || run.end - first.start > PART_BYTES as u64 {
            break;
        }
        end = run.end;
    }
    end
}

// === impl SteppedText ===

impl<'a> SteppedText<'a> {
    /// Begins with a file of so many bytes.
    pub(super) fn new((fd, size_bytes): (&'a OwnedFd, u64), buffer: &'a mut Vec<u8>) -> Self {
        Self { fd, size_bytes, buffer, start: 0, filled: 0 }
    }

    /// Returns the lines that begin behind the start of the first of some runs, up to the first one that begins behind
    /// its end. The others are those that are wanted next.
    pub(super) fn lines(&mut self, runs: &[Range<u64>]) -> Result<&str, PartsStop> {
        let Some(run) = runs.first() else { return Ok("") };
        if run.start < self.start || run.end > self.end() {
            (self.start, self.filled) = (run.start, 0);
            self.fill(reach(runs) + BEHIND_BYTES)?;
        }
        let from = usize::try_from(run.start - self.start).map_err(|_| PartsStop::NotPlain)?;
        let lines = loop {
            let is_all = self.end() == self.size_bytes;
            if let Some(lines) = lines_of(&self.buffer[from..self.filled], run, is_all) {
                break lines;
            }
            let read_bytes = self.end() - run.start;
            if read_bytes > run.end - run.start + LINE_BYTES_MAX as u64 {
                return Err(PartsStop::NotPlain);
            }
            self.fill(self.end() + read_bytes.max(BEHIND_BYTES))?;
        };
        let text = &self.buffer[from..][lines];
        // What it was known by says that it is a text.
        let is_text = memchr::memchr(0, text).is_none();
        simdutf8::basic::from_utf8(text).ok().filter(|_| is_text).ok_or(PartsStop::NotPlain)
    }

    /// Where what the buffer holds ends.
    fn end(&self) -> u64 {
        self.start + self.filled as u64
    }

    /// Reads on up to a place, or to the end of the file.
    fn fill(&mut self, end: u64) -> Result<(), PartsStop> {
        let room = end.min(self.size_bytes) - self.start;
        let room = usize::try_from(room).map_err(|_| PartsStop::NotPlain)?;
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        while self.filled < room {
            let end = self.end();
            match rustix::io::pread(self.fd, &mut self.buffer[self.filled..room], end) {
                // It is shorter than it was.
                Ok(0) => return Err(PartsStop::NotPlain),
                Ok(count) => self.filled += count,
                Err(Errno::INTR) => {}
                Err(_) => return Err(PartsStop::Problem(PlainProblem::Unreadable)),
            }
        }
        Ok(())
    }
}

/// Which of the bytes from the start of a run are its lines; none where the end of the last is not among them.
fn lines_of(bytes: &[u8], run: &Range<u64>, is_all: bool) -> Option<Range<usize>> {
    let behind = |place: u64| {
        let place = usize::try_from(place).ok()?;
        memchr::memchr(b'\n', bytes.get(place..)?).map(|at| place + at + 1)
    };
    let end = behind(run.end - run.start).or(is_all.then_some(bytes.len()))?;
    let start = if run.start == 0 { 0 } else { behind(0).map_or(end, |start| start.min(end)) };
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn known(count: u32, numbers: &[u32]) -> KnownParts {
        KnownParts { count, numbers: numbers.into(), are_of: Box::new(|_| true) }
    }

    /// The lines of some of the parts of a text, run by run; none where it has to be read whole.
    fn lines(text: &[u8], known: &KnownParts) -> Option<Vec<String>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        let (fd, size_bytes) = (OwnedFd::from(file), text.len() as u64);
        let mut buffer = Vec::new();
        let mut stepped = SteppedText::new((&fd, size_bytes), &mut buffer);
        let runs = runs(known, size_bytes);
        let read = (0..runs.len()).map(|at| stepped.lines(&runs[at..]).ok().map(str::to_owned));
        read.collect()
    }

    #[test]
    fn parts_that_follow_each_other_are_read_at_once() {
        let of = |numbers: &[u32], size_bytes| -> Vec<(u64, u64)> {
            let runs = runs(&known(10, numbers), size_bytes);
            runs.into_iter().map(|run| (run.start, run.end)).collect()
        };
        assert_eq!(of(&[0, 1, 2], 1_005), [(0, 300)]);
        assert_eq!(of(&[1, 3, 4, 9], 1_005), [(100, 200), (300, 500), (900, 1_005)]);
        assert_eq!(of(&[], 1_005), []);
        assert_eq!(of(&[3, 9], 9), [(3, 4), (9, 9)]);
        let step = PART_BYTES as u64 / 2;
        let large = runs(&known(5, &[0, 1, 2, 3, 4]), 5 * step);
        assert_eq!(large, [0..2 * step, 2 * step..4 * step, 4 * step..5 * step]);
    }

    #[test]
    fn near_parts_are_read_with_the_first_of_them() {
        let gap = GAP_BYTES;
        assert_eq!(reach(&[]), 0);
        assert_eq!(reach(&[5..9, 9 + 2 * gap..10 + 2 * gap]), 9);
        assert_eq!(reach(&[0..10, 10 + gap..40 + gap, 41 + 2 * gap..50 + 2 * gap]), 40 + gap);
        let large = PART_BYTES as u64;
        assert_eq!(reach(&[0..10, 20..large, large..large + 10]), large);
    }

    #[test]
    fn the_lines_of_all_parts_are_the_text() {
        let line = |number: usize| format!("{number} {}é\r\n", "x".repeat(number * 37 % 900));
        let mixed: String = (0..300).map(line).collect();
        let long = "a".repeat(20_000) + "\nshort\n" + &"b".repeat(3_000);
        for text in [mixed.as_str(), &long, &"\n".repeat(5_000), "one\ntwo\nthree\nfour"] {
            for count in [1, 2, 3, 7, 17] {
                let parts: Vec<String> = (0..count)
                    .map(|number| {
                        lines(text.as_bytes(), &known(count, &[number])).unwrap().concat()
                    })
                    .collect();
                assert_eq!(parts.concat(), text, "{count}");
                assert!(parts.iter().all(|part| part.is_empty()
                    || part.ends_with('\n')
                    || text.ends_with(part.as_str())));
                let even: Vec<u32> = (0..count).step_by(2).collect();
                let expected: String = parts.iter().step_by(2).map(String::as_str).collect();
                let read = lines(text.as_bytes(), &known(count, &even)).unwrap();
                assert_eq!(read.concat(), expected, "{count}");
            }
        }
    }

    #[test]
    fn what_is_no_plain_text_any_more_is_read_whole() {
        let text = "some text\n".repeat(100);
        let with = |bytes: &[u8]| [text.as_bytes(), bytes, text.as_bytes()].concat();
        for bytes in [with(b"\0"), with(b"\xe9"), "z".repeat(3 * LINE_BYTES_MAX).into_bytes()] {
            assert_eq!(lines(&bytes, &known(3, &[0, 1])), None);
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let (fd, size_bytes) = (OwnedFd::from(file), 2 * text.len() as u64);
        let mut buffer = Vec::new();
        let mut stepped = SteppedText::new((&fd, size_bytes), &mut buffer);
        let run = 900..1_500;
        assert!(stepped.lines(std::slice::from_ref(&run)).is_err(), "it is shorter by now");
    }
}
