//! `wasi:filesystem`, only for reading, over the files that the daemon lets the call see.
//!
//! A guest has one directory, `.`, the workspace as far as it was granted: what was granted stands
//! at its own path, above it there are only the directories on the way, beside it there is nothing.
//! So a single file is reached like any other, and what is left out inside a grant is not there.
//! Two names count for each path, the one that was asked for and the real one after all links:
//! both must be granted here, and the daemon holds both to the policy of the moment.
//!
//! Nothing changes a file: such calls end with `read-only`.

mod descriptors;
mod path;
mod stream;

use std::sync::Arc;

use moss_sdk::RelPath;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Descriptor, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode,
};
use wasmtime_wasi::p2::{FsError, FsResult};

use crate::imports::services::Served;
use crate::limits::{FILES_MAX, LISTED_BYTES_MAX, LimitReached};
use crate::services::{FileError, FileKind, GuestFile, LastLink, ResolvedFile};
use moss_plugin_list::grants::paths::{GrantedPaths, Sight};

/// The name of the one directory that a guest is given.
const ROOT: &str = ".";
/// What a name in a listing costs in memory beside its bytes.
const NAME_COST: usize = 32;

/// The host's side of the interfaces for one call.
pub(crate) struct Filesystem {
    granted: Arc<GrantedPaths>,
    served: Served,
    /// Shared by all open files, to count them.
    open_files: Arc<()>,
    /// How much memory the open listings take.
    listed_bytes: usize,
}

/// The interfaces with the table in which their resources are.
pub(crate) struct FilesystemView<'a> {
    pub(crate) filesystem: &'a mut Filesystem,
    pub(crate) table: &'a mut ResourceTable,
}

/// What a descriptor stands for.
#[derive(Clone)]
enum DescriptorTarget {
    /// A directory, by the path that it was asked for under: each use looks at it anew.
    Directory(RelPath),
    File(Arc<OpenGuestFile>),
}

/// An open file, held by its descriptor and by its streams.
struct OpenGuestFile {
    file: Box<dyn GuestFile>,
    _counted: Arc<()>,
}

/// A listing that is being read.
struct OpenListing {
    entries: std::vec::IntoIter<DirectoryEntry>,
    bytes: usize,
}

/// Links the interfaces with a store's data, of which `view` is their part.
pub(crate) fn add_to_linker<T: Send + 'static>(
    linker: &mut Linker<T>,
    view: fn(&mut T) -> FilesystemView<'_>,
) -> wasmtime::Result<()> {
    preopens::add_to_linker::<T, Filesystem>(linker, view)?;
    types::add_to_linker::<T, Filesystem>(linker, view)
}

impl HasData for Filesystem {
    type Data<'a> = FilesystemView<'a>;
}

// === impl Filesystem ===

impl Filesystem {
    pub(crate) fn new(granted: Arc<GrantedPaths>, served: Served) -> Self {
        Self { granted, served, open_files: Arc::default(), listed_bytes: 0 }
    }

    /// Says what a path leads to, where that was granted.
    async fn stat(&self, path: &RelPath, last: LastLink) -> Result<ResolvedFile, ErrorCode> {
        if self.granted.sight(path) == Sight::Nothing {
            return Err(self.beyond(path));
        }
        let found = self.served.services.files().stat(path, last).await;
        let found = found.map_err(|error| self.failed(path, error))?;
        self.admit(path, &found)?;
        Ok(found)
    }

    /// There is nothing, as far as the guest knows.
    fn beyond(&self, path: &RelPath) -> ErrorCode {
        self.served.trouble.note_refusal(self.served.rights.refusal_to_read(path));
        ErrorCode::NoEntry
    }

    fn failed(&self, path: &RelPath, error: FileError) -> ErrorCode {
        match error {
            FileError::NotPermitted => self.served.trouble.note(format!(
                "the policy does not let plugins read {path}, or it leads out of the workspace"
            )),
            // What is in the way of this is nothing that was refused before.
            _ => self.served.trouble.clear(),
        }
        error.into()
    }

    /// Opens a file that was granted; none where a directory is there.
    async fn open(&self, path: &RelPath) -> FsResult<Option<OpenGuestFile>> {
        match self.granted.sight(path) {
            Sight::Nothing => return Err(self.beyond(path).into()),
            Sight::OnTheWay => return Ok(None),
            Sight::Granted => {}
        }
        // One is the file system's own.
        if Arc::strong_count(&self.open_files) > FILES_MAX {
            return Err(FsError::trap(LimitReached::Files));
        }
        let counted = Arc::clone(&self.open_files);
        match self.served.services.files().open(path).await {
            Ok(file) => {
                self.admit(path, file.found())?;
                self.served.trouble.clear();
                Ok(Some(OpenGuestFile { file, _counted: counted }))
            }
            Err(FileError::IsADirectory) => Ok(None),
            Err(error) => Err(self.failed(path, error).into()),
        }
    }

