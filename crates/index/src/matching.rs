//! Which documents of a segment meet a query.

use std::sync::Arc;

use crate::cache::BlockCache;
use crate::grams::Gram;
use crate::problem::IndexProblem;
use crate::query::GramNeed;
use crate::segment::{IndexSegment, LoadedBlock};

/// Reads the posting lists of one segment.
pub(crate) struct SegmentMatcher<'a> {
    pub(crate) segment: &'a IndexSegment,
    pub(crate) cache: &'a BlockCache,
}

/// The documents that meet a condition.
enum MeetingDocuments {
    Every,
    /// The numbers of these documents, ascending.
    Only(Vec<u32>),
}

// === impl SegmentMatcher ===

impl SegmentMatcher<'_> {
    /// Returns the numbers of the documents that meet a condition, ascending.
    pub(crate) fn documents(&self, need: &GramNeed) -> Result<Vec<u32>, IndexProblem> {
        match self.meeting(need)? {
            MeetingDocuments::Every => Ok((0..self.segment.documents).collect()),
            MeetingDocuments::Only(numbers) => Ok(numbers),
        }
    }

    fn meeting(&self, need: &GramNeed) -> Result<MeetingDocuments, IndexProblem> {
        Ok(match need {
            GramNeed::Anything => MeetingDocuments::Every,
            GramNeed::Nothing => MeetingDocuments::Only(Vec::new()),
            GramNeed::Has(gram) => MeetingDocuments::Only(self.with_gram(*gram)?),
            GramNeed::All(parts) => self.meeting_all(parts)?,
            GramNeed::Any(parts) => {
                let mut some = Vec::new();
                for part in parts {
                    match self.meeting(part)? {
                        MeetingDocuments::Every => return Ok(MeetingDocuments::Every),
                        MeetingDocuments::Only(numbers) => some.extend(numbers),
                    }
                }
                some.sort_unstable();
                some.dedup();
                MeetingDocuments::Only(some)
            }
        })
    }

    /// Begins with the trigram that the fewest documents have.
    fn meeting_all(&self, parts: &[GramNeed]) -> Result<MeetingDocuments, IndexProblem> {
        let none = MeetingDocuments::Only(Vec::new());
        let mut lists: Vec<(usize, Gram, Arc<LoadedBlock>)> = Vec::new();
        for part in parts {
            if let GramNeed::Has(gram) = part {
                let Some(block) = self.block(*gram)? else { return Ok(none) };
                let Some(size) = block.list(*gram).map(|list| list.bytes.len()) else {
                    return Ok(none);
                };
                lists.push((size, *gram, block));
            }
        }
        lists.sort_unstable_by_key(|(size, ..)| *size);
        let mut kept: Option<Vec<u32>> = None;
        for (_, gram, block) in &lists {
            let list = block.list(*gram).ok_or_else(|| self.segment.damaged_list())?;
            let documents = self.segment.documents;
            let read = match &mut kept {
                None => list.numbers(documents).map(|numbers| kept = Some(numbers)),
                Some(kept) => list.keep(kept, documents),
            };
            read.ok_or_else(|| self.segment.damaged_list())?;
            if kept.as_ref().is_some_and(Vec::is_empty) {
                return Ok(none);
            }
        }
        for part in parts.iter().filter(|part| !matches!(part, GramNeed::Has(_))) {
            let MeetingDocuments::Only(numbers) = self.meeting(part)? else { continue };
            match &mut kept {
                None => kept = Some(numbers),
                Some(kept) => kept.retain(|number| numbers.binary_search(number).is_ok()),
            }
        }
        Ok(kept.map_or(MeetingDocuments::Every, MeetingDocuments::Only))
    }

    fn with_gram(&self, gram: Gram) -> Result<Vec<u32>, IndexProblem> {
        let Some(block) = self.block(gram)? else { return Ok(Vec::new()) };
        let Some(list) = block.list(gram) else { return Ok(Vec::new()) };
        list.numbers(self.segment.documents).ok_or_else(|| self.segment.damaged_list())
    }

    fn block(&self, gram: Gram) -> Result<Option<Arc<LoadedBlock>>, IndexProblem> {
        let Some(number) = self.segment.block_of(gram) else { return Ok(None) };
        self.cache.block(self.segment, number).map(Some)
    }
}
