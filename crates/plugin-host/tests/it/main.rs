//! Real components, loaded and called: the example plugins and a zoo of hostile ones.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and make the files that plugins read"
)]

mod disk;
mod examples;
mod harness;
mod hostile;
mod loading;
mod plain;
mod revocation;
mod warm;
mod zoo;