    /// Holds what a path leads to to the grant, by both of its names.
    fn admit(&self, asked: &RelPath, found: &ResolvedFile) -> Result<(), ErrorCode> {
        let as_asked = self.granted.sight(asked);
        match as_asked.min(self.granted.sight(&found.real)) {
            Sight::Granted => Ok(()),
            Sight::OnTheWay if found.kind == FileKind::Directory => Ok(()),
            // A link that leads out of the grant. Where to is not shown.
            _ if as_asked == Sight::Granted => {
                let why = format!("{asked} is a link to what was not granted");
                self.served.trouble.note(why);
                Err(ErrorCode::NotPermitted)
            }
            _ => Err(self.beyond(asked)),
        }
    }

    /// The entries of a directory that are granted, or lie on the way to what is.
    async fn list(&self, path: &RelPath) -> Result<OpenListing, ErrorCode> {
        self.stat(path, LastLink::Follow).await?;
        let listed = self.served.services.files().list(path).await?;
        let sight = |name: &str| {
            let names = (path.join(name).ok()?, listed.real.join(name).ok()?);
            Some(self.granted.sight(&names.0).min(self.granted.sight(&names.1)))
        };
        let room = LISTED_BYTES_MAX - self.listed_bytes;
        let mut bytes = 0;
        let mut entries = Vec::new();
        for (name, kind) in &listed.names {
            match sight(name) {
                Some(Sight::Granted) => {}
                Some(Sight::OnTheWay) if *kind == FileKind::Directory => {}
                _ => continue,
            }
            bytes += name.len() + NAME_COST;
            if bytes > room {
                return Err(ErrorCode::InsufficientMemory);
            }
            entries.push(DirectoryEntry { type_: (*kind).into(), name: name.clone() });
        }
        Ok(OpenListing { entries: entries.into_iter(), bytes })
    }
}

// === impl FilesystemView ===

impl FilesystemView<'_> {
    fn node(&self, descriptor: &Resource<Descriptor>) -> wasmtime::Result<DescriptorTarget> {
        Ok(self.table.get::<DescriptorTarget>(&Resource::new_borrow(descriptor.rep()))?.clone())
    }

    /// The path of a directory.
    fn directory(&self, descriptor: &Resource<Descriptor>) -> FsResult<RelPath> {
        match self.node(descriptor).map_err(FsError::trap)? {
            DescriptorTarget::Directory(path) => Ok(path),
            DescriptorTarget::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    fn file(&self, descriptor: &Resource<Descriptor>) -> FsResult<Arc<OpenGuestFile>> {
        match self.node(descriptor).map_err(FsError::trap)? {
            DescriptorTarget::Directory(_) => Err(ErrorCode::IsDirectory.into()),
            DescriptorTarget::File(file) => Ok(file),
        }
    }

    fn push(&mut self, node: DescriptorTarget) -> FsResult<Resource<Descriptor>> {
        Ok(Resource::new_own(self.table.push(node)?.rep()))
    }

    fn push_listing(&mut self, listing: OpenListing) -> FsResult<Resource<DirectoryEntryStream>> {
        self.filesystem.listed_bytes += listing.bytes;
        Ok(Resource::new_own(self.table.push(listing)?.rep()))
    }
}

impl preopens::Host for FilesystemView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        // Who requests files and was granted none finds nothing in it, and learns why.
        let is_given =
            !self.filesystem.granted.is_empty() || self.filesystem.served.rights.requests_files();
        if !is_given {
            return Ok(Vec::new());
        }
        let root = self.table.push(DescriptorTarget::Directory(RelPath::root()))?;
        Ok(vec![(Resource::new_own(root.rep()), ROOT.to_owned())])
    }
}

// === impl FileError ===

impl From<FileError> for ErrorCode {
    fn from(error: FileError) -> Self {
        match error {
            FileError::NotFound => Self::NoEntry,
            FileError::NotPermitted => Self::NotPermitted,
            FileError::NotADirectory => Self::NotDirectory,
            FileError::IsADirectory => Self::IsDirectory,
            FileError::Loop => Self::Loop,
            FileError::TooLarge => Self::FileTooLarge,
            FileError::TooMany => Self::InsufficientMemory,
            FileError::Io => Self::Io,
        }
    }
}

impl From<FileKind> for DescriptorType {
    fn from(kind: FileKind) -> Self {
        match kind {
            FileKind::File => Self::RegularFile,
            FileKind::Directory => Self::Directory,
            FileKind::Link => Self::SymbolicLink,
        }
    }
}
