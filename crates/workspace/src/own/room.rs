//! The room of a directory that several fill, and who gets how much of it: in a file's name, after the first `-`,
//! stands whose it is.
//!
//! What is being written takes room by steps, and all that one owner writes at once takes at most a part of the whole:
//! so there is always something that can go. What goes is of who has most, the oldest first; of others than who needs the
//! room only where they have more than their share. What is a day old has no share to count on.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use moss_sdk::{ErrorCode, ToolError};

use super::{OwnAppender, OwnDir, OwnFile};

/// Age from which a file goes before all others, whoever it is of: names come and go, and what they had stays.
const SHARED_FOR: Duration = Duration::from_hours(24);

/// How much files take at most.
#[derive(Debug, Clone, Copy)]
pub struct OwnBounds {
    /// Most bytes of one file.
    pub each_bytes: u64,
    /// Most bytes of all files together.
    pub total_bytes: u64,
    /// Most bytes of what one owner is writing at once.
    pub writing_bytes: u64,
    /// Bytes that a file that is being written takes at once.
    pub step_bytes: u64,
}

/// The directory with its bounds, and what is being written there.
#[derive(Debug, Clone)]
pub struct OwnRoom(Arc<SharedRoom>);

#[derive(Debug)]
struct SharedRoom {
    directory: OwnDir,
    bounds: OwnBounds,
    /// Names of files that are being written, and the room that each has: they stay.
    being_written: Mutex<BTreeMap<String, u64>>,
}

/// The room of a file that is being written, until this is dropped.
#[derive(Debug)]
pub struct WriterRoom {
    room: OwnRoom,
    name: String,
    bytes: u64,
}

/// Why there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FullRoom {
    /// The owner is writing as much as one may at once.
    Own,
    /// All of it is being written, or the share of somebody.
    Others,
}

/// What a request for room is decided by.
#[derive(Debug, Clone, Copy)]
struct RoomRequest<'a> {
    owner: &'a str,
    more_bytes: u64,
    now: SystemTime,
}

/// The part of a file's name that says whose it is.
fn owner_of(name: &str) -> &str {
    name.split_once('-').map_or("", |(_, owner)| owner)
}

/// Chooses the files that go so that somebody may write more: from those that are whole.
fn leaving(
    mut files: Vec<OwnFile>,
    being_written: &BTreeMap<String, u64>,
    bounds: OwnBounds,
    request: RoomRequest<'_>,
) -> Result<Vec<String>, FullRoom> {
    let RoomRequest { owner, more_bytes, now } = request;
    let mut used = BTreeMap::from([(owner.to_owned(), more_bytes)]);
    for (name, bytes) in being_written {
        *used.entry(owner_of(name).to_owned()).or_default() += bytes;
    }
    if used[owner] > bounds.writing_bytes {
        return Err(FullRoom::Own);
    }
    files.retain(|file| !being_written.contains_key(&file.name));
    files.sort_by_key(|file| file.modified);
    let mut total = used.values().sum::<u64>();
    total += files.iter().map(|file| file.size_bytes).sum::<u64>();
    let mut left = Vec::new();
    let mut recent: BTreeMap<String, VecDeque<OwnFile>> = BTreeMap::new();
    for file in files {
        let is_old = now.duration_since(file.modified).is_ok_and(|age| age >= SHARED_FOR);
        if is_old && total > bounds.total_bytes {
            total -= file.size_bytes;
            left.push(file.name);
        } else if !is_old {
            let owner = owner_of(&file.name).to_owned();
            *used.entry(owner.clone()).or_default() += file.size_bytes;
            recent.entry(owner).or_default().push_back(file);
        }
    }
    let share = bounds.total_bytes / used.len() as u64;
    while total > bounds.total_bytes {
        let may_lose = |other: &&String| *other == owner || used[*other] > share;
        let has_most = |other: &&String| (used[*other], *other == owner);
        let from = recent.keys().filter(may_lose).max_by_key(has_most).cloned();
        let from = from.ok_or(FullRoom::Others)?;
        let files = recent.entry(from.clone()).or_default();
        if let Some(OwnFile { name, size_bytes, .. }) = files.pop_front() {
            total -= size_bytes;
            *used.entry(from.clone()).or_default() -= size_bytes;
            left.push(name);
        }
        if files.is_empty() {
            recent.remove(&from);
        }
    }
    Ok(left)
}

