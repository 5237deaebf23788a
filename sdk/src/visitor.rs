//! Visitors of texts: what looks at the texts of a walk on its threads, and what gathers the findings.

use std::any::Any;
use std::ops::ControlFlow;

use crate::file::{TextPattern, VisitedText};
use crate::pace::ScanPace;
use crate::path::RelPath;

/// What a scanner found in one text, for the visitor that made the scanner: it has lost its type.
pub type TextFinding = Box<dyn Any + Send>;

/// Gathers what is found in texts on a walk: see `Files::visit_texts`.
pub trait TextVisitor: Any + Send + Sync {
    /// Whether to read a file. What is not wanted is not counted either.
    fn wants(&self, path: &RelPath) -> bool;

    /// Names which files are wanted: visitors with the same choice want the same files, so that a
    /// host need not ask about each of them again. None where that cannot be said.
    fn choice(&self) -> Option<String> {
        None
    }

    /// The regular expression of which a text must have a match to be of interest: texts that cannot
    /// have one need not be shown to a scanner, and count all the same. None where every text is of
    /// interest.
    fn pattern(&self) -> Option<TextPattern> {
        None
    }

    /// Makes what looks at texts on one thread.
    fn scanner(&self) -> Box<dyn TextScanner>;

    /// How many findings may wait to be gathered before no more texts are looked at: each takes memory.
    fn findings_max(&self) -> usize {
        128
    }

    /// Takes what was found in a file, one file after the other in the order of the walk; may end
    /// the walk.
    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()>;
}

/// Looks at texts on one of the threads of a walk.
pub trait TextScanner: Send {
    /// Looks at the text of a file that was wanted; none where there is nothing to gather. Files
    /// come in any order, and some whose findings nobody gathers.
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding>;

    /// As [`TextScanner::scan`], in steps: where the pace is stopped it ends, whatever it returns. What takes long of a
    /// text does so.
    fn scan_paced(&mut self, file: VisitedText<'_>, pace: &ScanPace<'_>) -> Option<TextFinding> {
        let _ = pace;
        self.scan(file)
    }

    /// Begins to look at a text that is so large that it is rather not held in memory whole. None where
    /// it has to be.
    fn parts(&mut self) -> Option<Box<dyn PartScanner + '_>> {
        None
    }
}

/// Looks at a large text part by part: each is some whole lines, and they come in their order.
pub trait PartScanner {
    /// Looks at the next part.
    fn scan(&mut self, part: &str) -> PartVerdict;

    /// As [`PartScanner::scan`], in steps, as [`TextScanner::scan_paced`].
    fn scan_paced(&mut self, part: &str, pace: &ScanPace<'_>) -> PartVerdict {
        let _ = pace;
        self.scan(part)
    }

    /// Returns what [`TextScanner::scan`] would for the whole text of a file.
    fn finish(self: Box<Self>, path: &RelPath) -> Option<TextFinding>;
}

/// What becomes of a text of which a part was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartVerdict {
    /// The next part is to come.
    More,
    /// The parts behind this one cannot change what was found.
    Settled,
    /// It is worth to be looked at whole.
    WantsWhole,
}
