//! Reading files: whole ones, bounded, and windows of lines of files of any size.

#[cfg(target_os = "linux")]
mod cached;

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::context::{ScanPace, ScannedText, TextScanner};
use moss_sdk::file::{
    Content, EntryKind, FileBytes, FileDigest, FileLines, FileSnapshot, LineWindow, SkippedTexts,
    Visited, VisitedText,
};
use rustix::io::Errno;

use crate::buffers::Buffers;
use crate::error::Error;
use crate::handle::{self, CancelCheck, Patience, Stat};
use crate::large_texts;
use crate::lines;
use crate::options::Bound;
use crate::plain_text::{self, PlainProblem};
use crate::resolve::ResolvedPath;
use crate::root::Workspace;
use crate::text::{self, NotText};

/// A regular file opened for reading: what is read is that very file, whatever happens to its
/// name.
#[derive(Debug)]
pub struct OpenedFile<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) path: RelPath,
    pub(crate) real: RelPath,
    pub(crate) fd: OwnedFd,
    pub(crate) stat: Stat,
    pub(crate) patience: Patience,
    /// Whether somebody still waits for what is read.
    stop: CancelCheck<'a>,
    is_apart: bool,
    /// What an editor holds of it and has not saved.
    pub(crate) unsaved: Option<Arc<str>>,
}

// === impl Workspace ===

impl Workspace {
    /// Reads a whole regular file, up to [`Limits::edit_bytes_max`](crate::FileLimits).
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`]; `NotFound`, `NotAFile`, `TooLarge`, and `Encoding` for text that
    /// cannot be decoded without loss.
    pub fn read(&self, path: &RelPath) -> Result<FileSnapshot, Error> {
        self.open_for_reading(path)?.read()
    }

    /// Reads a window of lines of a text file up to [`Limits::read_bytes_max`](crate::FileLimits).
    /// UTF-8 and UTF-16 need constant memory; other encodings are bounded as in
    /// [`Workspace::read`]. The hash is over the whole file.
    ///
    /// # Errors
    ///
    /// As [`Workspace::read`]; `Binary` for what is not text.
    pub fn read_lines(&self, path: &RelPath, window: LineWindow) -> Result<FileLines, Error> {
        self.open_for_reading(path)?.read_lines(window)
    }

    /// Opens a regular file for reading, so that its real name can be looked at before its content
    /// is.
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`]; `NotFound`, `NotAFile`.
    pub fn open_for_reading(&self, path: &RelPath) -> Result<OpenedFile<'_>, Error> {
        let (place, fd, stat) = self.open_file(path)?;
        let (path, real) = (path.clone(), place.path);
        let patience = Patience::Wait;
        let (stop, is_apart, unsaved) = (CancelCheck::NEVER, false, None);
        Ok(OpenedFile { workspace: self, path, real, fd, stat, patience, stop, is_apart, unsaved })
    }

    /// See the Linux version: other systems cannot read without waiting.
    #[cfg(not(target_os = "linux"))]
    pub fn open_cached(&self, _path: &RelPath) -> Option<OpenedFile<'_>> {
        None
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn directory_cached(&self, _path: &RelPath) -> Option<crate::handle::Identity> {
        None
    }

    /// Opens a regular file for reading, after all links.
    pub(crate) fn open_file(&self, path: &RelPath) -> Result<(ResolvedPath, OwnedFd, Stat), Error> {
        self.retry(path, || {
            let place = self.existing(path)?;
            if place.stat.kind != EntryKind::File {
                return Err(Error::NotAFile { path: path.clone(), kind: place.stat.kind });
            }
            let fd = self.open_place(&place, handle::READ)?;
            let stat = handle::stat(&fd).map_err(|errno| Error::io(path, "look at", errno))?;
            Ok((place, fd, stat))
        })
    }

    /// Reads the bytes of a whole file that is small enough to be edited.
    pub(crate) fn read_bytes(&self, path: &RelPath) -> Result<(ResolvedPath, Vec<u8>), Error> {
        let (place, fd, stat) = self.open_file(path)?;
        check_size(path, stat.size_bytes, self.limits().edit())?;
        let opened = (&fd, stat.size_bytes);
        let bytes = self.read_whole(path, opened, (Patience::Wait, CancelCheck::NEVER))?;
        Ok((place, bytes))
    }

    /// Reads a file that was found to have so many bytes: then one read of a small one is enough.
    fn read_whole(
        &self,
        path: &RelPath,
        (fd, found_bytes): (&OwnedFd, u64),
        how: (Patience, CancelCheck<'_>),
    ) -> Result<Vec<u8>, Error> {
        let bound = self.limits().edit();
        let bytes = handle::read_until(fd, bound.bytes_max, Some(found_bytes), how)
            .map_err(|errno| self.unread(path, errno))?;
        check_size(path, bytes.len() as u64, bound)?;
        Ok(bytes)
    }

    pub(crate) fn unread(&self, path: &RelPath, errno: Errno) -> Error {
        #[cfg(target_os = "linux")]
        if errno == Errno::OPNOTSUPP {
            self.cached.give_up();
        }
        match errno {
            Errno::CANCELED => Error::Cancelled,
            errno => Error::io(path, "read", errno),
        }
    }
}

