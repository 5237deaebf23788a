//! What commands wrote, whole, where a result has no room for it: files in the directory `artifacts`
//! of the state directory of a workspace. Who made one, and approvers, may read it.
//!
//! A file is at most [`ARTIFACT_BYTES_MAX`] long and all together take at most [`TOTAL_BYTES_MAX`], of which each owner
//! has a share: see [`OwnRoom`]. None takes the last [`FREE_BYTES_MIN`] of its disk, which history and journal need.

use std::io::Write as _;
use std::path::Path;
use std::time::SystemTime;

use moss_sdk::file::{FileLines, LineWindow};
use moss_sdk::{ErrorCode, ToolError};
use moss_workspace::own::{
    OwnAppender, OwnBounds, OwnDir, OwnFile, OwnReader, OwnRoom, WriterRoom,
};

use moss_dispatch::{Caller, Role};

/// Most bytes of one file.
pub const ARTIFACT_BYTES_MAX: u64 = 64 << 20;
/// Most bytes of all files of a workspace.
pub const TOTAL_BYTES_MAX: u64 = 1 << 30;
/// Most bytes of what one caller is writing at once.
pub const WRITING_BYTES_MAX: u64 = TOTAL_BYTES_MAX / 4;
/// Bytes of the disk that no artifact takes, so that edits go on to be recorded.
pub const FREE_BYTES_MIN: u64 = 32 << 20;
/// Most bytes of memory that reading lines of one takes, beside the lines.
pub const READING_BYTES: u64 = OwnReader::READING_BYTES;
/// How a path begins that names one.
pub const SCHEME: &str = "artifact:";

/// Room that one takes at once while it is written.
const STEP_BYTES: u64 = 4 << 20;
/// Most files of one list.
const LISTED_MAX: usize = 100;
const DIRECTORY: &str = "artifacts";
/// Hexadecimal digits of the hash of a credential, in names of files.
const OWNER_DIGITS: usize = 16;

/// The files of a workspace.
#[derive(Debug)]
pub struct Artifacts {
    room: OwnRoom,
}

/// One that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedArtifact {
    /// The path under which it is read.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When it was written last.
    pub modified: SystemTime,
}

/// One that is being written.
#[derive(Debug)]
pub struct ArtifactWriter {
    /// The path under which it is read.
    pub path: String,
    room: WriterRoom,
    file: OwnAppender,
    bytes: u64,
    bytes_max: u64,
    /// Why it has only the first part of what came.
    cut: Option<ArtifactCut>,
}

/// What ended an artifact before its command.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ArtifactCut {
    Limit,
    Room(String),
    Disk,
    Write(std::io::ErrorKind),
}

/// The part of a file's name that says who may read it: whose token it was, as another may have its name later.
fn owner(caller: &Caller) -> String {
    let hash = match caller.token_id() {
        Some(id) => blake3::hash(id.as_bytes()),
        None => blake3::hash(caller.name().as_bytes()),
    };
    hash.to_hex()[..OWNER_DIGITS].to_owned()
}

// === impl Artifacts ===

impl Artifacts {
    /// Opens the files in a state directory, which must exist.
    ///
    /// # Errors
    ///
    /// Where the directory is not the user's own.
    pub fn open(state: &Path) -> Result<Self, moss_workspace::Error> {
        let bounds = OwnBounds {
            each_bytes: ARTIFACT_BYTES_MAX,
            total_bytes: TOTAL_BYTES_MAX,
            writing_bytes: WRITING_BYTES_MAX,
            step_bytes: STEP_BYTES,
        };
        Self::with_bounds(state, bounds)
    }

    fn with_bounds(state: &Path, bounds: OwnBounds) -> Result<Self, moss_workspace::Error> {
        let directory = OwnDir::create(&state.join(DIRECTORY))?;
        Ok(Self { room: OwnRoom::new(directory, bounds) })
    }

