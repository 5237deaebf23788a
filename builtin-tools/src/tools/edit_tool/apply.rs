//! Applying blocks to a text, one after the other. Text in, values out.

use moss_matching::lines::{LineIndex, LineSpan, has_gutter};
use moss_matching::{Located, Miss, Occurrence, locate, splices};
use moss_sdk::edit::{Drift, MatchLevel, Splice, splice};
use similar::DiffOp;

use crate::blocks::{EditBlock, Split, is_separator};
use crate::line_ops::{line_ops, lines_of};

/// Most lines of one block that may be the separator.
const READINGS_MAX: usize = 16;

/// What blocks made of a text.
#[derive(Debug)]
pub(super) struct AppliedBlocks {
    pub(super) text: String,
    pub(super) blocks: Vec<AppliedBlock>,
    /// Lines that were not as a SEARCH part claimed, numbered as in the text before all blocks.
    pub(super) drift: Vec<Drift>,
    /// What the only block replaced.
    only: Option<Vec<Splice>>,
}

/// What one block did.
#[derive(Debug)]
pub(super) struct AppliedBlock {
    /// How its SEARCH part was found; none where it was empty.
    pub(super) level: Option<MatchLevel>,
    pub(super) before: Option<LineSpan>,
    pub(super) after: Option<LineSpan>,
}

/// The first block that cannot be applied.
#[derive(Debug)]
pub(super) struct BlockMiss {
    /// Which one, from 0.
    pub(super) index: usize,
    /// How many there are.
    pub(super) count: usize,
    /// The line on which it starts.
    pub(super) line: usize,
    /// What was searched for.
    pub(super) search: String,
    /// The text as the blocks before left it.
    pub(super) text: String,
    /// Why; none where the block can be read in several ways.
    pub(super) miss: Option<Miss>,
}

/// How a block is read.
enum BlockReading {
    /// It replaces the whole text.
    Whole(String),
    /// It has a location.
    At(Located),
}

