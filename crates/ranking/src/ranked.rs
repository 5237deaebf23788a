//! The index: texts as they were read last, in segments. Each change is put into it, and it is searched at
//! any time; what was put is found at once.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use moss_sdk::RelPath;
use moss_sdk::ranking::PathRank;

use crate::analysis::AnalyzedText;
use crate::commits::CommitSubjects;
use crate::segment::{RankedSegment, SegmentDraft};
use crate::weights::FIELDS;

/// A draft of so many chunks becomes a segment.
const DRAFT_CHUNKS_MAX: usize = 60_000;
/// Fewer segments are left as they are.
const SEGMENTS_WANTED: usize = 6;
/// A segment of which this part is no longer true is made anew: one in so many.
const DEAD_SHARE: usize = 3;
/// Most chunks of a segment that others are merged with.
const MERGED_CHUNKS_MAX: usize = 4_000_000;

/// Texts and the words of their chunks.
#[derive(Debug, Default)]
pub struct RankedIndex {
    pub(crate) segments: Vec<HeldSegment>,
    draft: SegmentDraft,
    draft_dead: Vec<u32>,
    places: HashMap<RelPath, TextPlace>,
    /// The number of the draft once it is a segment.
    next: u32,
    /// Those of which only a part is known.
    incomplete: HashSet<RelPath>,
    changes: u64,
    pub(crate) commits: Option<HeldCommits>,
}

/// What commits say, with where the files are that they changed.
#[derive(Debug)]
pub(crate) struct HeldCommits {
    pub(crate) subjects: Arc<CommitSubjects>,
    /// By the places of their files: the place of the segment, and the number of the text in it.
    pub(crate) texts: Vec<Option<(usize, u32)>>,
}

/// A segment and what of it is no longer true.
#[derive(Debug)]
pub(crate) struct HeldSegment {
    pub(crate) number: u32,
    pub(crate) segment: Arc<RankedSegment>,
    /// By the numbers of its texts.
    pub(crate) dead: Vec<bool>,
    pub(crate) dead_texts: usize,
    /// How long the fields of all its chunks are together.
    pub(crate) lengths: [u64; FIELDS],
}

/// Where a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TextPlace {
    segment: u32,
    text: u32,
}

/// Segments that are to become one.
#[derive(Debug)]
pub struct RankedMerge {
    sources: Vec<(u32, Arc<RankedSegment>, Vec<bool>)>,
}

/// The one segment that they became, and where each text is in it.
#[derive(Debug)]
pub struct MergedSegment {
    segment: RankedSegment,
    /// Where each text was, and its number now.
    moved: Vec<(TextPlace, u32)>,
    sources: Vec<u32>,
}

/// Which texts of an index somebody may see.
#[derive(Debug, Default, Clone)]
pub struct RankedView {
    /// By the numbers of segments; none where all of its texts may be seen.
    segments: HashMap<u32, Option<Arc<[bool]>>>,
}

/// How large an index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RankedSize {
    /// How many texts it has.
    pub texts: usize,
    /// Of how many only a part is known: they do not parse within bounds, or have more than is kept of one.
    pub incomplete: usize,
    /// How many chunks those have.
    pub chunks: usize,
    /// About how much memory it takes.
    pub memory_bytes: usize,
}

// === impl RankedIndex ===

impl RankedIndex {
    /// Takes a text in place of what it knew under the same path.
    pub fn put(&mut self, analyzed: &AnalyzedText) {
        self.remove(&analyzed.path);
        self.changes += 1;
        if analyzed.is_incomplete {
            self.incomplete.insert(analyzed.path.clone());
        }
        let text = self.draft.add(analyzed);
        let place = TextPlace { segment: self.next, text };
        self.places.insert(analyzed.path.clone(), place);
        if self.draft.chunks() >= DRAFT_CHUNKS_MAX {
            self.freeze();
        }
    }

    /// Forgets a text. Returns whether it knew it.
    pub fn remove(&mut self, path: &RelPath) -> bool {
        let Some(place) = self.places.remove(path) else { return false };
        self.incomplete.remove(path);
        self.changes += 1;
        if place.segment == self.next {
            self.draft_dead.push(place.text);
        } else if let Some(held) =
            self.segments.iter_mut().find(|held| held.number == place.segment)
        {
            held.kill(place.text);
        }
        true
    }

