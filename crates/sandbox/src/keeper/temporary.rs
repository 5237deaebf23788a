//! What a command has in its temporary directory, where that is on the disk and nothing else bounds it: the keeper
//! walks through it, a little at a time.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FileType;

use super::tree::{ProcessTree, TreeProcess};
use crate::ending::CommandLimit;
use crate::order::KeeperOrder;
use crate::reached::{BLOCK_BYTES, ReachedDirectory, ReachedName};

/// How much of the disk there is for each file: as in memory on the tier `full`.
const BYTES_PER_FILE: u64 = 4 << 10;
/// How long it is looked at at a time.
const LOOK_MAX: Duration = Duration::from_millis(10);
/// How often it is looked for files that have no name any more.
const UNNAMED_EVERY: Duration = Duration::from_secs(1);
/// Deepest directory that is looked into: a path of a program can name no deeper one. A deeper one is above the bound.
const DEPTH_MAX: usize = 2_048;
/// How many names the kernel takes in one path, whatever their lengths.
const NAMES_AT_ONCE: usize = 14;
/// What the kernel puts behind the path of a file that has no name any more.
const UNNAMED: &str = " (deleted)";

/// What the temporary directory of a command holds.
pub(super) struct TemporaryFiles {
    root: PathBuf,
    bytes_max: u64,
    /// Those that were found in this round, the root first.
    directories: Vec<FoundDirectory>,
    /// Which of them comes next.
    next: usize,
    /// The one that is being listed.
    listed: Option<ListedDirectory>,
    found: FoundFiles,
    unnamed: UnnamedFiles,
    unnamed_bytes: u64,
    unnamed_looked: Instant,
}

/// What lay in a directory, has no name any more and is open.
#[derive(Default)]
struct UnnamedFiles {
    /// Those that were not looked at in this round.
    processes: Vec<i32>,
    /// What else the one before them has open.
    open: Vec<PathBuf>,
    /// How much of the disk each has that was found in this round, by device and number.
    found: HashMap<(u64, u64), u64>,
    /// How much there was in the round before.
    bytes: u64,
}

/// A directory, by its name in the one around it, of which there is the place among those that were found.
struct FoundDirectory {
    around: Option<usize>,
    name: OsString,
    depth: usize,
}

struct ListedDirectory {
    place: usize,
    reached: ReachedDirectory,
    entries: Box<dyn Iterator<Item = std::io::Result<ReachedName>>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct FoundFiles {
    bytes: u64,
    count: u64,
    is_too_deep: bool,
}

// === impl TemporaryFiles ===

impl TemporaryFiles {
    /// Looks at the directory of a command, where it has one on the disk.
    pub(super) fn of(order: &KeeperOrder) -> Option<Self> {
        let directory = order.temporary.clone();
        directory.map(|directory| Self::new(directory, order.memory_bytes_max))
    }

    /// Looks at a directory that may hold so much.
    fn new(root: PathBuf, bytes_max: u64) -> Self {
        Self {
            root,
            bytes_max,
            directories: Vec::new(),
            next: 0,
            listed: None,
            found: FoundFiles::default(),
            unnamed: UnnamedFiles::default(),
            unnamed_bytes: 0,
            unnamed_looked: Instant::now(),
        }
    }

    /// Looks on for a moment, and says which limit the command is above.
    pub(super) fn limit_reached(&mut self, tree: ProcessTree) -> Option<CommandLimit> {
        if !self.unnamed.is_round_over() || self.unnamed_looked.elapsed() >= UNNAMED_EVERY {
            self.unnamed_looked = Instant::now();
            let processes = || tree.processes().unwrap_or_default();
            self.unnamed_bytes = self.unnamed.look(processes, &self.root);
        }
        let until = Instant::now() + LOOK_MAX;
        if self.is_round_over() {
            self.begin_round();
        }
        while !self.is_round_over() && Instant::now() < until {
            self.look_at_next();
            if let Some(limit) = self.above() {
                return Some(limit);
            }
        }
        None
    }

    fn is_round_over(&self) -> bool {
        self.listed.is_none() && self.next == self.directories.len()
    }

    fn begin_round(&mut self) {
        self.found = FoundFiles::default();
        self.directories.clear();
        self.directories.push(FoundDirectory { around: None, name: OsString::new(), depth: 0 });
        self.next = 0;
    }

    fn above(&self) -> Option<CommandLimit> {
        let FoundFiles { bytes, count, is_too_deep } = self.found;
        let files_max = self.bytes_max / BYTES_PER_FILE;
        if bytes + self.unnamed_bytes > self.bytes_max {
            Some(CommandLimit::TemporaryBytes(self.bytes_max))
        } else if count > files_max || is_too_deep {
            Some(CommandLimit::TemporaryFiles(files_max))
        } else {
            None
        }
    }

    /// Looks at the next entry. What is gone, or closed, is not counted.
    fn look_at_next(&mut self) {
        let Some(mut listed) = self.listed.take() else {
            let place = self.next;
            self.next += 1;
            self.listed = self.list(place);
            return;
        };
        let Some(Ok(entry)) = listed.entries.next() else { return };
        self.found.count += 1;
        if let Ok(found) = listed.reached.stat(&entry.name) {
            // Each of its names counts a part.
            self.found.bytes += found.allocated_bytes / found.links.max(1);
            if found.kind == FileType::Directory {
                let depth = self.directories[listed.place].depth + 1;
                self.found.is_too_deep |= depth > DEPTH_MAX;
                let around = Some(listed.place);
                self.directories.push(FoundDirectory { around, name: entry.name, depth });
            }
        }
        self.listed = Some(listed);
    }

