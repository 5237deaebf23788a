//! Files that a tree does not name, in words.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::TreeFile;

/// Most ends of names that a count of files gives.
const ENDINGS_MAX: usize = 3;

/// A number of things, one of them or many.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Counts files by the ends of their names, the most frequent first.
pub(super) fn by_ending(files: &[TreeFile<'_>]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let ending = file.name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        if let Some((_, ending)) = ending.filter(|(_, ending)| !ending.is_empty()) {
            *counts.entry(ending).or_default() += 1;
        }
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| Reverse(count));
    counts.truncate(ENDINGS_MAX);
    let total = counted(files.len() as u64, "file", "files");
    match counts.as_slice() {
        [] => total,
        [(ending, count)] if *count == files.len() => {
            counted(files.len() as u64, &format!(".{ending} file"), &format!(".{ending} files"))
        }
        _ => {
            let other = files.len() - counts.iter().map(|(_, count)| count).sum::<usize>();
            let parts = counts.into_iter().map(|(ending, count)| format!("{count} .{ending}"));
            let other = (other > 0).then(|| format!("{other} other"));
            format!("{total}: {}", parts.chain(other).collect::<Vec<_>>().join(", "))
        }
    }
}
