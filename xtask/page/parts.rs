//! The largest parts of something, as rows.

use std::collections::BTreeMap;

use moss_xtask::rows::{Row, Unit};

/// The largest parts, with one row for all others.
pub(crate) fn largest(
    kind: &str,
    unit: Unit,
    parts: BTreeMap<String, u64>,
    most: usize,
) -> Vec<Row> {
    let mut parts: Vec<(String, u64)> = parts.into_iter().collect();
    parts.sort_by_key(|(_, amount)| std::cmp::Reverse(*amount));
    let others = parts.split_off(most.min(parts.len()));
    let row = |(name, amount)| Row { unit, ..Row::bytes(format!("{kind} {name}"), amount) };
    let mut rows: Vec<Row> = parts.into_iter().map(row).collect();
    if !others.is_empty() {
        let amount = others.iter().map(|(_, amount)| amount).sum();
        rows.push(row((format!("{} others", others.len()), amount)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_is_summed_up() {
        let parts = [("a", 3), ("b", 9), ("c", 1)].map(|(name, amount)| (name.to_owned(), amount));
        let rows = largest("part", Unit::Count, parts.into(), 1);
        let shown: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.value.median)).collect();
        assert_eq!(shown, [("part b", 9), ("part 2 others", 4)]);
    }
}
