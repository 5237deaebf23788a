//! How good rankings are: NDCG@10 and how often the first is right, averaged over repositories, with
//! intervals of confidence.

use std::collections::BTreeSet;

/// How far a ranking is looked at.
pub(crate) const DEPTH: usize = 10;
/// How often questions are drawn anew.
const DRAWS: usize = 1_000;

/// The scores of one way to rank, by repository and question.
#[derive(Default, Clone)]
pub(crate) struct RankingScores {
    repositories: Vec<Vec<(f64, f64)>>,
}

/// What became of a ranking.
pub(crate) struct RankingFigures {
    pub(crate) ndcg: f64,
    /// Where it lies in 95 of 100 draws.
    pub(crate) interval: (f64, f64),
    pub(crate) first: f64,
}

/// How good a ranking is: NDCG@10, and whether the first is right.
pub(crate) fn score<'a>(
    ranking: impl IntoIterator<Item = &'a str>,
    right: &BTreeSet<String>,
) -> (f64, f64) {
    let mut seen = BTreeSet::new();
    let distinct = ranking.into_iter().filter(|name| seen.insert((*name).to_owned()));
    let (mut gained, mut first) = (0.0, 0.0);
    for (at, name) in distinct.take(DEPTH).enumerate() {
        if right.contains(name) {
            gained += worth(at);
            first += if at == 0 { 1.0 } else { 0.0 };
        }
    }
    let best: f64 = (0..right.len().min(DEPTH)).map(worth).sum();
    (gained / best.max(f64::MIN_POSITIVE), first)
}

fn worth(at: usize) -> f64 {
    1.0 / (at as f64 + 2.0).log2()
}

// === impl RankingScores ===

impl RankingScores {
    pub(crate) fn add_repository(&mut self, scores: Vec<(f64, f64)>) {
        if !scores.is_empty() {
            self.repositories.push(scores);
        }
    }

    pub(crate) fn questions(&self) -> usize {
        self.repositories.iter().map(Vec::len).sum()
    }

    /// Returns NDCG@10, averaged over questions and then over repositories.
    pub(crate) fn mean(&self) -> f64 {
        self.over(&|scores| scores.0)
    }

    fn over(&self, pick: &dyn Fn(&(f64, f64)) -> f64) -> f64 {
        let each = self
            .repositories
            .iter()
            .map(|all| all.iter().map(pick).sum::<f64>() / all.len() as f64);
        each.sum::<f64>() / self.repositories.len().max(1) as f64
    }

    pub(crate) fn figures(&self) -> RankingFigures {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draws: Vec<f64> = (0..DRAWS).map(|_| self.draw(&mut state)).collect();
        draws.sort_by(f64::total_cmp);
        let at = |share: f64| draws[((DRAWS - 1) as f64 * share) as usize];
        RankingFigures {
            ndcg: self.mean(),
            interval: (at(0.025), at(0.975)),
            first: self.over(&|scores| scores.1),
        }
    }

    /// The average over questions that are drawn by chance, as many of each repository as it has.
    fn draw(&self, state: &mut u64) -> f64 {
        let each = self.repositories.iter().map(|all| {
            let drawn = (0..all.len()).map(|_| all[below(state, all.len())].0);
            drawn.sum::<f64>() / all.len() as f64
        });
        each.sum::<f64>() / self.repositories.len().max(1) as f64
    }
}

/// A number below another one, by xorshift.
fn below(state: &mut u64, limit: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % limit.max(1) as u64) as usize
}
