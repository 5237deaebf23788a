//! What the host serves to a guest, one file per interface.

pub(crate) mod context;
pub(crate) mod filesystem;
pub(crate) mod stdio;
