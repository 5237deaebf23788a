//! Walks over the texts of the in-memory host.

use std::ops::ControlFlow;

use super::{State, decode};
use crate::context::TextVisitor;
use crate::error::{ErrorCode, ToolError};
use crate::file::{
    Content, EntryKind, ListOptions, SkippedTexts, VisitOptions, Visited, VisitedText,
};
use crate::path::RelPath;

// === impl State ===

impl State {
    pub(super) fn visit_texts(
        &self,
        path: &RelPath,
        options: VisitOptions,
        visitor: &mut dyn TextVisitor,
    ) -> Result<Visited, ToolError> {
        let entries_max = options.entries_max;
        let listing = self.list(path, ListOptions { recursive: true, entries_max })?;
        let skipped = SkippedTexts { ignored: listing.skipped.ignored, ..SkippedTexts::default() };
        let mut visited = Visited { files: 0, skipped, truncated: listing.truncated };
        let mut bytes_read = 0;
        for entry in listing.entries {
            if self.cancelled {
                return Err(ToolError::new(ErrorCode::Cancelled, "the call was cancelled"));
            }
            if entry.kind != EntryKind::File || !visitor.wants(&entry.path) {
                continue;
            }
            if self.denied.contains(&entry.path) {
                visited.skipped.denied += 1;
                continue;
            }
            let bytes = &self.file(&entry.path)?.bytes;
            bytes_read += bytes.len() as u64;
            let Content::Text(text) = decode(bytes) else {
                visited.skipped.binary += 1;
                continue;
            };
            visited.files += 1;
            let file = VisitedText { path: &entry.path, text: &text.text };
            if visitor.visit(file) == ControlFlow::Break(()) {
                break;
            }
            if bytes_read > options.bytes_max {
                visited.truncated = true;
                break;
            }
        }
        Ok(visited)
    }
}
