//! What can go wrong behind the door to files, and how tools see it.
//!
//! Every variant names the path it is about. Messages are lowercase and carry no advice; the
//! advice is added once, in the conversion to [`ToolError`], by `advice`.

mod advice;

use std::io;
use std::time::Duration;

use moss_sdk::file::EntryKind;
use moss_sdk::{ErrorCode, RelPath, ToolError};

use crate::conflicts::UndoConflicts;

/// A failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path breaks the lexical rules of workspace paths.
    #[error("{}", .0.message)]
    Path(ToolError),
    /// The directory cannot be a workspace root.
    #[error("{path} cannot be a workspace: {reason}")]
    Root {
        /// The directory, as given.
        path: String,
        /// Why it cannot, for the message.
        reason: String,
    },
    /// The path of the root leads elsewhere by now.
    #[error("the workspace {path} was moved, removed or replaced while it is in use")]
    RootReplaced {
        /// The directory, as it was opened.
        path: String,
    },
    /// A link on the way leads out of the workspace.
    #[error("{path} leads out of the workspace through a link")]
    Outside {
        /// The path as it was asked for.
        path: String,
    },
    /// The path crosses into another file system.
    #[error("{path} lies on another file system than the workspace")]
    OtherFilesystem {
        /// The path as it was asked for.
        path: String,
    },
    /// Too many links on the way.
    #[error("{path} goes through too many symbolic links")]
    LinkLoop {
        /// The path as it was asked for.
        path: String,
    },
    /// A link on the way has no target.
    #[error("{path} goes through a symbolic link whose target does not exist")]
    Dangling {
        /// The path as it was asked for.
        path: String,
    },
    /// The path leads to a name that is not UTF-8 text or holds control characters.
    #[error("{path} leads to a name that cannot be shown as text")]
    Unnameable {
        /// The path as it was asked for.
        path: String,
    },
    /// The file system finds a file under a name that its directory does not list.
    #[error("{path}: `{name}` is another name of something that is not listed under it")]
    Alias {
        /// Path relative to the workspace root.
        path: RelPath,
        /// The name in it.
        name: String,
    },
    /// There is nothing there.
    #[error("{path} does not exist")]
    NotFound {
        /// Path relative to the workspace root.
        path: RelPath,
    },
    /// There is something there already.
    #[error("{path} already exists")]
    Exists {
        /// Path relative to the workspace root.
        path: RelPath,
    },
    /// Not a regular file.
    #[error("{path} is {}, not a regular file", kind_name(*.kind))]
    NotAFile {
        /// Path relative to the workspace root.
        path: RelPath,
        /// What is there in its place.
        kind: EntryKind,
    },
    /// It is no directory, or one above it is no directory.
    #[error("{path} is not a directory or goes through something that is not")]
    NotADirectory {
        /// Path relative to the workspace root.
        path: RelPath,
    },
    /// A link would have been removed in place of its target.
    #[error("{path} is a symbolic link to {target}")]
    IsLink {
        /// Path relative to the workspace root.
        path: RelPath,
        /// What it leads to.
        target: RelPath,
    },
    /// The file has more than one name.
    #[error("{path} is hard-linked: it has {names} names, and a change would split them")]
    HardLinked {
        /// Path relative to the workspace root.
        path: RelPath,
        /// How many names the file has, at least two.
        names: u64,
    },
    /// The owner may not write the file or the directory.
    #[error("{path} is read-only")]
    ReadOnly {
        /// The file or directory.
        path: RelPath,
    },
    /// What is hidden would have been listed.
    #[error("{path} cannot be opened as a directory: {reason}")]
    Protected {
        /// Path relative to the workspace root.
        path: RelPath,
        /// Why it is hidden, for the message.
        reason: &'static str,
    },
    /// A file that moss keeps for itself, whatever its name.
    #[error("{path} is a credential or a key of moss itself")]
    Secret {
        /// Path relative to the workspace root.
        path: RelPath,
    },
    /// Larger than a limit.
    #[error("{path} has {size_bytes} bytes; at most {bytes_max} are allowed here ({setting})")]
    TooLarge {
        /// Path relative to the workspace root.
        path: RelPath,
        /// How large it is, or would be.
        size_bytes: u64,
        /// The limit, in bytes.
        bytes_max: u64,
        /// What the limit is called in the configuration.
        setting: &'static str,
        /// Whether it is what was to be written: no file has that yet.
        is_new: bool,
    },
    /// Too large for history to keep, and the deletion is to be recoverable.
    #[error("{path} has {size_bytes} bytes; kept are at most {bytes_max} (files.edit_bytes_max)")]
    TooLargeToKeep {
        /// Path relative to the workspace root.
        path: RelPath,
        /// How large the file is.
        size_bytes: u64,
        /// The limit, in bytes.
        bytes_max: u64,
    },
    /// The content is not text in any encoding that is read.
    #[error("{path} is a binary file")]
    Binary {
        /// Path relative to the workspace root.
        path: RelPath,
    },
    /// The text cannot be stored in the file's encoding, or read without loss.
    #[error("{path}: {reason}")]
    Encoding {
        /// Path relative to the workspace root.
        path: RelPath,
        /// What cannot be read or stored, for the message.
        reason: String,
    },
    /// Splices that overlap, run backwards, or cut a character.
    #[error("{path}: replacement {position} {reason}")]
    Splice {
        /// Path relative to the workspace root.
        path: RelPath,
        /// Which one, from 1.
        position: usize,
        /// What is wrong with it, for the message.
        reason: &'static str,
    },
    /// Two changes of one file, or a file that another change needs as a directory.
    #[error("{path} and {other} cannot be changed together: {reason}")]
    Clash {
        /// Path relative to the workspace root.
        path: RelPath,
        /// The path of the other change.
        other: RelPath,
        /// Why both together make no sense, for the message.
        reason: &'static str,
    },
    /// The new content is the one that the file has.
    #[error("{path}: the change leaves the file as it is")]
    NoChange {
        /// Path relative to the workspace root.
        path: RelPath,
    },
    /// The file is not what the change was made for.
    #[error("{path} has changed: expected {expected}, found {found}")]
    Changed {
        /// Path relative to the workspace root.
        path: RelPath,
        /// What the change was made for, in words.
        expected: String,
        /// What is there now, in words.
        found: String,
    },
    /// Changes cannot be undone because the same lines were changed again.
    #[error("{0}")]
    Merge(UndoConflicts),
    /// A limit other than a file's size.
    #[error("{what}: more than {max}")]
    Limit {
        /// What there is too much of, for the message.
        what: &'static str,
        /// How much of it there may be.
        max: u64,
    },
    /// Merging files for an undo takes too long.
    #[error(
        "merging what was changed since into {path} and other files takes longer than {} s",
        .max.as_secs()
    )]
    MergeTime {
        /// The file that was to be merged next.
        path: RelPath,
        /// How long the files of one undo are merged.
        max: Duration,
    },
    /// What is compared or listed does not fit into the memory of calls.
    #[error(
        "this takes {bytes} bytes of memory and does not fit next to other calls: {bytes_max} bytes \
         (calls.caller_bytes_max)"
    )]
    Memory {
        /// How many bytes it takes.
        bytes: u64,
        /// How many calls may take together.
        bytes_max: u64,
    },
    /// An editor holds text of the file that is not saved.
    #[error("{path} {reason}")]
    Unsaved {
        /// Path relative to the workspace root.
        path: RelPath,
        /// What cannot be done.
        reason: &'static str,
    },
    /// Somebody else holds the lock, or the path keeps changing.
    #[error("{what}")]
    Busy {
        /// What was waited for.
        what: String,
    },
    /// Whoever waits wants it no more.
    #[error("cancelled")]
    Cancelled,
    /// There is no such entry in the history.
    #[error("there is no change {number} in the history")]
    NoEntry {
        /// Number of the history entry.
        number: u64,
    },
    /// A call has changed nothing.
    #[error("there is no change of a call {call_id} in the history")]
    NoCall {
        /// Id of the call, as in the journal.
        call_id: String,
    },
    /// Everything to undo is undone already.
    #[error("there is nothing to undo: {why}")]
    NothingToUndo {
        /// Why there is nothing, for the message.
        why: String,
    },
    /// History no longer has the content.
    #[error("the history no longer has the content of {path}{}", of_change(*.number))]
    Forgotten {
        /// Path relative to the workspace root.
        path: RelPath,
        /// The entry that cannot be undone without it.
        number: Option<u64>,
    },
    /// The history database refused.
    #[error("the history store failed: {reason}")]
    History {
        /// What the database said.
        reason: String,
        /// Whether the store is damaged, not merely busy or full.
        damaged: bool,
    },
    /// One of moss's own files or directories is not safe to use.
    #[error("{path}: {reason}")]
    Own {
        /// The file or directory.
        path: String,
        /// Why it is not safe, and what would make it so.
        reason: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// The file or directory, or what else was worked on.
        path: String,
        /// A verb for the message, such as `read`.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

pub(crate) fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Directory => "a directory",
        EntryKind::File => "a file",
        EntryKind::Symlink => "a symbolic link",
        EntryKind::Other => "a socket, a FIFO or a device",
    }
}

