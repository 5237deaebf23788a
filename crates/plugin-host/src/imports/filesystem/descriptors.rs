//! What a guest does with descriptors and listings.

use std::sync::Arc;
use std::time::SystemTime;

use moss_sdk::RelPath;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
    DirectoryEntryStream, ErrorCode, Filesize, HostDescriptor, HostDirectoryEntryStream,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

use super::stream::{FileStream, PART_BYTES_MAX};
use super::{DescriptorTarget, Filesystem, FilesystemView, OpenListing};
use crate::services::{FileError, FileKind, LastLink, ResolvedFile};

/// What would change files, and what would make them.
const CHANGING: [DescriptorFlags; 2] = [DescriptorFlags::WRITE, DescriptorFlags::MUTATE_DIRECTORY];
const MAKING: [OpenFlags; 3] = [OpenFlags::CREATE, OpenFlags::EXCLUSIVE, OpenFlags::TRUNCATE];
/// What only means something where files are changed.
const SYNCING: [DescriptorFlags; 3] = [
    DescriptorFlags::FILE_INTEGRITY_SYNC,
    DescriptorFlags::DATA_INTEGRITY_SYNC,
    DescriptorFlags::REQUESTED_WRITE_SYNC,
];

fn read_only<T>() -> FsResult<T> {
    Err(ErrorCode::ReadOnly.into())
}

// === impl Filesystem ===

impl Filesystem {
    /// Says what a text leads to, beneath a directory.
    async fn stat_at(
        &self,
        base: &RelPath,
        flags: PathFlags,
        text: &str,
    ) -> Result<ResolvedFile, ErrorCode> {
        let asked = self.locate(base, text).await?;
        let follows = asked.is_directory || flags.contains(PathFlags::SYMLINK_FOLLOW);
        let last = if follows { LastLink::Follow } else { LastLink::Keep };
        let found = self.stat(&asked.path, last).await?;
        if asked.is_directory && found.kind != FileKind::Directory {
            return Err(ErrorCode::NotDirectory);
        }
        Ok(found)
    }

    /// Says what a descriptor stands for.
    async fn found(&self, node: DescriptorTarget) -> Result<ResolvedFile, ErrorCode> {
        match node {
            DescriptorTarget::Directory(path) => self.stat(&path, LastLink::Follow).await,
            DescriptorTarget::File(file) => Ok(file.file.found().clone()),
        }
    }

    async fn open_at(
        &self,
        base: &RelPath,
        path_flags: PathFlags,
        text: &str,
        open_flags: OpenFlags,
    ) -> FsResult<DescriptorTarget> {
        let asked = self.locate(base, text).await?;
        if !asked.is_directory && !path_flags.contains(PathFlags::SYMLINK_FOLLOW) {
            let found = self.stat(&asked.path, LastLink::Keep).await?;
            if found.kind == FileKind::Link {
                return Err(ErrorCode::Loop.into());
            }
        }
        let wants_directory = asked.is_directory || open_flags.contains(OpenFlags::DIRECTORY);
        if !wants_directory && let Some(file) = self.open(&asked.path).await? {
            return Ok(DescriptorTarget::File(Arc::new(file)));
        }
        match self.stat(&asked.path, LastLink::Follow).await?.kind {
            FileKind::Directory => Ok(DescriptorTarget::Directory(asked.path)),
            FileKind::File | FileKind::Link => Err(ErrorCode::NotDirectory.into()),
        }
    }
}

// === impl FilesystemView ===

impl types::Host for FilesystemView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        let error = self.table.get(&error)?;
        Ok(error.downcast_ref::<FileError>().map(|error| (*error).into()))
    }
}

