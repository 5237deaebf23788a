//! Names beneath a directory in the making.

use super::{EntryNumber, NamedEntry, TreeDirectory, TreeNames};
use crate::file::{EntryKind, Listing, Skipped};
use crate::path::RelPath;

/// Names in the making, directory by directory.
#[derive(Debug, Default)]
pub struct TreeNamesDraft {
    names: TreeNames,
}

/// The number of what comes next: entries and bytes of names are bounded far below.
fn number(count: usize) -> u32 {
    u32::try_from(count).expect("the entries of a listing are bounded")
}

/// Makes names of a listing of a directory; returns which entry each of the listing is, too.
pub(super) fn names_of(directory: &RelPath, listing: &Listing) -> (TreeNames, Vec<EntryNumber>) {
    let parent = |at: usize| {
        let path = listing.entries[at].path.as_str();
        path.rsplit_once('/').map_or(".", |(parent, _)| parent)
    };
    // Which entries each directory has, and which it is itself.
    let mut directories: Vec<(Option<usize>, Vec<usize>)> = vec![(None, Vec::new())];
    let path_of = |itself: Option<usize>| itself.map_or(directory, |at| &listing.entries[at].path);
    let mut open = vec![0];
    for (at, entry) in listing.entries.iter().enumerate() {
        while open.len() > 1 && path_of(directories[open[open.len() - 1]].0).as_str() != parent(at)
        {
            open.pop();
        }
        directories[open[open.len() - 1]].1.push(at);
        if entry.kind == EntryKind::Directory {
            open.push(directories.len());
            directories.push((Some(at), Vec::new()));
        }
    }
    let mut draft = TreeNamesDraft::default();
    let mut numbers = vec![0; listing.entries.len()];
    for (itself, entries) in &directories {
        // The one above it comes before it, and so does its own entry.
        draft.add_directory(path_of(*itself).clone(), itself.map(|at| numbers[at]));
        for at in entries {
            let entry = &listing.entries[*at];
            numbers[*at] = draft.add(entry.path.file_name().unwrap_or_default(), entry.kind);
        }
    }
    numbers.iter().for_each(|number| draft.come_to(*number));
    (draft.finish(listing.skipped, listing.truncated), numbers)
}

// === impl TreeNamesDraft ===

impl TreeNamesDraft {
    /// Adds a directory, by its path and the entry that it is; what is added next is in it. Directories
    /// come in path order, the one that is listed first.
    pub fn add_directory(&mut self, path: RelPath, entry: Option<EntryNumber>) {
        let next = number(self.names.entries.len());
        self.names.directories.push(TreeDirectory { path, entries: next..next, entry });
    }

    /// Adds an entry to the directory that was added last, behind those whose names come before.
    pub fn add(&mut self, name: &str, kind: EntryKind) -> EntryNumber {
        let names = &mut self.names;
        names.text.push_str(name);
        let directory = number(names.directories.len().saturating_sub(1));
        names.entries.push(NamedEntry { end: number(names.text.len()), directory, kind });
        let count = number(names.entries.len());
        if let Some(last) = names.directories.last_mut() {
            last.entries.end = count;
        }
        count - 1
    }

    /// Says that an entry comes next in path order.
    pub fn come_to(&mut self, number: EntryNumber) {
        self.names.in_order.push(number);
    }

    /// The entries of the directory that was added last.
    pub fn last_entries(&self) -> std::ops::Range<EntryNumber> {
        self.names.directories.last().map_or(0..0, |last| last.entries.clone())
    }

    /// The name and the kind of an entry.
    pub fn entry(&self, number: EntryNumber) -> (&str, EntryKind) {
        (self.names.name(number), self.names.kind(number))
    }

    /// Ends it, with what was left out.
    pub fn finish(self, skipped: Skipped, truncated: bool) -> TreeNames {
        let mut names = TreeNames { skipped, truncated, ..self.names };
        names.text.shrink_to_fit();
        names.entries.shrink_to_fit();
        names.in_order.shrink_to_fit();
        names.directories.shrink_to_fit();
        names
    }
}
