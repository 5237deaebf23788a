//! Reading the files of a scan on one thread, into one piece of memory.

use std::borrow::Cow;
use std::os::fd::OwnedFd;

use moss_sdk::context::{TextFinding, TextScanner};
use moss_sdk::file::{EntryKind, VisitedText};
use rustix::io::Errno;

use crate::gate::VisitGate;
use crate::handle;
use crate::mount::Mount;
use crate::options::Resolver;
use crate::root::Workspace;
use crate::scan::{ScannedDirectory, ScannedTree};
use crate::text::{self, NotText};

/// So much of a file is read before it is looked at whether it is text at all.
const FIRST_BYTES: usize = 64 << 10;
/// So much is read between two looks at whether somebody still waits.
const STEP_BYTES: usize = 1 << 20;

/// Reads files on one thread.
pub(super) struct TextReading<'a> {
    workspace: &'a Workspace,
    gate: VisitGate<'a>,
    tree: &'a ScannedTree,
    scanner: Box<dyn TextScanner>,
    /// The directory that was opened last, by its number.
    held: Option<(u32, Result<OwnedFd, Errno>)>,
    buffer: Vec<u8>,
}

/// What became of a file.
pub(super) enum ReadOutcome {
    /// A text of so many bytes, and what was found in it.
    Scanned(u64, Option<TextFinding>),
    /// It is gone since it was listed.
    Gone,
    Binary,
    TooLarge,
    Unreadable,
    /// Nobody waits for it any more.
    Cancelled,
}

// === impl TextReading ===

impl<'a> TextReading<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        gate: VisitGate<'a>,
        tree: &'a ScannedTree,
        scanner: Box<dyn TextScanner>,
    ) -> Self {
        Self { workspace, gate, tree, scanner, held: None, buffer: Vec::new() }
    }

    /// Reads a file by its number in the scan and has it looked at.
    pub(super) fn read(&mut self, at: usize) -> ReadOutcome {
        if (self.gate.cancelled)() {
            return ReadOutcome::Cancelled;
        }
        let (number, name) = self.tree.file(at);
        let directory = self.tree.directory(number);
        let Ok(real) = directory.real.join(name) else { return ReadOutcome::Unreadable };
        let shown = match directory.shown == directory.real {
            true => Ok(Cow::Borrowed(&real)),
            false => directory.shown.join(name).map(Cow::Owned),
        };
        let Ok(path) = shown.as_deref() else { return ReadOutcome::Unreadable };
        if let Some(text) = self.gate.buffers.unsaved(&real) {
            let finding = self.scanner.scan(VisitedText { path, text: &text });
            return ReadOutcome::Scanned(text.len() as u64, finding);
        }
        let size = match self.fill(number, name) {
            Ok(size) => size,
            Err(outcome) => return outcome,
        };
        match text::decode_borrowed(&self.buffer[..size]) {
            Ok(text) => {
                let finding = self.scanner.scan(VisitedText { path, text: &text });
                ReadOutcome::Scanned(size as u64, finding)
            }
            Err(NotText::Binary) => ReadOutcome::Binary,
            Err(NotText::Encoding) => ReadOutcome::Unreadable,
        }
    }

    /// Reads a file into the buffer; returns how much of it it fills.
    fn fill(&mut self, number: u32, name: &str) -> Result<usize, ReadOutcome> {
        if !matches!(&self.held, Some((held, _)) if *held == number) {
            let opened = self.workspace.reopen_scanned(self.tree.directory(number));
            self.held = Some((number, opened));
        }
        let Some((_, Ok(directory))) = &self.held else { return Err(ReadOutcome::Unreadable) };
        let (fd, size_bytes) = self.workspace.open_scanned(directory, name)?;
        let bytes_max = self.workspace.limits().edit_bytes_max;
        if size_bytes > bytes_max {
            return Err(ReadOutcome::TooLarge);
        }
        let expected = usize::try_from(size_bytes).map_err(|_| ReadOutcome::TooLarge)?;
        let buffer = &mut self.buffer;
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
            match rustix::io::pread(&fd, &mut buffer[size..room], size as u64) {
                Ok(0) => return Ok(size),
                Ok(count) => size += count,
                Err(Errno::INTR) => continue,
                Err(_) => return Err(ReadOutcome::Unreadable),
            }
            if size as u64 > bytes_max {
                return Err(ReadOutcome::TooLarge);
            }
            // A read that wanted more and ended where the file was found to end met its end.
            if size == expected && size < room {
                return Ok(size);
            }
            if size <= FIRST_BYTES + 1 && is_plainly_binary(&buffer[..size]) {
                return Err(ReadOutcome::Binary);
            }
            if (self.gate.cancelled)() {
                return Err(ReadOutcome::Cancelled);
            }
        }
    }
}

/// Whether the start of a file settles that it is no text: only marked texts hold NUL.
fn is_plainly_binary(start: &[u8]) -> bool {
    memchr::memchr(0, start).is_some() && text::mark(start).0.is_none()
}

// === impl Workspace ===

impl Workspace {
    /// Opens a directory of a scan again: the same one, where it was, without links.
    fn reopen_scanned(&self, directory: &ScannedDirectory) -> Result<OwnedFd, Errno> {
        let fd = match self.resolver {
            #[cfg(target_os = "linux")]
            Resolver::Kernel => crate::resolve::kernel::open_plain(self, &directory.real)?,
            _ => {
                let mut fd = handle::open_at(&self.directory, ".", handle::DIRECTORY)?;
                for name in directory.real.components() {
                    fd = handle::open_at(&fd, name, handle::DIRECTORY)?;
                }
                fd
            }
        };
        let is_same = handle::stat(&fd)?.identity == directory.identity;
        if is_same { Ok(fd) } else { Err(Errno::STALE) }
    }

    /// Opens a file of a scan in its directory, on the same mount and without links; says how
    /// large it is. It was chosen by its path, and its path leads to it: another file that has
    /// taken the name since is the one to read, unless it is a secret.
    fn open_scanned(&self, directory: &OwnedFd, name: &str) -> Result<(OwnedFd, u64), ReadOutcome> {
        let opened = self.open_file_at(directory, name);
        let fd = opened.map_err(|errno| match errno {
            Errno::NOENT => ReadOutcome::Gone,
            _ => ReadOutcome::Unreadable,
        })?;
        let stat = handle::stat(&fd).map_err(|_| ReadOutcome::Unreadable)?;
        if stat.kind != EntryKind::File || self.secrets.contains(stat.identity) {
            return Err(ReadOutcome::Unreadable);
        }
        Ok((fd, stat.size_bytes))
    }

    fn open_file_at(&self, directory: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
        #[cfg(target_os = "linux")]
        if self.resolver == Resolver::Kernel {
            return crate::resolve::kernel::open_at(self, directory, name, handle::READ);
        }
        let fd = handle::open_at(directory, name, handle::READ)?;
        if self.reaches(Mount::of(&fd)?) { Ok(fd) } else { Err(Errno::XDEV) }
    }
}
