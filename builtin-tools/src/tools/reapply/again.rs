//! Making a change of one text again on what the text is today: its hunks by the match chain, or
//! else all of it by a three-way merge of lines, which has the last word where it has one. Pure;
//! nothing is left half done.

use moss_matching::lines::LineSpan;
use moss_matching::with_plain_line_ends;
use moss_merge::{LineMerge, merge_lines};
use moss_sdk::edit::{Matched, Splice, splice};

use super::ReapplyMethod;
use super::hunk_match::{HunkMatch, PLACES_SHOWN_MAX, search_all};
use super::hunks::{Hunk, hunks, splices};

/// Changes with more hunks in one file are merged at once.
const HUNKS_MAX: usize = 200;
/// Most hunks that an error lists.
const HUNKS_SHOWN_MAX: usize = 10;

/// A change that can be made again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Again {
    pub(super) how: ReapplyMethod,
    /// What it replaces today.
    pub(super) splices: Vec<Splice>,
    /// How its locations were found, where they were searched for.
    pub(super) matched: Option<Matched>,
    /// Hunks that are made.
    pub(super) made: usize,
    /// Hunks that were there already.
    pub(super) there: usize,
}

/// Makes the change from `before` to `after` again on `today`; says hunk by hunk why not, where
/// that cannot be. What is cancelled ends soon, with any result.
pub(super) fn again(
    before: &str,
    after: &str,
    today: &str,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Again, String> {
    let (before, after) = (with_plain_line_ends(before), with_plain_line_ends(after));
    let hunks = hunks(&before, &after);
    if hunks.is_empty() {
        return Err("only its line ends or its encoding were changed, not its lines".to_owned());
    }
    let is_searched = hunks.len() <= HUNKS_MAX;
    let searched = if is_searched { search_all(&hunks, today, is_cancelled) } else { Vec::new() };
    let found = by_chain(&searched, today);
    let there = searched.iter().filter(|found| matches!(found, HunkMatch::There)).count();
    let counts = (hunks.len() - there, there);
    match (found, merged(&before, &after, today, counts, is_cancelled)) {
        // The history knows more of the file than lines that are searched for.
        (Some(found), Ok(merged)) if !found.is_as(&merged, today) => Ok(merged),
        (Some(found), _) => Ok(found),
        (None, Ok(merged)) => Ok(merged),
        (None, Err(clash)) => Err(refusal(&hunks, &searched, &clash)),
    }
}

/// Into how many hunks the change from one text to another falls.
pub(super) fn hunk_count(before: &str, after: &str) -> usize {
    hunks(&with_plain_line_ends(before), &with_plain_line_ends(after)).len()
}

/// Puts what was found together; none where something was not, or two hunks are at one location.
fn by_chain(searched: &[HunkMatch], today: &str) -> Option<Again> {
    let mut splices = Vec::new();
    let mut drift = Vec::new();
    let mut level = None;
    let (mut made, mut there) = (0, 0);
    for found in searched {
        match found {
            HunkMatch::At { level: found, splices: its, drift: its_drift } => {
                made += 1;
                level = level.max(Some(*found));
                splices.extend(its.iter().cloned());
                drift.extend(its_drift.iter().cloned());
            }
            HunkMatch::There => there += 1,
            HunkMatch::Not(_) => return None,
        }
    }
    splices.sort_by_key(|splice| splice.range.start);
    drift.sort_by_key(|drift| drift.line);
    let new = splice(today, &splices).ok()?;
    match level {
        None if searched.is_empty() => None,
        Some(level) if new != today => {
            let matched = Some(Matched { level, drift });
            Some(Again { how: ReapplyMethod::Matched, splices, matched, made, there })
        }
        _ => Some(Again::there(searched.len())),
    }
}

/// Merges the lines of the whole text; the lines of today that are in the way, where there are.
fn merged(
    before: &str,
    after: &str,
    today: &str,
    (made, there): (usize, usize),
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Again, String> {
    let plain = with_plain_line_ends(today);
    let merged = merge_lines(before, &plain, after, is_cancelled);
    let new = match merged.map_err(|_| "a location that was not searched for".to_owned())? {
        LineMerge::Clean(new) => new,
        LineMerge::Conflict(conflict) => {
            let places = conflict.ours.iter().take(PLACES_SHOWN_MAX).map(|region| {
                let span = LineSpan::of(region.start + 1, region.len().max(1));
                span.map(lines).unwrap_or_default()
            });
            let places = places.collect::<Vec<_>>().join(", ");
            let more = if conflict.ours.len() > PLACES_SHOWN_MAX { " and more" } else { "" };
            let rough = if conflict.is_rough { ", compared only roughly" } else { "" };
            return Err(format!("{places}{more} of today{rough}"));
        }
    };
    if new == *plain {
        return Ok(Again::there(made + there));
    }
    let splices = splices(today, &plain, &new);
    Ok(Again { how: ReapplyMethod::Merged, splices, matched: None, made, there })
}

/// Reports hunk by hunk why a change cannot be made again, by the lines that the text had then.
fn refusal(hunks: &[Hunk], searched: &[HunkMatch], clash: &str) -> String {
    let count = hunks.len();
    let mut told: Vec<String> = hunks
        .iter()
        .zip(searched)
        .enumerate()
        .filter_map(|(index, (hunk, found))| match found {
            HunkMatch::Not(why) => {
                Some(format!("hunk {} of {count} ({}): {why}", index + 1, hunk.place()))
            }
            HunkMatch::At { .. } | HunkMatch::There => None,
        })
        .collect();
    let more = told.len().saturating_sub(HUNKS_SHOWN_MAX);
    told.truncate(HUNKS_SHOWN_MAX);
    match (searched.len(), told.len()) {
        (0, _) => told.push(format!("{count} hunks are too many to be searched for one by one")),
        (_, 0) => told.push("several hunks belong at the same location".to_owned()),
        (_, _) if more > 0 => told.push(format!("{more} more hunks")),
        (_, _) => {}
    }
    format!("{}; merging the whole file is in conflict at {clash}", told.join("; "))
}

// === impl Again ===

impl Again {
    /// All of it is there already.
    pub(super) fn there(hunks: usize) -> Self {
        Self {
            how: ReapplyMethod::AlreadyThere,
            splices: Vec::new(),
            matched: None,
            made: 0,
            there: hunks,
        }
    }

    /// Whether both come to the same text.
    fn is_as(&self, other: &Self, today: &str) -> bool {
        let result = |again: &Self| splice(today, &again.splices).ok();
        result(self) == result(other)
    }
}

// === impl Hunk ===

impl Hunk {
    /// Names the lines that it was about.
    fn place(&self) -> String {
        match self.then {
            Some(span) => format!("{} then", lines(span)),
            None => "the empty file then".to_owned(),
        }
    }
}

fn lines(span: LineSpan) -> String {
    let LineSpan { start_line, end_line } = span;
    if start_line == end_line {
        format!("line {start_line}")
    } else {
        format!("lines {start_line}-{end_line}")
    }
}
