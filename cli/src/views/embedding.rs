//! Endpoints of embeddings, asked about and known.

use moss_proto::v1;
use serde_json::{Value, json};

/// The endpoint of a question.
pub(super) fn asked(asked: &v1::EmbeddingQuestion) -> Value {
    json!({"url": asked.url, "model": asked.model, "this_machine": asked.this_machine})
}

/// How the vectors of a workspace are doing.
pub(super) fn known(known: &v1::EmbeddingStatus) -> Value {
    json!({
        "state": super::index_state(known.state()),
        "reason": known.reason,
        "url": known.url,
        "model": known.model,
        "files": known.files,
        "files_embedded": known.files_embedded,
        "chunks_embedded": known.chunks_embedded,
        "memory_bytes": known.memory_bytes,
        "disk_bytes": known.disk_bytes,
        "problem": known.problem,
    })
}
