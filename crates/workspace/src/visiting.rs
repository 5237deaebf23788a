//! Visiting texts: every text file beneath a directory, read by the descriptor of the directory
//! that holds it, on several threads and with the same result on any number of them.
//!
//! A scan ([`crate::scan`]) says which files there are and in which order. Threads take them a few
//! at a time in that order, and what they find is gathered in it: what lies past the end of a walk
//! is dropped.

mod gathering;
mod known;
mod parts;
mod plan;
mod reading;
mod steps;

use moss_sdk::RelPath;
use moss_sdk::context::TextVisitor;
use moss_sdk::file::{VisitOptions, Visited};

use self::gathering::TextGathering;
pub use self::known::{KnownParts, KnownText, KnownTexts};
use self::plan::ReadingPlan;
use crate::error::Error;
use crate::gate::VisitGate;
use crate::root::Workspace;
use crate::scan::{ScanTerms, ScannedTree};

// === impl Workspace ===

impl Workspace {
    /// Has scanners of a visitor look at the text of every regular file beneath a directory, in the
    /// order of [`ranking`](moss_sdk::ranking) and with the omissions of [`Workspace::list`]. A
    /// file is read only where the gate says so, up to
    /// [`Limits::search_bytes_max`](crate::FileLimits), and decoded as by [`Workspace::read`]. Needs
    /// memory for the names of all files, and on each thread for one file.
    ///
    /// # Errors
    ///
    /// As [`Workspace::list`].
    pub fn visit_texts(
        &self,
        directory: &RelPath,
        options: VisitOptions,
        gate: VisitGate<'_>,
        visitor: &mut dyn TextVisitor,
    ) -> Result<Visited, Error> {
        let entries_max = options.entries_max;
        let terms = ScanTerms { gate, wants: &|path| visitor.wants(path), entries_max };
        let tree = self.scan(directory, terms)?;
        self.visit_scanned(&tree, KnownTexts::default(), options, gate, visitor)
    }

    /// Has scanners of a visitor look at the texts of a scan. What is known of some of its first files
    /// is taken as read.
    pub(crate) fn visit_scanned(
        &self,
        tree: &ScannedTree,
        known: KnownTexts,
        options: VisitOptions,
        gate: VisitGate<'_>,
        visitor: &mut dyn TextVisitor,
    ) -> Result<Visited, Error> {
        let plan = ReadingPlan::new(tree, known, gate.buffers);
        TextGathering::new(self, gate, (tree, plan), options, visitor).run()
    }
}
