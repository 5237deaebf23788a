//! What is known of a tree, in memory: directories by number, each with its entries by name.
//!
//! An entry takes 64 bytes and its name: a million of them about 80 MB.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use moss_sdk::RelPath;

use super::entry::{DirectoryNumber, LiveEntry, NONE};
use crate::handle::Identity;
use crate::ignoring::LocalIgnoreRules;

pub(super) const ROOT: DirectoryNumber = 0;
/// The directories of a tree that a walk would enter.
#[derive(Debug, Default)]
pub(super) struct TreeStore {
    directories: Vec<Option<LiveDirectory>>,
    free: Vec<DirectoryNumber>,
    /// Which directories a watch reports. One that is mounted at two names is two.
    watches: HashMap<i32, Vec<DirectoryNumber>>,
    /// How many entries there are.
    pub(super) entries: usize,
    /// Counts changes of which names there are, of which kind, and where.
    pub(super) structure: u64,
    /// Directories with something that no event reports.
    pub(super) unsure: BTreeSet<DirectoryNumber>,
    /// Roots of repositories, each with what its unshared rules were.
    pub(super) excludes: BTreeMap<DirectoryNumber, Option<blake3::Hash>>,
}

/// A directory that a walk would enter.
#[derive(Debug)]
pub(super) struct LiveDirectory {
    pub(super) parent: DirectoryNumber,
    pub(super) name: Box<str>,
    pub(super) depth: u16,
    pub(super) identity: Identity,
    pub(super) watch: Option<i32>,
    /// None where the directory has none.
    pub(super) rules: Option<Arc<LocalIgnoreRules>>,
    /// Whether it was not listed yet.
    pub(super) is_new: bool,
    /// How many names are not text.
    pub(super) unnamed: u64,
    /// Whether it has more names than are read from one directory.
    pub(super) is_cut: bool,
    /// Names, one after the other in order.
    names: String,
    /// In the order of their names.
    pub(super) entries: Vec<LiveEntry>,
}

// === impl LiveDirectory ===

impl LiveDirectory {
    pub(super) fn name_of(&self, entry: &LiveEntry) -> &str {
        &self.names[entry.name()]
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.entries.binary_search_by(|entry| self.name_of(entry).cmp(name)).ok()
    }

    pub(super) fn entry(&self, name: &str) -> Option<&LiveEntry> {
        self.position(name).map(|at| &self.entries[at])
    }

    /// Takes in what is known of some names from now on, or of all. Returns whether there are other
    /// names than before, or some are of another kind.
    pub(super) fn take_in(
        &mut self,
        settled: Vec<(String, Option<LiveEntry>)>,
        are_all: bool,
    ) -> bool {
        let is_known = |name: &str| self.position(name).is_some();
        if !are_all && settled.iter().all(|(name, next)| next.is_some() && is_known(name)) {
            let mut is_other = false;
            for (name, next) in settled {
                if let (Some(at), Some(next)) = (self.position(&name), next) {
                    is_other |= !self.entries[at].is_shaped_as(&next);
                    self.replace(at, next);
                }
            }
            return is_other;
        }
        let mut next = Vec::with_capacity(self.entries.len() + settled.len());
        if !are_all {
            let looked_at = |name: &str| {
                settled.binary_search_by(|(settled, _)| settled.as_str().cmp(name)).is_ok()
            };
            let kept = self.entries.iter().map(|entry| (self.name_of(entry), *entry));
            let kept = kept.filter(|(name, _)| !looked_at(name));
            next.extend(kept.map(|(name, entry)| (name.to_owned(), entry)));
        }
        next.extend(settled.into_iter().filter_map(|(name, entry)| Some((name, entry?))));
        next.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let is_same = |(entry, (name, next)): (&LiveEntry, &(String, LiveEntry))| {
            self.name_of(entry) == name && entry.is_shaped_as(next)
        };
        let is_other =
            self.entries.len() != next.len() || !self.entries.iter().zip(&next).all(is_same);
        self.replace_all(&next);
        is_other
    }

    /// Replaces what is known of one name.
    pub(super) fn replace(&mut self, at: usize, next: LiveEntry) {
        let old = &mut self.entries[at];
        *old = next.named_as(old);
    }

    /// Replaces all entries; they come in the order of their names.
    fn replace_all(&mut self, next: &[(String, LiveEntry)]) {
        let mut names = String::with_capacity(next.iter().map(|(name, _)| name.len()).sum());
        let mut entries = Vec::with_capacity(next.len());
        for (name, entry) in next {
            // What does not fit is no name that a file system has.
            let (Ok(name_start), Ok(name_bytes)) =
                (u32::try_from(names.len()), u16::try_from(name.len()))
            else {
                continue;
            };
            names.push_str(name);
            entries.push(entry.named(name_start, name_bytes));
        }
        self.names = names;
        self.entries = entries;
    }

    fn bytes(&self) -> usize {
        self.names.capacity()
            + self.name.len()
            + self.entries.capacity() * size_of::<LiveEntry>()
            + size_of::<Option<Self>>()
    }
}

// === impl TreeStore ===

