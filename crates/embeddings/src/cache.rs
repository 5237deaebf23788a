//! The file that keeps vectors for the next daemon: one for a workspace and an endpoint, appended to, and written anew
//! where something has to leave it.
//!
//! It begins with the name of its endpoint and the length of its vectors; each record has a check of its own. What is
//! not as it was written ends the file: what lies before counts.

use std::io::Write as _;
use std::time::Duration;

use moss_ranking::{DIMENSIONS_MAX, MeaningVector, PassageKey, VectorTable};
use moss_workspace::Error;
use moss_workspace::own::{Lock, OwnDir};

const NAME: &str = "vectors";
/// Held by the one process that keeps the file.
const LOCK: &str = "lock";
const MAGIC: &[u8; 16] = b"moss vectors 1\n\0";
const HEAD_BYTES: usize = MAGIC.len() + 32 + 4;
const KEY_BYTES: usize = 32;
const SCALE_BYTES: usize = 4;
const CHECK_BYTES: usize = 8;

/// The file of one workspace.
#[derive(Debug)]
pub struct VectorFile {
    directory: OwnDir,
    bytes_max: u64,
    endpoint: [u8; 32],
    bytes: u64,
    /// How long its vectors are; none as long as it has no head.
    dimensions: Option<usize>,
    _lock: Lock,
}

// === impl VectorFile ===

