//! A directory as the files of a workspace: what the daemon does for guests, without its policy.

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use moss_plugin_host::services::{
    FileError, FileKind, FoundNames, GuestFile, GuestFiles, GuestStore, HttpBody, HttpError,
    HttpOptions, LastLink, NoServices, ResolvedFile, Services,
};
use moss_sdk::code_search::CodeHit;
use moss_sdk::command::{GrantedCommand, GrantedCommandReport};
use moss_sdk::context::BoxFuture;
use moss_sdk::editor::{DefinitionKind, Definitions, Position, Symbol};
use moss_sdk::search::{TextQuery, TextQueryResult};
use moss_sdk::{RelPath, ToolError};

/// A directory of this machine as the files of a workspace.
pub(crate) struct Disk(PathBuf);

struct Opened {
    file: fs::File,
    found: ResolvedFile,
}

/// Serves the files beneath a directory, and nothing else.
pub(crate) fn disk(root: &Path) -> Arc<dyn Services> {
    Arc::new(Disk(root.canonicalize().unwrap()))
}

// === impl Disk ===

impl Disk {
    /// The real path of what a path leads to.
    fn real(&self, path: &RelPath) -> Result<RelPath, FileError> {
        let real = self.0.join(path.as_str()).canonicalize().map_err(why)?;
        let beneath = real.strip_prefix(&self.0).map_err(|_| FileError::NotPermitted)?;
        let text = beneath.to_str().filter(|text| !text.is_empty()).unwrap_or(".");
        RelPath::parse(text).map_err(|_| FileError::NotPermitted)
    }

    fn look(&self, path: &RelPath, last: LastLink) -> Result<ResolvedFile, FileError> {
        let real = match (last, path.parent(), path.file_name()) {
            (LastLink::Keep, Some(parent), Some(name)) => self.real(&parent)?.join(name).unwrap(),
            _ => self.real(path)?,
        };
        let metadata = fs::symlink_metadata(self.0.join(real.as_str())).map_err(why)?;
        Ok(ResolvedFile {
            kind: kind(metadata.file_type()).ok_or(FileError::NotPermitted)?,
            real,
            size_bytes: if metadata.is_dir() { 0 } else { metadata.len() },
            modified: metadata.modified().unwrap(),
            identity: u128::from(metadata.ino()),
        })
    }
}

impl GuestFiles for Disk {
    fn stat<'a>(
        &'a self,
        path: &'a RelPath,
        last: LastLink,
    ) -> BoxFuture<'a, Result<ResolvedFile, FileError>> {
        Box::pin(async move { self.look(path, last) })
    }

    fn list<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FoundNames, FileError>> {
        Box::pin(async move {
            let real = self.real(path)?;
            let mut names = Vec::new();
            for entry in fs::read_dir(self.0.join(real.as_str())).map_err(why)? {
                let entry = entry.map_err(why)?;
                if let Some(kind) = kind(entry.file_type().map_err(why)?) {
                    names.push((entry.file_name().into_string().unwrap(), kind));
                }
            }
            names.sort_by(|one, other| one.0.cmp(&other.0));
            Ok(FoundNames { real, names })
        })
    }

    fn open<'a>(
        &'a self,
        path: &'a RelPath,
    ) -> BoxFuture<'a, Result<Box<dyn GuestFile>, FileError>> {
        Box::pin(async move {
            let found = self.look(path, LastLink::Follow)?;
            if found.kind == FileKind::Directory {
                return Err(FileError::IsADirectory);
            }
            let file = fs::File::open(self.0.join(found.real.as_str())).map_err(why)?;
            Ok(Box::new(Opened { file, found }) as Box<dyn GuestFile>)
        })
    }

    fn read_link<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<String, FileError>> {
        Box::pin(async move {
            let target = fs::read_link(self.0.join(path.as_str())).map_err(why)?;
            Ok(target.to_str().unwrap().to_owned())
        })
    }
}

impl GuestFile for Opened {
    fn found(&self) -> &ResolvedFile {
        &self.found
    }

    fn read_at(&self, offset: u64, bytes_max: usize) -> BoxFuture<'_, Result<Bytes, FileError>> {
        Box::pin(async move {
            // The guest meets a read that takes its time.
            tokio::task::yield_now().await;
            let mut bytes = vec![0; bytes_max];
            let count = self.file.read_at(&mut bytes, offset).map_err(why)?;
            bytes.truncate(count);
            Ok(bytes.into())
        })
    }
}

impl Services for Disk {
    fn files(&self) -> &dyn GuestFiles {
        self
    }

    fn store(&self) -> &dyn GuestStore {
        &NoServices
    }

    fn variables(&self, is_granted: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
        NoServices.variables(is_granted)
    }

    fn send(
        &self,
        request: http::Request<HttpBody>,
        options: HttpOptions,
    ) -> BoxFuture<'_, Result<http::Response<HttpBody>, HttpError>> {
        NoServices.send(request, options)
    }

    fn call_tool<'a>(
        &'a self,
        name: &'a str,
        arguments: String,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        NoServices.call_tool(name, arguments)
    }

    fn symbols<'a>(
        &'a self,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<Symbol>>, ToolError>> {
        NoServices.symbols(path)
    }

    fn definitions<'a>(
        &'a self,
        path: &'a str,
        position: Position,
        kind: DefinitionKind,
    ) -> BoxFuture<'a, Result<Option<Definitions>, ToolError>> {
        NoServices.definitions(path, position, kind)
    }

    fn search(&self, query: TextQuery) -> BoxFuture<'_, Result<TextQueryResult, ToolError>> {
        NoServices.search(query)
    }

    fn declarations(&self, names: Vec<String>) -> BoxFuture<'_, Result<Vec<CodeHit>, ToolError>> {
        NoServices.declarations(names)
    }

    fn run_command(
        &self,
        command: GrantedCommand,
    ) -> BoxFuture<'_, Result<GrantedCommandReport, ToolError>> {
        NoServices.run_command(command)
    }
}

fn kind(kind: fs::FileType) -> Option<FileKind> {
    if kind.is_file() {
        Some(FileKind::File)
    } else if kind.is_dir() {
        Some(FileKind::Directory)
    } else {
        kind.is_symlink().then_some(FileKind::Link)
    }
}

fn why(error: io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound => FileError::NotFound,
        io::ErrorKind::NotADirectory => FileError::NotADirectory,
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            FileError::Loop
        }
        _ => FileError::Io,
    }
}
