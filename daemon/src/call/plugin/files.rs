//! The workspace's files as a plugin's call sees them: each use is held to the policy of that
//! moment, by the real name and by the one that was asked for, and nobody is asked.
//!
//! What a plugin may not read is not in a listing either. Names that decide what other programs do,
//! such as `.git`, are out of its sight unless the grant names them: built-in tools read them, but
//! a plugin may pass on what it reads. A file with several names may have others that were not granted:
//! it is not read. What ignore files name is shown: whoever grants a directory
//! grants what is in it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use moss_plugin_host::services::{
    FileError, FileKind, FoundNames, GuestFile, GuestFiles, LastLink, ResolvedFile,
};
use moss_plugin_list::{Grant, grants::is_within};
use moss_sdk::RelPath;
use moss_sdk::context::BoxFuture;
use moss_sdk::file::EntryKind;
use moss_workspace::{Error, HeldFile, PathInfo, Protection};

use crate::call::effect::{Effects, FileNames};
use crate::call::read_access::ReadAccess;
use crate::call::{CallScope, record};
use moss_dispatch::blocking::Broken;
use moss_policy::{Action, Decision, Policy, Verdict};

/// Most refused reads of one call that are recorded, each file once.
const REFUSALS_RECORDED_MAX: usize = 32;

/// The files of one call of a plugin.
pub(in crate::call) struct CallFiles {
    scope: Arc<CallScope>,
    effects: Arc<Effects>,
    /// What of the grant is protected and named by it all the same.
    named: Arc<[RelPath]>,
    recorded: Mutex<BTreeSet<RelPath>>,
    has_broken: Arc<AtomicBool>,
}

/// Decides what may be seen; owned, so that it can go to a blocking thread.
#[derive(Clone)]
struct GuestFileGate {
    reader: ReadAccess,
    named: Arc<[RelPath]>,
}

/// Why a file is not opened.
enum NotOpened {
    Failed(FileError),
    Refused(RelPath, Decision),
}

/// A file that a guest holds open.
struct Opened {
    scope: Arc<CallScope>,
    gate: GuestFileGate,
    effects: Arc<Effects>,
    asked: RelPath,
    found: ResolvedFile,
    file: Arc<HeldFile>,
    has_broken: Arc<AtomicBool>,
}

/// Runs work for a guest, which knows no defects of moss: one is noted beside what it gets.
async fn blocking<T: Send + 'static>(
    scope: &CallScope,
    has_broken: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, FileError> {
    scope.blocking(work).await.map_err(|Broken| {
        has_broken.store(true, Ordering::Relaxed);
        FileError::Io
    })
}

// === impl CallFiles ===

impl CallFiles {
    pub(in crate::call) fn new(
        scope: Arc<CallScope>,
        effects: Arc<Effects>,
        grant: &Grant,
    ) -> Self {
        let paths = grant.files.iter().map(|files| &files.path);
        let files = &scope.workspace.files;
        let named = paths.filter(|path| files.protection(path).is_some()).cloned().collect();
        let (recorded, has_broken) = (Mutex::default(), Arc::default());
        Self { scope, effects, named, recorded, has_broken }
    }

    /// Whether a defect of moss kept the guest from a file.
    pub(super) fn has_broken(&self) -> bool {
        self.has_broken.load(Ordering::Relaxed)
    }

    /// What decides by the rules of this moment.
    fn gate(&self) -> GuestFileGate {
        let reader = ReadAccess::new(&self.scope, &self.effects);
        GuestFileGate { reader, named: Arc::clone(&self.named) }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&GuestFileGate) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, FileError> {
        let gate = self.gate();
        blocking(&self.scope, &self.has_broken, move || work(&gate)).await?
    }

    async fn open_file(&self, path: &RelPath) -> Result<Opened, FileError> {
        let gate = self.gate();
        let opened = match gate.open_cached(path) {
            Some(opened) => Ok(opened),
            None => {
                let (gate, path) = (gate.clone(), path.clone());
                let open = move || gate.open(&path);
                blocking(&self.scope, &self.has_broken, open).await?
            }
        };
        match opened {
            Ok(file) => Ok(Opened {
                scope: Arc::clone(&self.scope),
                gate,
                effects: Arc::clone(&self.effects),
                asked: path.clone(),
                found: found(file.looked(), FileKind::File),
                file: Arc::new(file),
                has_broken: Arc::clone(&self.has_broken),
            }),
            Err(NotOpened::Failed(error)) => Err(error),
            Err(NotOpened::Refused(real, decision)) => {
                self.record(&real, &decision).await?;
                Err(FileError::NotPermitted)
            }
        }
    }

