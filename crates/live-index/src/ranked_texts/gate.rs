//! What one caller may see of what is known, and may search by.

use std::sync::{Arc, RwLock};

use moss_ranking::{MeaningVector, VectorTable};
use moss_sdk::RelPath;
use moss_sdk::code_search::{CodeSearch, FileChoice};
use moss_workspace::GateKey;

/// What one caller may see.
pub struct RankedGate<'a> {
    /// Names what it decides by, where that can be named.
    pub name: Option<GateKey>,
    /// Whether it may see a text.
    pub sees: &'a mut dyn FnMut(&RelPath) -> bool,
    /// Which of those that it sees it is shown: asked of texts with hits alone, each time.
    pub shows: Option<FileChoice>,
    /// Whether it may know what git says of commits.
    pub sees_commits: bool,
    /// The vectors that are searched, too.
    pub near: Option<NearVectors<'a>>,
}

/// The vectors of a workspace, and that of a question.
#[derive(Clone, Copy)]
pub struct NearVectors<'a> {
    /// That of the question.
    pub question: &'a MeaningVector,
    /// Those of the chunks.
    pub vectors: &'a RwLock<VectorTable>,
}

// === impl RankedGate ===

impl RankedGate<'_> {
    /// A search for no more than what is shown.
    pub(super) fn shown(&self, search: &CodeSearch) -> CodeSearch {
        let Some(shows) = self.shows.clone() else { return search.clone() };
        let wants = Arc::clone(&search.wants);
        CodeSearch { wants: Arc::new(move |path| wants(path) && shows(path)), ..search.clone() }
    }
}
