//! A scan that is put together from what is known, in path order.

use moss_sdk::RelPath;
use moss_sdk::file::SkippedTexts;
use moss_sdk::ranking::{PathRank, RANKS};

use super::{ScannedDirectory, ScannedFile, ScannedTree};
use crate::handle::Identity;

/// A scan in the making.
#[derive(Default)]
pub(crate) struct TreeDraft {
    directories: Vec<Option<ScannedDirectory>>,
    ranked: [Vec<ScannedFile>; RANKS],
    pub(crate) skipped: SkippedTexts,
    pub(crate) truncated: bool,
}

// === impl TreeDraft ===

impl TreeDraft {
    /// Adds a directory by its path as the caller named it and after all links; returns its number.
    pub(crate) fn add_directory(
        &mut self,
        (shown, real): (RelPath, RelPath),
        identity: Identity,
    ) -> u32 {
        let number = u32::try_from(self.directories.len()).expect("the entries are bounded");
        self.directories.push(Some(ScannedDirectory::without_entries(shown, real, identity)));
        number
    }

    /// Adds a file that may be read to a directory.
    pub(crate) fn add_file(&mut self, directory: u32, name: &str, rank: PathRank) {
        if let Some(holder) = &mut self.directories[directory as usize] {
            let entry = holder.push_file(name, rank);
            self.ranked[rank as usize].push(ScannedFile { directory, entry });
        }
    }

    pub(crate) fn finish(self) -> ScannedTree {
        let Self { directories, ranked, skipped, truncated } = self;
        ScannedTree { directories, files: ranked.concat(), skipped, truncated }
    }
}
