//! Which numbers of a segment meet a query.

use std::sync::Arc;

use crate::cache::BlockCache;
use crate::core::LiveSegment;
use crate::grams::Gram;
use crate::numbers::SegmentNumbers;
use crate::postings::PostingList;
use crate::problem::IndexProblem;
use crate::query::{GramNeed, GramQuery};
use crate::segment::{IndexSegment, LoadedBlock};

/// Reads the posting lists of one segment.
pub(crate) struct SegmentMatcher<'a> {
    segment: &'a IndexSegment,
    cache: &'a BlockCache,
    /// Whose numbers they are, where the parts of a document may meet a condition together.
    joining: Option<&'a SegmentNumbers>,
}

/// The numbers that meet a condition.
enum MeetingNumbers {
    Every,
    /// The numbers that do, ascending.
    Only(Vec<u32>),
}

// === impl SegmentMatcher ===

impl<'a> SegmentMatcher<'a> {
    pub(crate) fn new(live: &'a LiveSegment, cache: &'a BlockCache, query: &GramQuery) -> Self {
        let is_joining = !query.is_within_lines && live.numbers.has_split();
        let joining = is_joining.then_some(&live.numbers);
        Self { segment: &live.segment, cache, joining }
    }

    /// Whether numbers that meet a condition are those of the very parts that do.
    pub(crate) fn knows_parts(&self) -> bool {
        self.joining.is_none()
    }

    /// Returns the numbers that meet a condition, ascending. Where parts meet it together, that is the first of them.
    pub(crate) fn numbers(&self, need: &GramNeed) -> Result<Vec<u32>, IndexProblem> {
        match self.meeting(need)? {
            MeetingNumbers::Every => Ok((0..self.segment.numbers).collect()),
            MeetingNumbers::Only(numbers) => Ok(numbers),
        }
    }

    fn meeting(&self, need: &GramNeed) -> Result<MeetingNumbers, IndexProblem> {
        Ok(match need {
            GramNeed::Anything => MeetingNumbers::Every,
            GramNeed::Nothing => MeetingNumbers::Only(Vec::new()),
            GramNeed::Has(gram) => MeetingNumbers::Only(self.with_gram(*gram)?),
            GramNeed::All(parts) => self.meeting_all(parts)?,
            GramNeed::Any(parts) => {
                let mut some = Vec::new();
                for part in parts {
                    match self.meeting(part)? {
                        MeetingNumbers::Every => return Ok(MeetingNumbers::Every),
                        MeetingNumbers::Only(numbers) => some.extend(numbers),
                    }
                }
                some.sort_unstable();
                some.dedup();
                MeetingNumbers::Only(some)
            }
        })
    }

    /// Begins with the trigram that is rarest.
    fn meeting_all(&self, parts: &[GramNeed]) -> Result<MeetingNumbers, IndexProblem> {
        let none = MeetingNumbers::Only(Vec::new());
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
            match &mut kept {
                None => kept = Some(self.listed(list)?),
                Some(kept) => self.keep(kept, list)?,
            }
            if kept.as_ref().is_some_and(Vec::is_empty) {
                return Ok(none);
            }
        }
        for part in parts.iter().filter(|part| !matches!(part, GramNeed::Has(_))) {
            let MeetingNumbers::Only(numbers) = self.meeting(part)? else { continue };
            match &mut kept {
                None => kept = Some(numbers),
                Some(kept) => kept.retain(|number| numbers.binary_search(number).is_ok()),
            }
        }
        Ok(kept.map_or(MeetingNumbers::Every, MeetingNumbers::Only))
    }

    fn with_gram(&self, gram: Gram) -> Result<Vec<u32>, IndexProblem> {
        let Some(block) = self.block(gram)? else { return Ok(Vec::new()) };
        let Some(list) = block.list(gram) else { return Ok(Vec::new()) };
        self.listed(list)
    }

    /// Returns the numbers of a list, ascending.
    fn listed(&self, list: PostingList<'_>) -> Result<Vec<u32>, IndexProblem> {
        let numbers = list.numbers(self.segment.numbers);
        let numbers = numbers.ok_or_else(|| self.segment.damaged_list())?;
        Ok(match self.joining {
            None => numbers,
            Some(joining) => joining.documents_of(numbers).map(|document| document.first).collect(),
        })
    }

    /// Keeps those of ascending numbers that are in a list.
    fn keep(&self, kept: &mut Vec<u32>, list: PostingList<'_>) -> Result<(), IndexProblem> {
        if self.joining.is_some() {
            let listed = self.listed(list)?;
            kept.retain(|number| listed.binary_search(number).is_ok());
            return Ok(());
        }
        let read = list.keep(kept, self.segment.numbers);
        read.ok_or_else(|| self.segment.damaged_list())
    }

    fn block(&self, gram: Gram) -> Result<Option<Arc<LoadedBlock>>, IndexProblem> {
        let Some(number) = self.segment.block_of(gram) else { return Ok(None) };
        self.cache.block(self.segment, number).map(Some)
    }
}
