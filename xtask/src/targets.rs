//! What is wished for of a row, and whether it meets that.
//!
//! A target is a text, as the table shows it: `ratio ≤ 1.12`, `< 60 MiB`, `5 ms`, `≥ 150,000/s`, `≤ 150 µs more`
//! (than the baseline), `≤ 5 % or 100 ms more`, `all` (that the baseline has). Numbers are medians.

use crate::rows::{Row, Unit};

/// Whether a row is what is wished for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetVerdict {
    /// It meets its target.
    Met,
    /// It misses its target.
    Missed,
    /// No number of the row can be held against its target.
    Unreadable,
}

/// A target that was read.
#[derive(Debug, PartialEq)]
enum Target {
    /// How many times the baseline it is.
    Ratio(Comparison, TargetNumber),
    /// What it is by itself, in its unit.
    Value(Comparison, f64),
    /// What it is beyond the baseline: one of these is enough.
    More(Comparison, Vec<Excess>),
    /// What the baseline is.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Below,
    AtMost,
    AtLeast,
}

/// A number, and how many digits it has behind the point.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TargetNumber {
    value: f64,
    decimals: usize,
}

/// What comes on top of a baseline.
#[derive(Debug, PartialEq)]
enum Excess {
    Percent(f64),
    /// In the unit of the row.
    Absolute(f64),
}

/// Digits behind the point of a ratio, as tables show it.
const RATIO_DECIMALS: usize = 2;

/// Holds a row against its target; none where nothing is wished for.
pub fn verdict(row: &Row) -> Option<TargetVerdict> {
    let target = Target::parse(row.target.as_deref()?, row.unit);
    Some(match target.and_then(|target| target.is_met(row)) {
        Some(true) => TargetVerdict::Met,
        Some(false) => TargetVerdict::Missed,
        None => TargetVerdict::Unreadable,
    })
}

// === impl Target ===

impl Target {
    fn parse(text: &str, unit: Unit) -> Option<Self> {
        if text == "all" {
            return Some(Self::All);
        }
        if let Some(rest) = text.strip_prefix("ratio ") {
            let (comparison, number) = Comparison::split(rest);
            return Some(Self::Ratio(comparison, TargetNumber::parse(number)?));
        }
        let (comparison, rest) = Comparison::split(text);
        let Some(excess) = rest.strip_suffix(" more") else {
            return Some(Self::Value(comparison, quantity(rest, unit)?));
        };
        let excess = excess.split(" or ").map(|part| match part.strip_suffix('%') {
            Some(percent) => Some(Excess::Percent(TargetNumber::parse(percent.trim_end())?.value)),
            None => Some(Excess::Absolute(quantity(part, unit)?)),
        });
        Some(Self::More(comparison, excess.collect::<Option<_>>()?))
    }

    fn is_met(&self, row: &Row) -> Option<bool> {
        let value = row.value.median as f64;
        let baseline = row.baseline.map(|baseline| baseline.median as f64);
        Some(match self {
            // A ratio is what the table shows of it, or what a target that is finer distinguishes.
            Self::Ratio(comparison, wanted) => {
                let decimals = wanted.decimals.max(RATIO_DECIMALS);
                let shown = format!("{:.decimals$}", row.ratio()?);
                comparison.holds(shown.parse().ok()?, wanted.value)
            }
            Self::Value(comparison, wanted) => comparison.holds(value, *wanted),
            Self::More(comparison, excess) => {
                let baseline = baseline?;
                excess.iter().any(|excess| {
                    let wanted = match excess {
                        Excess::Percent(percent) => baseline * percent / 100.0,
                        Excess::Absolute(number) => *number,
                    };
                    comparison.holds(value - baseline, wanted)
                })
            }
            Self::All => value >= baseline?,
        })
    }
}

// === impl Comparison ===

impl Comparison {
    /// Takes it off the front of a text: a number alone is what is not to be exceeded.
    fn split(text: &str) -> (Self, &str) {
        let signs = [("<", Self::Below), ("≤", Self::AtMost), ("≥", Self::AtLeast)];
        let found = signs.iter().find_map(|(sign, comparison)| {
            Some((*comparison, text.strip_prefix(sign)?.trim_start()))
        });
        found.unwrap_or((Self::AtMost, text))
    }

