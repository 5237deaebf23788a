//! The only door to processes.
