//! All entries beneath a directory, for those who look through many of them and want few: names, grouped by
//! their directories, of which nobody has made paths yet. They are shared by all who ask for the same.

mod by_content;
mod draft;

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

pub use self::by_content::DerivedByContent;
pub use self::draft::TreeNamesDraft;
use crate::file::{EntryKind, Listing, Skipped};
use crate::path::RelPath;

/// The number of an entry: those of one directory follow each other, in the order of their names.
pub type EntryNumber = u32;

/// The entries beneath a directory: their names, and what changes more often.
#[derive(Debug, Clone)]
pub struct TreeListing {
    names: Arc<TreeNames>,
    facts: Arc<Vec<EntryFacts>>,
    /// The files that changed last, the very last one first.
    changed_last: Arc<[EntryNumber]>,
}

/// The names beneath a directory. They stay the same while files only change.
#[derive(Debug, Default)]
pub struct TreeNames {
    /// In path order: the first is the one that was listed.
    directories: Vec<TreeDirectory>,
    /// All names, one behind the other.
    text: String,
    entries: Vec<NamedEntry>,
    in_order: Vec<EntryNumber>,
    skipped: Skipped,
    truncated: bool,
    derived: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

/// A directory and which entries it has.
#[derive(Debug)]
pub struct TreeDirectory {
    /// Its path, as that of the listed directory was given.
    pub path: RelPath,
    /// What is in it.
    pub entries: Range<EntryNumber>,
    /// The entry that it is itself; none for the directory that was listed.
    pub entry: Option<EntryNumber>,
}

/// What is known of an entry beside its name and its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryFacts {
    /// Size of its content, in bytes, where it is a file.
    pub size_bytes: u64,
    /// When its content changed last; none where that is unknown.
    pub modified: Option<SystemTime>,
}

/// The name of an entry: where it ends, and of which directory it is.
#[derive(Debug, Clone, Copy)]
struct NamedEntry {
    end: u32,
    directory: u32,
    kind: EntryKind,
}

// === impl TreeListing ===

impl TreeListing {
    /// Puts one together; the facts come in the order of the numbers of the entries.
    ///
    /// # Panics
    ///
    /// Where these are not as many.
    pub fn new(names: Arc<TreeNames>, facts: Vec<EntryFacts>) -> Self {
        assert_eq!(names.len(), facts.len(), "each entry has its facts");
        Self { names, facts: Arc::new(facts), changed_last: Arc::default() }
    }

    /// The same, with the files that changed last, where somebody knows them: the very last one first.
    #[must_use]
    pub fn with_changed_last(self, files: impl IntoIterator<Item = EntryNumber>) -> Self {
        Self { changed_last: files.into_iter().collect(), ..self }
    }

    /// The paths of the files that changed last, as far as somebody has noticed: the very last one first.
    pub fn changed_last(&self) -> impl Iterator<Item = RelPath> {
        self.changed_last.iter().map(|file| self.names.path(*file))
    }

    /// Makes one of a listing of a directory, whose entries come in path order.
    pub fn of(directory: &RelPath, listing: Listing) -> Self {
        let (names, numbers) = draft::names_of(directory, &listing);
        let none = EntryFacts { size_bytes: 0, modified: None };
        let mut facts = vec![none; names.len()];
        for (entry, number) in listing.entries.iter().zip(numbers) {
            facts[number as usize] = EntryFacts {
                size_bytes: entry.size_bytes.unwrap_or_default(),
                modified: entry.modified,
            };
        }
        Self::new(Arc::new(names), facts)
    }

    /// The names of the entries.
    pub fn names(&self) -> &Arc<TreeNames> {
        &self.names
    }

    /// The size of an entry, in bytes; none for what is no file.
    pub fn size_bytes(&self, number: EntryNumber) -> Option<u64> {
        let is_file = self.names.kind(number) == EntryKind::File;
        is_file.then(|| self.facts[number as usize].size_bytes)
    }

    /// When the content of an entry changed last.
    pub fn modified(&self, number: EntryNumber) -> Option<SystemTime> {
        self.facts[number as usize].modified
    }

    /// Roughly how much memory it takes, with what others share.
    pub fn memory_bytes(&self) -> usize {
        self.names.memory_bytes() + size_of_val(self.facts.as_slice())
    }
}

// === impl TreeNames ===

impl TreeNames {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in path order, each directory before what is in it.
    pub fn in_order(&self) -> &[EntryNumber] {
        &self.in_order
    }

    /// The directories in path order: first the one that was listed.
    pub fn directories(&self) -> &[TreeDirectory] {
        &self.directories
    }

    /// Which of the directories an entry is in.
    pub fn directory_of(&self, number: EntryNumber) -> usize {
        self.entries[number as usize].directory as usize
    }

    /// The name of an entry.
    pub fn name(&self, number: EntryNumber) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.entries[before].end);
        &self.text[start as usize..self.entries[number].end as usize]
    }

    /// What an entry is.
    pub fn kind(&self, number: EntryNumber) -> EntryKind {
        self.entries[number as usize].kind
    }

    /// The path of an entry.
    pub fn path(&self, number: EntryNumber) -> RelPath {
        let directory = &self.directories[self.directory_of(number)].path;
        // Whoever made the names has joined them, or they come from paths.
        directory.join(self.name(number)).expect("the names of a listing have paths")
    }

    /// The path of a directory as seen from the one that was listed; empty for that one.
    pub fn seen<'a>(&'a self, directory: &'a TreeDirectory) -> &'a str {
        let Some(base) = self.directories.first().map(|base| &base.path) else { return "" };
        let path = &directory.path;
        match (base.is_root(), path.is_root()) {
            (_, true) => "",
            (true, false) => path.as_str(),
            (false, false) => path.as_str().get(base.as_str().len() + 1..).unwrap_or_default(),
        }
    }

    /// The entry at a path, if there is one.
    pub fn find(&self, path: &RelPath) -> Option<EntryNumber> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        let directories = &self.directories;
        let at = directories.binary_search_by(|other| other.path.cmp_components(&parent)).ok()?;
        let Range { start, end } = directories[at].entries.clone();
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.name(middle) < name {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < end && self.name(low) == name).then_some(low)
    }

    /// How many entries were left out, by reason.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Whether a bound left some out.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Works something out from the names, or returns what was worked out before: one value of each type
    /// is kept as long as the names are.
    pub fn derived<T: Any + Send + Sync>(&self, derive: impl FnOnce(&Self) -> T) -> Arc<T> {
        let kept = || self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |kept: &[Arc<dyn Any + Send + Sync>]| {
            kept.iter().find_map(|one| Arc::clone(one).downcast::<T>().ok())
        };
        if let Some(found) = find(&kept()) {
            return found;
        }
        // Without the lock: others want other things.
        let made = Arc::new(derive(self));
        let mut kept = kept();
        find(&kept).unwrap_or_else(|| {
            kept.push(Arc::<T>::clone(&made));
            made
        })
    }

    /// Roughly how much memory they take, without what was worked out from them.
    pub fn memory_bytes(&self) -> usize {
        let paths: usize = self.directories.iter().map(|one| one.path.as_str().len()).sum();
        paths
            + self.directories.capacity() * size_of::<TreeDirectory>()
            + self.text.capacity()
            + self.entries.capacity() * size_of::<NamedEntry>()
            + self.in_order.capacity() * size_of::<EntryNumber>()
    }
}

#[cfg(test)]
mod tests;