    fn holds(self, value: f64, wanted: f64) -> bool {
        match self {
            Self::Below => value < wanted,
            Self::AtMost => value <= wanted,
            Self::AtLeast => value >= wanted,
        }
    }
}

// === impl TargetNumber ===

impl TargetNumber {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.replace(',', "");
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
        let value = is_number.then(|| digits.parse().ok()).flatten()?;
        Some(Self { value, decimals })
    }
}

/// Reads `60 MiB` and its like: how much that is in the unit of a row.
fn quantity(text: &str, unit: Unit) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','));
    let (number, name) = text.split_at(end.unwrap_or(text.len()));
    let factor = match (unit, name.trim_start()) {
        (Unit::Nanoseconds, "µs") => 1e3,
        (Unit::Nanoseconds, "ms") => 1e6,
        (Unit::Nanoseconds, "s") => 1e9,
        (Unit::Bytes, "KiB") => 1024.0,
        (Unit::Bytes, "MiB") => 1_048_576.0,
        (Unit::Bytes, "GiB") => 1_073_741_824.0,
        (Unit::PerSecond, "/s") | (Unit::Count, "") => 1.0,
        _ => return None,
    };
    Some(TargetNumber::parse(number)?.value * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Spread;

    const MS: u64 = 1_000_000;

    #[test]
    fn targets_are_met_missed_or_unreadable() {
        use TargetVerdict::{Met, Missed, Unreadable};
        use Unit::{Bytes, Count, Nanoseconds, PerSecond};
        for (target, unit, value, baseline, expected) in [
            ("ratio ≤ 1.12", Nanoseconds, 1120, Some(1000), Met),
            ("ratio ≤ 1.12", Nanoseconds, 1124, Some(1000), Met),
            ("ratio ≤ 1.12", Nanoseconds, 1126, Some(1000), Missed),
            ("ratio ≤ 2.0", Nanoseconds, 2004, Some(1000), Met),
            ("ratio ≤ 0.083", Nanoseconds, 834, Some(10_000), Met),
            ("ratio ≤ 0.083", Nanoseconds, 84, Some(1000), Missed),
            ("ratio ≥ 0.8", PerSecond, 79, Some(100), Missed),
            ("ratio ≥ 0.8", PerSecond, 80, Some(100), Met),
            ("ratio ≤ 4", Nanoseconds, 1, None, Unreadable),
            ("< 60 MiB", Bytes, 60 << 20, None, Missed),
            ("< 60 MiB", Bytes, (60 << 20) - 1, None, Met),
            ("< 60 MiB", Nanoseconds, 1, None, Unreadable),
            ("< 2 s", Nanoseconds, 1_999 * MS, None, Met),
            ("5 ms", Nanoseconds, 5 * MS, None, Met),
            ("5 ms", Nanoseconds, 5 * MS + 1, None, Missed),
            ("≥ 150,000/s", PerSecond, 150_000, None, Met),
            ("≥ 150,000/s", PerSecond, 149_999, None, Missed),
            ("≤ 2", Count, 3, Some(2), Missed),
            ("≤ 150 µs more", Nanoseconds, 300_000, Some(150_000), Met),
            ("≤ 150 µs more", Nanoseconds, 300_001, Some(150_000), Missed),
            ("≤ 150 µs more", Nanoseconds, 1, None, Unreadable),
            ("< 50 ms more", Nanoseconds, 60 * MS, Some(10 * MS), Missed),
            ("≤ 5 % or 100 ms more", Nanoseconds, 110 * MS, Some(10 * MS), Met),
            ("≤ 5 % or 100 ms more", Nanoseconds, 10_500 * MS, Some(10_000 * MS), Met),
            ("≤ 5 % or 100 ms more", Nanoseconds, 1_101 * MS, Some(1_000 * MS), Missed),
            ("all", Count, 2_000, Some(2_000), Met),
            ("all", Count, 1_999, Some(2_000), Missed),
            ("2 waits, bare 2", Nanoseconds, 1, Some(1), Unreadable),
            ("soon", Nanoseconds, 1, Some(1), Unreadable),
        ] {
            let row = Row {
                name: String::new(),
                unit,
                value: Spread::single(value),
                baseline: baseline.map(Spread::single),
                target: Some(target.to_owned()),
                point: None,
            };
            assert_eq!(verdict(&row), Some(expected), "{value} against {baseline:?}: {target}");
            assert_eq!(verdict(&Row { target: None, ..row }), None);
        }
    }
}
