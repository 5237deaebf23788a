//! Vectors of texts: how an endpoint is asked for them, what of its response counts, and the file that keeps them.
//!
//! Which texts may be sent, and whether any may, is decided by who calls: `crates/live-index/src/embeddings/`.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

mod api;
mod cache;
mod endpoint;
mod response;

pub use crate::api::{EmbeddingApi, EndpointFault};
pub use crate::cache::VectorFile;
pub use crate::endpoint::{BATCH_TEXTS_MAX, EmbeddingEndpoint, RequestTimes, passage_key};
