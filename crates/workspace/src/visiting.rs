//! Visiting texts: every text file beneath a directory, read by the descriptor of the directory
//! that holds it, one at a time, into one piece of memory.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use moss_sdk::context::TextVisitor;
use moss_sdk::file::{EntryKind, SkippedTexts, VisitOptions, Visited, VisitedText};
use rustix::io::Errno;

use crate::buffers::Buffers;
use crate::error::Error;
use crate::handle;
use crate::mount::Mount;
use crate::options::Resolver;
use crate::root::Workspace;
use crate::text::{self, NotText};
use crate::tree::{Extent, WalkControl, WalkEntry};

/// So much of a file is read before it is looked at whether it is text at all.
const FIRST_BYTES: usize = 64 << 10;

/// What decides about the entries of a walk over texts.
#[derive(Clone, Copy)]
pub struct VisitGate<'a> {
    /// Whether a directory may be listed, by one of its paths.
    pub lists: &'a dyn Fn(&RelPath) -> bool,
    /// Whether a file may be read, by its real path and by the one it is shown under.
    pub reads: &'a dyn Fn(&RelPath, &RelPath) -> MayRead,
    /// What editors have not saved: it stands for the files.
    pub buffers: &'a dyn Buffers,
    /// Whether whoever waits for the walk has gone.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// Whether a file may be read on a walk, where nobody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayRead {
    /// It may.
    Yes,
    /// Somebody would have to be asked first.
    Unapproved,
    /// It may not.
    No,
}

/// A walk over texts.
struct TextVisit<'a> {
    workspace: &'a Workspace,
    options: VisitOptions,
    gate: VisitGate<'a>,
    visitor: &'a mut dyn TextVisitor,
    visited: Visited,
    bytes_read: u64,
    buffer: Vec<u8>,
}

/// Why a file was not handed over.
enum Left {
    Binary,
    TooLarge,
    Unreadable,
}

// === impl Workspace ===

impl Workspace {
    /// Hands the text of every regular file beneath a directory to a visitor, in the order and with
    /// the omissions of [`Workspace::list`]. A file is read only where the gate says so, up to
    /// [`Limits::edit_bytes_max`](crate::FileLimits), and decoded as by [`Workspace::read`]. Needs
    /// memory for one file.
    ///
    /// # Errors
    ///
    /// As [`Workspace::list`].
    pub fn visit_texts(
        &self,
        directory: &RelPath,
        options: VisitOptions,
        gate: VisitGate<'_>,
        visitor: &mut dyn TextVisitor,
    ) -> Result<Visited, Error> {
        let entries_max = options.entries_max;
        let extent = Extent { recursive: true, entries_max, cancelled: gate.cancelled };
        let mut visit = TextVisit {
            workspace: self,
            options,
            gate,
            visitor,
            visited: Visited::default(),
            bytes_read: 0,
            buffer: Vec::new(),
        };
        let left_out = self.walk(directory, extent, |found| visit.entry(&found))?;
        let mut visited = visit.visited;
        visited.skipped.ignored = left_out.ignored;
        visited.skipped.unreadable += left_out.unreadable;
        visited.truncated |= left_out.truncated;
        Ok(visited)
    }
}

// === impl TextVisit ===

