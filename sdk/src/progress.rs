//! What takes its time: a future in a box, and how far a call is.

use std::pin::Pin;

/// A boxed future that borrows from its maker.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, for a person.
    pub message: String,
    /// How many steps are behind it, from 0.
    pub done: u64,
    /// Steps in all, where known.
    pub total: Option<u64>,
}
