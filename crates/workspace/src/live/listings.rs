//! Listings of whole trees that are kept. As long as a tree has the same names, a listing by the same rules has
//! them too: only sizes and times are looked up again.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use moss_sdk::RelPath;
use moss_sdk::tree_listing::{EntryFacts, TreeListing, TreeNames};

use super::entry::DirectoryNumber;
use super::kept::ScanKey;
use super::store::TreeStore;
use crate::gate::GateKey;

/// Most listings that are kept.
const LISTINGS_MAX: usize = 4;
/// Most entries of all that are kept: each takes about 40 bytes.
const ENTRIES_MAX: usize = 1 << 20;

/// The names beneath a directory, and where the tree has each.
#[derive(Debug)]
pub(super) struct ListedTree {
    pub(super) names: Arc<TreeNames>,
    /// The directories, in their order; none for those that are not known.
    pub(super) directories: Box<[DirectoryNumber]>,
    /// Which entry of its directory each is.
    pub(super) positions: Box<[u32]>,
}

/// What listings are the same by, beside the tree.
#[derive(Debug, PartialEq)]
pub(super) struct ListingTerms {
    pub(super) gate: GateKey,
    /// The directory, as the caller named it.
    pub(super) shown: RelPath,
}

/// The listings that are kept, the one that was used last behind the others.
#[derive(Default)]
pub(super) struct KeptListings(Mutex<Vec<KeptListing>>);

struct KeptListing {
    terms: ListingTerms,
    key: ScanKey,
    tree: Arc<ListedTree>,
}

// === impl ListedTree ===

impl ListedTree {
    /// The listing with the sizes and times of now: of a tree with the names that it was made of.
    pub(super) fn listing(&self, store: &TreeStore) -> TreeListing {
        let mut facts = Vec::with_capacity(self.positions.len());
        for (directory, number) in self.names.directories().iter().zip(&self.directories) {
            let known = store.get(*number).map_or(&[][..], |known| &known.entries);
            let entries = directory.entries.start as usize..directory.entries.end as usize;
            facts.extend(self.positions[entries].iter().map(|position| {
                let entry = known.get(*position as usize);
                EntryFacts {
                    size_bytes: entry.map_or(0, |entry| entry.size_bytes),
                    modified: entry.map(|entry| entry.modified),
                }
            }));
        }
        TreeListing::new(Arc::clone(&self.names), facts)
    }

    fn bytes(&self) -> usize {
        self.names.memory_bytes() + size_of_val(&*self.directories) + size_of_val(&*self.positions)
    }
}

// === impl KeptListings ===

impl KeptListings {
    /// Returns a listing by the same terms of the same directory, if one is kept.
    pub(super) fn find(&self, terms: &ListingTerms, key: &ScanKey) -> Option<Arc<ListedTree>> {
        let mut listings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |kept: &KeptListing| kept.key == *key && kept.terms == *terms;
        let at = listings.iter().position(is_same)?;
        let found = listings.remove(at);
        let tree = Arc::clone(&found.tree);
        listings.push(found);
        Some(tree)
    }

    /// Keeps a listing, where it is not too large. Those of another structure are of no use any more.
    pub(super) fn add(
        &self,
        terms: ListingTerms,
        key: ScanKey,
        tree: ListedTree,
    ) -> Arc<ListedTree> {
        let tree = Arc::new(tree);
        let mut listings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listings.retain(|kept| kept.key.structure == key.structure);
        listings.push(KeptListing { terms, key, tree: Arc::clone(&tree) });
        let are_too_many = |listings: &[KeptListing]| {
            let entries: usize = listings.iter().map(|kept| kept.tree.positions.len()).sum();
            listings.len() > LISTINGS_MAX || entries > ENTRIES_MAX
        };
        while are_too_many(&listings) {
            listings.remove(0);
        }
        tree
    }

    /// Roughly how much memory they take.
    pub(super) fn bytes(&self) -> usize {
        let listings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listings.iter().map(|kept| kept.tree.bytes()).sum()
    }
}

impl fmt::Debug for KeptListings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptListings").finish_non_exhaustive()
    }
}