impl TextVisit<'_> {
    fn entry(&mut self, found: &WalkEntry<'_>) -> WalkControl {
        match found.stat.kind {
            EntryKind::Directory => self.directory(found),
            EntryKind::File if self.visitor.wants(found.shown) => self.file(found),
            EntryKind::File | EntryKind::Symlink | EntryKind::Other => WalkControl::Past,
        }
    }

    fn directory(&mut self, found: &WalkEntry<'_>) -> WalkControl {
        let lists = self.gate.lists;
        if lists(found.real) && (found.shown == found.real || lists(found.shown)) {
            return WalkControl::On;
        }
        self.visited.skipped.denied += 1;
        WalkControl::Past
    }

    fn file(&mut self, found: &WalkEntry<'_>) -> WalkControl {
        let SkippedTexts { denied, unapproved, .. } = &mut self.visited.skipped;
        match (self.gate.reads)(found.real, found.shown) {
            MayRead::Yes => self.read(found),
            MayRead::Unapproved => {
                *unapproved += 1;
                WalkControl::Past
            }
            MayRead::No => {
                *denied += 1;
                WalkControl::Past
            }
        }
    }

    fn read(&mut self, found: &WalkEntry<'_>) -> WalkControl {
        if let Some(text) = self.gate.buffers.unsaved(found.real) {
            return self.hand_over(found, &text, text.len());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.workspace.read_found(found, &mut buffer);
        let step = match read.and_then(|size| Ok((size, decoded(&buffer[..size])?))) {
            Ok((size, text)) => self.hand_over(found, &text, size),
            Err(left) => {
                let SkippedTexts { binary, too_large, unreadable, .. } = &mut self.visited.skipped;
                *match left {
                    Left::Binary => binary,
                    Left::TooLarge => too_large,
                    Left::Unreadable => unreadable,
                } += 1;
                WalkControl::Past
            }
        };
        self.buffer = buffer;
        step
    }

    fn hand_over(&mut self, found: &WalkEntry<'_>, text: &str, size: usize) -> WalkControl {
        self.visited.files += 1;
        self.bytes_read += size as u64;
        match self.visitor.visit(VisitedText { path: found.shown, text }) {
            ControlFlow::Continue(()) => self.next(),
            ControlFlow::Break(()) => WalkControl::End,
        }
    }

    fn next(&mut self) -> WalkControl {
        if self.bytes_read <= self.options.bytes_max {
            return WalkControl::Past;
        }
        self.visited.truncated = true;
        WalkControl::End
    }
}

fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, Left> {
    text::decode_borrowed(bytes).map_err(|not| match not {
        NotText::Binary => Left::Binary,
        NotText::Encoding => Left::Unreadable,
    })
}

// === impl Workspace ===

impl Workspace {
    /// Reads the very file that a walk came to; returns how much of the buffer it fills.
    fn read_found(&self, found: &WalkEntry<'_>, buffer: &mut Vec<u8>) -> Result<usize, Left> {
        let bytes_max = self.limits().edit_bytes_max;
        if found.stat.size_bytes > bytes_max {
            return Err(Left::TooLarge);
        }
        let fd = self.open_found(found).map_err(|_| Left::Unreadable)?;
        let expected = usize::try_from(found.stat.size_bytes).map_err(|_| Left::TooLarge)?;
        let mut size = 0;
        loop {
            // One byte more than is expected, so that the end is seen at once.
            let room = match size {
                0 => expected.min(FIRST_BYTES) + 1,
                _ if size <= expected => expected + 1,
                _ => size + FIRST_BYTES,
            };
            if buffer.len() < room {
                buffer.resize(room, 0);
            }
            match rustix::io::pread(&fd, &mut buffer[size..room], size as u64) {
                Ok(0) => return Ok(size),
                Ok(count) => size += count,
                Err(Errno::INTR) => continue,
                Err(_) => return Err(Left::Unreadable),
            }
            if size as u64 > bytes_max {
                return Err(Left::TooLarge);
            }
            if size <= FIRST_BYTES + 1 && is_plainly_binary(&buffer[..size]) {
                return Err(Left::Binary);
            }
        }
    }

    /// Opens the file that a walk came to, on the same mount and without links.
    fn open_found(&self, found: &WalkEntry<'_>) -> Result<OwnedFd, Errno> {
        let fd = match self.resolver {
            #[cfg(target_os = "linux")]
            Resolver::Kernel => {
                use crate::resolve::kernel;
                kernel::open_at(self, found.directory, found.name, handle::READ)?
            }
            _ => {
                let fd = handle::open_at(found.directory, found.name, handle::READ)?;
                if !self.reaches(Mount::of(&fd)?) {
                    return Err(Errno::XDEV);
                }
                fd
            }
        };
        // Another file may have taken the name since it was looked at.
        let stat = handle::stat(&fd)?;
        if self.secrets.contains(stat.identity) {
            return Err(Errno::ACCESS);
        }
        if stat.identity == found.stat.identity { Ok(fd) } else { Err(Errno::STALE) }
    }
}

/// Whether the start of a file settles that it is no text: only marked texts hold NUL.
fn is_plainly_binary(start: &[u8]) -> bool {
    memchr::memchr(0, start).is_some() && text::mark(start).0.is_none()
}
