//! Tests of the door to processes: commands that really run, on each tier that there is. A machine
//! without one of them fails the tests.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test shows a table of what it found")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod attacks;
mod builds;
mod caches;
mod covers;
mod endings;
mod escapes;
mod forks;
mod git;
mod git_marks;
mod grants;
mod groups;
mod harness;
mod launchers;
mod limits;
mod overlaps;
mod places;
mod printing;
mod typing;
mod views;
