//! What compilers and linters write, as diagnostics.

pub(crate) mod gnu;
pub(crate) mod rustc_text;
