//! Checks from outside: texts in, values out.

mod lint_memory;
mod runs;
mod syntax;
mod verdicts;