    /// Records that the policy does not let a file be read.
    async fn record(&self, real: &RelPath, decision: &Decision) -> Result<(), FileError> {
        {
            let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
            if recorded.len() == REFUSALS_RECORDED_MAX || !recorded.insert(real.clone()) {
                return Ok(());
            }
        }
        let written = record::decided(&self.scope, Action::Read, Some(real), None, decision).await;
        written.map_err(|_| FileError::Io)
    }
}

impl GuestFiles for CallFiles {
    fn stat<'a>(
        &'a self,
        path: &'a RelPath,
        last: LastLink,
    ) -> BoxFuture<'a, Result<ResolvedFile, FileError>> {
        let path = path.clone();
        Box::pin(self.blocking(move |gate| gate.stat(&path, last)))
    }

    fn list<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FoundNames, FileError>> {
        let path = path.clone();
        Box::pin(self.blocking(move |gate| gate.list(&path)))
    }

    fn open<'a>(
        &'a self,
        path: &'a RelPath,
    ) -> BoxFuture<'a, Result<Box<dyn GuestFile>, FileError>> {
        Box::pin(async move { Ok(Box::new(self.open_file(path).await?) as Box<dyn GuestFile>) })
    }

    fn read_link<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<String, FileError>> {
        let path = path.clone();
        Box::pin(self.blocking(move |gate| {
            gate.stat(&path, LastLink::Keep)?;
            gate.reader.workspace().files.link_target(&path).map_err(why)
        }))
    }
}

// === impl GuestFileGate ===

impl GuestFileGate {
    fn stat(&self, path: &RelPath, last: LastLink) -> Result<ResolvedFile, FileError> {
        let workspace = self.reader.workspace();
        let last = match last {
            LastLink::Follow => moss_workspace::LastLink::Follow,
            LastLink::Keep => moss_workspace::LastLink::Keep,
        };
        let mut looked = workspace.files.look(path, last).map_err(why)?;
        let kind = kind_of(looked.kind).ok_or(FileError::NotPermitted)?;
        if kind == FileKind::File && looked.names > 1 {
            return Err(FileError::NotPermitted);
        }
        if !self.shows(FileNames { real: &looked.real, asked: path }, kind) {
            return Err(FileError::NotPermitted);
        }
        if kind == FileKind::File
            && let Some(text) = moss_workspace::Buffers::unsaved(&*workspace.editors, &looked.real)
        {
            looked.size_bytes = text.len() as u64;
        }
        Ok(found(&looked, kind))
    }

    fn list(&self, path: &RelPath) -> Result<FoundNames, FileError> {
        let listed = self.reader.workspace().files.names(path).map_err(why)?;
        if !self.shows(FileNames { real: &listed.real, asked: path }, FileKind::Directory) {
            return Err(FileError::NotPermitted);
        }
        let shown = |(name, kind): (String, EntryKind)| {
            let kind = kind_of(kind)?;
            if listed.hard_linked.contains(&name) {
                return None;
            }
            let (real, asked) = (listed.real.join(&name).ok()?, path.join(&name).ok()?);
            self.shows(FileNames { real: &real, asked: &asked }, kind).then_some((name, kind))
        };
        let names = listed.names.into_iter().filter_map(shown).collect();
        Ok(FoundNames { real: listed.real, names })
    }

    /// Opens what is in memory; none where it is not, or may not be read.
    fn open_cached(&self, path: &RelPath) -> Option<HeldFile> {
        let workspace = self.reader.workspace();
        let opened = workspace.files.open_cached(path)?.over(&*workspace.editors);
        let names = FileNames { real: opened.real(), asked: path };
        let may_read = opened.names() == 1
            && !self.is_hidden(names)
            && self.reader.decide(names).verdict == Verdict::Allow;
        if may_read { opened.hold().ok() } else { None }
    }

    fn open(&self, path: &RelPath) -> Result<HeldFile, NotOpened> {
        let workspace = self.reader.workspace();
        let opened = workspace.files.open_for_reading(path)?.over(&*workspace.editors);
        let names = FileNames { real: opened.real(), asked: path };
        if opened.names() > 1 || self.is_hidden(names) {
            return Err(NotOpened::Failed(FileError::NotPermitted));
        }
        let decision = self.reader.decide(names);
        match decision.verdict {
            Verdict::Allow => Ok(opened.hold()?),
            Verdict::Ask | Verdict::Deny => {
                Err(NotOpened::Refused(opened.real().clone(), decision))
            }
        }
    }

