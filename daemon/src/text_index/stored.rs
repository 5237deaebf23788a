//! The indexes of all workspaces of a user on disk: together they keep to a bound.

use std::path::Path;
use std::time::SystemTime;

use moss_index::IndexStore;
use moss_workspace::Error;
use moss_workspace::own::OwnDir;

/// The index of a workspace that may go.
struct StoredIndex {
    directory: OwnDir,
    size_bytes: u64,
    used_at: SystemTime,
}

/// Removes indexes of other workspaces than the one whose directory is given, those first that were used longest ago,
/// until all of them together take at most so many bytes. Those that a daemon keeps stay. Returns how many bytes
/// were removed.
///
/// # Errors
///
/// Where the directories cannot be read.
pub(crate) fn keep_within(own: &Path, bytes_max: u64) -> Result<u64, Error> {
    let (Some(parent), Some(own_name)) = (own.parent(), own.file_name()) else { return Ok(0) };
    let all = OwnDir::create(parent)?;
    let mut total_bytes = 0;
    let mut others = Vec::new();
    for name in all.subdirectories()? {
        // What is not of the user is none of ours.
        let Ok(directory) = OwnDir::open(&parent.join(&name)) else { continue };
        let files = directory.files()?;
        let size_bytes: u64 = files.iter().map(|file| file.size_bytes).sum();
        total_bytes += size_bytes;
        let used_at = files.iter().map(|file| file.modified).max();
        if let Some(used_at) = used_at.filter(|_| own_name != name.as_str() && size_bytes > 0) {
            others.push(StoredIndex { directory, size_bytes, used_at });
        }
    }
    others.sort_by_key(|other| other.used_at);
    let mut removed_bytes = 0;
    for other in others {
        if total_bytes - removed_bytes <= bytes_max {
            break;
        }
        if other.remove()? {
            removed_bytes += other.size_bytes;
        }
    }
    Ok(removed_bytes)
}

// === impl StoredIndex ===

impl StoredIndex {
    /// Removes it, where no daemon keeps it.
    fn remove(&self) -> Result<bool, Error> {
        let _lock = match IndexStore::lock(&self.directory) {
            Err(Error::Busy { .. }) => return Ok(false),
            lock => lock?,
        };
        for file in self.directory.names()? {
            IndexStore::remove(&self.directory, &file)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the index of a workspace, used so many seconds after 1970.
    fn index(root: &Path, name: &str, used_at: u64) -> OwnDir {
        let own = OwnDir::create(&root.join(name)).unwrap();
        drop(IndexStore::lock(&own).unwrap());
        own.write("1-00000000.segment", &[0; 100]).unwrap();
        for file in own.files().unwrap() {
            let file = std::fs::File::options().write(true).open(own.path().join(file.name));
            let used_at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(used_at);
            file.unwrap().set_modified(used_at).unwrap();
        }
        own
    }

    #[test]
    fn indexes_used_longest_ago_go_and_those_in_use_stay() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let oldest = index(root, "oldest", 1_000);
        let _lock = IndexStore::lock(&oldest).unwrap();
        for (name, used_at) in [("new", 3_000), ("old", 2_000), ("own", 1_000)] {
            index(root, name, used_at);
        }
        let sizes = || {
            ["oldest", "old", "new", "own"].map(|name| {
                let files = OwnDir::open(&root.join(name)).unwrap().files().unwrap();
                files.iter().map(|file| file.size_bytes).sum::<u64>()
            })
        };
        let keep = |bytes_max| keep_within(&root.join("own"), bytes_max).unwrap();
        assert_eq!((keep(400), sizes()), (0, [100; 4]));
        assert_eq!((keep(399), sizes()), (100, [100, 0, 100, 100]));
        assert_eq!((keep(1), sizes()), (100, [100, 0, 0, 100]));
        assert_eq!(keep_within(&root.join("none/own"), 0).unwrap(), 0);
    }
}
