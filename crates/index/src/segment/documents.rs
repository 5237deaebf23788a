//! The documents of a segment: their paths, each without what it shares with the one before, and what
//! was known when they were read.

use moss_sdk::RelPath;

use crate::coding::{CodedBytes, put_bytes, put_number};
use crate::document::{DocumentKind, IndexedDocument, MarkDigest, TextHash};

const UNSETTLED: u8 = 0x80;
const PLAIN: u8 = 0x40;
/// More numbers no document has: no damaged one asks for more memory.
const NUMBERS_MAX: u32 = 1 << 16;

/// A document of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredDocument {
    pub(crate) path: RelPath,
    pub(crate) indexed: IndexedDocument,
    /// How many numbers it has.
    pub(crate) numbers: u32,
}

/// The documents of a segment as they are going to be written.
#[derive(Default)]
pub(crate) struct DocumentsDraft {
    pub(super) bytes: Vec<u8>,
    before: String,
}

/// Reads documents that have so many numbers; none where they cannot be some.
pub(super) fn read(bytes: &[u8], numbers: u32) -> Option<Vec<StoredDocument>> {
    let mut coded = CodedBytes(bytes);
    let mut documents = Vec::new();
    let mut path: Vec<u8> = Vec::new();
    let mut left = numbers;
    while left > 0 {
        let shared = usize::try_from(coded.number()?).ok()?;
        if shared > path.len() {
            return None;
        }
        path.truncate(shared);
        path.extend(coded.sequence()?);
        let [kind] = coded.array()?;
        let indexed = IndexedDocument {
            kind: match kind & !(UNSETTLED | PLAIN) {
                0 => DocumentKind::Listed,
                1 => DocumentKind::Unlisted,
                2 => DocumentKind::Binary,
                _ => return None,
            },
            is_unsettled: kind & UNSETTLED != 0,
            is_plain: kind & PLAIN != 0,
            mark: MarkDigest(coded.array()?),
            hash: TextHash(coded.array()?),
        };
        let numbers = coded.small().filter(|numbers| (1..=NUMBERS_MAX).contains(numbers))?;
        left = left.checked_sub(numbers)?;
        let path = RelPath::parse(std::str::from_utf8(&path).ok()?).ok()?;
        documents.push(StoredDocument { path, indexed, numbers });
    }
    coded.0.is_empty().then_some(documents)
}

// === impl DocumentsDraft ===

impl DocumentsDraft {
    /// Adds the document of the next numbers, so many.
    pub(crate) fn push(&mut self, path: &RelPath, indexed: &IndexedDocument, numbers: u32) {
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
        let unsettled = if indexed.is_unsettled { UNSETTLED } else { 0 };
        let plain = if indexed.is_plain { PLAIN } else { 0 };
        self.bytes.push(kind | unsettled | plain);
        self.bytes.extend(indexed.mark.0);
        self.bytes.extend(indexed.hash.0);
        put_number(&mut self.bytes, u64::from(numbers));
        path.clone_into(&mut self.before);
    }
}
