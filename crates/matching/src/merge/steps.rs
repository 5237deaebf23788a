//! What an edit does to the lines that were searched for.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::MergeSides;
use crate::likeness::dice;

/// Most pairs of lines that are compared to find out which new line replaces which.
const PAIRS_MAX: usize = 2_500;
/// Most bytes that are compared for that.
const PAIRED_BYTES_MAX: usize = 2 << 20;
/// Most pairs of lines over which a shortest difference is sought.
const DIFF_PAIRS_MAX: usize = 4_000_000;
/// Share of words in common from which on a line is taken for a changed form of another.
const SAME_LINE_MIN: f64 = 0.5;

/// What an edit does to lines, by their positions in the search and in the replacement.
#[derive(Debug, Clone, Copy)]
pub(super) enum LineOp {
    Pair(usize, usize),
    Delete(usize),
    Insert(usize),
}

/// What the edit does to the lines of the search. Lines that differ in white space alone are the
/// same line.
pub(super) fn steps(sides: &MergeSides<'_>) -> Vec<LineOp> {
    let trimmed = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| line.trim().to_owned()).collect()
    };
    let (search, replace) = (trimmed(sides.search), trimmed(sides.replace));
    let head = search.iter().zip(&replace).take_while(|(a, b)| a == b).count();
    let tail_max = search.len().min(replace.len()) - head;
    let tails = search.iter().rev().zip(replace.iter().rev());
    let tail = tails.take(tail_max).take_while(|(a, b)| a == b).count();
    let (old, new) = (head..search.len() - tail, head..replace.len() - tail);
    let mut steps: Vec<LineOp> = (0..head).map(|at| LineOp::Pair(at, at)).collect();
    if old.len() * new.len() > DIFF_PAIRS_MAX {
        replaced(&mut steps, sides, old.clone(), new.clone());
    } else {
        let ops =
            capture_diff_slices(Algorithm::Myers, &search[old.clone()], &replace[new.clone()]);
        for op in ops {
            let shift = |range: std::ops::Range<usize>, by| range.start + by..range.end + by;
            let (from, to) = (shift(op.old_range(), old.start), shift(op.new_range(), new.start));
            match op {
                DiffOp::Equal { .. } => {
                    steps.extend(from.zip(to).map(|(old, new)| LineOp::Pair(old, new)));
                }
                _ => replaced(&mut steps, sides, from, to),
            }
        }
    }
    steps.extend((0..tail).map(|at| LineOp::Pair(old.end + at, new.end + at)));
    steps
}

/// Pairs lines with those that replace them: by the words that they share, and one for one
/// where between two such pairs there are as many old lines as new ones.
fn replaced(
    steps: &mut Vec<LineOp>,
    sides: &MergeSides<'_>,
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
) {
    let mut done = (old.start, new.start);
    let alike = alike(&sides.search[old.clone()], &sides.replace[new.clone()]);
    let alike = alike.into_iter().map(|(a, b)| (old.start + a, new.start + b));
    for (a, b) in alike.map(Some).chain([None]).map(|p| p.unwrap_or((old.end, new.end))) {
        if a - done.0 == b - done.1 {
            steps.extend((done.0..a).zip(done.1..b).map(|(old, new)| LineOp::Pair(old, new)));
        } else {
            steps.extend((done.0..a).map(LineOp::Delete));
            steps.extend((done.1..b).map(LineOp::Insert));
        }
        if a < old.end && b < new.end {
            steps.push(LineOp::Pair(a, b));
        }
        done = (a + 1, b + 1);
    }
}

/// Finds the pairs of lines, both in order, that are most alike.
fn alike(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let cost = bytes(old) * new.len() + bytes(new) * old.len();
    let is_small = old.len() * new.len() <= PAIRS_MAX && cost <= PAIRED_BYTES_MAX;
    if !is_small || old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let likeness: Vec<Vec<f64>> =
        old.iter().map(|old| new.iter().map(|new| dice(old, new)).collect()).collect();
    let mut best = vec![vec![0.0_f64; new.len() + 1]; old.len() + 1];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            let skip = best[a + 1][b].max(best[a][b + 1]);
            let pair = likeness[a][b];
            let taken = if pair >= SAME_LINE_MIN { pair + best[a + 1][b + 1] } else { 0.0 };
            best[a][b] = skip.max(taken);
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut pairs = Vec::new();
    while a < old.len() && b < new.len() {
        let pair = likeness[a][b];
        if pair >= SAME_LINE_MIN && best[a][b] <= pair + best[a + 1][b + 1] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if best[a][b] <= best[a + 1][b] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}