impl TreeStore {
    pub(super) fn get(&self, number: DirectoryNumber) -> Option<&LiveDirectory> {
        self.directories.get(number as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: DirectoryNumber) -> Option<&mut LiveDirectory> {
        self.directories.get_mut(number as usize)?.as_mut()
    }

    /// Every directory with its number.
    pub(super) fn all(&self) -> impl Iterator<Item = (DirectoryNumber, &LiveDirectory)> {
        self.all_from(ROOT)
    }

    /// Every directory from a number on.
    pub(super) fn all_from(
        &self,
        first: DirectoryNumber,
    ) -> impl Iterator<Item = (DirectoryNumber, &LiveDirectory)> {
        let from = self.directories.get(first as usize..).unwrap_or_default();
        let numbered = (first..).zip(from);
        numbered.filter_map(|(number, directory)| Some((number, directory.as_ref()?)))
    }

    pub(super) fn watched(&self) -> usize {
        self.watches.len()
    }

    /// Roughly how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.all().map(|(_, directory)| directory.bytes()).sum()
    }

    pub(super) fn add(
        &mut self,
        parent: DirectoryNumber,
        name: &str,
        identity: Identity,
    ) -> DirectoryNumber {
        self.structure += 1;
        let depth = self.get(parent).map_or(0, |parent| parent.depth.saturating_add(1));
        let directory = LiveDirectory {
            parent,
            name: name.into(),
            depth,
            identity,
            watch: None,
            rules: None,
            is_new: true,
            unnamed: 0,
            is_cut: false,
            names: String::new(),
            entries: Vec::new(),
        };
        if let Some(number) = self.free.pop() {
            self.directories[number as usize] = Some(directory);
            return number;
        }
        let number = DirectoryNumber::try_from(self.directories.len()).unwrap_or(NONE);
        self.directories.push(Some(directory));
        number
    }

    /// Forgets a directory and all beneath it. Returns the watches that nobody needs any more.
    pub(super) fn remove(&mut self, number: DirectoryNumber) -> Vec<i32> {
        self.structure += 1;
        let mut unneeded = Vec::new();
        let mut open = vec![number];
        while let Some(number) = open.pop() {
            let gone = self.directories.get_mut(number as usize).and_then(Option::take);
            let Some(gone) = gone else { continue };
            open.extend(gone.entries.iter().map(|entry| entry.child).filter(|at| *at != NONE));
            self.entries -= gone.entries.len();
            self.unsure.remove(&number);
            self.excludes.remove(&number);
            self.free.push(number);
            if let Some(watch) = gone.watch
                && self.unlink_watch(watch, number)
            {
                unneeded.push(watch);
            }
        }
        unneeded
    }

    pub(super) fn set_watch(&mut self, number: DirectoryNumber, watch: i32) {
        let reported = self.watches.entry(watch).or_default();
        if !reported.contains(&number) {
            reported.push(number);
        }
        if let Some(directory) = self.get_mut(number) {
            directory.watch = Some(watch);
        }
    }

    /// The directories that a watch reports.
    pub(super) fn reported(&self, watch: i32) -> &[DirectoryNumber] {
        self.watches.get(&watch).map_or(&[], Vec::as_slice)
    }

    /// Forgets a watch that the kernel has removed; returns the directories that it reported.
    pub(super) fn forget_watch(&mut self, watch: i32) -> Vec<DirectoryNumber> {
        let reported = self.watches.remove(&watch).unwrap_or_default();
        for number in &reported {
            if let Some(directory) = self.get_mut(*number) {
                directory.watch = None;
            }
        }
        reported
    }

    pub(super) fn forget_watches(&mut self) {
        self.watches = HashMap::new();
        for directory in self.directories.iter_mut().flatten() {
            directory.watch = None;
        }
    }

    fn unlink_watch(&mut self, watch: i32, number: DirectoryNumber) -> bool {
        let Some(reported) = self.watches.get_mut(&watch) else { return false };
        reported.retain(|other| *other != number);
        let is_unneeded = reported.is_empty();
        if is_unneeded {
            self.watches.remove(&watch);
        }
        is_unneeded
    }

    /// The path of a directory; none for one that is not known.
    pub(super) fn path(&self, number: DirectoryNumber) -> Option<RelPath> {
        let mut names = Vec::new();
        let mut at = number;
        while at != ROOT {
            let directory = self.get(at)?;
            names.push(&*directory.name);
            at = directory.parent;
        }
        names.reverse();
        if names.is_empty() { Some(RelPath::root()) } else { RelPath::parse(&names.join("/")).ok() }
    }

    /// The directory at a real path.
    pub(super) fn find(&self, real: &RelPath) -> Option<DirectoryNumber> {
        let mut at = ROOT;
        for name in real.components() {
            at = self.get(at)?.entry(name)?.child;
        }
        self.get(at).map(|_| at)
    }

    /// The rules that apply in a directory, the nearest first.
    pub(super) fn rules(&self, number: DirectoryNumber) -> Vec<Arc<LocalIgnoreRules>> {
        let mut rules = Vec::new();
        let mut at = number;
        while let Some(directory) = self.get(at) {
            rules.extend(directory.rules.clone());
            if at == ROOT {
                break;
            }
            at = directory.parent;
        }
        rules
    }

    /// All directories beneath one.
    pub(super) fn beneath(&self, number: DirectoryNumber) -> Vec<DirectoryNumber> {
        let children = |number: &DirectoryNumber| {
            let entries = self.get(*number).map_or(&[][..], |directory| &directory.entries);
            entries.iter().map(|entry| entry.child).filter(|child| *child != NONE)
        };
        let mut found: Vec<_> = children(&number).collect();
        let mut next = 0;
        while next < found.len() {
            found.extend(children(&found[next]).collect::<Vec<_>>());
            next += 1;
        }
        found
    }
}
