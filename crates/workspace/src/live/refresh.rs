//! Bringing a tree up to date: whatever is in doubt is looked at again, from the root down.
//!
//! A directory is watched before it is listed, so that what changes in between is in doubt again. It
//! is opened by its path without links, and counts only where it is the very directory that is known
//! under that path: else its name is in doubt.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use moss_sdk::RelPath;
use rustix::io::Errno;

use super::entry::{DirectoryNumber, EntryState, LiveEntry, NONE};
use super::events::TreeEvents;
use super::known::{Doubt, Halt, KnownTree};
use super::sighted::{LACKS, NamesRead, Sighting, TreeLook, closes, exclude_hash, open_live};
use super::store::ROOT;
use super::taken::LookedAt;
use crate::handle::{self, Stat};
use crate::ignoring::{GIT, GIT_IGNORE_FILE, IGNORE_FILE, IgnoreNames};
use crate::resolve::ATTEMPTS_MAX;
use crate::root::Workspace;

// === impl KnownTree ===

impl KnownTree {
    /// Looks at all that may have changed, so that what is known is how it was at the call or later.
    pub(super) fn refresh(&mut self, look: &mut TreeLook<'_>) -> Result<(), Halt> {
        self.gather_doubts(look.workspace);
        self.settle_doubts(look)
    }

    pub(super) fn settle_doubts(&mut self, look: &mut TreeLook<'_>) -> Result<(), Halt> {
        loop {
            while let Some(((depth, number), doubt)) = self.doubts.pop_first() {
                if (look.cancelled)() {
                    self.doubts.insert((depth, number), doubt);
                    return Err(Halt::Cancelled);
                }
                if self.store.get(number).is_none_or(|directory| directory.depth != depth) {
                    continue;
                }
                if let Err(errno) = self.look_at(number, &doubt, look) {
                    self.not_looked_at(number, doubt, errno, look)?;
                }
                (look.progress)(self.store.entries);
                if self.store.entries > self.options.entries_max {
                    return Err(Halt::TooLarge);
                }
            }
            if !self.doubt_other_names() {
                self.log.close();
                return Ok(());
            }
        }
    }

    /// Takes in that a directory could not be looked at.
    fn not_looked_at(
        &mut self,
        number: DirectoryNumber,
        doubt: Doubt,
        errno: Errno,
        look: &mut TreeLook<'_>,
    ) -> Result<(), Halt> {
        if closes(errno) && number != ROOT {
            self.close(number);
            return Ok(());
        }
        self.doubt_whole(number);
        if let Some(directory) = self.store.get(number) {
            let again = self.doubts.entry((directory.depth, number)).or_default();
            again.names.extend(doubt.names);
        }
        self.doubt_own_name(number);
        look.attempts += 1;
        let is_hopeless = LACKS.contains(&errno) || number == ROOT || look.attempts > ATTEMPTS_MAX;
        if is_hopeless { Err(Halt::Unsteady) } else { Ok(()) }
    }

    /// Takes in that a directory cannot be entered.
    fn close(&mut self, number: DirectoryNumber) {
        let Some(directory) = self.store.get(number) else { return };
        let (parent, name) = (directory.parent, directory.name.clone());
        self.forget(number);
        self.store.structure += 1;
        self.store.unsure.insert(parent);
        let Some(parent) = self.store.get_mut(parent) else { return };
        if let Some(at) = parent.position(&name) {
            parent.entries[at].child = NONE;
            parent.entries[at].state = EntryState::Closed;
        }
    }

    /// Forgets a directory and all beneath it.
    pub(super) fn forget(&mut self, number: DirectoryNumber) {
        let path = self.store.path(number);
        let was_listed = self.store.get(number).is_some_and(|directory| !directory.is_new);
        for watch in self.store.remove(number) {
            if let Some(events) = &self.events {
                events.unwatch(watch);
            }
        }
        if let Some(path) = path.filter(|_| was_listed) {
            self.log.subtree(path);
        }
    }

