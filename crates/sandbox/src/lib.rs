//! The only door to processes: starts them, bounds them, ends them whole. It knows nothing of
//! tools, plugins or workspaces.
//!
//! * [`Worker`]: a program of moss's own that turns bytes into bytes, in bounded time;
//! * [`Program`]: a program that the person at the terminal asked for, such as a build;
//! * [`WorkerLimits`]: what such a program allows itself, set by itself before it looks at its input.

mod limits;
mod program;
mod worker;

pub use crate::limits::WorkerLimits;
pub use crate::program::Program;
pub use crate::worker::{ProcessExit, Worker, WorkerError};
