//! Checks from outside: texts in, values out.

#![allow(clippy::disallowed_methods, reason = "tests read recorded runs")]
#![allow(clippy::unwrap_used, reason = "a test program: what it unwraps is its message")]

mod documented;
mod lint_memory;
mod modern;
mod runs;
mod syntax;
mod verdicts;
