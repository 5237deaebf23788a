//! Which files the caller is busy with: those that its editor shows, that its session has read, and that
//! changed last, through moss or otherwise. Of files that fit equally well they come first.

use std::collections::HashMap;

use moss_sdk::RelPath;
use moss_sdk::context::Context;
use moss_sdk::history::PastQuery;
use moss_sdk::tree_listing::{EntryNumber, TreeListing, TreeNames};

/// Most files that the session read and that are looked at.
const READ_MAX: usize = 100;
/// Most changes that are looked at.
const CHANGES_MAX: usize = 30;

/// The order of files that the caller is busy with.
#[derive(Debug, Default)]
pub(super) struct FamiliarFiles(HashMap<RelPath, u32>);

// === impl FamiliarFiles ===

impl FamiliarFiles {
    /// Looks: what the editor shows comes first, then what was read, then what was changed through moss, then what
    /// changed otherwise, each the last one first.
    pub(super) async fn of(cx: &Context, listing: &TreeListing) -> Self {
        let mut files = Self::default();
        if let Some(editor) = cx.editors().state() {
            let focus = editor.focus.map(|focus| focus.path);
            files.extend(focus.into_iter().chain(editor.open.into_iter().map(|open| open.path)));
        }
        files.extend(cx.recently_read(READ_MAX));
        let query = PastQuery::newest(CHANGES_MAX);
        // A history that cannot be read is no reason to find nothing.
        let past = cx.past(query).await.unwrap_or_default();
        let changed = past.changes.into_iter().flat_map(|change| change.files);
        files.extend(changed.map(|file| file.path));
        files.extend(listing.changed_last());
        files
    }

    fn extend(&mut self, paths: impl IntoIterator<Item = RelPath>) {
        for path in paths {
            let place = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            self.0.entry(path).or_insert(place);
        }
    }

    /// Where files of a listing come among them; all others come after those.
    pub(super) fn places(&self, names: &TreeNames) -> HashMap<EntryNumber, u32> {
        let known = self.0.iter().map(|(path, place)| (names.find(path), *place));
        known.filter_map(|(number, place)| Some((number?, place))).collect()
    }
}
