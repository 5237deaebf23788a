//! Reading the text of a file as a search does: by its real path, into memory that is used again.

use std::borrow::Cow;
use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use rustix::io::Errno;

use crate::file_mark::FileMark;
use crate::reopen::NotReopened;
use crate::root::Workspace;
use crate::text::{self, NotText};

/// So much of a file is read before it is looked at whether it is text at all.
const FIRST_BYTES: usize = 64 << 10;
/// So much is read between two looks at whether somebody still waits.
const STEP_BYTES: usize = 1 << 20;
/// Of larger files one is in memory at a time, however many searches run.
pub const LARGE_BYTES: u64 = 10 << 20;

/// A file as a search reads it.
#[derive(Debug)]
pub struct PlainFile<'b> {
    /// What was known of the very file that was read, once it was open and before it was read. None
    /// where it could not be opened.
    pub mark: Option<FileMark>,
    /// Its text, or why it has none.
    pub text: Result<Cow<'b, str>, PlainProblem>,
}

/// Why the text of a file is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainProblem {
    /// There is no such file any more.
    Gone,
    /// It is no text.
    Binary,
    /// It is larger than what is searched.
    TooLarge,
    /// It cannot be read, may not be, or has an encoding that is not known.
    Unreadable,
    /// Nobody waits for it any more.
    Cancelled,
}

/// Reads the start of an open file of so many bytes into memory, up to its end; returns how much of
/// the memory it fills.
pub(crate) fn fill(
    buffer: &mut Vec<u8>,
    (fd, size_bytes): (&OwnedFd, u64),
    bytes_max: u64,
    cancelled: &dyn Fn() -> bool,
) -> Result<usize, PlainProblem> {
    if size_bytes > bytes_max {
        return Err(PlainProblem::TooLarge);
    }
    let expected = usize::try_from(size_bytes).map_err(|_| PlainProblem::TooLarge)?;
    let mut size = 0;
    loop {
        // One byte more than is expected, so that the end is seen at once.
        let room = match size {
            0 => expected.min(FIRST_BYTES) + 1,
            _ if size <= expected => (expected + 1).min(size + STEP_BYTES),
            _ => size + FIRST_BYTES,
        };
        if buffer.len() < room {
            buffer.resize(room, 0);
        }
        match rustix::io::pread(fd, &mut buffer[size..room], size as u64) {
            Ok(0) => return Ok(size),
            Ok(count) => size += count,
            Err(Errno::INTR) => continue,
            Err(_) => return Err(PlainProblem::Unreadable),
        }
        if size as u64 > bytes_max {
            return Err(PlainProblem::TooLarge);
        }
        // A read that wanted more and ended where the file was found to end met its end.
        if size == expected && size < room {
            return Ok(size);
        }
        if size <= FIRST_BYTES + 1 && is_plainly_binary(&buffer[..size]) {
            return Err(PlainProblem::Binary);
        }
        if cancelled() {
            return Err(PlainProblem::Cancelled);
        }
    }
}

/// Decodes what was read.
pub(crate) fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, PlainProblem> {
    text::decode_searched(bytes).map_err(|not_text| match not_text {
        NotText::Binary => PlainProblem::Binary,
        NotText::Encoding => PlainProblem::Unreadable,
    })
}

/// Whether the start of a file settles that it is no text: only marked texts hold NUL.
fn is_plainly_binary(start: &[u8]) -> bool {
    memchr::memchr(0, start).is_some() && text::mark(start).0.is_none()
}

// === impl Workspace ===

impl Workspace {
    /// Reads the text of a regular file by its real path, as [`Workspace::visit_texts`] does. Nobody
    /// is asked whether it may be read: that is the caller's to know. Of files past `bytes_max` it
    /// says that they are too large. The buffer is there to be used again.
    pub fn read_plain<'b>(
        &self,
        (real, bytes_max): (&RelPath, u64),
        buffer: &'b mut Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> PlainFile<'b> {
        let without = |mark, problem| PlainFile { mark, text: Err(problem) };
        let (fd, stat) = match self.reopen_file_by_path(real) {
            Ok(opened) => opened,
            Err(problem) => return without(None, problem.into()),
        };
        let mark = Some(FileMark::of(&stat));
        match fill(buffer, (&fd, stat.size_bytes), bytes_max, cancelled) {
            Ok(size) => PlainFile { mark, text: decoded(&buffer[..size]) },
            Err(problem) => without(mark, problem),
        }
    }
}

// === impl PlainProblem ===

impl From<NotReopened> for PlainProblem {
    fn from(problem: NotReopened) -> Self {
        match problem {
            NotReopened::Gone => Self::Gone,
            NotReopened::Unreadable => Self::Unreadable,
        }
    }
}
