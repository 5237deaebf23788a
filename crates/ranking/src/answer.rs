//! Puts what a tool asks to an index.

use moss_sdk::code_search::{CodeHit, CodeSearch, CodeSearchGoal};

use crate::question::CodeQuestion;
use crate::ranked::{RankedIndex, RankedView};
use crate::search::RankedSearch;
use crate::vectors::Meaning;
use crate::weights::Weights;

// === impl RankedIndex ===

impl RankedIndex {
    /// Finds what a tool asks for, the best first, among the texts that may be seen.
    pub fn answer(
        &self,
        search: &CodeSearch,
        view: &RankedView,
        uses_commits: bool,
    ) -> Vec<CodeHit> {
        self.answer_with(search, view, uses_commits, None)
    }

    /// As [`RankedIndex::answer`]; of a question in words also what is near to it, as a model says.
    pub fn answer_with(
        &self,
        search: &CodeSearch,
        view: &RankedView,
        uses_commits: bool,
        meaning: Option<Meaning<'_>>,
    ) -> Vec<CodeHit> {
        let (question, left_out) = match &search.goal {
            CodeSearchGoal::Question(text) => (CodeQuestion::parse(text), None),
            CodeSearchGoal::Declared { names, near } => {
                return self.declarations(names, near.as_ref(), search, view);
            }
            CodeSearchGoal::RelatedTo { path, line, text } => {
                match CodeQuestion::related(path, text, *line) {
                    Some((question, lines)) => (question, Some((path, lines))),
                    None => return Vec::new(),
                }
            }
        };
        let ranked = RankedSearch {
            view,
            wants: &*search.wants,
            leaves_out: left_out,
            hits_max: search.hits_max,
            hits_of_file_max: search.hits_of_file_max,
            uses_commits: uses_commits && matches!(search.goal, CodeSearchGoal::Question(_)),
            weights: &Weights::default(),
        };
        let is_question = matches!(search.goal, CodeSearchGoal::Question(_));
        self.search_with(&question, &ranked, meaning.filter(|_| is_question))
    }
}