    /// Forgets all texts and commits. Numbers of segments are never used again: a view or a merge of before fits
    /// none of what comes.
    pub fn clear(&mut self) {
        let (next, changes) = (self.next, self.changes + 1);
        *self = Self { next, changes, ..Self::default() };
    }

    /// Whether it knows a text.
    pub fn has(&self, path: &RelPath) -> bool {
        self.places.contains_key(path)
    }

    /// How many texts it knows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// How many changes of texts it has seen. As long as this is the same, so is what it knows of them.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The paths of all texts, in no order.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.places.keys()
    }

    /// Makes what was put ready to be found.
    pub fn freeze(&mut self) {
        if self.draft.is_empty() {
            return;
        }
        let draft = std::mem::take(&mut self.draft);
        let mut held = HeldSegment::new(self.next, draft.finish());
        std::mem::take(&mut self.draft_dead).into_iter().for_each(|text| held.kill(text));
        self.segments.push(held);
        self.next += 1;
        self.place_commits();
    }

    /// Takes what commits say in place of what it knew of them. It only adds to what is found in texts.
    pub fn set_commits(&mut self, subjects: Option<Arc<CommitSubjects>>) {
        self.commits = subjects.map(|subjects| HeldCommits { subjects, texts: Vec::new() });
        self.place_commits();
    }

    /// Looks up where the files are that commits changed.
    fn place_commits(&mut self) {
        let Some(commits) = &mut self.commits else { return };
        let numbers = self.segments.iter().enumerate().map(|(at, held)| (held.number, at));
        let numbers: HashMap<u32, usize> = numbers.collect();
        let text = |path: &RelPath| {
            let place = self.places.get(path)?;
            Some((*numbers.get(&place.segment)?, place.text))
        };
        commits.texts = commits.subjects.paths.iter().map(text).collect();
    }

    /// Whether all that was put can be found.
    pub fn is_frozen(&self) -> bool {
        self.draft.is_empty()
    }

    /// Says which segments had better be one.
    pub fn plan_merge(&self) -> Option<RankedMerge> {
        let is_worn = |held: &&HeldSegment| {
            held.dead_texts > 0 && held.dead_texts * DEAD_SHARE >= held.dead.len()
        };
        let mut chosen: Vec<&HeldSegment> = self.segments.iter().filter(is_worn).collect();
        if self.segments.len() > SEGMENTS_WANTED {
            let mut by_size: Vec<&HeldSegment> = self.segments.iter().collect();
            by_size.sort_by_key(|held| held.segment.chunks.len());
            let wanted = self.segments.len() + 1 - SEGMENTS_WANTED.div_ceil(2);
            let mut chunks = 0;
            for held in by_size.into_iter().take(wanted) {
                chunks += held.segment.chunks.len();
                let is_new = chosen.iter().all(|known| known.number != held.number);
                if is_new && chunks <= MERGED_CHUNKS_MAX {
                    chosen.push(held);
                }
            }
        }
        let one = |held: &HeldSegment| (held.number, held.segment.clone(), held.dead.clone());
        let sources: Vec<_> = chosen.into_iter().map(one).collect();
        (!sources.is_empty()).then_some(RankedMerge { sources })
    }

    /// Puts a merged segment in place of those that it is made of.
    pub fn install(&mut self, merged: MergedSegment) {
        self.freeze();
        let mut held = HeldSegment::new(self.next, merged.segment);
        for (from, text) in merged.moved {
            let path = &held.segment.texts[text as usize].path;
            match self.places.get_mut(path) {
                Some(place) if *place == from => {
                    *place = TextPlace { segment: held.number, text };
                }
                _ => held.kill(text),
            }
        }
        self.segments.retain(|known| !merged.sources.contains(&known.number));
        if held.dead_texts < held.dead.len() {
            self.segments.push(held);
        }
        self.next += 1;
        self.place_commits();
    }

    /// Merges segments until none is better merged.
    pub fn settle(&mut self) {
        self.freeze();
        while let Some(merge) = self.plan_merge() {
            self.install(merge.run());
        }
    }

    /// Says which texts somebody may see, by their paths. What was said before of the same segments is
    /// not asked again.
    pub fn view(
        &self,
        before: &RankedView,
        admits: &mut dyn FnMut(&RelPath) -> bool,
    ) -> RankedView {
        let mut view = RankedView::default();
        for held in &self.segments {
            let known = before.segments.get(&held.number).cloned();
            let seen = known.unwrap_or_else(|| {
                let verdicts: Vec<bool> =
                    held.segment.texts.iter().map(|text| admits(&text.path)).collect();
                (!verdicts.iter().all(|verdict| *verdict)).then(|| verdicts.into())
            });
            view.segments.insert(held.number, seen);
        }
        view
    }

    /// How many texts may be seen and are wanted. What was put since the index was frozen last is not among them.
    pub fn count(&self, view: &RankedView, wants: &dyn Fn(&RelPath) -> bool) -> usize {
        let of = |held: &HeldSegment| {
            let seen = view.verdicts(held.number);
            let may_see = |at: usize| seen.is_none_or(|seen| seen.get(at) == Some(&true));
            let texts = held.segment.texts.iter().zip(&held.dead).enumerate();
            texts.filter(|(at, (text, dead))| !**dead && may_see(*at) && wants(&text.path)).count()
        };
        self.segments.iter().map(of).sum()
    }

    /// How large it is.
    pub fn size(&self) -> RankedSize {
        let segments =
            self.segments.iter().map(|held| held.segment.memory_bytes() + held.dead.len());
        let paths =
            self.places.keys().map(|path| path.as_str().len() + size_of::<TextPlace>() + 48);
        let commits = self.commits.as_ref().map_or(0, |held| held.subjects.memory_bytes());
        RankedSize {
            texts: self.places.len(),
            incomplete: self.incomplete.len(),
            chunks: self.segments.iter().map(|held| held.segment.chunks.len()).sum(),
            memory_bytes: segments.sum::<usize>() + paths.sum::<usize>() + commits,
        }
    }

    /// Of how many texts that may be seen and are wanted only a part is known. Vendored and generated ones, which are many,
    /// are not counted.
    pub fn count_incomplete(&self, view: &RankedView, wants: &dyn Fn(&RelPath) -> bool) -> usize {
        let may_see = |path: &RelPath| {
            self.places.get(path).is_some_and(|place| {
                let seen = view.verdicts(place.segment);
                seen.is_none_or(|seen| seen.get(place.text as usize) == Some(&true))
            })
        };
        let counts = |path: &&RelPath| {
            PathRank::of(path) != PathRank::Vendored && wants(path) && may_see(path)
        };
        self.incomplete.iter().filter(counts).count()
    }
}

