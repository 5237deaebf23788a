//! The only door to the files of a workspace.
//!
//! * A [`Workspace`] is one opened root. Names are resolved beneath it by held descriptors; links
//!   that lead out, other mounts, devices and FIFOs are refused.
//! * Reading: [`Workspace::read`], [`Workspace::read_lines`], [`Workspace::list`],
//!   [`Workspace::visit_texts`]; without waiting for a disk, [`Workspace::open_cached`]. Single steps,
//!   for what reads by itself: [`Workspace::look`], [`Workspace::names`], [`OpenedFile::hold`].
//! * Writing: [`Workspace::plan`] turns a change set into exact bytes, diff and digest;
//!   [`Workspace::commit`] carries a [`Plan`] out, all of it or nothing, and records it in the
//!   [`History`]; [`History::plan_undo`] plans the way back; [`recover()`] cleans up after a crash.
//! * What editors have not saved ([`Buffers`]) stands for the files in reads and plans; such a plan is
//!   carried out by the editor, and [`History::record`] notes it.
//! * [`own`] holds moss's own files, outside of any workspace.
//! * [`project`] lays out the directories of plugins that a person writes, and directories to try
//!   them in.
//!
//! Nothing here decides whether something is allowed, asks anybody, or runs anything. Everything
//! may wait: callers with an event loop use its pool for blocking work. Only
//! [`Workspace::open_cached`] never does.

mod aliases;
mod buffers;
#[cfg(target_os = "linux")]
mod cached;
mod changes;
mod commit;
mod conflicts;
mod diff;
pub mod dirs;
mod error;
mod file_look;
mod file_mark;
mod gate;
mod handle;
mod held;
mod history;
mod ignoring;
mod large_texts;
mod lines;
mod listing;
mod live;
mod look;
mod moment;
mod mount;
pub mod named;
mod names;
mod names_on_way;
mod opening;
mod options;
mod origin;
pub mod own;
mod plain_text;
pub mod project;
mod protect;
mod read;
mod reopen;
mod resolve;
mod root;
mod scan;
mod secrets;
pub mod spelling;
mod temp_name;
mod text;
mod threads;
mod tree;
mod visiting;

pub use crate::buffers::{Buffers, NoBuffers};
pub use crate::changes::{FileAction, Plan, PlannedFile};
pub use crate::commit::{Committed, Recovered, Uncleared, recover};
pub use crate::conflicts::{LaterChange, UndoConflict, UndoConflicts};
pub use crate::diff::{Diff, between};
pub use crate::error::Error;
pub use crate::file_look::FileLook;
pub use crate::file_mark::FileMark;
pub use crate::gate::{GateKey, ListingGate, MayRead, VisitGate};
pub use crate::handle::{Identity, SyncCount, hash, sync_count};
pub use crate::held::HeldFile;
pub use crate::history::{
    HISTORY_FILE, History, HistoryEntry, HistoryFile, HistoryFilter, HistoryLimits, HistoryStats,
    KeptContent, UndoBounds, UndoTarget,
};
pub use crate::live::{
    LiveChanges, LiveOptions, LiveState, LiveStatus, LiveTree, ScannedPaths, SweepPosition,
    TextKnowledge,
};
pub use crate::look::{DirectoryNames, LastLink, PathInfo};
pub use crate::moment::{IsModified, WorkspaceMoment};
pub use crate::names_on_way::names_on_way;
pub use crate::options::{FileLimits, Resolver, WorkspaceOptions};
pub use crate::origin::Origin;
pub use crate::plain_text::{LARGE_BYTES, PlainFile, PlainProblem};
pub use crate::protect::{ProtectedRow, Protection, TABLE as PROTECTED, protection};
pub use crate::read::OpenedFile;
pub use crate::resolve::Resolved;
pub use crate::root::{Workspace, name_of_root};
pub use crate::text::{NotText, decode, encode};
pub use crate::visiting::{KnownParts, KnownText, KnownTexts};
