//! What the in-memory host reads: files, windows of lines, listings, walks over texts.

use std::ops::ControlFlow;

use super::text::window;
use super::tree::check_size;
use super::{MemoryFile, MemoryHostState, decode, hash};
use crate::context::{PartVerdict, TextFinding, TextScanner, TextVisitor};
use crate::error::{ErrorCode, ToolError};
use crate::file::{
    Content, EntryKind, FileBytes, FileDigest, FileLines, FileSnapshot, LineWindow, ListOptions,
    Listing, Skipped, SkippedTexts, Text, VisitOptions, Visited, VisitedText,
};
use crate::path::RelPath;
use crate::ranking;

/// Larger texts come in parts of about so many bytes, where that is wanted.
const PART_BYTES: usize = 1_000;

/// Has a text looked at, part by part where it is not small.
fn scanned(scanner: &mut dyn TextScanner, file: VisitedText<'_>) -> Option<TextFinding> {
    if let Some(mut parts) = scanner.parts().filter(|_| file.text.len() > PART_BYTES) {
        let mut verdict = PartVerdict::More;
        let mut part = String::new();
        for line in file.text.split_inclusive('\n') {
            part.push_str(line);
            if part.len() >= PART_BYTES && verdict == PartVerdict::More {
                verdict = parts.scan(&std::mem::take(&mut part));
            }
        }
        if verdict == PartVerdict::More && !part.is_empty() {
            verdict = parts.scan(&part);
        }
        if verdict != PartVerdict::WantsWhole {
            return parts.finish(file.path);
        }
    }
    scanner.scan(file)
}

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

    pub(super) fn read_bytes(
        &self,
        path: &RelPath,
        bytes_max: u64,
    ) -> Result<Option<FileBytes>, ToolError> {
        let bytes = &self.file(path)?.bytes;
        let fits = bytes.len() as u64 <= bytes_max.min(super::EDIT_BYTES_MAX);
        Ok(fits.then(|| FileBytes { hash: hash(bytes), bytes: bytes.clone() }))
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
        let entries_max = options.entries_max;
        let mut wanted = Vec::new();
        let walked = ListOptions { recursive: true, entries_max };
        let left_out = self.walk(path, walked, &mut |entry| {
            if entry.kind == EntryKind::File && visitor.wants(&entry.path) {
                match self.denied.contains(&entry.path) {
                    true => visited.skipped.denied += 1,
                    false => wanted.push(entry.path),
                }
            }
            ControlFlow::Continue(())
        })?;
        visited.skipped.ignored = left_out.ignored;
        visited.truncated = left_out.truncated;
        wanted.sort_by(ranking::compare);
        let mut scanner = visitor.scanner();
        let mut bytes_read = 0;
        for path in &wanted {
            let Some((text, size_bytes)) = self.visited_text(path, &mut visited.skipped) else {
                continue;
            };
            visited.files += 1;
            bytes_read += size_bytes;
            let finding = scanned(&mut *scanner, VisitedText { path, text: &text });
            if finding.is_some_and(|finding| visitor.gather(finding).is_break()) {
                break;
            }
            if bytes_read > options.bytes_max {
                visited.truncated = true;
                break;
            }
        }
        Ok(visited)
    }

    /// The text of a file and its size; of one that is left out, the reason is counted.
    fn visited_text(&self, path: &RelPath, skipped: &mut SkippedTexts) -> Option<(String, u64)> {
        let MemoryFile { bytes, .. } = self.files.get(path)?;
        let reason = if check_size(path, bytes).is_err() {
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
