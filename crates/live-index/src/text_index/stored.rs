//! The indexes of all workspaces of a user on disk: together they keep to a bound. What is no index stays, whatever
//! lies beside them.

use std::path::Path;
use std::time::SystemTime;

use moss_index::{IndexStore, is_index_file, marks_index};
use moss_workspace::Error;
use moss_workspace::dirs::Dirs;
use moss_workspace::own::OwnDir;

/// An index on disk.
struct StoredIndex {
    directory: OwnDir,
    size_bytes: u64,
    used_at: SystemTime,
}

/// Removes indexes of other workspaces than the one whose directory is given, those first that were used longest ago,
/// until all of them together take at most so many bytes. Those that a daemon keeps stay. Returns how many bytes
/// were removed. Where the directory of all indexes is a link, nothing is removed.
///
/// # Errors
///
/// Where the directories cannot be read.
pub(crate) fn keep_within(own: &Path, bytes_max: u64) -> Result<u64, Error> {
    let (Some(parent), Some(own_name)) = (own.parent(), own.file_name()) else { return Ok(0) };
    let Some(all) = OwnDir::open_unlinked(parent)? else { return Ok(0) };
    let mut total_bytes = 0;
    let mut others = Vec::new();
    for name in all.subdirectories()? {
        let Some(index) = StoredIndex::find(parent, &name)? else { continue };
        total_bytes += index.size_bytes;
        if own_name != name.as_str() && index.size_bytes > 0 {
            others.push(index);
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
    /// Looks at what a directory has of an index; none where it is not one that moss made. Changes nothing.
    fn find(parent: &Path, name: &str) -> Result<Option<Self>, Error> {
        if !Dirs::is_workspace_name(name) {
            return Ok(None);
        }
        // A directory that others could write is refused, and is left alone.
        let Ok(Some(directory)) = OwnDir::open_unlinked(&parent.join(name)) else {
            return Ok(None);
        };
        let files = directory.files()?;
        if !files.iter().any(|file| marks_index(&file.name)) {
            return Ok(None);
        }
        let of_index =
            || files.iter().filter(|file| is_index_file(&file.name) || marks_index(&file.name));
        let size_bytes: u64 = of_index().map(|file| file.size_bytes).sum();
        let used_at = of_index().map(|file| file.modified).max();
        Ok(used_at.map(|used_at| Self { directory, size_bytes, used_at }))
    }

    /// Removes its files, where no daemon keeps it.
    fn remove(&self) -> Result<bool, Error> {
        let _lock = match IndexStore::lock(&self.directory) {
            Err(Error::Busy { .. }) => return Ok(false),
            lock => lock?,
        };
        for file in self.directory.names()?.iter().filter(|file| is_index_file(file)) {
            IndexStore::remove(&self.directory, file)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: &str = "1-00000000.segment";

    /// The name of the directory of a workspace's index.
    fn named(name: &str) -> String {
        format!("{name}-0123456789abcdef")
    }

    /// Makes the index of a workspace, used so many seconds after 1970.
    fn index(root: &Path, name: &str, used_at: u64) -> OwnDir {
        let own = OwnDir::create(&root.join(named(name))).unwrap();
        drop(IndexStore::lock(&own).unwrap());
        own.write(SEGMENT, &[0; 100]).unwrap();
        for file in own.files().unwrap() {
            let file = std::fs::File::options().write(true).open(own.path().join(file.name));
            let used_at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(used_at);
            file.unwrap().set_modified(used_at).unwrap();
        }
        own
    }

    /// Everything in a directory, with its size.
    fn sizes(directory: &Path) -> Vec<(String, u64)> {
        let files = OwnDir::open(directory).unwrap().files().unwrap();
        let mut sizes: Vec<_> =
            files.into_iter().map(|file| (file.name, file.size_bytes)).collect();
        sizes.sort();
        sizes
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
                let files = sizes(&root.join(named(name)));
                files.iter().map(|(_, size_bytes)| size_bytes).sum::<u64>()
            })
        };
        let keep = |bytes_max| keep_within(&root.join(named("own")), bytes_max).unwrap();
        assert_eq!((keep(400), sizes()), (0, [100; 4]));
        assert_eq!((keep(399), sizes()), (100, [100, 0, 100, 100]));
        assert_eq!((keep(1), sizes()), (100, [100, 0, 0, 100]));
        assert_eq!(keep_within(&root.join("none").join(named("own")), 0).unwrap(), 0);
        assert!(!root.join("none").exists());
    }

    #[test]
    fn only_files_that_an_index_has_are_removed() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        index(root, "own", 1_000);
        let other = index(root, "other", 1_000);
        other.write("letter.txt", b"dear").unwrap();
        other.write("my.segment", b"film").unwrap();
        other.write("manifest-1", b"m").unwrap();
        // Neither has the form of a name that moss gives, or a mark of an index.
        let photos = OwnDir::create(&root.join("photos")).unwrap();
        drop(IndexStore::lock(&photos).unwrap());
        let unmarked = OwnDir::create(&root.join(named("unmarked"))).unwrap();
        for directory in [&photos, &unmarked] {
            directory.write(SEGMENT, &[0; 100]).unwrap();
        }
        let before = [&photos, &unmarked].map(|directory| sizes(directory.path()));
        assert_eq!(keep_within(&root.join(named("own")), 0).unwrap(), 101);
        assert_eq!([&photos, &unmarked].map(|directory| sizes(directory.path())), before);
        let left: Vec<_> = sizes(other.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(left, ["index.lock", "letter.txt", "my.segment"]);
    }

    #[test]
    fn nothing_is_removed_through_a_link() {
        let temp = tempfile::tempdir().unwrap();
        let elsewhere = temp.path().join("elsewhere");
        let kept = [index(&elsewhere, "own", 1_000), index(&elsewhere, "other", 1_000)];
        let before = kept.each_ref().map(|directory| sizes(directory.path()));
        let linked = temp.path().join("index");
        std::os::unix::fs::symlink(&elsewhere, &linked).unwrap();
        assert_eq!(keep_within(&linked.join(named("own")), 0).unwrap(), 0);
        // A directory among the indexes that is a link.
        let root = temp.path().join("root");
        index(&root, "own", 1_000);
        std::os::unix::fs::symlink(kept[1].path(), root.join(named("linked"))).unwrap();
        assert_eq!(keep_within(&root.join(named("own")), 0).unwrap(), 0);
        assert_eq!(kept.each_ref().map(|directory| sizes(directory.path())), before);
    }
}
