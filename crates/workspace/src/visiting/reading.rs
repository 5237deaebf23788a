//! Reading the files of a scan on one thread, into one piece of memory.

use std::borrow::Cow;
use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use moss_sdk::context::{PartVerdict, ScanPace, TextFinding, TextScanner};
use moss_sdk::file::VisitedText;
use rustix::io::Errno;

use super::known::KnownParts;
use super::parts::{PART_BYTES, PartsStop, TextParts};
use super::plan::PlannedRead;
use super::steps::{SteppedText, runs};
use crate::file_mark::FileMark;
use crate::gate::VisitGate;
use crate::handle::{self, Stat};
use crate::large_texts;
use crate::plain_text::{self, PlainProblem};
use crate::root::Workspace;
use crate::scan::{ScannedDirectory, ScannedTree};

/// A directory is held where so many of its files are read behind the first: for fewer it takes longer to open it than
/// their paths.
const SHARING_MIN: usize = 3;

/// Reads files on one thread.
pub(super) struct TextReading<'a> {
    workspace: &'a Workspace,
    gate: VisitGate<'a>,
    tree: &'a ScannedTree,
    scanner: Box<dyn TextScanner>,
    /// How it looks whether somebody waits for what is scanned.
    pace: ScanPace<'a>,
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

/// Has the text of a file of so many bytes looked at.
fn scan(
    scanner: &mut dyn TextScanner,
    (text, size_bytes): (VisitedText<'_>, usize),
    pace: &ScanPace<'_>,
) -> ReadOutcome {
    let finding = scanner.scan_paced(text, pace);
    if pace.is_stopped() {
        ReadOutcome::Cancelled
    } else {
        ReadOutcome::Scanned(size_bytes as u64, finding)
    }
}

// === impl TextReading ===

impl<'a> TextReading<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        gate: VisitGate<'a>,
        tree: &'a ScannedTree,
        scanner: Box<dyn TextScanner>,
    ) -> Self {
        let pace = ScanPace::new(gate.cancelled);
        Self { workspace, gate, tree, scanner, pace, held: None, buffer: Vec::new() }
    }

    /// Reads a file by its number in the scan and has it looked at: where only some of its parts are of interest, those.
    /// Its directory is held for those that are read `next`, where that pays.
    pub(super) fn read(
        &mut self,
        at: usize,
        known: Option<&KnownParts>,
        next: &[PlannedRead],
    ) -> ReadOutcome {
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
            if self.gate.one_name
                && self.open((number, name), &real).is_ok_and(|(_, stat)| stat.names > 1)
            {
                return ReadOutcome::Unreadable;
            }
            return scan(
                &mut *self.scanner,
                (VisitedText { path, text: &text }, text.len()),
                &self.pace,
            );
        }
        let next = next.get(SHARING_MIN - 1);
        if next.is_some_and(|next| self.tree.file(next.file).0 == number) {
            self.hold(number);
        }
        let (opened, stat) = match self.open((number, name), &real) {
            Ok((_, stat)) if self.gate.one_name && stat.names > 1 => {
                return ReadOutcome::Unreadable;
            }
            Ok((fd, stat)) => ((fd, stat.size_bytes), stat),
            Err(problem) => return problem.into(),
        };
        if let Some(known) = known.filter(|known| (known.are_of)(&FileMark::of(&stat)))
            && let Some(outcome) = self.scan_known((&opened.0, opened.1), known, path)
        {
            return outcome;
        }
        if opened.1 > PART_BYTES as u64
            && let Some(outcome) = self.scan_parts((&opened.0, opened.1), path)
        {
            return outcome;
        }
        if opened.1 <= plain_text::LARGE_BYTES {
            return self.scan(opened, path);
        }
        let turns = (&self.workspace.large_texts, self.gate.is_apart);
        let Some(_alone) = large_texts::turn(turns, self.gate.cancelled) else {
            return ReadOutcome::Cancelled;
        };
        let outcome = self.scan(opened, path);
        // Whoever is next needs the room.
        self.buffer = Vec::new();
        outcome
    }

    /// Has the text of an open file of so many bytes looked at.
    fn scan(&mut self, (fd, size_bytes): (OwnedFd, u64), path: &RelPath) -> ReadOutcome {
        let bytes_max = self.workspace.limits().search_bytes_max;
        let opened = (&fd, size_bytes);
        let filled = plain_text::fill(&mut self.buffer, opened, bytes_max, self.gate.cancelled);
        let text = filled
            .and_then(|size| plain_text::decoded(&self.buffer[..size]).map(|text| (size, text)));
        match text {
            Ok((size, text)) => {
                scan(&mut *self.scanner, (VisitedText { path, text: &text }, size), &self.pace)
            }
            Err(problem) => problem.into(),
        }
    }

    /// Has the text of an open file of so many bytes looked at part by part. None where it has to be looked at
    /// whole.
    fn scan_parts(&mut self, opened: (&OwnedFd, u64), path: &RelPath) -> Option<ReadOutcome> {
        let bytes_max = self.workspace.limits().search_bytes_max;
        if opened.1 > bytes_max {
            return Some(ReadOutcome::TooLarge);
        }
        let mut scanner = self.scanner.parts()?;
        let mut parts = TextParts::new(opened, bytes_max, &mut self.buffer);
        let mut verdict = PartVerdict::More;
        loop {
            if self.pace.is_stopped() || (self.gate.cancelled)() {
                return Some(ReadOutcome::Cancelled);
            }
            match parts.next() {
                Ok(Some(part)) if verdict == PartVerdict::More => {
                    verdict = scanner.scan_paced(part, &self.pace);
                }
                // The rest is read all the same: whether the file is a text shows at its end.
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(PartsStop::NotPlain) => return None,
                Err(PartsStop::Problem(problem)) => return Some(problem.into()),
            }
            if verdict == PartVerdict::WantsWhole {
                return None;
            }
        }
        Some(ReadOutcome::Scanned(parts.read_bytes(), scanner.finish(path)))
    }

    /// Has those parts of an open file of so many bytes looked at that are of interest. None where it has to be looked
    /// at whole.
    fn scan_known(
        &mut self,
        opened: (&OwnedFd, u64),
        known: &KnownParts,
        path: &RelPath,
    ) -> Option<ReadOutcome> {
        let mut scanner = self.scanner.parts()?;
        let runs = runs(known, opened.1);
        let mut stepped = SteppedText::new(opened, &mut self.buffer);
        let mut read_bytes = 0;
        for at in 0..runs.len() {
            if self.pace.is_stopped() || (self.gate.cancelled)() {
                return Some(ReadOutcome::Cancelled);
            }
            let lines = match stepped.lines(&runs[at..]) {
                Ok(lines) => lines,
                Err(PartsStop::NotPlain) => return None,
                Err(PartsStop::Problem(problem)) => return Some(problem.into()),
            };
            read_bytes += lines.len() as u64;
            match scanner.scan_paced(lines, &self.pace) {
                PartVerdict::More => {}
                PartVerdict::WantsWhole => return None,
                // That it is a text is known.
                PartVerdict::Settled => break,
            }
        }
        if self.pace.is_stopped() {
            return Some(ReadOutcome::Cancelled);
        }
        Some(ReadOutcome::Scanned(read_bytes, scanner.finish(path)))
    }

    /// Holds a directory, so that its files are opened in it.
    fn hold(&mut self, number: u32) {
        if !matches!(&self.held, Some((held, _)) if *held == number) {
            let opened = self.workspace.reopen_scanned(self.tree.directory(number));
            self.held = Some((number, opened));
        }
    }

    /// Opens a file; returns what it is like, too.
    fn open(
        &self,
        (number, name): (u32, &str),
        real: &RelPath,
    ) -> Result<(OwnedFd, Stat), PlainProblem> {
        match &self.held {
            Some((held, directory)) if *held == number => match directory {
                Ok(directory) => Ok(self.workspace.reopen_file(directory, name)?),
                Err(_) => Err(PlainProblem::Unreadable),
            },
            _ => Ok(self.workspace.reopen_file_by_path(real)?),
        }
    }
}

// === impl Workspace ===

impl Workspace {
    /// Opens a directory of a scan again: the same one, where it was.
    fn reopen_scanned(&self, directory: &ScannedDirectory) -> Result<OwnedFd, Errno> {
        let fd = self.reopen_directory(&directory.real, handle::DIRECTORY)?;
        let is_same = handle::stat(&fd)?.identity == directory.identity;
        if is_same { Ok(fd) } else { Err(Errno::STALE) }
    }
}

// === impl ReadOutcome ===

impl From<PlainProblem> for ReadOutcome {
    fn from(problem: PlainProblem) -> Self {
        match problem {
            PlainProblem::Gone => Self::Gone,
            PlainProblem::Binary => Self::Binary,
            PlainProblem::TooLarge => Self::TooLarge,
            PlainProblem::Unreadable => Self::Unreadable,
            PlainProblem::Cancelled => Self::Cancelled,
        }
    }
}
