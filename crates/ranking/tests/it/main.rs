//! Questions over a small corpus, each with what has to come first: held in both languages.

#![allow(clippy::unwrap_used, reason = "a test program: what it unwraps is its message")]

mod changes;
mod commits;
mod declared;
mod map;
mod meaning;
mod quality;
