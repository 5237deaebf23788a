//! Tests of the index from outside.

#![allow(clippy::unwrap_used, reason = "a test program: what it unwraps is its message")]

mod damage;
mod folder;
mod kills;
mod queries;
mod shelf;
mod updates;