fn of_change(number: Option<u64>) -> String {
    number.map(|number| format!(", which change {number} changed")).unwrap_or_default()
}

// === impl Error ===

impl Error {
    pub(crate) fn io(
        path: &impl ToString,
        action: &'static str,
        source: rustix::io::Errno,
    ) -> Self {
        Self::Io { path: path.to_string(), action, source: source.into() }
    }

    pub(crate) fn std_io(path: &impl ToString, action: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_string(), action, source }
    }

    /// Returns the kind of failure in the words of the tool contract.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Path(error) => error.code,
            Self::Root { .. }
            | Self::RootReplaced { .. }
            | Self::Clash { .. }
            | Self::Splice { .. } => ErrorCode::InvalidArguments,
            Self::Outside { .. } | Self::OtherFilesystem { .. } => ErrorCode::OutsideWorkspace,
            Self::LinkLoop { .. } | Self::Unnameable { .. } | Self::Alias { .. } => {
                ErrorCode::InvalidPath
            }
            Self::Dangling { .. } | Self::NotFound { .. } => ErrorCode::NotFound,
            Self::NoEntry { .. } | Self::NoCall { .. } => ErrorCode::NotFound,
            Self::Exists { .. } => ErrorCode::AlreadyExists,
            Self::NotAFile { .. } | Self::IsLink { .. } => ErrorCode::NotAFile,
            Self::NotADirectory { .. } => ErrorCode::NotADirectory,
            Self::HardLinked { .. } | Self::Protected { .. } | Self::Secret { .. } => {
                ErrorCode::Denied
            }
            Self::TooLarge { .. } | Self::TooLargeToKeep { .. } => ErrorCode::TooLarge,
            Self::Binary { .. } => ErrorCode::Binary,
            Self::Encoding { .. } => ErrorCode::Encoding,
            Self::NoChange { .. } | Self::NothingToUndo { .. } => ErrorCode::NoChange,
            Self::Unsaved { .. } => ErrorCode::Conflict,
            Self::Changed { .. } | Self::Merge(_) | Self::Forgotten { .. } => ErrorCode::Conflict,
            Self::Limit { .. } | Self::MergeTime { .. } | Self::Memory { .. } => {
                ErrorCode::LimitExceeded
            }
            Self::Cancelled => ErrorCode::Cancelled,
            // The system would refuse it: no rule and no person does.
            Self::ReadOnly { .. } => ErrorCode::Io,
            Self::Busy { .. } | Self::History { .. } | Self::Own { .. } | Self::Io { .. } => {
                ErrorCode::Io
            }
        }
    }
}

impl From<ToolError> for Error {
    fn from(error: ToolError) -> Self {
        Self::Path(error)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, NotADatabase};
        let damaged = matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase));
        if error.sqlite_error_code() == Some(DatabaseBusy) {
            return Self::Busy {
                what: "the history store is in use by another process".to_owned(),
            };
        }
        Self::History { reason: error.to_string(), damaged }
    }
}