    fn look_at(
        &mut self,
        number: DirectoryNumber,
        doubt: &Doubt,
        look: &TreeLook<'_>,
    ) -> Result<(), Errno> {
        let path = self.store.path(number).ok_or(Errno::STALE)?;
        let held = open_live(look.workspace, &path)?;
        let stat = handle::stat(&held)?;
        if self.store.get(number).is_none_or(|known| known.identity != stat.identity) {
            return Err(Errno::STALE);
        }
        self.watch(number, &held, &stat);
        // Anew: what changed before it was watched gives no event.
        let stat = handle::stat(&held)?;
        let has_events = doubt.names.values().any(|by_event| *by_event);
        let has_aliases = has_events && look.workspace.has_aliases(&held);
        let mut names = match doubt.is_whole || has_aliases {
            true => NamesRead::of(look.workspace, &held, &path)?,
            false => NamesRead::in_doubt(look.workspace, doubt.names.keys(), &path),
        };
        let by_listing = has_aliases.then(|| doubt.by_listing(names.iter()));
        let doubt = by_listing.as_ref().unwrap_or(doubt);
        let mut found = names.sight(&held, self.asks_server);
        let have_changed = self.have_rules_changed(number, doubt, &found, names.is_all);
        if have_changed && !names.is_all {
            names = NamesRead::of(look.workspace, &held, &path)?;
            found = names.sight(&held, self.asks_server);
        }
        if have_changed {
            self.doubt_beneath(number);
        }
        if names.is_all {
            self.read_rules(number, &held, &path, look.workspace);
        }
        let rules = self.store.rules(number);
        self.take_in(&LookedAt { number, path, rules }, found, (doubt, &names), look);
        self.take_in_own(number, &stat, look);
        Ok(())
    }

    /// Has a directory watched from now on, where events are to be had.
    fn watch(&mut self, number: DirectoryNumber, held: &OwnedFd, stat: &Stat) {
        let is_watched = self.store.get(number).is_some_and(|known| known.watch.is_some());
        let Some(events) = self.events.as_ref().filter(|_| !is_watched) else { return };
        let root = self.store.get(ROOT).map(|root| root.identity.device);
        if root != Some(stat.identity.device)
            && let Err(reason) = TreeEvents::check(held)
        {
            return self.sweep_from_now_on(reason);
        }
        let watched = match self.store.watched() < self.options.watches_max {
            true => events.watch(held),
            false => Err(Errno::NOSPC),
        };
        match watched {
            Ok(watch) => self.store.set_watch(number, watch),
            Err(Errno::NOSPC) => {
                let reason = "the limit fs.inotify.max_user_watches is reached";
                self.sweep_from_now_on(reason.to_owned());
            }
            Err(errno) => {
                self.sweep_from_now_on(format!("a directory cannot be watched: {errno}"));
            }
        }
    }

    /// Whether the rules that a directory holds may be others than before.
    fn have_rules_changed(
        &self,
        number: DirectoryNumber,
        doubt: &Doubt,
        found: &[(String, Sighting)],
        is_all: bool,
    ) -> bool {
        let Some(known) = self.store.get(number).filter(|known| !known.is_new) else {
            return false;
        };
        [GIT, GIT_IGNORE_FILE, IGNORE_FILE].into_iter().any(|name| {
            let by_event = doubt.names.get(name);
            if by_event.is_none() && !is_all {
                return false;
            }
            let now = found.binary_search_by(|(found, _)| found.as_str().cmp(name));
            let now = now.map_or(Sighting::Gone, |at| found[at].1);
            by_event == Some(&true) || now.differs(known.entry(name), name)
        })
    }

    fn read_rules(
        &mut self,
        number: DirectoryNumber,
        held: &OwnedFd,
        path: &RelPath,
        workspace: &Workspace,
    ) {
        // Before the rules are read: what changes in between is noticed the next time.
        let exclude = exclude_hash(workspace, held);
        let rules = workspace.local_rules_of(held, path, IgnoreNames::ALL);
        if rules.are_of_repository() {
            self.store.excludes.insert(number, exclude);
        } else {
            self.store.excludes.remove(&number);
        }
        if let Some(known) = self.store.get_mut(number) {
            known.rules = Some(rules).filter(|rules| !rules.are_none()).map(Arc::new);
        }
    }

    /// Takes in the directory's own size and times, which the one above it shows.
    fn take_in_own(&mut self, number: DirectoryNumber, stat: &Stat, look: &TreeLook<'_>) {
        let Some(known) = self.store.get(number).filter(|_| number != ROOT) else { return };
        let (parent, name) = (known.parent, known.name.clone());
        let Some(parent) = self.store.get_mut(parent) else { return };
        if let Some(at) = parent.position(&name) {
            let mut next = LiveEntry::new(stat, false, look.now);
            next.child = number;
            let is_other = !parent.entries[at].is_shaped_as(&next);
            parent.replace(at, next);
            self.store.structure += u64::from(is_other);
        }
    }
}