// === impl OpenedFile ===

impl<'a> OpenedFile<'a> {
    /// The size of its content on the disk.
    pub fn size_bytes(&self) -> u64 {
        self.stat.size_bytes
    }

    /// A file whose bytes are taken from memory or not at all.
    #[cfg(target_os = "linux")]
    pub(crate) fn cached(
        workspace: &'a Workspace,
        path: RelPath,
        real: RelPath,
        fd: OwnedFd,
        stat: Stat,
    ) -> Self {
        let (patience, stop, is_apart) = (Patience::AtOnce, CancelCheck::NEVER, false);
        Self { workspace, path, real, fd, stat, patience, stop, is_apart, unsaved: None }
    }

    /// Returns its real path, after all links.
    pub fn real(&self) -> &RelPath {
        &self.real
    }

    /// Returns how many names it has; those beside its real one are not known.
    pub fn names(&self) -> u64 {
        self.stat.names
    }

    /// Whether its owner may run it.
    pub fn is_executable(&self) -> bool {
        self.stat.mode & 0o100 != 0
    }

    /// Reads its bytes as they are on disk, up to [`Limits::edit_bytes_max`](crate::FileLimits).
    ///
    /// # Errors
    ///
    /// `TooLarge`; `Cancelled`.
    pub fn saved_bytes(&self) -> Result<Vec<u8>, Error> {
        check_size(&self.path, self.stat.size_bytes, self.workspace.limits().edit())?;
        self.read_whole()
    }

    /// Hands out the open file, for content that has bounds of its own.
    pub fn into_file(self) -> std::fs::File {
        self.fd.into()
    }

    /// Reads no further once the function says that nobody waits for it any more: reading fails with
    /// `Cancelled` then.
    #[must_use]
    pub fn unless(mut self, cancelled: &'a (dyn Fn() -> bool + Sync)) -> Self {
        self.stop = CancelCheck(cancelled);
        self
    }

    /// Lets a scan of a large text wait for none of those of others, as [`VisitGate::is_apart`](crate::VisitGate).
    #[must_use]
    pub fn apart(mut self, is_apart: bool) -> Self {
        self.is_apart = is_apart;
        self
    }

    /// Reads its bytes as they are on disk; whether they are few enough was looked at before.
    fn read_whole(&self) -> Result<Vec<u8>, Error> {
        let (opened, how) = ((&self.fd, self.stat.size_bytes), (self.patience, self.stop));
        self.workspace.read_whole(&self.path, opened, how)
    }

    /// Takes what an editor has not saved of it for its content, where there is such a text.
    #[must_use]
    pub fn over(mut self, buffers: &(impl Buffers + ?Sized)) -> Self {
        self.unsaved = buffers.unsaved(&self.real);
        self
    }

    /// Reads it whole, as [`Workspace::read`].
    ///
    /// # Errors
    ///
    /// As [`Workspace::read`].
    pub fn read(&self) -> Result<FileSnapshot, Error> {
        let path = &self.path;
        let bytes = match &self.unsaved {
            Some(text) => text.as_bytes().into(),
            None => {
                check_size(path, self.stat.size_bytes, self.workspace.limits().edit())?;
                Cow::Owned(self.read_whole()?)
            }
        };
        let content = match text::decode(&bytes) {
            Ok(text) => Content::Text(text),
            Err(NotText::Binary) => Content::Binary,
            Err(NotText::Encoding) => return Err(undecodable(path)),
        };
        let hash = handle::hash(&bytes);
        let (size_bytes, unsaved) = (bytes.len() as u64, self.unsaved.is_some());
        Ok(FileSnapshot { hash, size_bytes, content, unsaved })
    }

    /// Has a scanner look at its text as [`Workspace::visit_texts`] does. What has no text is counted.
    ///
    /// # Errors
    ///
    /// `Cancelled`, also where it would have to be waited for and nobody does.
    pub fn scan_text(&self, scanner: &mut dyn TextScanner) -> Result<ScannedText, Error> {
        let pace = ScanPace::new(self.stop.0);
        let mut scan = |text: &str| {
            let finding = scanner.scan_paced(VisitedText { path: &self.path, text }, &pace);
            let visited = Visited { files: 1, ..Visited::default() };
            if pace.is_stopped() { Err(Error::Cancelled) } else { Ok((finding, visited)) }
        };
        if let Some(text) = &self.unsaved {
            return scan(text);
        }
        if self.patience != Patience::Wait {
            return Err(Error::Cancelled);
        }
        let (opened, mut buffer) = ((&self.fd, self.stat.size_bytes), Vec::new());
        let is_large = opened.1 > plain_text::LARGE_BYTES;
        let cancelled = self.stop.0;
        let turns = (&self.workspace.large_texts, self.is_apart);
        let _alone = match is_large {
            true => Some(large_texts::turn(turns, cancelled).ok_or(Error::Cancelled)?),
            false => None,
        };
        let bytes_max = self.workspace.limits().search_bytes_max;
        let filled = plain_text::fill(&mut buffer, opened, bytes_max, cancelled);
        let mut skipped = SkippedTexts::default();
        match filled.and_then(|size| plain_text::decoded(&buffer[..size])) {
            Ok(text) => return scan(&text),
            Err(PlainProblem::Cancelled) => return Err(Error::Cancelled),
            Err(PlainProblem::Binary) => skipped.binary = 1,
            Err(PlainProblem::TooLarge) => skipped.too_large = 1,
            Err(PlainProblem::Gone | PlainProblem::Unreadable) => skipped.unreadable = 1,
        }
        Ok((None, Visited { skipped, ..Visited::default() }))
    }

