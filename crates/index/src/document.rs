//! Documents, the files that an index is over: how they are named, read and distinguished.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use moss_sdk::RelPath;

/// A file that changed later than so long before it was read may change again and show the same times.
const UNSETTLED_FOR: Duration = Duration::from_secs(2);
/// How much of a hash stands for what it is of.
const HASH_BYTES: usize = 16;

/// What shows that a file has changed, without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentMark {
    /// Of the file, not of its decoded text.
    pub size_bytes: u64,
    /// When its content was changed: seconds and nanoseconds.
    pub modified: (i64, i64),
    /// When anything about it was changed: seconds and nanoseconds.
    pub changed: (i64, i64),
    /// Its number in the file system.
    pub inode: u64,
}

/// What has become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentChange {
    /// It is there, with this mark.
    Present(RelPath, DocumentMark),
    /// It is no longer there.
    Gone(RelPath),
    /// It may no longer be read: nothing of it may stay in the index's files.
    Denied(RelPath),
}

/// Who reads documents: as the search reads them, so that what it sees is what is indexed.
pub trait DocumentSource: Sync {
    /// Reads a document. The buffer is there to be reused.
    fn read<'b>(&self, path: &RelPath, buffer: &'b mut Vec<u8>) -> ReadDocument<'b>;

    /// Reads a document that takes much memory. Is called for one at a time.
    fn read_large<'b>(&self, path: &RelPath, buffer: &'b mut Vec<u8>) -> ReadDocument<'b> {
        self.read(path, buffer)
    }
}

/// A document as it was read.
#[derive(Debug)]
pub struct ReadDocument<'b> {
    /// The mark of the very file that was read, taken once it was open and before it was read. None
    /// where it could not be opened.
    pub mark: Option<DocumentMark>,
    /// Its text, or why a search passes it by.
    pub content: DocumentContent<'b>,
}

/// What a document holds.
#[derive(Debug)]
pub enum DocumentContent<'b> {
    /// Decoded: what a search reads.
    Text(Cow<'b, str>),
    /// No text: a search passes it by.
    Binary,
    /// More than is read beside others: [`DocumentSource::read_large`] reads it.
    Large,
    /// More than may be read, or what cannot be read: a search has to look itself.
    Unread,
}

/// A mark as the index keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MarkDigest(pub(crate) [u8; HASH_BYTES]);

/// Which text a document holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextHash(pub(crate) [u8; HASH_BYTES]);

/// What kind of document is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// A text, whose trigrams are listed.
    Listed,
    /// A text with too many trigrams: it may always match.
    Unlisted,
    /// No text: it never matches.
    Binary,
}

/// What the index knows of a document that it has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexedDocument {
    pub(crate) mark: MarkDigest,
    pub(crate) hash: TextHash,
    pub(crate) kind: DocumentKind,
    /// Whether its mark may stay the same though it changes: it counts for nothing then.
    pub(crate) is_unsettled: bool,
    /// Whether its text is what the file holds, byte by byte.
    pub(crate) is_plain: bool,
}

// === impl DocumentChange ===

impl DocumentChange {
    /// The same, and what is gone may stay in no file either.
    #[must_use]
    pub fn or_denied(self) -> Self {
        match self {
            Self::Gone(path) => Self::Denied(path),
            Self::Present(..) | Self::Denied(_) => self,
        }
    }
}

// === impl DocumentMark ===

impl DocumentMark {
    pub(crate) fn digest(&self) -> MarkDigest {
        let mut bytes = Vec::with_capacity(48);
        bytes.extend(self.size_bytes.to_le_bytes());
        for (seconds, nanoseconds) in [self.modified, self.changed] {
            bytes.extend(seconds.to_le_bytes());
            bytes.extend(nanoseconds.to_le_bytes());
        }
        bytes.extend(self.inode.to_le_bytes());
        MarkDigest(short_hash(&bytes))
    }

    /// Whether the file could change right after `now` and keep this mark: clocks of file systems are
    /// coarse. What seems to come from the future does not show when it changed.
    pub(crate) fn is_unsettled(&self, now: SystemTime) -> bool {
        let limit = now.checked_sub(UNSETTLED_FOR).unwrap_or(SystemTime::UNIX_EPOCH);
        let limit = limit.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let limit = i64::try_from(limit.as_secs()).unwrap_or(i64::MAX);
        self.changed.0.max(self.modified.0) >= limit
    }
}

// === impl ReadDocument ===

impl ReadDocument<'_> {
    /// Whether its text is what the file holds, byte by byte: not decoded, and without a mark of its encoding.
    pub(crate) fn is_plain(&self) -> bool {
        let (Some(mark), DocumentContent::Text(Cow::Borrowed(text))) = (self.mark, &self.content)
        else {
            return false;
        };
        mark.size_bytes == text.len() as u64
    }
}

// === impl MarkDigest ===

impl MarkDigest {
    pub(crate) const NONE: Self = Self([0; HASH_BYTES]);
}

// === impl TextHash ===

impl TextHash {
    pub(crate) const NONE: Self = Self([0; HASH_BYTES]);

    pub(crate) fn of(text: &[u8]) -> Self {
        Self(short_hash(text))
    }
}

fn short_hash(bytes: &[u8]) -> [u8; HASH_BYTES] {
    let mut short = [0; HASH_BYTES];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..HASH_BYTES]);
    short
}
