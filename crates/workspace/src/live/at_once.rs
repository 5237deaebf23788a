//! Listing a small directory from memory, where others wait: handing that to another thread takes longer
//! than the listing. What has to be looked at first is not listed so.

use moss_sdk::RelPath;
use moss_sdk::file::{ListOptions, Listing};

use super::answer::ListGate;
use super::{Knowledge, LiveTree};

/// Most entries of a directory that is listed so: each must be worked on there as well.
const ENTRIES_MAX: usize = 256;

// === impl LiveTree ===

impl LiveTree {
    /// As [`LiveTree::list`] for the entries of one small directory, without waiting: neither for others
    /// who look at the tree nor for files that changed since the last look.
    ///
    /// None where it would have to wait, where the directory is larger, no directory, or reached by a link, and
    /// where the listing is to go deeper: [`LiveTree::list`] says what there is.
    pub fn list_at_once(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
    ) -> Option<Listing> {
        if options.recursive {
            return None;
        }
        let mut knowledge = self.knowledge.try_write().ok()?;
        let Knowledge::Known(tree) = &mut *knowledge else { return None };
        if !tree.is_current(&self.workspace) {
            return None;
        }
        let identity = self.workspace.directory_cached(directory)?;
        self.workspace.check_not_own(directory, directory).ok()?;
        let number = tree.store.find(directory)?;
        let known = tree.store.get(number)?;
        if known.identity != identity || known.entries.len() > ENTRIES_MAX {
            return None;
        }
        let gate = ListGate { keep, cancelled: &|| false };
        tree.list(number, (directory, directory), options, gate).ok()
    }
}
