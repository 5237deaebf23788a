//! The index of git, byte for byte: a copy of one in which git is not to look for some files in the worktree. What git
//! adds in another way than is known here makes no copy.

/// What an index begins with; its version and the number of its entries follow.
const SIGNATURE: &[u8] = b"DIRC";
const HEADER_BYTES: usize = 12;
/// The first version whose entries may have a second word of flags.
const VERSION_EXTENDED: u32 = 3;
/// The one that says of each name only how it differs from the one before.
const VERSION_COMPRESSED: u32 = 4;
/// Bytes of an entry before the hash of its content.
const STAT_BYTES: usize = 40;
/// Bytes of a hash, by the kinds that there are: SHA-1 and SHA-256.
const HASHES: [usize; 2] = [20, 32];
/// In the first word of flags: a second one follows.
const EXTENDED: u16 = 0x4000;
/// There as well: on which side of a merge it is.
const STAGE: u16 = 0x3000;
/// In the second one: the file is not looked for in the worktree.
const SKIP_WORKTREE: u16 = 0x4000;
/// Signature and length of an extension.
const EXTENSION_BYTES: usize = 8;
/// Extensions that say where entries are, which git does without.
const OFFSETS: [&[u8]; 2] = [b"EOIE", b"IEOT"];
/// The extension of an index whose entries are in another file.
const SPLIT: &[u8] = b"link";
/// Entries without a long name take this many bytes, or a multiple.
const ALIGNMENT: usize = 8;

/// A copy of an index, and the entries that git does not look for only there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SkippingIndex {
    pub(crate) bytes: Vec<u8>,
    /// The names of entries that it skips.
    pub(crate) skipped: Vec<Vec<u8>>,
}

/// An entry; its name is kept beside it, since the next one may build on that.
struct IndexEntry<'a> {
    /// All of it, with what fills it up.
    bytes: &'a [u8],
    flags: u16,
    more_flags: u16,
    /// Where the name begins.
    name_at: usize,
}

/// Copies an index; none where it is not understood, or nothing in it is skipped. The copy has no checksum, as where `index.skipHash` is set: git
/// looks at none.
pub(crate) fn skipping(index: &[u8], is_skipped: impl Fn(&[u8]) -> bool) -> Option<SkippingIndex> {
    HASHES.iter().find_map(|&hash_bytes| copy(index, hash_bytes, &is_skipped))
}

fn copy(
    index: &[u8],
    hash_bytes: usize,
    is_skipped: impl Fn(&[u8]) -> bool,
) -> Option<SkippingIndex> {
    let version = number(index, 4).filter(|version| (2..=VERSION_COMPRESSED).contains(version))?;
    let count = number(index, 8).filter(|_| index.starts_with(SIGNATURE))?;
    let end = index.len().checked_sub(hash_bytes)?;
    let (mut at, mut name, mut skipped) = (HEADER_BYTES, Vec::new(), Vec::new());
    // Made at the first entry that is skipped: most indexes have none.
    let mut bytes = Vec::new();
    for _ in 0..count {
        let entry = IndexEntry::read(index.get(at..end)?, (version, hash_bytes), &mut name)?;
        if entry.is_in_worktree() && is_skipped(&name) {
            if skipped.is_empty() {
                bytes.reserve(index.len());
                bytes.extend_from_slice(&index[..at]);
            }
            entry.write_skipped(&mut bytes, (version, hash_bytes));
            skipped.push(name.clone());
        } else if !skipped.is_empty() {
            bytes.extend_from_slice(entry.bytes);
        }
        at += entry.bytes.len();
    }
    if skipped.is_empty() {
        return None;
    }
    while at < end {
        let signature = index.get(at..at + 4)?;
        let length = usize::try_from(number(index, at + 4)?).ok()?;
        let behind = at.checked_add(EXTENSION_BYTES)?.checked_add(length)?;
        let extension = index.get(at..behind).filter(|_| behind <= end && signature != SPLIT)?;
        if !OFFSETS.contains(&signature) {
            bytes.extend_from_slice(extension);
        }
        at = behind;
    }
    bytes[4..8].copy_from_slice(&version.max(VERSION_EXTENDED).to_be_bytes());
    bytes.resize(bytes.len() + hash_bytes, 0);
    Some(SkippingIndex { bytes, skipped })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// Reads how many bytes of the name before are no part of the next one, as offsets in packs are written. Returns it with
/// the number of bytes that it takes.
fn cut_bytes(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (place, byte) in bytes.iter().enumerate() {
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some((value, place + 1));
        }
        value = value.checked_add(1)?;
    }
    None
}

// === impl IndexEntry ===

