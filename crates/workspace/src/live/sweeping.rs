//! Looking at everything again, in steps that keep nobody waiting for long, and having changes reported again.

use std::time::Duration;

use super::entry::DirectoryNumber;
use super::sighted::TreeLook;
use super::store::ROOT;
use super::{Knowledge, LiveTree};
use crate::error::Error;

/// A sweep looks at directories of about so many entries at a time; others wait that long.
const STEP_ENTRIES: usize = 1 << 10;
/// Between two steps those have their turn who wait.
const STEP_PAUSE: Duration = Duration::from_millis(2);

/// Up to where a sweep has come; at first to nothing.
#[derive(Debug, Clone, Copy)]
pub struct SweepPosition(DirectoryNumber);

impl Default for SweepPosition {
    fn default() -> Self {
        Self(ROOT)
    }
}

// === impl LiveTree ===

impl LiveTree {
    /// Looks at everything again: finds what no event reports, such as writes through a mapping. Where there are
    /// events it does so in steps, between which others look at the tree.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    pub fn sweep(&self, cancelled: &dyn Fn() -> bool) -> Result<(), Error> {
        self.sweep_from(&mut SweepPosition::default(), cancelled)
    }

    /// As [`LiveTree::sweep`], from a position on. After a cancellation that is where the next sweep may resume: what
    /// is new since then was looked at when it was reported.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    pub fn sweep_from(
        &self,
        position: &mut SweepPosition,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let mut next = Some(position.0);
        while let Some(first) = next {
            position.0 = first;
            if cancelled() {
                return Err(Error::Cancelled);
            }
            let mut knowledge = self.write();
            let Knowledge::Known(tree) = &mut *knowledge else { return Ok(()) };
            if tree.events.is_none() {
                return self.refreshed(knowledge, cancelled).map(drop);
            }
            // Else many directories that are gone would be looked for, each by itself.
            tree.take_events(&self.workspace);
            next = tree.doubt_some(first, STEP_ENTRIES);
            let settled = tree.settle_doubts(&mut TreeLook::new(&self.workspace, cancelled));
            drop(self.settled(knowledge, settled)?);
            if next.is_some() {
                std::thread::sleep(STEP_PAUSE);
            }
        }
        Ok(())
    }

    /// Has changes reported again where they no longer are: what the system lacked may be there by now. Then
    /// everything is looked at.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    pub fn watch_again(&self, cancelled: &dyn Fn() -> bool) -> Result<(), Error> {
        let mut knowledge = self.write();
        let Knowledge::Known(tree) = &mut *knowledge else { return Ok(()) };
        if tree.events.is_some() || !self.options.with_events {
            return Ok(());
        }
        tree.watch_anew(&self.workspace);
        if tree.events.is_none() {
            return Ok(());
        }
        self.refreshed(knowledge, cancelled).map(drop)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests lay out their own files")]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::live::LiveOptions;
    use crate::options::WorkspaceOptions;
    use crate::root::Workspace;

    #[test]
    fn others_look_at_the_tree_between_the_steps_of_a_sweep() {
        let temp = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        for directory in 0..5 {
            let directory = temp.path().join(directory.to_string());
            fs::create_dir(&directory).unwrap();
            for file in 0..STEP_ENTRIES / 2 {
                fs::write(directory.join(file.to_string()), "").unwrap();
            }
        }
        let workspace = Workspace::open(temp.path(), WorkspaceOptions::default()).unwrap();
        let tree = LiveTree::new(Arc::new(workspace), LiveOptions::default());
        tree.build(&|| false);
        let (free, all) = (Cell::new(0), Cell::new(0));
        let looked = || {
            free.set(free.get() + u32::from(tree.knowledge.try_write().is_ok()));
            all.set(all.get() + 1);
            false
        };
        tree.sweep(&looked).unwrap();
        // Before each of the steps, and not while one of the six directories is looked at.
        assert_eq!((free.get(), all.get() - free.get()), (3, 6));
    }
}
