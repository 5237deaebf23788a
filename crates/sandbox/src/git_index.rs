//! The index of git, byte for byte: one in which git is to look for some files in the worktree no more, or is to look
//! for them again. What git adds in another way than is known here is not changed.

use ring::digest::{self, Algorithm, Digest};

/// What an index begins with; its version and the number of its entries follow.
const SIGNATURE: &[u8] = b"DIRC";
const HEADER_BYTES: usize = 12;
/// The first version, and that whose entries may have a second word of flags.
const VERSION_FIRST: u32 = 2;
const VERSION_EXTENDED: u32 = 3;
/// The one that says of each name only how it differs from the one before.
const VERSION_COMPRESSED: u32 = 4;
/// Bytes of an entry before the hash of its content.
const STAT_BYTES: usize = 40;
/// Where there is the second in which its file was changed, and the size of that.
const CHANGED_AT: usize = 8;
const SIZE_AT: usize = 36;
/// By what an index names contents, and what it ends with.
static HASHES: [&Algorithm; 2] = [&digest::SHA1_FOR_LEGACY_USE_ONLY, &digest::SHA256];
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
/// The only extension that nobody may ignore and that keeps all entries where they are: some are directories.
const SPARSE: &[u8] = b"sdir";
/// Entries without a long name take this many bytes, or a multiple.
const ALIGNMENT: usize = 8;

/// What becomes of the bit by which git does not look for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SkipChange {
    /// It is set, in an index that was written in this second.
    Set { written_s: u32 },
    /// It is cleared again.
    Clear,
}

/// An index with other bits than before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChangedIndex {
    /// All of it; nothing where it is as before.
    pub(crate) bytes: Vec<u8>,
    /// The names of entries that have another bit.
    pub(crate) names: Vec<Vec<u8>>,
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

/// Changes the bits of the entries that are meant, as far as they are not so already; none where the index is not
/// understood, or damaged.
pub(crate) fn changed(
    index: &[u8],
    change: SkipChange,
    is_meant: impl Fn(&[u8]) -> bool,
) -> Option<ChangedIndex> {
    // What names contents in another way looks like one of no such names, if like any.
    let all = HASHES.iter().filter_map(|hash| changed_by(index, hash, change, &is_meant));
    all.max_by_key(|found| found.names.len())
}

fn changed_by(
    index: &[u8],
    hash: &'static Algorithm,
    change: SkipChange,
    is_meant: impl Fn(&[u8]) -> bool,
) -> Option<ChangedIndex> {
    let known = VERSION_FIRST..=VERSION_COMPRESSED;
    let version = number(index, 4).filter(|version| known.contains(version))?;
    let count = number(index, 8).filter(|_| index.starts_with(SIGNATURE))?;
    let hash_bytes = hash.output_len();
    let end = index.len().checked_sub(hash_bytes)?;
    let (mut at, mut name, mut names) = (HEADER_BYTES, Vec::new(), Vec::new());
    // Made at the first entry that is changed: most indexes have none.
    let (mut bytes, mut has_more) = (Vec::new(), false);
    for _ in 0..count {
        let entry = IndexEntry::read(index.get(at..end)?, (version, hash_bytes), &mut name)?;
        let before = entry.more_flags;
        let after = entry.flags_after(change).filter(|_| is_meant(&name)).unwrap_or(before);
        if after != before {
            if names.is_empty() {
                bytes.reserve(index.len());
                bytes.extend_from_slice(&index[..at]);
            }
            entry.write(&mut bytes, (version, hash_bytes), (change, after));
            names.push(name.clone());
            has_more |= after != 0;
        } else {
            if !names.is_empty() {
                bytes.extend_from_slice(entry.bytes);
            }
            has_more |= entry.flags & EXTENDED != 0;
        }
        at += entry.bytes.len();
    }
    while at < end {
        let signature = index.get(at..at + 4)?;
        let length = usize::try_from(number(index, at + 4)?).ok()?;
        let behind = at.checked_add(EXTENSION_BYTES)?.checked_add(length)?;
        let is_known = signature == SPARSE || !signature[0].is_ascii_lowercase();
        let extension = index.get(at..behind).filter(|_| behind <= end && is_known)?;
        if !names.is_empty() && !OFFSETS.contains(&signature) {
            bytes.extend_from_slice(extension);
        }
        at = behind;
    }
    if !names.is_empty() {
        let plain = if has_more { VERSION_EXTENDED } else { VERSION_FIRST };
        let version = if version == VERSION_COMPRESSED { version } else { plain };
        bytes[4..8].copy_from_slice(&version.to_be_bytes());
        let checksum = checksum(hash, (&index[..end], &index[end..]), &bytes)?;
        bytes.extend_from_slice(&checksum);
    }
    Some(ChangedIndex { bytes, names })
}