/// Applies blocks in sequence: each to what the one before left.
pub(super) fn apply(text: &str, blocks: &[EditBlock<'_>]) -> Result<AppliedBlocks, BlockMiss> {
    let mut applied =
        AppliedBlocks { text: text.to_owned(), blocks: Vec::new(), drift: Vec::new(), only: None };
    for (index, block) in blocks.iter().enumerate() {
        let miss = |search, miss, text: &str| BlockMiss {
            index,
            count: blocks.len(),
            line: block.line,
            search,
            text: text.to_owned(),
            miss,
        };
        let reading = read(&applied.text, block);
        let reading = reading.map_err(|(search, why)| miss(search, why, &applied.text))?;
        match reading {
            BlockReading::Whole(new) => {
                let all = 0..applied.text.len();
                let splices = splices(&applied.text, all, &new);
                if splices.is_empty() {
                    return Err(miss(String::new(), Some(Miss::Applied(1)), &applied.text));
                }
                let before = LineSpan::of(1, LineIndex::new(&applied.text).count());
                let after = LineSpan::of(1, LineIndex::new(&new).count());
                applied.blocks.push(AppliedBlock { level: None, before, after });
                applied.splice(splices);
            }
            BlockReading::At(located) => {
                let spot = located.places.first();
                let (before, after) = spot.map_or((None, None), |spot| (spot.before, spot.after));
                let level = Some(located.level);
                applied.blocks.push(AppliedBlock { level, before, after });
                let drift = numbered_as_in(text, &applied.text, located.drift);
                applied.drift.extend(drift);
                applied.splice(located.splices);
            }
        }
    }
    applied.drift.sort_by_key(|drift| drift.line);
    Ok(applied)
}

/// Returns what leads from a text to what blocks made of it.
pub(super) fn splices_between(text: &str, applied: &AppliedBlocks) -> Vec<Splice> {
    if let Some(splices) = &applied.only {
        return splices.clone();
    }
    let (old, new): (Vec<&str>, Vec<&str>) =
        (text.split_inclusive('\n').collect(), applied.text.split_inclusive('\n').collect());
    let mut at = 0;
    let mut result = Vec::new();
    for op in line_ops(&old, &new) {
        let start = at;
        at += old[op.old_range()].iter().map(|line| line.len()).sum::<usize>();
        if !matches!(op, DiffOp::Equal { .. }) {
            result.extend(splices(text, start..at, &new[op.new_range()].concat()));
        }
    }
    result
}

/// Decides how a block is meant. Where several lines may be the separator, the reading holds whose
/// search is in the text as it is, and of several such that with the longest search; or else the
/// only one that finds a location at all. A reading that a longer one with a slip explains as well
/// does not hold.
fn read(text: &str, block: &EditBlock<'_>) -> Result<BlockReading, (String, Option<Miss>)> {
    let count = block.splits_count();
    if count > READINGS_MAX {
        return Err((String::new(), None));
    }
    let mut loose: Vec<BlockReading> = Vec::new();
    let mut missed = None;
    for Split { search, replace } in block.splits() {
        if !has_gutter(&search) && has_gutter(&replace) {
            return Err((search, Some(Miss::Numbers)));
        }
        if search.is_empty() {
            if count == 1 || text.trim().is_empty() {
                return Ok(BlockReading::Whole(replace));
            }
            continue;
        }
        match locate(text, &search, &replace, Occurrence::OnlyLines) {
            Ok(located) if count > 1 && !is_whole(text, &located, &replace) => {}
            Ok(located) if located.level <= MatchLevel::LineTrimmed => {
                return Ok(BlockReading::At(located));
            }
            Ok(located) => loose.push(BlockReading::At(located)),
            Err(several @ Miss::Several { level, .. }) if level <= MatchLevel::LineTrimmed => {
                return Err((search, Some(several)));
            }
            Err(applied @ Miss::Applied(_)) => return Err((search, Some(applied))),
            Err(miss) => missed = Some((search, Some(miss))),
        }
    }
    match (loose.pop(), missed) {
        (Some(_), _) if !loose.is_empty() => Err((String::new(), None)),
        (Some(reading), _) => Ok(reading),
        (None, missed) => Err(missed.unwrap_or((String::new(), None))),
    }
}

/// Whether neither the replacement nor what follows in the text continues with a line that may be
/// the separator: then the search is longer, and has a slip.
fn is_whole(text: &str, located: &Located, replace: &str) -> bool {
    let last = located.places.last().and_then(|spot| spot.before).map_or(0, |span| span.end_line);
    let next = text.split('\n').nth(last).unwrap_or_default();
    !is_separator(next) && !replace.lines().next().is_some_and(is_separator)
}

/// Numbers lines of a later text as they are numbered in the first one. A line that a block wrote
/// keeps its number: there is no other.
fn numbered_as_in(first: &str, text: &str, drift: Vec<Drift>) -> Vec<Drift> {
    if drift.is_empty() || first == text {
        return drift;
    }
    let ops = line_ops(&lines_of(first), &lines_of(text));
    let number = |line: u64| {
        let at = usize::try_from(line).unwrap_or(usize::MAX) - 1;
        let found = ops.iter().find_map(|op| match op {
            DiffOp::Equal { old_index, new_index, len }
                if (*new_index..new_index + len).contains(&at) =>
            {
                Some(at - new_index + old_index + 1)
            }
            _ => None,
        });
        found.map_or(line, |line| line as u64)
    };
    drift.into_iter().map(|drift| Drift { line: number(drift.line), ..drift }).collect()
}

// === impl AppliedBlocks ===

impl AppliedBlocks {
    fn splice(&mut self, splices: Vec<Splice>) {
        // The chain gives splices that fit the text that it was given.
        if let Ok(text) = splice(&self.text, &splices) {
            self.text = text;
        }
        self.only = (self.blocks.len() == 1).then_some(splices);
    }
}
