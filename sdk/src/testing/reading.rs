//! What the in-memory host reads: files, windows of lines, listings, walks over texts.

use std::ops::ControlFlow;

use super::text::window;
use super::tree::check_size;
use super::{MemoryFile, MemoryHostState, decode, hash};
use crate::context::TextVisitor;
use crate::error::{ErrorCode, ToolError};
use crate::file::{
    Content, Entry, EntryKind, FileDigest, FileLines, FileSnapshot, LineWindow, ListOptions,
    Listing, Skipped, SkippedTexts, Text, VisitOptions, Visited, VisitedText,
};
use crate::path::RelPath;

// === impl MemoryHostState ===

impl MemoryHostState {
    pub(super) fn read(&self, path: &RelPath) -> Result<FileSnapshot, ToolError> {
        let bytes = &self.file(path)?.bytes;
        check_size(path, bytes)?;
        Ok(FileSnapshot {
            hash: hash(bytes),
            size_bytes: bytes.len() as u64,
            content: decode(bytes),
            unsaved: false,
        })
    }

    pub(super) fn digest(&self, path: &RelPath) -> Result<FileDigest, ToolError> {
        let bytes = &self.file(path)?.bytes;
        Ok(FileDigest { hash: hash(bytes), size_bytes: bytes.len() as u64 })
    }

    pub(super) fn read_lines(
        &self,
        path: &RelPath,
        lines: LineWindow,
    ) -> Result<FileLines, ToolError> {
        let bytes = &self.file(path)?.bytes;
        let Content::Text(Text { text, form }) = decode(bytes) else {
            return Err(ToolError::new(ErrorCode::Binary, format!("{path} is a binary file")));
        };
        Ok(FileLines {
            hash: hash(bytes),
            size_bytes: bytes.len() as u64,
            form,
            lines_total: text.split_inclusive('\n').count() as u64,
            lines: window(&text, lines),
            unsaved: false,
        })
    }

    pub(super) fn list(&self, path: &RelPath, options: ListOptions) -> Result<Listing, ToolError> {
        let mut entries = Vec::new();
        let left_out = self.walk(path, options, &mut |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        })?;
        let skipped = Skipped { ignored: left_out.ignored, ..Skipped::default() };
        Ok(Listing { entries, skipped, truncated: left_out.truncated })
    }

    pub(super) fn visit_texts(
        &self,
        path: &RelPath,
        options: VisitOptions,
        visitor: &mut dyn TextVisitor,
    ) -> Result<Visited, ToolError> {
        let mut visited = Visited::default();
        let mut bytes_read = 0;
        let entries_max = options.entries_max;
        let walked = ListOptions { recursive: true, entries_max };
        let left_out = self.walk(path, walked, &mut |entry| {
            if entry.kind != EntryKind::File || !visitor.wants(&entry.path) {
                return ControlFlow::Continue(());
            }
            let Some((text, size_bytes)) = self.visited_text(&entry, &mut visited.skipped) else {
                return ControlFlow::Continue(());
            };
            visited.files += 1;
            bytes_read += size_bytes;
            visitor.visit(VisitedText { path: &entry.path, text: &text })?;
            if bytes_read > options.bytes_max {
                visited.truncated = true;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        visited.skipped.ignored = left_out.ignored;
        visited.truncated |= left_out.truncated;
        Ok(visited)
    }

    /// The text of a file and its size; of one that is left out, the reason is counted.
    fn visited_text(&self, entry: &Entry, skipped: &mut SkippedTexts) -> Option<(String, u64)> {
        let MemoryFile { bytes, .. } = self.files.get(&entry.path)?;
        let reason = if self.denied.contains(&entry.path) {
            &mut skipped.denied
        } else if check_size(&entry.path, bytes).is_err() {
            &mut skipped.too_large
        } else {
            match decode(bytes) {
                Content::Text(text) => return Some((text.text, bytes.len() as u64)),
                Content::Binary => &mut skipped.binary,
            }
        };
        *reason += 1;
        None
    }
}
