//! What a guest is linked with.

pub(crate) mod commands;
pub(crate) mod content;
pub(crate) mod context;
pub(crate) mod environment;
pub(crate) mod filesystem;
pub(crate) mod http;
pub(crate) mod services;
pub(crate) mod sockets;
pub(crate) mod stdio;
pub(crate) mod trouble;
