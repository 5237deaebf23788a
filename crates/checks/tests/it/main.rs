//! Checks from outside: texts in, values out.

mod runs;
mod syntax;
mod verdicts;
