//! Calls of tools, whatever front they come over: how one is asked for ([`Call`]), its events while
//! it runs ([`Event`]), how it ended ([`CallOutcome`], [`Outcome`]) and why it did not run ([`CallError`],
//! [`Reason`]); and who carries it out ([`Dispatcher`]).
//!
//! The table of reasons is the only one between an error and its forms: the status on the wire, the
//! exit code, the error that a tool sees. Nothing here knows a transport or the daemon.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

pub mod blocking;
pub mod budget;
mod call;
mod caller;
pub mod change;
pub mod command;
pub mod confirmation;
pub mod consent;
mod dispatcher;
pub mod embedding;
mod error;
mod event;
pub mod low_priority;
mod offer;
pub mod operations;
pub mod outcome;
pub mod places;
mod plugin_change;
pub mod reason;
mod refused;
mod running;
mod session;
mod unknown;

pub use self::call::{
    ApprovedDigests, Call, CallOutcome, ConfirmMode, EffectDenial, TraceParent, Work,
};
pub use self::caller::{Caller, Role, Standing};
pub use self::change::FileChange;
pub use self::confirmation::{Confirmation, Question};
pub use self::dispatcher::Dispatcher;
pub use self::error::{CallError, Unconfirmed};
pub use self::event::{Event, Events, OutputRoom};
pub use self::offer::{ApprovalScope, Offer};
pub use self::outcome::Outcome;
pub use self::plugin_change::{AddPlugin, Granting, PluginChange, PluginLocation, RemovePlugin};
pub use self::reason::{Reason, RpcCode, outcome_of};
pub use self::refused::{QueueFull, TooManyConfirmations, TooMuch};
pub use self::running::{Background, Panicked, RunningCall, poll_caught};
pub use self::session::SessionKey;
pub use self::unknown::{UnknownTool, UnknownWorkspace, Unready};
