//! Ranks the chunks of an index by a question: words weighed by field (BM25F), then what a file is for,
//! names that the question spells out, how much others use what is declared.

mod commits;
mod declared;
mod explained;
mod fusion;
mod hits;
mod rough;
mod scoring;
mod signs;

use moss_sdk::RelPath;
use moss_sdk::code_search::CodeHit;

use self::commits::CommitScores;
use self::hits::FileScores;
use self::scoring::ChunkScores;
use crate::question::CodeQuestion;
use crate::ranked::{RankedIndex, RankedView};
use crate::vectors::Meaning;
use crate::weights::Weights;

/// What is searched, and for whom.
pub struct RankedSearch<'a> {
    /// Which texts may be seen: others change no score either.
    pub view: &'a RankedView,
    /// Which of those are wanted.
    pub wants: &'a dyn Fn(&RelPath) -> bool,
    /// What is not shown: a file and lines of it.
    pub leaves_out: Option<(&'a RelPath, (u32, u32))>,
    /// Most hits of all files together, the best of them.
    pub hits_max: usize,
    /// Most hits of one file.
    pub hits_of_file_max: usize,
    /// Whether it counts what commits say.
    pub uses_commits: bool,
    /// What counts how much.
    pub weights: &'a Weights,
}

/// Where a chunk is: the place of its segment among all, its number there.
pub(crate) type ChunkPlace = (usize, u32);

// === impl RankedIndex ===

impl RankedIndex {
    /// Finds what is most relevant to a question, the best first. What was put since the index was frozen last
    /// is not found.
    pub fn search(&self, question: &CodeQuestion, search: &RankedSearch<'_>) -> Vec<CodeHit> {
        self.search_with(question, search, None)
    }

    /// As [`RankedIndex::search`], fused by rank with what is near to the question.
    pub fn search_with(
        &self,
        question: &CodeQuestion,
        search: &RankedSearch<'_>,
        meaning: Option<Meaning<'_>>,
    ) -> Vec<CodeHit> {
        let hits_max = match meaning {
            Some(_) => search.hits_max.max(fusion::FUSED_MAX),
            None => search.hits_max,
        };
        let by_words = RankedSearch { hits_max, ..*search };
        let mut scores = ChunkScores::new(self, search.view);
        let groups = scores.heaviest(&question.groups);
        for group in &groups {
            scores.add(group, search.weights);
        }
        let named = scores.add_symbols(question, search.weights);
        let mut commits = CommitScores::new(self, search);
        if !question.is_symbol || named.is_empty() {
            groups.iter().for_each(|group| commits.add(group, search.weights));
        }
        let mut files = FileScores::new(self, question, &by_words);
        files.gather(&mut scores, &named, &commits);
        let near = meaning.map(|meaning| fusion::nearest(self, search, &files, meaning));
        let mut hits = files.hits(&named);
        if let Some(near) = near {
            hits = fusion::hits((self, question), search, hits, &near);
        }
        scores.explain(&groups, &mut hits);
        commits.explain(&groups, &mut hits);
        hits.into_iter().map(|(hit, _)| hit).collect()
    }
}

impl std::fmt::Debug for RankedSearch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RankedSearch").field("hits_max", &self.hits_max).finish_non_exhaustive()
    }
}