    /// Hashes it, up to [`Limits::read_bytes_max`](crate::FileLimits), whatever it holds.
    ///
    /// # Errors
    ///
    /// `TooLarge`; `Cancelled`.
    pub fn digest(&self) -> Result<FileDigest, Error> {
        let path = &self.path;
        if let Some(text) = &self.unsaved {
            let bytes = text.as_bytes();
            return Ok(FileDigest { hash: handle::hash(bytes), size_bytes: bytes.len() as u64 });
        }
        let bound = self.workspace.limits().read();
        check_size(path, self.stat.size_bytes, bound)?;
        let (bytes_max, found_bytes) = (bound.bytes_max, self.stat.size_bytes);
        let how = (self.patience, self.stop);
        let (hash, size_bytes) = handle::hash_to(&self.fd, bytes_max, found_bytes, how)
            .map_err(|errno| self.workspace.unread(path, errno))?;
        check_size(path, size_bytes, bound)?;
        Ok(FileDigest { hash, size_bytes })
    }

    /// Reads its bytes, whatever they are; none where there are more than so many, or more than in a file
    /// that is edited.
    ///
    /// # Errors
    ///
    /// What reading can meet; `Cancelled`.
    pub fn read_bytes(&self, bytes_max: u64) -> Result<Option<FileBytes>, Error> {
        let bytes_max = bytes_max.min(self.workspace.limits().edit().bytes_max);
        let bytes = match &self.unsaved {
            Some(text) => text.as_bytes().to_vec(),
            None if self.stat.size_bytes > bytes_max => return Ok(None),
            None => self.read_whole()?,
        };
        let fits = bytes.len() as u64 <= bytes_max;
        Ok(fits.then(|| FileBytes { hash: handle::hash(&bytes), bytes }))
    }

    /// Its content, where it is at most so large and can be read.
    pub(crate) fn bytes_up_to(&self, bytes_max: u64) -> Option<Vec<u8>> {
        let bytes = match &self.unsaved {
            Some(text) => text.as_bytes().to_vec(),
            None => handle::read_to(&self.fd, bytes_max, self.patience).ok()?,
        };
        (bytes.len() as u64 <= bytes_max).then_some(bytes)
    }

    /// Reads a window of its lines, as [`Workspace::read_lines`].
    ///
    /// # Errors
    ///
    /// As [`Workspace::read_lines`].
    pub fn read_lines(&self, window: LineWindow) -> Result<FileLines, Error> {
        let path = &self.path;
        if let Some(unsaved) = &self.unsaved {
            let bytes = unsaved.as_bytes();
            let text = text::decode(bytes).map_err(|not| refusal(path, not))?;
            let lines = lines::of_text(&text, handle::hash(bytes), bytes.len() as u64, window);
            return Ok(FileLines { unsaved: true, ..lines });
        }
        let bound = self.workspace.limits().read();
        check_size(path, self.stat.size_bytes, bound)?;
        let (bytes_max, found_bytes) = (bound.bytes_max, self.stat.size_bytes);
        let how = (self.patience, self.stop);
        let streamed = lines::stream(&self.fd, bytes_max, found_bytes, how, window)
            .map_err(|errno| self.workspace.unread(path, errno))?;
        if let Some((lines, size_bytes)) = streamed {
            check_size(path, size_bytes, bound)?;
            return lines.map_err(|not| refusal(path, not));
        }
        // Neither UTF-8 nor UTF-16: the encoding can only be detected from the whole file.
        let bytes = self.read_whole()?;
        let text = text::decode(&bytes).map_err(|not| refusal(path, not))?;
        Ok(lines::of_text(&text, handle::hash(&bytes), bytes.len() as u64, window))
    }
}

pub(crate) fn check_size(path: &RelPath, size_bytes: u64, bound: Bound) -> Result<(), Error> {
    let Bound { bytes_max, setting } = bound;
    if size_bytes <= bytes_max {
        return Ok(());
    }
    Err(Error::TooLarge { path: path.clone(), size_bytes, bytes_max, setting, is_new: false })
}

pub(crate) fn refusal(path: &RelPath, not: NotText) -> Error {
    match not {
        NotText::Binary => Error::Binary { path: path.clone() },
        NotText::Encoding => undecodable(path),
    }
}

fn undecodable(path: &RelPath) -> Error {
    let reason = "the text cannot be decoded without loss".to_owned();
    Error::Encoding { path: path.clone(), reason }
}