// === impl OwnRoom ===

impl OwnRoom {
    /// Keeps to some bounds in a directory.
    pub fn new(directory: OwnDir, bounds: OwnBounds) -> Self {
        Self(Arc::new(SharedRoom { directory, bounds, being_written: Mutex::default() }))
    }

    /// The directory with all files.
    pub fn directory(&self) -> &OwnDir {
        &self.0.directory
    }

    /// How much files take at most.
    pub fn bounds(&self) -> OwnBounds {
        self.0.bounds
    }

    /// Makes a file, and room for the beginning of it. Waits for the disk.
    ///
    /// # Errors
    ///
    /// `Io`; `LimitExceeded` where what is being written, or the share of others, takes all the room.
    pub fn begin(&self, name: String) -> Result<(WriterRoom, OwnAppender), ToolError> {
        let first_bytes = self.0.bounds.step_bytes.min(self.0.bounds.each_bytes);
        let mut being_written = self.lock();
        self.make(&mut being_written, &name, first_bytes)?;
        let held = WriterRoom { room: self.clone(), name, bytes: first_bytes };
        drop(being_written);
        // Where it cannot be made its room is given back.
        let file = self.0.directory.appender(&held.name)?;
        Ok((held, file))
    }

    /// Gives a file that is being written more room, and removes others for it.
    fn make(
        &self,
        being_written: &mut BTreeMap<String, u64>,
        name: &str,
        more_bytes: u64,
    ) -> Result<(), ToolError> {
        let SharedRoom { directory, bounds, .. } = &*self.0;
        let request = RoomRequest { owner: owner_of(name), more_bytes, now: SystemTime::now() };
        let left = leaving(directory.files()?, being_written, *bounds, request);
        for gone in left.map_err(|none| none.error(*bounds))? {
            directory.remove(&gone)?;
        }
        *being_written.entry(name.to_owned()).or_default() += more_bytes;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.being_written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl WriterRoom ===

impl WriterRoom {
    /// How long the file may be now.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes room for a file of so many bytes, as far as one file may have it.
    ///
    /// # Errors
    ///
    /// As [`OwnRoom::begin`]; what it has stays.
    pub fn grow_to(&mut self, bytes: u64) -> Result<(), ToolError> {
        let OwnBounds { each_bytes, step_bytes, .. } = self.room.bounds();
        let missing = bytes.min(each_bytes).saturating_sub(self.bytes);
        if missing == 0 {
            return Ok(());
        }
        let more = missing.next_multiple_of(step_bytes).min(each_bytes - self.bytes);
        self.room.make(&mut self.room.lock(), &self.name, more)?;
        self.bytes += more;
        Ok(())
    }
}

impl Drop for WriterRoom {
    fn drop(&mut self) {
        self.room.lock().remove(&self.name);
    }
}

// === impl FullRoom ===

impl FullRoom {
    fn error(self, bounds: OwnBounds) -> ToolError {
        let message = match self {
            Self::Own => format!(
                "your commands that run now write as much as may be kept of one caller at once, {} MiB",
                bounds.writing_bytes >> 20
            ),
            Self::Others => "what other callers keep leaves no room".to_owned(),
        };
        ToolError::new(ErrorCode::LimitExceeded, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: OwnBounds =
        OwnBounds { each_bytes: 100, total_bytes: 1200, writing_bytes: 300, step_bytes: 10 };
    const NOW: Duration = Duration::from_hours(1000);

    /// Files of `owner` and so many bytes, each an hour younger than the one before; the last is an hour old.
    fn files(owners: &[(&str, u64)]) -> Vec<OwnFile> {
        let all = owners.iter().rev().zip(1..);
        let file = |((owner, size_bytes), hours): (&(&str, u64), u64)| OwnFile {
            name: format!("{hours}-{owner}"),
            size_bytes: *size_bytes,
            modified: SystemTime::UNIX_EPOCH + NOW - Duration::from_hours(hours),
        };
        all.map(file).collect()
    }

    /// Owners and so many bytes of each.
    type Owned<'a> = &'a [(&'a str, u64)];

    fn check(
        (kept, being_written): (Owned<'_>, Owned<'_>),
        (owner, more_bytes): (&str, u64),
    ) -> Result<Vec<String>, FullRoom> {
        let being_written = being_written.iter().zip(1..);
        let named =
            being_written.map(|((owner, bytes), number)| (format!("w{number}-{owner}"), *bytes));
        let now = SystemTime::UNIX_EPOCH + NOW;
        leaving(files(kept), &named.collect(), BOUNDS, RoomRequest { owner, more_bytes, now })
    }

    #[test]
    fn who_is_alone_has_all_of_it_and_loses_the_oldest() {
        let kept = [("a", 100); 12];
        assert_eq!(check((&kept[1..], &[]), ("a", 100)), Ok(vec![]));
        assert_eq!(check((&kept, &[]), ("a", 10)), Ok(vec!["12-a".to_owned()]));
        assert_eq!(check((&kept, &[]), ("a", 110)), Ok(vec!["12-a".to_owned(), "11-a".to_owned()]));
    }

    #[test]
    fn who_has_more_than_a_share_gives_room_to_who_has_less() {
        let mut kept = vec![("b", 50)];
        kept.extend([("a", 100); 11]);
        // `b` has the oldest of all.
        assert_eq!(check((&kept, &[]), ("b", 100)), Ok(vec!["11-a".to_owned()]));
        assert_eq!(check((&kept, &[]), ("a", 100)), Ok(vec!["11-a".to_owned()]));
        // Both have their share: each makes its own room.
        let kept = [[("b", 100); 6], [("a", 100); 6]].concat();
        assert_eq!(check((&kept, &[]), ("b", 10)), Ok(vec!["12-b".to_owned()]));
        assert_eq!(check((&kept, &[]), ("a", 10)), Ok(vec!["6-a".to_owned()]));
    }

    #[test]
    fn what_one_owner_writes_at_once_leaves_room_for_others() {
        let writing = [("a", 100); 3];
        let kept = [("b", 100), ("a", 100)];
        assert_eq!(check((&kept, &writing), ("a", 1)), Err(FullRoom::Own));
        assert_eq!(check((&kept, &writing), ("b", 100)), Ok(vec![]));
        // Whatever is being written stays, and so does what others have a share for.
        let writing = [("a", 300), ("c", 300), ("d", 300)];
        assert_eq!(
            check((&[("b", 250), ("b", 50)], &writing), ("b", 10)),
            Ok(vec!["2-b".to_owned()])
        );
        assert_eq!(check((&[("e", 240)], &writing), ("b", 100)), Err(FullRoom::Others));
    }

    #[test]
    fn what_is_a_day_old_goes_first_and_counts_for_no_share() {
        let mut kept = vec![("b", 100), ("c", 100)];
        kept.extend([("a", 50); 20]);
        let mut kept = files(&kept);
        let day = Duration::from_hours(24);
        kept.iter_mut()
            .filter(|file| !file.name.ends_with("-a"))
            .for_each(|file| file.modified -= day);
        let now = SystemTime::UNIX_EPOCH + NOW;
        let request = |more_bytes| RoomRequest { owner: "a", more_bytes, now };
        let left = leaving(kept.clone(), &BTreeMap::new(), BOUNDS, request(60)).unwrap();
        assert_eq!(left, ["22-b"]);
        let left = leaving(kept, &BTreeMap::new(), BOUNDS, request(210)).unwrap();
        assert_eq!(left, ["22-b", "21-c", "20-a"]);
    }
}