// === impl HeldSegment ===

impl HeldSegment {
    fn new(number: u32, segment: RankedSegment) -> Self {
        let mut lengths = [0; FIELDS];
        for own in &segment.lengths {
            for (sum, length) in lengths.iter_mut().zip(own) {
                *sum += u64::from(*length);
            }
        }
        let dead = vec![false; segment.texts.len()];
        Self { number, segment: Arc::new(segment), dead, dead_texts: 0, lengths }
    }

    fn kill(&mut self, text: u32) {
        if let Some(dead) = self.dead.get_mut(text as usize)
            && !*dead
        {
            *dead = true;
            self.dead_texts += 1;
        }
    }
}

// === impl RankedMerge ===

impl RankedMerge {
    /// Makes one segment of them. Takes long where they are large.
    pub fn run(self) -> MergedSegment {
        let mut draft = SegmentDraft::default();
        let (mut moved, mut sources) = (Vec::new(), Vec::new());
        for (number, segment, dead) in &self.sources {
            sources.push(*number);
            let texts = draft.absorb(segment, &|text| !dead[text as usize]);
            let place = |(from, to)| (TextPlace { segment: *number, text: from }, to);
            moved.extend(texts.into_iter().map(place));
        }
        MergedSegment { segment: draft.finish(), moved, sources }
    }
}

// === impl RankedView ===

impl RankedView {
    /// Whether every text may be seen.
    pub(crate) fn verdicts(&self, segment: u32) -> Option<&[bool]> {
        match self.segments.get(&segment) {
            Some(verdicts) => verdicts.as_deref(),
            // Nobody asked about its texts: none of them is shown.
            None => Some(&[]),
        }
    }
}