impl HostDescriptor for FilesystemView<'_> {
    fn read_via_stream(
        &mut self,
        file: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynInputStream>> {
        let stream: DynInputStream = Box::new(FileStream::new(self.file(&file)?, offset));
        Ok(self.table.push(stream)?)
    }

    fn write_via_stream(
        &mut self,
        _: Resource<Descriptor>,
        _: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        read_only()
    }

    fn append_via_stream(
        &mut self,
        _: Resource<Descriptor>,
    ) -> FsResult<Resource<DynOutputStream>> {
        read_only()
    }

    async fn advise(
        &mut self,
        file: Resource<Descriptor>,
        _: Filesize,
        _: Filesize,
        _: Advice,
    ) -> FsResult<()> {
        self.file(&file).map(drop)
    }

    async fn sync_data(&mut self, _: Resource<Descriptor>) -> FsResult<()> {
        Ok(())
    }

    async fn get_flags(&mut self, _: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        Ok(DescriptorFlags::READ)
    }

    async fn get_type(&mut self, descriptor: Resource<Descriptor>) -> FsResult<DescriptorType> {
        Ok(match self.node(&descriptor).map_err(FsError::trap)? {
            DescriptorTarget::Directory(_) => DescriptorType::Directory,
            DescriptorTarget::File(_) => DescriptorType::RegularFile,
        })
    }

    async fn set_size(&mut self, _: Resource<Descriptor>, _: Filesize) -> FsResult<()> {
        read_only()
    }

    async fn set_times(
        &mut self,
        _: Resource<Descriptor>,
        _: NewTimestamp,
        _: NewTimestamp,
    ) -> FsResult<()> {
        read_only()
    }

    async fn read(
        &mut self,
        file: Resource<Descriptor>,
        length: Filesize,
        offset: Filesize,
    ) -> FsResult<(Vec<u8>, bool)> {
        let file = self.file(&file)?;
        let bytes_max = usize::try_from(length).unwrap_or(usize::MAX).min(PART_BYTES_MAX);
        let bytes = file.file.read_at(offset, bytes_max).await.map_err(ErrorCode::from)?;
        let is_end = bytes.is_empty() && bytes_max > 0;
        Ok((bytes.into(), is_end))
    }

    async fn write(
        &mut self,
        _: Resource<Descriptor>,
        _: Vec<u8>,
        _: Filesize,
    ) -> FsResult<Filesize> {
        read_only()
    }

    async fn read_directory(
        &mut self,
        directory: Resource<Descriptor>,
    ) -> FsResult<Resource<DirectoryEntryStream>> {
        let path = self.directory(&directory)?;
        let listing = self.filesystem.list(&path).await?;
        self.push_listing(listing)
    }

    async fn sync(&mut self, _: Resource<Descriptor>) -> FsResult<()> {
        Ok(())
    }

    async fn create_directory_at(&mut self, _: Resource<Descriptor>, _: String) -> FsResult<()> {
        read_only()
    }

    async fn stat(&mut self, descriptor: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        let node = self.node(&descriptor).map_err(FsError::trap)?;
        Ok(self.filesystem.found(node).await?.into())
    }

    async fn stat_at(
        &mut self,
        directory: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let base = self.directory(&directory)?;
        Ok(self.filesystem.stat_at(&base, flags, &path).await?.into())
    }

    async fn set_times_at(
        &mut self,
        _: Resource<Descriptor>,
        _: PathFlags,
        _: String,
        _: NewTimestamp,
        _: NewTimestamp,
    ) -> FsResult<()> {
        read_only()
    }

    async fn link_at(
        &mut self,
        _: Resource<Descriptor>,
        _: PathFlags,
        _: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        read_only()
    }

    async fn open_at(
        &mut self,
        directory: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let has = |flag: &DescriptorFlags| flags.contains(*flag);
        if CHANGING.iter().any(has) || MAKING.iter().any(|flag| open_flags.contains(*flag)) {
            return read_only();
        }
        if SYNCING.iter().any(has) {
            return Err(ErrorCode::Unsupported.into());
        }
        let base = self.directory(&directory)?;
        let node = self.filesystem.open_at(&base, path_flags, &path, open_flags).await?;
        self.push(node)
    }

    async fn readlink_at(
        &mut self,
        directory: Resource<Descriptor>,
        path: String,
    ) -> FsResult<String> {
        let base = self.directory(&directory)?;
        let asked = self.filesystem.locate(&base, &path).await?;
        let found = self.filesystem.stat(&asked.path, LastLink::Keep).await?;
        if asked.is_directory || found.kind != FileKind::Link {
            return Err(ErrorCode::Invalid.into());
        }
        let files = self.filesystem.served.services.files();
        let target = files.read_link(&asked.path).await.map_err(ErrorCode::from)?;
        // Where the workspace lies is not exposed to a guest.
        if target.starts_with('/') { Err(ErrorCode::NotPermitted.into()) } else { Ok(target) }
    }

    async fn remove_directory_at(&mut self, _: Resource<Descriptor>, _: String) -> FsResult<()> {
        read_only()
    }

    async fn rename_at(
        &mut self,
        _: Resource<Descriptor>,
        _: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        read_only()
    }

    async fn symlink_at(&mut self, _: Resource<Descriptor>, _: String, _: String) -> FsResult<()> {
        read_only()
    }

    async fn unlink_file_at(&mut self, _: Resource<Descriptor>, _: String) -> FsResult<()> {
        read_only()
    }

    async fn is_same_object(
        &mut self,
        one: Resource<Descriptor>,
        other: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        let nodes = (self.node(&one)?, self.node(&other)?);
        let found = (self.filesystem.found(nodes.0).await, self.filesystem.found(nodes.1).await);
        Ok(matches!(found, (Ok(one), Ok(other)) if one.identity == other.identity))
    }

    async fn metadata_hash(
        &mut self,
        descriptor: Resource<Descriptor>,
    ) -> FsResult<MetadataHashValue> {
        let node = self.node(&descriptor).map_err(FsError::trap)?;
        Ok(hash(&self.filesystem.found(node).await?))
    }

    async fn metadata_hash_at(
        &mut self,
        directory: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let base = self.directory(&directory)?;
        Ok(hash(&self.filesystem.stat_at(&base, flags, &path).await?))
    }

    fn drop(&mut self, descriptor: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<DescriptorTarget>::new_own(descriptor.rep()))?;
        Ok(())
    }
}

impl HostDirectoryEntryStream for FilesystemView<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let listing = Resource::<OpenListing>::new_borrow(stream.rep());
        Ok(self.table.get_mut(&listing)?.entries.next())
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        let listing = self.table.delete(Resource::<OpenListing>::new_own(stream.rep()))?;
        self.filesystem.listed_bytes -= listing.bytes;
        Ok(())
    }
}

/// Makes of the identity of a file what guests compare.
fn hash(found: &ResolvedFile) -> MetadataHashValue {
    let [lower, upper] = [found.identity as u64, (found.identity >> 64) as u64];
    MetadataHashValue { lower, upper }
}

// === impl ResolvedFile ===

impl From<ResolvedFile> for DescriptorStat {
    fn from(found: ResolvedFile) -> Self {
        let since = found.modified.duration_since(SystemTime::UNIX_EPOCH).ok();
        let modified = since
            .map(|since| Datetime { seconds: since.as_secs(), nanoseconds: since.subsec_nanos() });
        Self {
            type_: found.kind.into(),
            link_count: 1,
            size: found.size_bytes,
            data_access_timestamp: None,
            data_modification_timestamp: modified,
            status_change_timestamp: None,
        }
    }
}
