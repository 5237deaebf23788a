//! The manifest: which segments the index consists of, later ones standing for earlier ones where
//! both have a document.
//!
//! Its name says of which version it is, so that versions of moss leave each other's index alone.

use crate::coding::{CodedBytes, FORMAT, checksum, put_number};
use crate::problem::IndexProblem;
use crate::segment::{SEGMENT, SegmentName};
use crate::store::IndexStore;

const MAGIC: [u8; 8] = *b"mossindx";
/// How the names of manifests begin.
pub(crate) const MANIFEST: &str = "manifest-";
/// How files end that are not whole yet.
const UNFINISHED: &str = ".tmp";
/// Larger ones are damaged.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;

/// The segments of an index, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IndexManifest {
    pub(crate) segments: Vec<SegmentName>,
    /// The number of the next segment.
    pub(crate) next: u32,
}

/// What the manifest of a version of the format is called.
fn file_of(format: u32) -> String {
    format!("{MANIFEST}{format}")
}

/// Returns a manifest of a newer version, if there is one.
pub(crate) fn newer(names: &[String]) -> Option<IndexProblem> {
    let is_newer = |name: &&String| {
        let format = name.strip_prefix(MANIFEST).and_then(|format| format.parse::<u32>().ok());
        format.is_some_and(|format| format > FORMAT)
    };
    names.iter().find(is_newer).map(|file| IndexProblem::Newer { file: file.clone() })
}

// === impl IndexManifest ===

impl IndexManifest {
    /// Reads the manifest; an empty one if it does not exist.
    pub(crate) fn load(store: &dyn IndexStore) -> Result<Self, IndexProblem> {
        let file = file_of(FORMAT);
        let damaged = |what| IndexProblem::damaged(&file, what);
        let read = store.read(&file, MANIFEST_BYTES_MAX);
        let Some(bytes) = read.map_err(|_| damaged("a file that cannot be read"))? else {
            return Ok(Self::default());
        };
        Self::read(&bytes).ok_or_else(|| damaged("another sum"))
    }

    /// Replaces the manifest in the store: the segments that it names are those that count.
    pub(crate) fn save(&self, store: &dyn IndexStore) -> Result<(), IndexProblem> {
        Ok(store.write(&file_of(FORMAT), &self.bytes())?)
    }

    /// Whether a file is left from before: of this or an older version, and not of this index.
    pub(crate) fn has_outlived(&self, file: &str) -> bool {
        let named =
            Self::is_called(file) || self.segments.iter().any(|segment| segment.file() == file);
        let format = file.strip_prefix(MANIFEST).or_else(|| file.strip_suffix(SEGMENT));
        let format = format.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        !named && (file.ends_with(UNFINISHED) || format.is_some_and(|format| format <= FORMAT))
    }

    /// Whether a file is the manifest.
    pub(crate) fn is_called(file: &str) -> bool {
        file == file_of(FORMAT)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        put_number(&mut bytes, u64::from(FORMAT));
        put_number(&mut bytes, u64::from(self.next));
        put_number(&mut bytes, self.segments.len() as u64);
        for segment in &self.segments {
            put_number(&mut bytes, u64::from(segment.number));
            put_number(&mut bytes, segment.size_bytes);
            bytes.extend(segment.checksum.to_le_bytes());
        }
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<8>()?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return None;
        }
        let mut coded = CodedBytes(body);
        if coded.array()? != MAGIC || coded.small()? != FORMAT {
            return None;
        }
        let next = coded.small()?;
        let count = coded.number()?;
        let mut segments: Vec<SegmentName> = Vec::new();
        for _ in 0..count {
            let number = coded.small().filter(|number| *number < next)?;
            let size_bytes = coded.number()?;
            let checksum = u64::from_le_bytes(coded.array()?);
            segments.push(SegmentName { number, size_bytes, checksum });
        }
        coded.0.is_empty().then_some(Self { segments, next })
    }
}