/// The checksum of what was made of content that has one; zeros, as where `index.skipHash` is set, where that has none.
fn checksum(
    hash: &'static Algorithm,
    (before, found): (&[u8], &[u8]),
    after: &[u8],
) -> Option<Vec<u8>> {
    let of = |bytes: &[u8]| -> Digest { digest::digest(hash, bytes) };
    if found.iter().all(|byte| *byte == 0) {
        return Some(found.to_vec());
    }
    (of(before).as_ref() == found).then(|| of(after).as_ref().to_vec())
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

    /// Its second word of flags when they are changed so; none where they are not to be.
    fn flags_after(&self, change: SkipChange) -> Option<u16> {
        if self.flags & STAGE != 0 {
            return None;
        }
        Some(match change {
            SkipChange::Set { .. } => self.more_flags | SKIP_WORKTREE,
            SkipChange::Clear => self.more_flags & !SKIP_WORKTREE,
        })
    }

    fn write(
        &self,
        to: &mut Vec<u8>,
        (version, hash_bytes): (u32, usize),
        (change, more_flags): (SkipChange, u16),
    ) {
        let start = to.len();
        to.extend_from_slice(&self.bytes[..STAT_BYTES + hash_bytes]);
        // Of a file that is as new as its index git compares the content. The index gets newer while the command runs,
        // so the entry asks for that itself, as git writes it: its size is 0.
        if let SkipChange::Set { written_s } = change
            && number(self.bytes, CHANGED_AT).is_some_and(|changed_s| changed_s >= written_s)
        {
            to[start + SIZE_AT..start + STAT_BYTES].fill(0);
        }
        let flags = if more_flags == 0 { self.flags & !EXTENDED } else { self.flags | EXTENDED };
        to.extend_from_slice(&flags.to_be_bytes());
        if more_flags != 0 {
            to.extend_from_slice(&more_flags.to_be_bytes());
        }
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

    /// Set in an index that is older than all that stands in it, and in a newer one.
    const OLDER: SkipChange = SkipChange::Set { written_s: 1 };
    const NEWER: SkipChange = SkipChange::Set { written_s: u32::MAX };

    /// An index of version 2 with these files, and two extensions.
    fn index(names: &[&str], hash: &'static Algorithm) -> Vec<u8> {
        let mut bytes = [SIGNATURE, &2_u32.to_be_bytes()].concat();
        bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        for name in names {
            let start = bytes.len();
            bytes.resize(start + STAT_BYTES + hash.output_len(), 7);
            bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
            bytes.extend(name.as_bytes());
            let written = bytes.len() - start;
            bytes.resize(start + padded(written), 0);
        }
        bytes.extend([&b"TREE"[..], &3_u32.to_be_bytes(), b"abc"].concat());
        closed(bytes, hash)
    }

    /// The same with its checksum.
    fn closed(mut bytes: Vec<u8>, hash: &'static Algorithm) -> Vec<u8> {
        let checksum = digest::digest(hash, &bytes);
        bytes.extend_from_slice(checksum.as_ref());
        bytes
    }

    fn names(names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    #[test]
    fn bits_are_set_and_cleared_and_all_else_stays() {
        for hash in HASHES {
            let before = index(&[".env", "a", "longer/than/one/word", "z"], hash);
            let is_first = |name: &[u8]| name == b".env" || name == b"z";
            let set = changed(&before, NEWER, is_first).unwrap();
            assert_eq!(set.names, names(&[".env", "z"]));
            assert_eq!(number(&set.bytes, 4), Some(VERSION_EXTENDED));
            let rest = changed(&set.bytes, NEWER, |_| true).unwrap();
            assert_eq!(rest.names, names(&["a", "longer/than/one/word"]), "the others have it");
            let none = changed(&set.bytes, NEWER, is_first).unwrap();
            assert_eq!(none, ChangedIndex { bytes: Vec::new(), names: Vec::new() });
            let cleared = changed(&rest.bytes, SkipChange::Clear, |name| !is_first(name)).unwrap();
            assert!(cleared == ChangedIndex { bytes: set.bytes.clone(), names: rest.names });
            let cleared = changed(&set.bytes, SkipChange::Clear, |_| true).unwrap();
            assert_eq!(cleared, ChangedIndex { bytes: before, names: set.names });
        }
    }

    #[test]
    fn where_entries_are_is_not_said_any_more_and_no_checksum_stays_none() {
        let hash = HASHES[0];
        let mut bytes = index(&["a"], hash);
        bytes.truncate(bytes.len() - hash.output_len());
        bytes.extend([&b"EOIE"[..], &1_u32.to_be_bytes(), b"x"].concat());
        let set = changed(&closed(bytes.clone(), hash), NEWER, |_| true).unwrap().bytes;
        let text = String::from_utf8_lossy(&set);
        assert!(text.contains("TREE") && !text.contains("EOIE"));
        bytes.resize(bytes.len() + hash.output_len(), 0);
        let unchecked = changed(&bytes, NEWER, |_| true).unwrap().bytes;
        let (content, checksum) = unchecked.split_at(set.len() - hash.output_len());
        assert!(content == &set[..content.len()] && checksum.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn of_what_may_have_changed_since_the_index_was_written_git_compares_the_content() {
        let bytes = index(&["a"], HASHES[0]);
        let size = |change| {
            let set = changed(&bytes, change, |_| true).unwrap().bytes;
            let cleared = changed(&set, SkipChange::Clear, |_| true).unwrap().bytes;
            [set, cleared].map(|bytes| number(&bytes, HEADER_BYTES + SIZE_AT).unwrap())
        };
        assert_eq!([size(NEWER), size(OLDER)], [[0x0707_0707; 2], [0; 2]]);
    }

    #[test]
    fn what_is_not_understood_is_not_changed() {
        let hash = HASHES[0];
        let bytes = index(&["a", "b"], hash);
        for length in 0..bytes.len() {
            assert_eq!(changed(&bytes[..length], NEWER, |_| true), None, "{length}");
        }
        let with = |at: usize, value: u8| {
            let mut bytes = bytes.clone();
            bytes.truncate(bytes.len() - hash.output_len());
            bytes[at] = value;
            closed(bytes, hash)
        };
        assert!(changed(&with(8, 0), NEWER, |_| true).is_some());
        assert_eq!(changed(&with(0, b'X'), NEWER, |_| true), None);
        assert_eq!(changed(&with(7, 5), NEWER, |_| true), None, "another version");
        assert_eq!(changed(&with(8, 255), NEWER, |_| true), None, "more entries than there are");
        let extension = String::from_utf8_lossy(&bytes).find("TREE").unwrap();
        assert_eq!(changed(&with(extension, b't'), NEWER, |_| true), None, "not to be ignored");
        let mut damaged = bytes.clone();
        damaged[HEADER_BYTES] += 1;
        assert_eq!(changed(&damaged, NEWER, |_| true), None);
    }

    #[test]
    fn offsets_are_read_as_in_packs() {
        assert_eq!(cut_bytes(&[5, 0]), Some((5, 1)));
        assert_eq!(cut_bytes(&[0x80, 0]), Some((128, 2)));
        assert_eq!(cut_bytes(&[0x81, 0x7f]), Some((383, 2)));
        assert_eq!(cut_bytes(&[0xff; 64]), None);
    }
}
