//! The only door to processes: starts them, bounds them, ends them whole. It knows nothing of
//! tools, plugins or workspaces.
//!
//! * [`Worker`]: a program of moss's own that turns bytes into bytes, in bounded time;
//! * [`Limits`]: what such a program allows itself, set by itself before it looks at its input.

mod limits;
mod worker;

pub use crate::limits::Limits;
pub use crate::worker::{Ending, Worker, WorkerError};