    /// Makes a file for a caller, and room for it. Waits for the disk.
    ///
    /// # Errors
    ///
    /// `Io`; `LimitExceeded` where those that are being written take all the room that the caller may have.
    pub fn begin(&self, caller: &Caller) -> Result<ArtifactWriter, ToolError> {
        let id = crate::ids::random();
        let (room, file) = self.room.begin(format!("{id}-{}", owner(caller)))?;
        let path = format!("{SCHEME}{id}");
        let bytes_max = self.room.bounds().each_bytes;
        Ok(ArtifactWriter { path, room, file, bytes: 0, bytes_max, cut: None })
    }

    /// Lists those that a caller may read, the newest first, up to 100. Waits for the disk.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn list(&self, caller: &Caller) -> Result<Vec<ListedArtifact>, moss_workspace::Error> {
        let (own, sees_all) = (owner(caller), caller.role() == Role::Approver);
        let mut files = self.room.directory().files()?;
        files.sort_by_key(|file| std::cmp::Reverse(file.modified));
        let listed = files.into_iter().filter_map(|OwnFile { name, size_bytes, modified }| {
            let (id, of) = name.split_once('-')?;
            let path = format!("{SCHEME}{id}");
            (sees_all || of == own).then_some(ListedArtifact { path, size_bytes, modified })
        });
        Ok(listed.take(LISTED_MAX).collect())
    }

    /// Reads lines of one, in [`READING_BYTES`] of memory however long it is. What is no UTF-8 is replaced. Waits for the
    /// disk.
    ///
    /// # Errors
    ///
    /// `NotFound` also where it is somebody else's; `Cancelled` where nobody waits any more.
    pub fn read_lines(
        &self,
        path: &str,
        caller: &Caller,
        window: LineWindow,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<FileLines, ToolError> {
        Ok(self.reader(path, caller)?.read_lines(window, cancelled)?)
    }

    fn reader(&self, path: &str, caller: &Caller) -> Result<OwnReader, ToolError> {
        let missing = || {
            ToolError::new(
                ErrorCode::NotFound,
                format!("{path}: there is no such output of a command"),
            )
            .hint("outputs are kept until newer ones need the room; run the command again")
        };
        let id = path.strip_prefix(SCHEME).ok_or_else(missing)?;
        let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let directory = self.room.directory();
        let files = directory.files()?;
        let found = files.iter().filter(|_| is_id).find(|file| file.name.starts_with(id));
        let file = found.ok_or_else(missing)?;
        let is_theirs = file.name.ends_with(&format!("-{}", owner(caller)));
        if !is_theirs && caller.role() != Role::Approver {
            return Err(missing());
        }
        directory.reader(&file.name)?.ok_or_else(missing)
    }
}

// === impl ArtifactWriter ===

impl ArtifactWriter {
    /// Writes what came, as far as there is room. Waits for the disk.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.cut.is_some() {
            return;
        }
        let refused = self.room.grow_to(self.bytes + bytes.len() as u64).err();
        let room = self.room.bytes().min(self.bytes_max) - self.bytes;
        let part = &bytes[..bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
        let needed = FREE_BYTES_MIN + part.len() as u64;
        if self.file.free_bytes().is_some_and(|free| free < needed) {
            self.cut = Some(ArtifactCut::Disk);
            return;
        }
        self.cut = match self.file.write_all(part) {
            Err(error) => Some(ArtifactCut::Write(error.kind())),
            Ok(()) => {
                self.bytes += part.len() as u64;
                let refused = refused.map(|error| ArtifactCut::Room(error.message));
                refused.or_else(|| (part.len() < bytes.len()).then_some(ArtifactCut::Limit))
            }
        };
    }

    /// Says what is missing and why, where it has not all that came.
    pub fn missing(&self) -> Option<String> {
        let reason = match self.cut.as_ref()? {
            ArtifactCut::Limit => format!("it is full with {} MiB", self.bytes_max >> 20),
            ArtifactCut::Room(why) => why.clone(),
            ArtifactCut::Disk => {
                format!("the disk of moss's state has less than {} MiB left", FREE_BYTES_MIN >> 20)
            }
            ArtifactCut::Write(kind) => format!("it cannot be written: {kind}"),
        };
        Some(format!("the artifact has only the first part of the output: {reason}"))
    }
}

#[cfg(test)]
mod tests;
