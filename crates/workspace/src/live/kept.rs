//! Scans that are kept. As long as a tree has the same names, a search by the same rules comes to the
//! same files: nobody is asked about each of them again.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use moss_sdk::RelPath;

use super::entry::DirectoryNumber;
use crate::gate::GateKey;
use crate::scan::ScannedTree;

/// Most scans that are kept.
const SCANS_MAX: usize = 4;
/// Most files of all scans that are kept: each takes about 40 bytes.
const FILES_MAX: usize = 1 << 20;

/// The files of a scan, for those who know something of their texts.
#[derive(Debug)]
pub struct ScannedPaths<'a> {
    tree: &'a ScannedTree,
    number: Option<u64>,
}

/// What scans are the same by.
#[derive(Debug, PartialEq)]
pub(super) struct KeptTerms {
    pub(super) gate: GateKey,
    /// Which files are wanted: see [`TextVisitor::choice`](moss_sdk::context::TextVisitor::choice).
    pub(super) choice: String,
    /// The directory, as the caller named it.
    pub(super) shown: RelPath,
    pub(super) entries_max: usize,
}

/// A scan with its number, where it is kept.
pub(super) struct NumberedScan {
    pub(super) tree: Arc<ScannedTree>,
    number: Option<u64>,
}

/// The scans that are kept, the one that was used last behind the others.
#[derive(Default)]
pub(super) struct KeptScans(Mutex<Vec<KeptScan>>);

/// What a scan is of: as long as that is the same, so is its result.
#[derive(Debug, PartialEq)]
pub(super) struct ScanKey {
    pub(super) directory: DirectoryNumber,
    /// The directory by its real path.
    pub(super) real: RelPath,
    /// The structure of the tree.
    pub(super) structure: u64,
}

struct KeptScan {
    terms: KeptTerms,
    key: ScanKey,
    number: u64,
    tree: Arc<ScannedTree>,
}

/// Returns a number that no other scan of the process has.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

// === impl NumberedScan ===

impl NumberedScan {
    /// A scan that is not kept.
    pub(super) fn once(tree: ScannedTree) -> Self {
        Self { tree: Arc::new(tree), number: None }
    }

    pub(super) fn paths(&self) -> ScannedPaths<'_> {
        ScannedPaths { tree: &self.tree, number: self.number }
    }
}

// === impl ScannedPaths ===

impl ScannedPaths<'_> {
    /// Returns a number that only the very same files have, in the same order. None where they have
    /// none.
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// Returns the real paths of the files, in the order of the walk.
    pub fn real_paths(&self) -> impl Iterator<Item = RelPath> {
        self.tree.real_paths()
    }
}

// === impl KeptScans ===

impl KeptScans {
    /// Returns a scan by the same terms of the same directory, if one is kept.
    pub(super) fn find(&self, terms: &KeptTerms, key: &ScanKey) -> Option<NumberedScan> {
        let mut scans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |kept: &KeptScan| kept.key == *key && kept.terms == *terms;
        let at = scans.iter().position(is_same)?;
        let found = scans.remove(at);
        let numbered = NumberedScan { tree: Arc::clone(&found.tree), number: Some(found.number) };
        scans.push(found);
        Some(numbered)
    }

    /// Keeps a scan. Those of another structure are of no use any more.
    pub(super) fn add(&self, terms: KeptTerms, key: ScanKey, tree: ScannedTree) -> NumberedScan {
        let (tree, number) = (Arc::new(tree), next_number());
        let numbered = NumberedScan { tree: Arc::clone(&tree), number: Some(number) };
        let mut scans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scans.retain(|kept| kept.key.structure == key.structure);
        scans.push(KeptScan { terms, key, number, tree });
        let are_too_many = |scans: &[KeptScan]| {
            let files: usize = scans.iter().map(|kept| kept.tree.len()).sum();
            scans.len() > SCANS_MAX || files > FILES_MAX
        };
        while are_too_many(&scans) {
            scans.remove(0);
        }
        numbered
    }
}

impl fmt::Debug for KeptScans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptScans").finish_non_exhaustive()
    }
}
