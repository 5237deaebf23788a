//! A tree as it is known: what is in it, what is in doubt, and what changed.

use std::collections::{BTreeMap, BTreeSet};

use rustix::io::Errno;

use super::changed::ChangeLog;
use super::entry::{DirectoryNumber, EntryState, NONE};
use super::events::{TreeEvent, TreeEvents};
use super::kept::KeptScans;
use super::listings::KeptListings;
use super::mounts::MountEvents;
use super::sighted::{exclude_hash, open_live};
use super::store::{ROOT, TreeStore};
use super::{LiveOptions, NO_EVENTS_WANTED};
use crate::handle::{self, Identity};
use crate::ignoring::GIT;
use crate::root::Workspace;
use crate::spelling::fold;

/// A tree that is known.
#[derive(Debug)]
pub(super) struct KnownTree {
    pub(super) store: TreeStore,
    /// None where everything is looked at each time.
    pub(super) events: Option<TreeEvents>,
    /// Why there are no events.
    pub(super) reason: Option<String>,
    /// Whether others than this system may change files: then sizes and times are those of the server.
    pub(super) asks_server: bool,
    /// None where the system does not report mounts.
    mounts: Option<MountEvents>,
    /// By depth: a directory is looked at before those in it.
    pub(super) doubts: BTreeMap<(u16, DirectoryNumber), Doubt>,
    /// Files that have got another name, which gave no event for those that they had.
    pub(super) new_links: BTreeSet<Identity>,
    pub(super) log: ChangeLog,
    pub(super) kept: KeptScans,
    pub(super) listings: KeptListings,
    pub(super) options: LiveOptions,
}

/// What is in doubt of a directory.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    /// Everything in it, and its rules.
    pub(super) is_whole: bool,
    /// Names, and whether an event names them.
    pub(super) names: BTreeMap<String, bool>,
}

/// Why a tree could not be brought up to date. What was in doubt still is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// Nobody waits for it any more.
    Cancelled,
    /// It changes too fast, or the system lacks something just now.
    Unsteady,
    /// It has more entries than are kept.
    TooLarge,
}

// === impl Doubt ===

impl Doubt {
    /// The same of a directory that finds files by other spellings: an event has the one by which its file was looked
    /// up, and each listed name stands for all of its own.
    pub(super) fn by_listing<'a>(&self, listed: impl Iterator<Item = &'a String>) -> Self {
        let mut spellings = BTreeMap::new();
        for (name, by_event) in &self.names {
            *spellings.entry(fold(name)).or_default() |= *by_event;
        }
        let names = listed.filter_map(|name| Some((name.clone(), *spellings.get(&fold(name))?)));
        Self { is_whole: true, names: names.collect() }
    }
}

// === impl KnownTree ===

impl KnownTree {
    /// A tree of which nothing is known but its root.
    pub(super) fn new(workspace: &Workspace, options: LiveOptions) -> Result<Self, Errno> {
        let mut store = TreeStore::default();
        let directory = handle::readable(&workspace.directory)?;
        store.add(NONE, ".", workspace.identity);
        let opened = match options.with_events {
            true => TreeEvents::open(&directory),
            false => Err(NO_EVENTS_WANTED.to_owned()),
        };
        let (events, reason) = match opened {
            Ok(events) => (Some(events), None),
            Err(reason) => (None, Some(reason)),
        };
        let mut tree = Self {
            store,
            asks_server: events.is_none(),
            events,
            reason,
            mounts: MountEvents::open(),
            doubts: BTreeMap::new(),
            new_links: BTreeSet::new(),
            log: ChangeLog::new(options.changes_max),
            kept: KeptScans::default(),
            listings: KeptListings::default(),
            options,
        };
        tree.doubt_whole(ROOT);
        Ok(tree)
    }

    /// From now on everything is looked at each time.
    pub(super) fn sweep_from_now_on(&mut self, reason: String) {
        self.events = None;
        self.reason = Some(reason);
        self.asks_server = true;
        self.store.forget_watches();
        self.doubt_everything();
    }

    pub(super) fn doubt_whole(&mut self, number: DirectoryNumber) {
        if let Some(directory) = self.store.get(number) {
            self.doubts.entry((directory.depth, number)).or_default().is_whole = true;
        }
    }

    pub(super) fn doubt_name(&mut self, number: DirectoryNumber, name: &str, by_event: bool) {
        let Some(directory) = self.store.get(number) else { return };
        let names = &mut self.doubts.entry((directory.depth, number)).or_default().names;
        match names.get_mut(name) {
            Some(known) => *known |= by_event,
            None => drop(names.insert(name.to_owned(), by_event)),
        }
    }

    /// Doubts the name that a directory has in the one above it.
    pub(super) fn doubt_own_name(&mut self, number: DirectoryNumber) {
        let Some(directory) = self.store.get(number) else { return };
        let (parent, name) = (directory.parent, directory.name.clone());
        self.doubt_name(parent, &name, false);
    }

    pub(super) fn doubt_everything(&mut self) {
        let all: Vec<_> = self.store.all().map(|(number, _)| number).collect();
        all.into_iter().for_each(|number| self.doubt_whole(number));
    }

    /// Doubts directories from a number on, up to one with which they have so many entries; returns the number
    /// behind it, if there is any.
    pub(super) fn doubt_some(
        &mut self,
        first: DirectoryNumber,
        entries_max: usize,
    ) -> Option<DirectoryNumber> {
        let mut entries = 0;
        let mut doubted = Vec::new();
        for (number, directory) in self.store.all_from(first) {
            if entries >= entries_max {
                break;
            }
            // Opening one takes time as well.
            entries += 1 + directory.entries.len();
            doubted.push(number);
        }
        doubted.iter().for_each(|number| self.doubt_whole(*number));
        let last = doubted.last().filter(|_| entries >= entries_max)?;
        last.checked_add(1)
    }

