//! Taking in what a look at a directory found: what is listed, ignored, gone or another.

use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;

use super::entry::{DirectoryNumber, EntryState, LiveEntry, NONE};
use super::known::{Doubt, KnownTree};
use super::sighted::{NamesRead, Sighting, TreeLook, closes, open_live};
use crate::ignoring::{GIT, LocalIgnoreRules};

/// A directory that is looked at.
pub(super) struct LookedAt {
    pub(super) number: DirectoryNumber,
    pub(super) path: RelPath,
    /// The rules that apply in it, the nearest first.
    pub(super) rules: Vec<Arc<LocalIgnoreRules>>,
}

// === impl LookedAt ===

impl LookedAt {
    fn ignores(&self, name: &str, real: &RelPath, is_directory: bool) -> bool {
        let nearest = self.rules.iter().map(|rules| &**rules);
        name == GIT || LocalIgnoreRules::ignore(nearest, real, is_directory)
    }
}

// === impl KnownTree ===

impl KnownTree {
    /// Takes in what was found at the names of a directory: at all of them, or at some.
    pub(super) fn take_in(
        &mut self,
        at: &LookedAt,
        mut found: Vec<(String, Sighting)>,
        (doubt, names): (&Doubt, &NamesRead),
        look: &TreeLook<'_>,
    ) {
        if names.is_all {
            found.extend(self.gone(at.number, &found));
        }
        let settle = |(name, sighting): (String, Sighting)| {
            let by_event = doubt.names.get(&name).is_some_and(|by_event| *by_event);
            let next = self.settle(at, &name, sighting, by_event, look);
            (name, next)
        };
        let settled: Vec<_> = found.into_iter().map(settle).collect();
        let Some(directory) = self.store.get_mut(at.number) else { return };
        let before = directory.entries.len();
        let mut is_other = directory.take_in(settled, names.is_all);
        if names.is_all {
            let now = (names.unnamed, names.is_cut);
            is_other |= (directory.unnamed, directory.is_cut) != now;
            (directory.unnamed, directory.is_cut) = now;
        }
        let is_unsure = |entry: &LiveEntry| entry.is_linked() || entry.state == EntryState::Closed;
        let is_unsure = directory.is_cut || directory.entries.iter().any(is_unsure);
        let after = directory.entries.len();
        let was_new = std::mem::take(&mut directory.is_new);
        self.store.entries = self.store.entries + after - before;
        self.store.structure += u64::from(is_other);
        if is_unsure {
            self.store.unsure.insert(at.number);
        } else {
            self.store.unsure.remove(&at.number);
        }
        if was_new {
            self.log.subtree(at.path.clone());
        }
    }

    /// The names that are known in a directory and were not found.
    fn gone(
        &self,
        number: DirectoryNumber,
        found: &[(String, Sighting)],
    ) -> Vec<(String, Sighting)> {
        let Some(directory) = self.store.get(number) else { return Vec::new() };
        let names = directory.entries.iter().map(|entry| directory.name_of(entry));
        let is_gone =
            |name: &&str| found.binary_search_by(|(found, _)| found.as_str().cmp(name)).is_err();
        names.filter(is_gone).map(|name| (name.to_owned(), Sighting::Gone)).collect()
    }

    /// Takes in what was found at a name; returns what is known of it from now on.
    fn settle(
        &mut self,
        at: &LookedAt,
        name: &str,
        found: Sighting,
        by_event: bool,
        look: &TreeLook<'_>,
    ) -> Option<LiveEntry> {
        let before = self.store.get(at.number).and_then(|known| known.entry(name)).copied();
        let Ok(real) = at.path.join(name) else {
            return (!matches!(found, Sighting::Gone)).then(LiveEntry::unreadable);
        };
        let mut next = match found {
            Sighting::Gone => None,
            Sighting::Unreadable => Some(LiveEntry::unreadable()),
            Sighting::Seen(stat) => {
                let is_ignored = at.ignores(name, &real, stat.kind == EntryKind::Directory);
                Some(LiveEntry::new(&stat, is_ignored, look.now))
            }
        };
        if let (Some(next), Some(before)) = (&mut next, &before)
            && next.is_still_closed(before)
            && open_live(look.workspace, &real).is_err_and(closes)
        {
            // As it was: nothing that is kept of the tree is another.
            next.state = EntryState::Closed;
        }
        let child = before.map_or(NONE, |before| before.child);
        let child = self.settle_child(at.number, (name, child), next.as_ref());
        if let Some(next) = &mut next {
            next.child = child;
            let is_known =
                before.is_some_and(|before| before.is_linked() && before.identity == next.identity);
            if next.is_linked() && next.is_file() && !is_known {
                self.new_links.insert(next.identity);
            }
        }
        let is_file = |entry: &LiveEntry| entry.is_file();
        let concerns_file =
            before.as_ref().is_some_and(is_file) || next.as_ref().is_some_and(is_file);
        let is_same = match (&next, &before) {
            (Some(next), Some(before)) => !by_event && next.is_as(before),
            _ => false,
        };
        let parent_is_new = self.store.get(at.number).is_some_and(|known| known.is_new);
        if concerns_file && !is_same && !parent_is_new {
            self.log.file(real);
        }
        next
    }

    /// Keeps the directory that a name was where it still is the same, and else forgets it and comes
    /// to know the one that it is by now, if any.
    fn settle_child(
        &mut self,
        parent: DirectoryNumber,
        (name, child): (&str, DirectoryNumber),
        next: Option<&LiveEntry>,
    ) -> DirectoryNumber {
        let next = next.filter(|next| next.state == EntryState::Listed(EntryKind::Directory));
        if let Some(known) = self.store.get(child) {
            if next.is_some_and(|next| next.identity == known.identity) {
                if known.watch.is_none() && self.events.is_some() {
                    self.doubt_whole(child);
                }
                return child;
            }
            self.forget(child);
        }
        let Some(next) = next else { return NONE };
        let child = self.store.add(parent, name, next.identity);
        self.doubt_whole(child);
        child
    }
}
