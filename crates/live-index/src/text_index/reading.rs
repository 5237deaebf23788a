//! Reading documents for the index: as a search reads them, and what the policy lets every caller read alone.

use std::sync::Arc;

use moss_index::{DocumentContent, DocumentSource, ReadDocument};
use moss_policy::Policy;
use moss_sdk::RelPath;
use moss_workspace::{LARGE_BYTES, PlainFile, PlainProblem, Workspace};

use super::{IndexRules, mark};

/// Reads documents for the index.
pub(super) struct IndexReading<'a> {
    pub(super) files: &'a Workspace,
    pub(super) rules: &'a dyn IndexRules,
    pub(super) policy: Arc<Policy>,
    pub(super) cancelled: &'a (dyn Fn() -> bool + Sync),
}

fn as_document(read: PlainFile<'_>) -> ReadDocument<'_> {
    let content = match read.text {
        Ok(text) => DocumentContent::Text(text),
        Err(PlainProblem::Binary) => DocumentContent::Binary,
        Err(_) => DocumentContent::Unread,
    };
    ReadDocument { mark: read.mark.as_ref().map(mark), content }
}

// === impl IndexReading ===

impl IndexReading<'_> {
    fn read_up_to<'b>(
        &self,
        path: &RelPath,
        bytes_max: u64,
        buffer: &'b mut Vec<u8>,
    ) -> PlainFile<'b> {
        if !self.rules.admits(&self.policy, path) {
            return PlainFile { mark: None, text: Err(PlainProblem::Unreadable) };
        }
        self.files.read_plain((path, bytes_max), buffer, self.cancelled)
    }
}

impl DocumentSource for IndexReading<'_> {
    fn read<'b>(&self, path: &RelPath, buffer: &'b mut Vec<u8>) -> ReadDocument<'b> {
        let bytes_max = self.files.limits().search_bytes_max;
        let read = self.read_up_to(path, bytes_max.min(LARGE_BYTES), buffer);
        match (&read.text, &read.mark) {
            (Err(PlainProblem::TooLarge), Some(found)) if found.size_bytes <= bytes_max => {
                ReadDocument { mark: None, content: DocumentContent::Large }
            }
            _ => as_document(read),
        }
    }

    fn read_large<'b>(&self, path: &RelPath, buffer: &'b mut Vec<u8>) -> ReadDocument<'b> {
        as_document(self.read_up_to(path, self.files.limits().search_bytes_max, buffer))
    }
}