impl VectorFile {
    /// Opens the file of a directory of its own, for one endpoint, and reads the vectors that it has. Those of another
    /// endpoint are removed, and so is what is damaged.
    ///
    /// # Errors
    ///
    /// Where there is no such directory, it cannot be read, or another process keeps the file.
    pub fn open(
        directory: OwnDir,
        endpoint: [u8; 32],
        bytes_max: u64,
    ) -> Result<(Self, VectorTable), Error> {
        let _lock = directory.lock(LOCK, Duration::ZERO)?;
        directory.remove_left_over(Duration::ZERO)?;
        let mut file = Self { directory, bytes_max, endpoint, bytes: 0, dimensions: None, _lock };
        let known = file.directory.version(NAME)?.is_some();
        let read = match file.directory.read(NAME, bytes_max) {
            Ok(read) => read.unwrap_or_default(),
            // Too large by now, or not a file of ours.
            Err(Error::Own { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let (table, whole) = parse(&read, &endpoint);
        file.dimensions = table.dimensions();
        file.bytes = whole as u64;
        if known && (whole < read.len() || whole == 0) {
            file.write_anew(&table)?;
        }
        Ok((file, table))
    }

    /// Removes the file of a directory; returns how large it was, in bytes.
    ///
    /// # Errors
    ///
    /// Where it cannot be removed, or a process keeps it.
    pub fn remove(directory: &OwnDir) -> Result<u64, Error> {
        let _lock = directory.lock(LOCK, Duration::ZERO)?;
        directory.remove_left_over(Duration::ZERO)?;
        let files = directory.files()?;
        directory.remove(NAME)?;
        let own = files.iter().filter(|file| file.name == NAME);
        Ok(own.map(|file| file.size_bytes).sum())
    }

    /// How large it is, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds vectors that it does not have. Returns whether it has them now: where it is full it takes none.
    ///
    /// # Errors
    ///
    /// Where they cannot be written.
    pub fn append(&mut self, vectors: &[(PassageKey, MeaningVector)]) -> Result<bool, Error> {
        let Some((_, first)) = vectors.first() else { return Ok(true) };
        let dimensions = *self.dimensions.get_or_insert(first.dimensions());
        let mut bytes = Vec::new();
        if self.bytes == 0 {
            bytes.extend(head(&self.endpoint, dimensions));
        }
        let fitting = vectors.iter().filter(|(_, vector)| vector.dimensions() == dimensions);
        fitting.for_each(|(key, vector)| bytes.extend(record(key, vector)));
        if self.bytes + bytes.len() as u64 > self.bytes_max {
            return Ok(false);
        }
        let mut appender = self.directory.appender(NAME)?;
        let written = appender.write_all(&bytes).and_then(|()| appender.flush());
        written.map_err(|source| Error::Io {
            action: "write",
            path: self.directory.path().join(NAME).display().to_string(),
            source,
        })?;
        self.bytes += bytes.len() as u64;
        Ok(true)
    }

    /// Writes it anew, with these vectors and no others.
    ///
    /// # Errors
    ///
    /// Where it cannot be written; then it is as it was.
    pub fn write_anew(&mut self, table: &VectorTable) -> Result<(), Error> {
        let Some(dimensions) = table.dimensions().filter(|_| !table.is_empty()) else {
            self.directory.remove(NAME)?;
            (self.bytes, self.dimensions) = (0, None);
            return Ok(());
        };
        let mut draft = self.directory.draft(NAME)?;
        let mut bytes = head(&self.endpoint, dimensions);
        let mut written = 0;
        for (key, vector) in table.vectors() {
            bytes.extend(record(key, &vector));
            if bytes.len() > 1 << 20 {
                draft.write(&bytes)?;
                written += bytes.len() as u64;
                bytes.clear();
            }
        }
        draft.write(&bytes)?;
        written += bytes.len() as u64;
        draft.finish()?;
        (self.bytes, self.dimensions) = (written, Some(dimensions));
        Ok(())
    }
}

fn head(endpoint: &[u8; 32], dimensions: usize) -> Vec<u8> {
    let dimensions = u32::try_from(dimensions).unwrap_or_default();
    [MAGIC.as_slice(), endpoint, &dimensions.to_le_bytes()].concat()
}

fn record(key: &PassageKey, vector: &MeaningVector) -> Vec<u8> {
    let (scale, values) = vector.parts();
    let mut bytes = Vec::with_capacity(KEY_BYTES + SCALE_BYTES + values.len() + CHECK_BYTES);
    bytes.extend(key);
    bytes.extend(scale.to_le_bytes());
    bytes.extend(values.iter().map(|value| value.cast_unsigned()));
    bytes.extend(check(&bytes));
    bytes
}

fn check(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = blake3::hash(bytes);
    std::array::from_fn(|at| hash.as_bytes()[at])
}

/// Reads a file of an endpoint; also says how many of its bytes are as they were written.
fn parse(bytes: &[u8], endpoint: &[u8; 32]) -> (VectorTable, usize) {
    let mut table = VectorTable::default();
    let Some((head, rest)) = bytes.split_at_checked(HEAD_BYTES) else { return (table, 0) };
    let (named, dimensions) = head.split_at(HEAD_BYTES - 4);
    let dimensions = dimensions.try_into().map(u32::from_le_bytes).unwrap_or_default() as usize;
    let is_ours = named == [MAGIC.as_slice(), endpoint].concat();
    if !is_ours || !(1..=DIMENSIONS_MAX).contains(&dimensions) {
        return (table, 0);
    }
    let mut whole = HEAD_BYTES;
    for bytes in rest.chunks_exact(KEY_BYTES + SCALE_BYTES + dimensions + CHECK_BYTES) {
        let (said, checked) = bytes.split_at(bytes.len() - CHECK_BYTES);
        if checked != check(said) {
            break;
        }
        let (key, rest) = said.split_at(KEY_BYTES);
        let (scale, values) = rest.split_at(SCALE_BYTES);
        let values: Vec<i8> = values.iter().map(|value| value.cast_signed()).collect();
        let scale = scale.try_into().map(f32::from_le_bytes).unwrap_or_default();
        let (Ok(key), Some(vector)) = (key.try_into(), MeaningVector::from_parts(scale, &values))
        else {
            break;
        };
        table.insert(key, &vector);
        whole += bytes.len();
    }
    (table, whole)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;

    const ENDPOINT: [u8; 32] = [7; 32];
    const LARGE: u64 = 1 << 20;

    fn vectors(count: u8) -> Vec<(PassageKey, MeaningVector)> {
        let one = |n: u8| ([n; 32], MeaningVector::of(&[f32::from(n) + 1.0, -1.0, 0.5]).unwrap());
        (0..count).map(one).collect()
    }

    fn open(path: &Path, endpoint: [u8; 32], bytes_max: u64) -> (VectorFile, VectorTable) {
        VectorFile::open(OwnDir::create(path).unwrap(), endpoint, bytes_max).unwrap()
    }

    fn keys(table: &VectorTable) -> Vec<u8> {
        table.vectors().map(|(key, _)| key[0]).collect()
    }

    #[test]
    fn what_was_added_is_there_again_and_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("own");
        let (mut file, table) = open(&path, ENDPOINT, LARGE);
        assert!(table.is_empty());
        let all = vectors(5);
        assert!(file.append(&all[..2]).unwrap() && file.append(&all[2..]).unwrap());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&path.join(NAME))), (0o700, 0o600));
        let own = || OwnDir::open(&path).unwrap();
        assert!(VectorFile::open(own(), ENDPOINT, LARGE).is_err(), "it is kept");
        assert!(VectorFile::remove(&own()).is_err(), "it is kept");
        let bytes = file.bytes();
        drop(file);
        let (again, table) = open(&path, ENDPOINT, LARGE);
        assert_eq!(again.bytes(), bytes);
        drop(again);
        let read: Vec<_> = table.vectors().map(|(key, vector)| (*key, vector)).collect();
        assert_eq!(read, all);
        // Vectors of another endpoint are none of this one.
        let (other, table) = open(&path, [8; 32], LARGE);
        assert_eq!((other.bytes(), table.len()), (0, 0));
        assert!(!path.join(NAME).exists());
        drop(other);
        open(&path, ENDPOINT, LARGE).0.append(&vectors(1)).unwrap();
        assert!(VectorFile::remove(&own()).unwrap() > 0);
        assert!(!path.join(NAME).exists());
    }

    #[test]
    fn what_a_killed_process_was_writing_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("own");
        let own = OwnDir::create(&path).unwrap();
        let left = format!(".moss-{:032x}.tmp", 7);
        for is_cleared in [false, true] {
            own.write(&left, b"x").unwrap();
            own.write("letter.tmp", b"x").unwrap();
            match is_cleared {
                false => drop(open(&path, ENDPOINT, LARGE)),
                true => assert_eq!(VectorFile::remove(&own).unwrap(), 0),
            }
            assert!(!path.join(&left).exists() && path.join("letter.tmp").exists());
        }
    }

    #[test]
    fn what_is_damaged_ends_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("own");
        let (mut file, _) = open(&path, ENDPOINT, LARGE);
        file.append(&vectors(4)).unwrap();
        drop(file);
        let whole = std::fs::read(path.join(NAME)).unwrap();
        let record = (whole.len() - HEAD_BYTES) / 4;
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 1;
            std::fs::write(path.join(NAME), &broken).unwrap();
            let (mut file, table) = open(&path, ENDPOINT, LARGE);
            let before = at.checked_sub(HEAD_BYTES).map_or(0, |at| at / record);
            assert_eq!(table.len(), before, "{at}");
            // Appending resumes behind the last whole record.
            assert!(file.append(&vectors(5)[4..]).unwrap());
            drop(file);
            let mut expected: Vec<u8> = (0..u8::try_from(before).unwrap()).collect();
            expected.push(4);
            assert_eq!(keys(&open(&path, ENDPOINT, LARGE).1), expected, "{at}");
        }
        for length in 0..whole.len() {
            std::fs::write(path.join(NAME), &whole[..length]).unwrap();
            let before = length.checked_sub(HEAD_BYTES).map_or(0, |rest| rest / record);
            assert_eq!(open(&path, ENDPOINT, LARGE).1.len(), before, "{length}");
        }
    }

    #[test]
    fn what_leaves_is_no_longer_on_the_disk_and_the_size_is_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("own");
        let (mut file, _) = open(&path, ENDPOINT, LARGE);
        file.append(&vectors(4)).unwrap();
        let mut table = VectorTable::default();
        table.insert([2; 32], &vectors(3)[2].1);
        file.write_anew(&table).unwrap();
        let bytes = std::fs::read(path.join(NAME)).unwrap();
        assert_eq!(bytes.len() as u64, file.bytes());
        assert!(!bytes.windows(32).any(|window| window == [1; 32]));
        let size = file.bytes();
        drop(file);
        assert_eq!(keys(&open(&path, ENDPOINT, LARGE).1), [2]);
        let (mut full, _) = open(&path, ENDPOINT, size);
        assert!(!full.append(&vectors(1)).unwrap());
        drop(full);
        assert_eq!(keys(&open(&path, ENDPOINT, LARGE).1), [2]);
        let (mut file, _) = open(&path, ENDPOINT, LARGE);
        file.write_anew(&VectorTable::default()).unwrap();
        assert!(!path.join(NAME).exists());
        file.append(&vectors(1)).unwrap();
        drop(file);
        assert_eq!(keys(&open(&path, ENDPOINT, LARGE).1), [0]);
    }
}
