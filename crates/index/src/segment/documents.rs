//! The documents of a segment: their paths, each without what it shares with the one before, and what
//! was known when they were read.

use moss_sdk::RelPath;

use crate::coding::{CodedBytes, put_bytes, put_number};
use crate::document::{DocumentKind, IndexedDocument, MarkDigest, TextHash};

const UNSETTLED: u8 = 0x80;

/// A document of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredDocument {
    pub(crate) path: RelPath,
    pub(crate) indexed: IndexedDocument,
}

/// The documents of a segment as they are going to be written.
#[derive(Default)]
pub(crate) struct DocumentsDraft {
    pub(super) bytes: Vec<u8>,
    before: String,
}

/// Reads so many documents; none where they cannot be some.
pub(super) fn read(bytes: &[u8], count: u32) -> Option<Vec<StoredDocument>> {
    let mut coded = CodedBytes(bytes);
    let mut documents = Vec::new();
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        let shared = usize::try_from(coded.number()?).ok()?;
        if shared > path.len() {
            return None;
        }
        path.truncate(shared);
        path.extend(coded.sequence()?);
        let [kind] = coded.array()?;
        let indexed = IndexedDocument {
            kind: match kind & !UNSETTLED {
                0 => DocumentKind::Listed,
                1 => DocumentKind::Unlisted,
                2 => DocumentKind::Binary,
                _ => return None,
            },
            is_unsettled: kind & UNSETTLED != 0,
            mark: MarkDigest(coded.array()?),
            hash: TextHash(coded.array()?),
        };
        let path = RelPath::parse(std::str::from_utf8(&path).ok()?).ok()?;
        documents.push(StoredDocument { path, indexed });
    }
    coded.0.is_empty().then_some(documents)
}

// === impl DocumentsDraft ===

impl DocumentsDraft {
    /// Adds the document of the next number.
    pub(crate) fn push(&mut self, path: &RelPath, indexed: &IndexedDocument) {
        let path = path.as_str();
        let pairs = path.bytes().zip(self.before.bytes());
        let shared = pairs.take_while(|(one, two)| one == two).count();
        put_number(&mut self.bytes, shared as u64);
        put_bytes(&mut self.bytes, &path.as_bytes()[shared..]);
        let kind = match indexed.kind {
            DocumentKind::Listed => 0,
            DocumentKind::Unlisted => 1,
            DocumentKind::Binary => 2,
        };
        self.bytes.push(kind | if indexed.is_unsettled { UNSETTLED } else { 0 });
        self.bytes.extend(indexed.mark.0);
        self.bytes.extend(indexed.hash.0);
        path.clone_into(&mut self.before);
    }
}