    pub(super) fn doubt_beneath(&mut self, number: DirectoryNumber) {
        self.store.beneath(number).into_iter().for_each(|number| self.doubt_whole(number));
    }

    /// Doubts all that may have changed since it was looked at last.
    pub(super) fn gather_doubts(&mut self, workspace: &Workspace) {
        if self.events.is_none() {
            return self.doubt_everything();
        }
        if self.mounts.as_ref().is_some_and(MountEvents::have_come) {
            self.doubt_everything();
        }
        self.take_events(workspace);
        self.doubt_unsure();
        self.doubt_excludes(workspace);
    }

    /// Whether all that is known is how it is now, as far as that shows without looking at any entry. What it
    /// finds to be in doubt is looked at by the next refresh.
    pub(super) fn is_current(&mut self, workspace: &Workspace) -> bool {
        let is_told_of_all = self.events.as_ref().is_some_and(TreeEvents::are_none_queued);
        if !is_told_of_all || !self.store.unsure.is_empty() || !self.new_links.is_empty() {
            return false;
        }
        if self.mounts.as_ref().is_some_and(MountEvents::have_come) {
            self.doubt_everything();
        }
        if self.doubts.is_empty() {
            self.doubt_excludes(workspace);
        }
        self.doubts.is_empty()
    }

    pub(super) fn take_events(&mut self, workspace: &Workspace) {
        let Some(events) = self.events.take() else { return };
        let mut were_lost = false;
        let drained = events.drain(|event| {
            were_lost |= event == TreeEvent::Lost;
            self.take_event(&event);
        });
        match drained {
            Ok(()) if were_lost => {
                drop(events);
                self.watch_anew(workspace);
            }
            Ok(()) => self.events = Some(events),
            Err(errno) => {
                self.sweep_from_now_on(format!("changes of files cannot be read: {errno}"));
            }
        }
    }

    /// Has everything watched again. Among the events that were lost may be the ends of watches: a
    /// directory that came back as the same one is not one that the kernel still reports.
    pub(super) fn watch_anew(&mut self, workspace: &Workspace) {
        self.store.forget_watches();
        let root = handle::readable(&workspace.directory).map_err(|errno| errno.to_string());
        match root.and_then(|root| TreeEvents::open(&root)) {
            Ok(events) => {
                self.events = Some(events);
                self.reason = None;
                self.asks_server = false;
                self.doubt_everything();
            }
            Err(reason) => self.sweep_from_now_on(reason),
        }
    }

    fn take_event(&mut self, event: &TreeEvent<'_>) {
        match *event {
            // All is watched anew when the others are taken in.
            TreeEvent::Lost => {}
            TreeEvent::Name(watch, Some(name)) => {
                self.each_reported(watch, |tree, number| tree.doubt_name(number, name, true));
            }
            TreeEvent::Name(watch, None) | TreeEvent::Attributes(watch) => {
                self.each_reported(watch, Self::doubt_whole);
            }
            TreeEvent::Moved(watch) => self.each_reported(watch, Self::doubt_own_name),
            TreeEvent::Unwatched(watch) => {
                for number in self.store.forget_watch(watch) {
                    self.doubt_own_name(number);
                    self.doubt_whole(number);
                }
            }
        }
    }

    fn each_reported(&mut self, watch: i32, mut doubt: impl FnMut(&mut Self, DirectoryNumber)) {
        let mut at = 0;
        while let Some(number) = self.store.reported(watch).get(at).copied() {
            doubt(self, number);
            at += 1;
        }
    }

    /// Doubts what changes without an event: files with several names, directories that could not be
    /// entered, and those with more names than are read.
    fn doubt_unsure(&mut self) {
        let is_unsure = |state, is_linked| is_linked || state == EntryState::Closed;
        for number in self.store.unsure.clone() {
            let Some(directory) = self.store.get(number) else { continue };
            if directory.is_cut {
                self.doubt_whole(number);
                continue;
            }
            let entries = directory.entries.iter();
            let unsure = entries.filter(|entry| is_unsure(entry.state, entry.is_linked()));
            let unsure: Vec<_> = unsure.map(|entry| directory.name_of(entry).to_owned()).collect();
            if unsure.is_empty() {
                self.store.unsure.remove(&number);
            }
            unsure.iter().for_each(|name| self.doubt_name(number, name, false));
        }
    }

    /// Doubts the rules of repositories whose unshared rules are others by now: nobody watches `.git`.
    fn doubt_excludes(&mut self, workspace: &Workspace) {
        let others = self.store.excludes.iter().filter(|(number, known)| {
            let path = self.store.path(**number);
            let opened = path.and_then(|path| open_live(workspace, &path).ok());
            opened.is_some_and(|root| exclude_hash(workspace, &root) != **known)
        });
        let others: Vec<_> = others.map(|(number, _)| *number).collect();
        others.into_iter().for_each(|number| self.doubt_name(number, GIT, true));
    }

    /// Doubts the other names of files that have got a new one. Returns whether there are any.
    pub(super) fn doubt_other_names(&mut self) -> bool {
        let linked = std::mem::take(&mut self.new_links);
        if linked.is_empty() {
            return false;
        }
        let mut others = Vec::new();
        for (number, directory) in self.store.all() {
            let entries = directory.entries.iter();
            let known = entries.filter(|entry| entry.is_file() && !entry.is_linked());
            let known = known.filter(|entry| linked.contains(&entry.identity));
            others.extend(known.map(|entry| (number, directory.name_of(entry).to_owned())));
        }
        for (number, name) in &others {
            self.doubt_name(*number, name, true);
        }
        !others.is_empty()
    }
}
