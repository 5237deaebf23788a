//! What editors hold and have not saved. It stands for the files on disk in reads and plans; who
//! holds it, and how it is changed, is not known here.

use std::sync::Arc;

use moss_sdk::RelPath;

/// The unsaved texts of a workspace's files.
pub trait Buffers: Sync {
    /// Returns the unsaved text of a file, by its real path; none where what is on disk holds.
    fn unsaved(&self, real: &RelPath) -> Option<Arc<str>>;

    /// Returns the real paths of all files with an unsaved text.
    fn unsaved_paths(&self) -> Vec<RelPath>;

    /// Whether an editor holds changes of a file that are not saved, known or not: then it is not
    /// written on disk.
    fn holds(&self, real: &RelPath) -> bool {
        self.unsaved(real).is_some()
    }
}

/// No editor holds anything.
#[derive(Debug, Clone, Copy)]
pub struct NoBuffers;

impl Buffers for NoBuffers {
    fn unsaved(&self, _: &RelPath) -> Option<Arc<str>> {
        None
    }

    fn unsaved_paths(&self) -> Vec<RelPath> {
        Vec::new()
    }
}