impl<'a> IndexEntry<'a> {
    /// Reads the first one; `name` is that of the one before, and its own afterwards.
    fn read(
        bytes: &'a [u8],
        (version, hash_bytes): (u32, usize),
        name: &mut Vec<u8>,
    ) -> Option<Self> {
        let flags_at = STAT_BYTES + hash_bytes;
        let flags = word(bytes, flags_at)?;
        let has_more = flags & EXTENDED != 0;
        if has_more && version < VERSION_EXTENDED {
            return None;
        }
        let more_flags = if has_more { word(bytes, flags_at + 2)? } else { 0 };
        let name_at = flags_at + if has_more { 4 } else { 2 };
        let mut written_at = name_at;
        if version == VERSION_COMPRESSED {
            let (cut, taken) = cut_bytes(bytes.get(name_at..)?)?;
            name.truncate(name.len().checked_sub(cut)?);
            written_at += taken;
        } else {
            name.clear();
        }
        let written = bytes.get(written_at..)?;
        let length = written.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&written[..length]);
        let end = match version {
            VERSION_COMPRESSED => written_at + length + 1,
            _ => padded(written_at + length),
        };
        Some(Self { bytes: bytes.get(..end)?, flags, more_flags, name_at })
    }

    /// Whether git compares it with a file.
    fn is_in_worktree(&self) -> bool {
        self.flags & STAGE == 0 && self.more_flags & SKIP_WORKTREE == 0
    }

    fn write_skipped(&self, to: &mut Vec<u8>, (version, hash_bytes): (u32, usize)) {
        let start = to.len();
        to.extend_from_slice(&self.bytes[..STAT_BYTES + hash_bytes]);
        to.extend_from_slice(&(self.flags | EXTENDED).to_be_bytes());
        to.extend_from_slice(&(self.more_flags | SKIP_WORKTREE).to_be_bytes());
        let name = &self.bytes[self.name_at..];
        if version == VERSION_COMPRESSED {
            to.extend_from_slice(name);
            return;
        }
        to.extend(name.iter().take_while(|byte| **byte != 0));
        let written = to.len() - start;
        to.resize(start + padded(written), 0);
    }
}

/// How many bytes an entry takes with what fills it up: at least one.
fn padded(bytes: usize) -> usize {
    (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of version 2 with these files, and an extension.
    fn index(names: &[&str]) -> Vec<u8> {
        let mut bytes = [SIGNATURE, &2_u32.to_be_bytes()].concat();
        bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        for name in names {
            let start = bytes.len();
            bytes.extend([7; STAT_BYTES + 20]);
            bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
            bytes.extend(name.as_bytes());
            let written = bytes.len() - start;
            bytes.resize(start + padded(written), 0);
        }
        for (signature, content) in [(b"TREE", "abc"), (b"EOIE", "x")] {
            bytes.extend(signature);
            bytes.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
            bytes.extend(content.as_bytes());
        }
        bytes.extend([9; 20]);
        bytes
    }

    #[test]
    fn a_copy_has_the_same_entries_and_skips_some_of_them() {
        let names = [".env", "a", "longer/than/one/word", "z"];
        let bytes = index(&names);
        let skipped = |names: [&str; 2]| names.map(|name| name.as_bytes().to_vec());
        let found = skipping(&bytes, |name| name == b".env" || name == b"z").unwrap();
        assert_eq!(found.skipped, skipped([".env", "z"]));
        assert_eq!(number(&found.bytes, 4), Some(VERSION_EXTENDED));
        let again = skipping(&found.bytes, |_| true).unwrap();
        assert_eq!(again.skipped, skipped(["a", "longer/than/one/word"]));
        let text = String::from_utf8_lossy(&found.bytes);
        assert!(text.contains("TREE") && !text.contains("EOIE"));
        assert_eq!(skipping(&bytes, |_| false), None, "nothing is skipped");
    }

    #[test]
    fn what_is_not_understood_makes_no_copy() {
        let bytes = index(&["a", "b"]);
        // Two entries of 64 bytes, and a hash.
        for length in 0..HEADER_BYTES + 128 + 20 {
            assert_eq!(skipping(&bytes[..length], |_| true), None, "{length}");
        }
        let with = |at: usize, value: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            bytes
        };
        assert_eq!(skipping(&with(0, b'X'), |_| true), None);
        assert_eq!(skipping(&with(7, 5), |_| true), None, "another version");
        assert_eq!(skipping(&with(8, 255), |_| true), None, "more entries than there are");
        let split = String::from_utf8_lossy(&bytes).find("TREE").unwrap();
        let mut bytes = bytes.clone();
        bytes[split..split + 4].copy_from_slice(SPLIT);
        assert_eq!(skipping(&bytes, |_| true), None);
    }

    #[test]
    fn offsets_are_read_as_in_packs() {
        assert_eq!(cut_bytes(&[5, 0]), Some((5, 1)));
        assert_eq!(cut_bytes(&[0x80, 0]), Some((128, 2)));
        assert_eq!(cut_bytes(&[0x81, 0x7f]), Some((383, 2)));
        assert_eq!(cut_bytes(&[0xff; 64]), None);
    }
}
