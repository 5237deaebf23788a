//! What every front says of a call, whatever it speaks: how it ended ([`Outcome`]), and why it did not
//! run, or a request was not answered ([`Reason`]). The table of reasons is the only one between an
//! error and its forms: the status on the wire, the exit code, the error that a tool sees.

pub mod outcome;
pub mod reason;

pub use self::outcome::Outcome;
pub use self::reason::{Reason, RpcCode, outcome_of};
