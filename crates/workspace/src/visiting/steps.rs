//! Reading those parts of a text alone that are of interest. In a text in equal steps, each part begins with the first
//! line that begins behind its step.

use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::known::KnownParts;
use super::parts::{LINE_BYTES_MAX, PART_BYTES, PartsStop};
use crate::plain_text::PlainProblem;

/// So much is read behind a part, where its last line ends.
const BEHIND_BYTES: u64 = 512;

/// A file that is read in steps.
pub(super) struct SteppedText<'a> {
    pub(super) fd: &'a OwnedFd,
    pub(super) size_bytes: u64,
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

// === impl SteppedText ===

impl SteppedText<'_> {
    /// Reads the lines that begin behind the start of a run, up to the first one that begins behind its end.
    pub(super) fn lines<'b>(
        &self,
        run: &Range<u64>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b str, PartsStop> {
        let mut filled = 0;
        let mut wanted = (run.end + BEHIND_BYTES).min(self.size_bytes) - run.start;
        let lines = loop {
            let room = usize::try_from(wanted).map_err(|_| PartsStop::NotPlain)?;
            self.fill(buffer, (filled, room), run.start)?;
            filled = room;
            let is_all = run.start + wanted == self.size_bytes;
            if let Some(lines) = lines_of(&buffer[..filled], run, is_all) {
                break lines;
            }
            if wanted > run.end - run.start + LINE_BYTES_MAX as u64 {
                return Err(PartsStop::NotPlain);
            }
            wanted = (wanted * 2).min(self.size_bytes - run.start);
        };
        let text = &buffer[lines];
        // What it was known by says that it is a text.
        let is_text = memchr::memchr(0, text).is_none();
        simdutf8::basic::from_utf8(text).ok().filter(|_| is_text).ok_or(PartsStop::NotPlain)
    }

    /// Reads bytes behind a place up to what the buffer is to hold.
    fn fill(
        &self,
        buffer: &mut Vec<u8>,
        (mut filled, room): (usize, usize),
        start: u64,
    ) -> Result<(), PartsStop> {
        if buffer.len() < room {
            buffer.resize(room, 0);
        }
        while filled < room {
            match rustix::io::pread(self.fd, &mut buffer[filled..room], start + filled as u64) {
                // It is shorter than it was.
                Ok(0) => return Err(PartsStop::NotPlain),
                Ok(count) => filled += count,
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
        let stepped = SteppedText { fd: &fd, size_bytes };
        let mut buffer = Vec::new();
        let read = runs(known, size_bytes).into_iter().map(|run| {
            let lines = stepped.lines(&run, &mut buffer);
            lines.ok().map(str::to_owned)
        });
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
        let stepped = SteppedText { fd: &fd, size_bytes };
        assert!(stepped.lines(&(900..1_500), &mut Vec::new()).is_err(), "it is shorter by now");
    }
}
