//! Which files of a scan have to be read, and what is known of those between them.

use moss_sdk::file::Visited;

use super::known::{KnownParts, KnownText, KnownTexts};
use crate::buffers::Buffers;
use crate::scan::ScannedTree;

/// The files of a scan that have to be read.
pub(super) struct ReadingPlan {
    pub(super) reads: Vec<PlannedRead>,
    /// Those of their texts that are of interest in parts alone.
    pub(super) parts: Vec<KnownParts>,
    /// The files behind the last of them.
    pub(super) rest: KnownRun,
}

/// A file that has to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlannedRead {
    /// Its number in the scan.
    pub(super) file: usize,
    /// The files between the one that is read before it and this one.
    pub(super) before: KnownRun,
    /// Which of the texts that are of interest in parts alone it is, if it is one.
    pub(super) in_parts: Option<u32>,
}

/// Files that need not be read, one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KnownRun {
    /// Texts without anything of interest.
    texts: u32,
    binary: u32,
}

// === impl ReadingPlan ===

impl ReadingPlan {
    /// Makes a plan by what is known of the first files of a scan. What editors have not saved is
    /// looked at, whatever is known of the file.
    pub(super) fn new(tree: &ScannedTree, known: KnownTexts, buffers: &dyn Buffers) -> Self {
        let unsaved = match known.files.is_empty() {
            true => Vec::new(),
            false => buffers.unsaved_paths(),
        };
        let unsaved = tree.positions(&unsaved);
        let (reads, rest) = (Vec::new(), KnownRun::default());
        let mut plan = Self { reads, parts: known.parts, rest };
        let mut parts = (0..).take(plan.parts.len());
        for file in 0..tree.len() {
            let mut in_parts = None;
            match known.files.get(file) {
                Some(KnownText::Uninteresting) if !unsaved.contains(&file) => {
                    plan.rest.texts += 1;
                    continue;
                }
                Some(KnownText::Binary) if !unsaved.contains(&file) => {
                    plan.rest.binary += 1;
                    continue;
                }
                Some(KnownText::InParts) => in_parts = parts.next(),
                _ => {}
            }
            let before = std::mem::take(&mut plan.rest);
            plan.reads.push(PlannedRead { file, before, in_parts });
        }
        plan
    }
}

// === impl KnownRun ===

impl KnownRun {
    pub(super) fn count(self, visited: &mut Visited) {
        visited.files += u64::from(self.texts);
        visited.skipped.binary += u64::from(self.binary);
    }
}
