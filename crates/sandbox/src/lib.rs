//! The only door to processes: starts them, bounds them, ends them whole. It knows nothing of
//! tools, plugins or policy.
//!
//! * [`Sandbox`]: commands of tools, isolated as well as the machine allows;
//! * [`Worker`]: a program of moss's own that turns bytes into bytes, in bounded time;
//! * [`Program`]: a program that the person at the terminal asked for, such as a build;
//! * [`find_program`]: whether a program is there at all;
//! * [`WorkerLimits`]: what such a program allows itself, set by itself before it looks at its input.
//!
//! A command becomes a plan of what it sees (`plan.rs`), an order for its keeper (`order.rs`) and a
//! process (`means.rs`), which the fork server makes (`fork_server.rs`). `running.rs` watches over it on
//! moss's side, `keeper.rs` on the other; `output.rs` hands on what it writes. What it sees is set up by
//! moss itself (`launcher.rs`) or by the system's bubblewrap (`bubblewrap.rs`).

mod aside;
mod bound_sockets;
mod bubblewrap;
mod caches;
mod carve;
mod command;
mod compare;
mod content_before;
mod counted;
mod cover;
mod descriptors;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod ending;
mod ends;
mod environment;
mod error;
#[cfg(target_os = "linux")]
mod fork_server;
mod git_index;
mod git_names;
mod git_outside;
#[cfg(target_os = "linux")]
mod groups;
mod hindered;
mod identity;
mod index_file;
mod input;
#[cfg(target_os = "linux")]
mod keeper;
mod kept_path;
mod launch_order;
#[cfg(target_os = "linux")]
mod launcher;
mod limits;
mod listing;
mod lookup;
mod means;
mod mount_index;
mod mounts;
mod order;
mod other_worktrees;
mod output;
mod plan;
mod printing;
mod private;
mod probe;
mod program;
mod protected;
mod reached;
mod real_paths;
mod record;
mod refusing;
mod region;
mod reports;
mod repository;
mod running;
mod running_snapshots;
mod sandbox;
mod settings;
mod shares;
mod shown;
mod skip_marks;
mod snapshot_plan;
mod start;
mod stopping;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
mod system_layer;
mod terminal;
pub mod terminal_text;
mod text_search;
mod tier;
mod toolchains;
mod tracked_masks;
mod visible;
mod whole_input;
mod wire;
mod worker;

pub use crate::command::{
    CommandEnvironment, CommandLimits, FileView, NetworkMode, Profile, SandboxedCommand,
};
pub use crate::compare::ComparedPaths;
pub use crate::counted::CountedPaths;
pub use crate::cover::TooManyMounts;
#[cfg(not(target_os = "linux"))]
pub use crate::elsewhere::{group_hindrance, keeper};
pub use crate::ending::{
    CommandEnd, CommandLimit, CoverChange, Disturbance, EndCause, LEFT_COMMAND_BYTES_MAX,
    LEFT_RUNNING_MAX, LeftProcess, RUNS_ON, SandboxFacts,
};
pub use crate::environment::environment_names;
pub use crate::error::SandboxError;
pub use crate::git_outside::GitOutside;
#[cfg(target_os = "linux")]
pub use crate::groups::group_hindrance;
pub use crate::hindered::HinderingPaths;
pub use crate::input::CommandInput;
#[cfg(target_os = "linux")]
pub use crate::launcher::keeper;
pub use crate::limits::WorkerLimits;
pub use crate::lookup::{find_program, find_program_beneath, find_replacing_beneath};
pub use crate::output::{OUTPUT_CHUNK_BYTES_MAX, OutputChunk, OutputStream};
pub use crate::printing::NotPrinted;
pub use crate::program::Program;
pub use crate::protected::{ProtectedFiles, ProtectedKind, add_other_names, find_protected};
pub use crate::record::{CommandRecord, LeftCommand};
pub use crate::running::RunningCommand;
pub use crate::running_snapshots::set_aside;
pub use crate::sandbox::{Sandbox, SandboxOptions};
pub use crate::settings::{RepositorySettings, leads_out, repository_settings};
pub use crate::skip_marks::clear_left_marks;
pub use crate::stopping::Stopper;
pub use crate::text_search::{TextSearch, stands_alone};
pub use crate::tier::{LauncherKind, MissingPart, SandboxReport, Tier, UnknownWord};
pub use crate::whole_input::{InputError, TERMINAL_LINE_BYTES_MAX, WholeInput};
pub use crate::worker::{ProcessExit, Worker, WorkerError};
