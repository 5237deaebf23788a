//! What those files hold that changed last, before a command: a file may look changed and be the same, and one that
//! changed a moment ago may look the same and be changed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use moss_sdk::{ContentHash, RelPath};
use moss_workspace::{FileLook, Workspace};

/// Most files whose content is remembered.
const FILES_MAX: usize = 256;
/// Most bytes of all of them together.
const BYTES_MAX: u64 = 16 << 20;
/// A file that changed later than so long before it was read may change again and look the same.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// What was known of a workspace's files before its last command: most of it holds before the next one, too.
#[derive(Debug, Default)]
pub(crate) struct ContentMemory(ArcSwap<KnownContents>);

/// What files held at one moment.
#[derive(Debug, Default)]
pub(super) struct KnownContents(HashMap<RelPath, ContentThen>);

/// What a file held that looked like this.
#[derive(Debug, Clone)]
pub(super) struct ContentThen {
    look: FileLook,
    content: ReadContent,
    /// Whether it would have looked otherwise with another content.
    is_settled: bool,
}

/// What a file is beside its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadContent {
    hash: ContentHash,
    is_executable: bool,
}

// === impl ContentMemory ===

impl ContentMemory {
    /// Finds out what the files hold that changed last, as far as that is not known.
    pub(super) fn learn(
        &self,
        files: &Workspace,
        looks: &BTreeMap<RelPath, FileLook>,
    ) -> Arc<KnownContents> {
        let known = self.0.load();
        let mut left = BYTES_MAX;
        let within = |look: &FileLook| {
            let rest = look.file_bytes().and_then(|bytes| left.checked_sub(bytes));
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let contents = newest(looks, within).into_iter().filter_map(|(path, look)| {
            let held = known.0.get(path).filter(|held| held.is_settled && held.look == *look);
            let held = held.cloned().or_else(|| {
                let is_settled = look.is_settled(SystemTime::now(), SETTLED_AFTER);
                let content = ReadContent::read(files, path)?;
                Some(ContentThen { look: look.clone(), content, is_settled })
            });
            Some((path.clone(), held?))
        });
        let contents = Arc::new(KnownContents(contents.collect()));
        self.0.store(Arc::clone(&contents));
        contents
    }
}

/// The files that changed last, as long as there is room for them.
fn newest(
    looks: &BTreeMap<RelPath, FileLook>,
    mut within: impl FnMut(&FileLook) -> bool,
) -> Vec<(&RelPath, &FileLook)> {
    let mut files: Vec<_> = looks.iter().filter(|(_, look)| look.file_bytes().is_some()).collect();
    if files.len() > FILES_MAX {
        files.select_nth_unstable_by_key(FILES_MAX, |(_, look)| Reverse(look.changed));
        files.truncate(FILES_MAX);
    }
    files.sort_unstable_by_key(|(path, look)| (Reverse(look.changed), *path));
    files.retain(|(_, look)| within(look));
    files
}

// === impl KnownContents ===

impl KnownContents {
    /// Whether a file is another one than it was; `read` says what it holds now.
    pub(super) fn is_modified(
        &self,
        path: &RelPath,
        (was, now): (&FileLook, &FileLook),
        read: impl FnOnce() -> Option<ReadContent>,
    ) -> bool {
        let looks_same = was == now;
        let is_in_doubt =
            |held: &&ContentThen| if looks_same { !held.is_settled } else { was.is_retimed(now) };
        let held = self.0.get(path).filter(|held| held.look == *was).filter(is_in_doubt);
        let content = held.and_then(|held| Some((held, read()?)));
        content.map_or(!looks_same, |(held, content)| content != held.content)
    }
}

// === impl ReadContent ===

impl ReadContent {
    /// Reads it; none where it cannot be read.
    pub(super) fn read(files: &Workspace, path: &RelPath) -> Option<Self> {
        let opened = files.open_for_reading(path).ok()?;
        let hash = opened.digest().ok()?.hash;
        Some(Self { hash, is_executable: opened.is_executable() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Option<SystemTime> {
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    }

    fn look(bytes: u64, modified: u64, changed: u64) -> FileLook {
        FileLook {
            is_file: true,
            size_bytes: Some(bytes),
            modified: at(modified),
            changed: at(changed),
        }
    }

    fn content(text: &str) -> ReadContent {
        ReadContent { hash: moss_workspace::hash(text.as_bytes()), is_executable: false }
    }

    #[test]
    fn the_content_decides_about_a_file_whose_times_alone_are_others() {
        let path = RelPath::parse("a").unwrap();
        let was = look(1, 10, 10);
        let known = |is_settled| {
            let held = ContentThen { look: was.clone(), content: content("a"), is_settled };
            KnownContents(HashMap::from([(path.clone(), held)]))
        };
        let modified = |known: &KnownContents, now: &FileLook, text: Option<&str>| {
            known.is_modified(&path, (&was, now), || text.map(content))
        };
        let (settled, unsettled) = (known(true), known(false));
        let retimed = look(1, 20, 20);
        assert!(!modified(&settled, &retimed, Some("a")));
        assert!(modified(&settled, &retimed, Some("b")));
        assert!(modified(&settled, &retimed, None), "what cannot be read may be another one");
        assert!(modified(&KnownContents::default(), &retimed, Some("a")), "nothing is known");
        // Another size, or its old time and a new time of change: something about it is another.
        assert!(modified(&settled, &look(2, 20, 20), Some("a")));
        assert!(modified(&settled, &look(1, 10, 20), Some("a")));
        // It looks the same, and changed too late for that to say anything.
        assert!(!modified(&settled, &was, Some("b")));
        assert!(modified(&unsettled, &was, Some("b")));
        assert!(!modified(&unsettled, &was, Some("a")) && !modified(&unsettled, &was, None));
        let other = ContentThen { look: retimed.clone(), content: content("a"), is_settled: true };
        let other = KnownContents(HashMap::from([(path.clone(), other)]));
        assert!(modified(&other, &retimed, Some("a")), "that was not what was there before");
        let executable = ReadContent { is_executable: true, ..content("a") };
        assert!(settled.is_modified(&path, (&was, &retimed), || Some(executable)));
    }

    #[test]
    fn the_newest_files_are_learned_within_bounds() {
        let path = |number: u64| RelPath::parse(&format!("f{number:04}")).unwrap();
        let looks = (0..400).map(|number| (path(number), look(1, 0, number))).collect();
        let found = newest(&looks, |_| true);
        assert_eq!(found.len(), FILES_MAX);
        assert_eq!((found[0].0, found[FILES_MAX - 1].0), (&path(399), &path(144)));
        // What has no room is left out, and not what is smaller.
        let looks = [(path(1), look(9, 0, 9)), (path(2), look(3, 0, 8))].into();
        let found = newest(&looks, |look| look.file_bytes().is_some_and(|bytes| bytes < 4));
        assert_eq!(found.len(), 1);
    }
}