    /// Whether a name is shown: that of a file that could be read, or of a directory that a listing
    /// shows.
    fn shows(&self, names: FileNames<'_>, kind: FileKind) -> bool {
        if self.is_hidden(names) {
            return false;
        }
        match kind {
            FileKind::File | FileKind::Link => self.reader.could_read(names),
            FileKind::Directory => {
                let files = &self.reader.workspace().files;
                [names.real, names.asked].into_iter().all(|name| {
                    let is_secret = files.protection(name) == Some(Protection::Secret);
                    self.reader.lists(name) && (!is_secret || self.reader.could_read(names))
                })
            }
        }
    }

    /// Whether a name is protected for what it makes other programs do, and the grant does not name
    /// it.
    fn is_hidden(&self, names: FileNames<'_>) -> bool {
        let files = &self.reader.workspace().files;
        [names.real, names.asked].into_iter().any(|name| {
            matches!(files.protection(name), Some(Protection::Code | Protection::Metadata))
                && !self.named.iter().any(|named| is_within(name, named))
        })
    }
}

// === impl Opened ===

impl Opened {
    /// Whether the policy of this moment still lets it be read.
    fn may_read(&self) -> bool {
        let policy: &Arc<Policy> = &self.scope.workspace.policy.load();
        if Arc::ptr_eq(policy, &self.gate.reader.policy) {
            return true;
        }
        let names = FileNames { real: &self.found.real, asked: &self.asked };
        ReadAccess::new(&self.scope, &self.effects).decide(names).verdict == Verdict::Allow
    }
}

impl GuestFile for Opened {
    fn found(&self) -> &ResolvedFile {
        &self.found
    }

    fn read_at(&self, offset: u64, bytes_max: usize) -> BoxFuture<'_, Result<Bytes, FileError>> {
        Box::pin(async move {
            if !self.may_read() {
                return Err(FileError::NotPermitted);
            }
            if let Some(part) = self.file.part_in_memory(offset, bytes_max) {
                return Ok(Bytes::copy_from_slice(part));
            }
            let file = Arc::clone(&self.file);
            let read = move || file.read_at(offset, bytes_max);
            let read = blocking(&self.scope, &self.has_broken, read).await?;
            Ok(read.map_err(why)?.into())
        })
    }
}

impl From<Error> for NotOpened {
    fn from(error: Error) -> Self {
        Self::Failed(why(error))
    }
}

fn found(looked: &PathInfo, kind: FileKind) -> ResolvedFile {
    let (device, inode) = (looked.identity.device, looked.identity.inode);
    let digest = blake3::hash(&[device.to_le_bytes(), inode.to_le_bytes()].concat());
    let first = digest.as_bytes().first_chunk().expect("a digest has 32 bytes");
    ResolvedFile {
        real: looked.real.clone(),
        kind,
        size_bytes: if kind == FileKind::Directory { 0 } else { looked.size_bytes },
        modified: looked.modified,
        identity: u128::from_le_bytes(*first),
    }
}

/// FIFOs, sockets and devices are nothing to a guest.
fn kind_of(kind: EntryKind) -> Option<FileKind> {
    match kind {
        EntryKind::File => Some(FileKind::File),
        EntryKind::Directory => Some(FileKind::Directory),
        EntryKind::Symlink => Some(FileKind::Link),
        EntryKind::Other => None,
    }
}

/// Says why in the words that guests know.
fn why(error: Error) -> FileError {
    match error {
        Error::NotFound { .. } | Error::Dangling { .. } => FileError::NotFound,
        Error::NotADirectory { .. } => FileError::NotADirectory,
        Error::NotAFile { kind: EntryKind::Directory, .. } => FileError::IsADirectory,
        Error::LinkLoop { .. } => FileError::Loop,
        Error::TooLarge { .. } => FileError::TooLarge,
        Error::Limit { .. } => FileError::TooMany,
        Error::NotAFile { .. }
        | Error::Outside { .. }
        | Error::OtherFilesystem { .. }
        | Error::Protected { .. }
        | Error::Secret { .. }
        | Error::Alias { .. }
        | Error::Unnameable { .. } => FileError::NotPermitted,
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
            FileError::NotPermitted
        }
        _ => FileError::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::tests::TestDaemon;

    #[tokio::test]
    async fn a_defect_is_noted_beside_the_error_that_the_guest_gets() {
        let site = TestDaemon::new(&[""]);
        let (scope, has_broken) = (site.scope("read_file"), AtomicBool::new(false));
        assert_eq!(blocking(&scope, &has_broken, || 1).await, Ok(1));
        assert!(!has_broken.load(Ordering::Relaxed));
        let broken = blocking(&scope, &has_broken, || -> u8 { panic!("a defect") }).await;
        assert_eq!(broken, Err(FileError::Io));
        assert!(has_broken.load(Ordering::Relaxed));
    }
}
