//! The client side of language servers: which there are, and how they are talked to over two streams of bytes.
//!
//! * [`KnownServer`]: the table of servers, and what keeps each from running code of the project;
//! * [`ServerSpec`]: a server of the table or of the configuration, as it is started;
//! * [`ServerClient`]: one conversation: texts in, locations out;
//! * [`WatchedFiles`]: the files of a project, to notify a server of those that change.
//!
//! Nothing here starts a process or opens a file: who does is `daemon/src/language_servers.rs`. A server is a
//! program that reads the project, so what it says is a claim like any other: it is bounded in bytes, in number and in
//! time, and it never changes anything: edits that it wants to make are refused.
//!
//! The protocol has many messages, and moss needs a dozen. Their forms are written out in `wire.rs`: the crates that
//! have all of them are not kept up, or bring a runtime of their own.

mod bounded;
mod client;
mod conversation;
mod fault;
mod framing;
mod outgoing;
mod readiness;
mod servers;
mod watched;
mod wire;

pub use crate::client::{ClientOptions, ServerClient, ServerLocation};
pub use crate::fault::ServerFault;
pub use crate::readiness::ReadySign;
pub use crate::servers::{KNOWN, KnownServer, ServedFiles, ServerSpec};
pub use crate::watched::{ChangedOnDisk, FileState, ReportedStates, WatchedFiles, WatchedLook};
