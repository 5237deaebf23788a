//! Tests and linters of a project: which there are, how they are run, what their reports say.
//!
//! Text in, values out: nothing here opens a file or starts a process.