    fn list(&self, place: usize) -> Option<ListedDirectory> {
        let mut names = Vec::new();
        let mut one = &self.directories[place];
        while let Some(around) = one.around {
            names.push(&one.name);
            one = &self.directories[around];
        }
        names.reverse();
        let mut reached = ReachedDirectory::open(&self.root).ok()?;
        for some in names.chunks(NAMES_AT_ONCE) {
            reached = reached.within(&some.iter().collect::<PathBuf>()).ok()?;
        }
        let entries = Box::new(reached.list().ok()?);
        Some(ListedDirectory { place, reached, entries })
    }
}

// === impl UnnamedFiles ===

impl UnnamedFiles {
    /// Looks on for a moment among what processes have open, at all of it in turn. Returns how much of the disk is known
    /// to be taken.
    fn look(&mut self, processes: impl FnOnce() -> Vec<TreeProcess>, directory: &Path) -> u64 {
        if self.is_round_over() {
            self.processes = processes().iter().map(|process| process.pid).collect();
        }
        let until = Instant::now() + LOOK_MAX;
        while !self.is_round_over() && Instant::now() < until {
            self.look_at_next(directory);
        }
        if self.is_round_over() {
            self.bytes = std::mem::take(&mut self.found).into_values().sum();
        }
        self.bytes.max(self.found.values().sum())
    }

    fn is_round_over(&self) -> bool {
        self.processes.is_empty() && self.open.is_empty()
    }

    fn look_at_next(&mut self, directory: &Path) {
        let Some(open) = self.open.pop() else {
            let process = self.processes.pop().into_iter();
            let open = process.flat_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")));
            self.open = open.flatten().flatten().map(|open| open.path()).collect();
            return;
        };
        let is_unnamed = fs::read_link(&open).is_ok_and(|path| {
            path.starts_with(directory)
                && path.as_os_str().as_encoded_bytes().ends_with(UNNAMED.as_bytes())
        });
        if is_unnamed && let Ok(file) = fs::metadata(&open) {
            self.found.insert((file.dev(), file.ino()), file.blocks() * BLOCK_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in the end, whatever a look takes.
    fn limit(root: &Path, bytes_max: u64) -> Option<CommandLimit> {
        let mut files = TemporaryFiles::new(root.to_owned(), bytes_max);
        let own = ProcessTree::seen_by(false, false);
        loop {
            let limit = files.limit_reached(own);
            if limit.is_some() || files.is_round_over() {
                return limit;
            }
        }
    }

    #[test]
    fn files_are_counted_with_what_they_take_of_the_disk() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), vec![1; 1 << 20]).unwrap();
        fs::hard_link(root.join("a/b/file"), root.join("other")).unwrap();
        std::os::unix::fs::symlink("/", root.join("link")).unwrap();
        fs::File::create(root.join("hole")).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(limit(root, 2 << 20), None);
        let bytes = 1 << 19;
        assert_eq!(limit(root, bytes), Some(CommandLimit::TemporaryBytes(bytes)));
        for number in 0..600 {
            fs::write(root.join(number.to_string()), "").unwrap();
        }
        assert_eq!(limit(root, 2 << 20), Some(CommandLimit::TemporaryFiles(512)));
        assert_eq!(limit(root, 4 << 20), None);
    }

    #[test]
    fn no_depth_hides_files() {
        let root = tempfile::tempdir().unwrap();
        let long = "n".repeat(200);
        let mut inner = root.path().to_owned();
        while inner.as_os_str().len() + 201 < 4_000 {
            inner.push(&long);
        }
        fs::create_dir_all(&inner).unwrap();
        let script =
            format!("mkdir -p {long}/{long} && head -c 1000000 /dev/zero > {long}/{long}/x");
        let made =
            std::process::Command::new("sh").args(["-c", &script]).current_dir(&inner).status();
        assert!(made.unwrap().success());
        assert_eq!(limit(root.path(), 500_000), Some(CommandLimit::TemporaryBytes(500_000)));
        moss_removal::remove(fs::File::open(root.path()).unwrap(), long.as_ref()).unwrap();
    }

    #[test]
    fn open_files_without_a_name_are_counted() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        fs::write(&path, vec![1; 1 << 20]).unwrap();
        let open = [fs::File::open(&path).unwrap(), fs::File::open(&path).unwrap()];
        // A moment may not be enough for all that is open here.
        let round = |unnamed: &mut UnnamedFiles| {
            loop {
                let own = TreeProcess::read(std::process::id().cast_signed()).unwrap();
                let bytes = unnamed.look(|| vec![own], root.path());
                if unnamed.is_round_over() {
                    return bytes;
                }
            }
        };
        let mut unnamed = UnnamedFiles::default();
        assert_eq!(round(&mut unnamed), 0);
        fs::remove_file(&path).unwrap();
        let bytes = round(&mut unnamed);
        assert!((1 << 20..2 << 20).contains(&bytes), "{bytes}");
        // Until a round is over what the one before it found counts.
        drop(open);
        unnamed.processes = vec![0];
        unnamed.open = vec![path; 1 << 20];
        let own = || -> Vec<TreeProcess> { unreachable!("a round is not over") };
        assert_eq!((unnamed.look(own, root.path()), unnamed.is_round_over()), (bytes, false));
        unnamed.open.clear();
        round(&mut unnamed);
        assert_eq!(round(&mut unnamed), 0);
    }
}
