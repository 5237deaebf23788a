//! Which texts are known as they are on the disk.

use moss_sdk::RelPath;
use moss_workspace::FileMark;

use super::{RankedSources, RankedTexts};

// === impl RankedTexts ===

impl RankedTexts {
    /// The files whose texts are known as they are on the disk, by what the tree knows now, and whether those are
    /// all. None where that is not known.
    pub(crate) fn saved(
        &self,
        sources: RankedSources<'_>,
    ) -> Option<(Vec<(RelPath, FileMark)>, bool)> {
        if !self.follow(sources) {
            return None;
        }
        let work = self.lock();
        let saved = work.known.iter().filter(|(_, known)| known.unsaved.is_none());
        let saved = saved.filter_map(|(path, known)| Some((path.clone(), known.mark?)));
        Some((saved.collect(), work.unread() == 0))
    }

    /// Which of these files are among them.
    pub(crate) fn saved_among(
        &self,
        sources: RankedSources<'_>,
        paths: &[RelPath],
    ) -> Option<Vec<RelPath>> {
        if !self.follow(sources) {
            return None;
        }
        let work = self.lock();
        let is_saved = |path: &&RelPath| {
            work.known
                .get(*path)
                .is_some_and(|known| known.unsaved.is_none() && known.mark.is_some())
        };
        Some(paths.iter().filter(is_saved).cloned().collect())
    }
}
