//! Tests of the door to files against real files.

#![allow(clippy::disallowed_methods, reason = "tests look at files from outside")]
#![allow(clippy::print_stderr, reason = "a test says what it could not try on this system")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

#[cfg(target_os = "linux")]
mod aliases;
mod basics;
mod conformance;
mod escapes;
mod failures;
mod fixture;
mod foreign;
#[cfg(target_os = "linux")]
mod fuse;
mod kill;
mod kill_side_by_side;
mod listing;
mod live;
mod live_trees;
mod live_visits;
mod races;
mod reading;
mod repositories;
mod round_trip;
mod undo;
mod undo_several;
mod unsaved;
mod visiting;
mod visiting_threads;
