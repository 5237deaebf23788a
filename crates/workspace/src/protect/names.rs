//! How names are held to the table of protected ones.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::table::{KEY_FILES, ProtectedRow, TABLE};
use super::{Protection, copies};
use crate::spelling::fold;

/// Rows as they are compared with paths.
static COMPILED: LazyLock<CompiledTable> = LazyLock::new(CompiledTable::new);

/// What is known of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownContent {
    /// Nobody has looked: it may hold a key.
    Unknown,
    /// It holds no key.
    Public,
}

/// The patterns, by what a path must have to match: each file of a search is held to them.
struct CompiledTable {
    /// Those that begin with a whole name, by that name.
    by_name: HashMap<String, Vec<CompiledPattern>>,
    /// How long such names are, by their first byte: a bit for each length, modulo 64.
    lengths: [u64; 256],
    /// Those of a file's name that begins so, by its first byte.
    by_start: [Vec<CompiledPattern>; 256],
    /// Those of a file's name that ends so, by its last byte.
    by_end: [Vec<CompiledPattern>; 256],
    /// All others: every path is held to them.
    others: Vec<CompiledPattern>,
}

/// One pattern of a row, cut into names.
struct CompiledPattern {
    protection: Protection,
    names: Vec<NameMatcher>,
    /// Whether all that is beneath is meant as well.
    is_directory: bool,
    /// Whether it depends on the content as well.
    by_content: bool,
    but: Vec<NameMatcher>,
}

/// One name of a pattern, in the form in which names are compared.
enum NameMatcher {
    Is(String),
    StartsWith(String),
    EndsWith(String),
    Between(String, String),
}

/// Says why a path of folded names is protected. What an editor keeps beside a secret is one too.
pub(super) fn of_folded(path: &[&str], content: KnownContent) -> Option<Protection> {
    let named = of_rows(path, content);
    let Some((last, above)) = path.split_last() else { return named };
    let is_secret = |original: &str| {
        let path: Vec<&str> = above.iter().copied().chain([original]).collect();
        of_rows(&path, content) == Some(Protection::Secret)
    };
    if copies::originals(last).any(is_secret) { Some(Protection::Secret) } else { named }
}

fn of_rows(path: &[&str], content: KnownContent) -> Option<Protection> {
    let counts = |row: &&CompiledPattern| !(row.by_content && content == KnownContent::Public);
    let named = path.iter().filter_map(|name| COMPILED.beginning_with(name)).flatten();
    let affixed = path.last().into_iter().flat_map(|name| COMPILED.affixed(name));
    let possible = named.chain(affixed).chain(&COMPILED.others).filter(counts);
    possible.filter(|row| row.matches(path)).map(|row| row.protection).max()
}

// === impl CompiledTable ===

impl CompiledTable {
    fn new() -> Self {
        let mut table = Self {
            by_name: HashMap::new(),
            lengths: [0; 256],
            by_start: [const { Vec::new() }; 256],
            by_end: [const { Vec::new() }; 256],
            others: Vec::new(),
        };
        for pattern in TABLE.iter().flat_map(CompiledPattern::of_row) {
            let is_of_file = pattern.names.len() == 1 && !pattern.is_directory;
            let patterns = match pattern.names.first() {
                Some(NameMatcher::Is(first)) => {
                    if let Some(byte) = first.bytes().next() {
                        table.lengths[usize::from(byte)] |= 1 << (first.len() % 64);
                    }
                    table.by_name.entry(first.clone()).or_default()
                }
                Some(NameMatcher::StartsWith(start)) if is_of_file => start
                    .bytes()
                    .next()
                    .map_or(&mut table.others, |byte| &mut table.by_start[usize::from(byte)]),
                Some(NameMatcher::EndsWith(end) | NameMatcher::Between(_, end)) if is_of_file => {
                    end.bytes()
                        .last()
                        .map_or(&mut table.others, |byte| &mut table.by_end[usize::from(byte)])
                }
                _ => &mut table.others,
            };
            patterns.push(pattern);
        }
        table
    }

    /// The patterns that a file's name may match by how it begins or ends.
    fn affixed(&self, name: &str) -> impl Iterator<Item = &CompiledPattern> {
        let starts = name.bytes().next().map(|byte| &self.by_start[usize::from(byte)]);
        let ends = name.bytes().last().map(|byte| &self.by_end[usize::from(byte)]);
        starts.into_iter().chain(ends).flatten()
    }

    /// The patterns that begin with a name.
    fn beginning_with(&self, name: &str) -> Option<&Vec<CompiledPattern>> {
        let first = name.bytes().next()?;
        let may_be = self.lengths[usize::from(first)] & 1 << (name.len() % 64) != 0;
        if may_be { self.by_name.get(name) } else { None }
    }
}

// === impl CompiledPattern ===

impl CompiledPattern {
    fn of_row(row: &'static ProtectedRow) -> impl Iterator<Item = Self> {
        row.names.iter().map(|pattern| {
            let directory = pattern.strip_suffix("/**");
            Self {
                protection: row.protection,
                names: directory.unwrap_or(pattern).split('/').map(NameMatcher::new).collect(),
                is_directory: directory.is_some(),
                by_content: KEY_FILES.contains(pattern),
                but: row.but.iter().map(|name| NameMatcher::new(name)).collect(),
            }
        })
    }

    fn matches(&self, path: &[&str]) -> bool {
        let is_here = |names: &[&str]| self.names.iter().zip(names).all(|(a, b)| a.matches(b));
        let Some(last_start) = path.len().checked_sub(self.names.len()) else { return false };
        let is_named = if self.is_directory {
            path.windows(self.names.len()).any(is_here)
        } else {
            is_here(&path[last_start..])
        };
        is_named && !path.last().is_some_and(|name| self.but.iter().any(|but| but.matches(name)))
    }
}

// === impl NameMatcher ===

impl NameMatcher {
    fn new(pattern: &str) -> Self {
        let folded = |text| fold(text).into_owned();
        match pattern.split_once('*') {
            Some(("", end)) => Self::EndsWith(folded(end)),
            Some((start, "")) => Self::StartsWith(folded(start)),
            Some((start, end)) => Self::Between(folded(start), folded(end)),
            None => Self::Is(folded(pattern)),
        }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Is(whole) => name == whole,
            Self::StartsWith(start) => name.starts_with(start.as_str()),
            Self::EndsWith(end) => name.len() > end.len() && name.ends_with(end.as_str()),
            Self::Between(start, end) => {
                let rest = name.strip_prefix(start.as_str());
                rest.is_some_and(|rest| rest.len() > end.len() && rest.ends_with(end.as_str()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds a path to each pattern in turn.
    fn by_each(patterns: &[CompiledPattern], path: &[&str]) -> Option<Protection> {
        patterns.iter().filter(|row| row.matches(path)).map(|row| row.protection).max()
    }

    #[test]
    fn looking_up_finds_what_holding_to_each_row_does() {
        let names = TABLE.iter().flat_map(|row| row.names.iter().chain(row.but));
        let named: Vec<String> = names
            .flat_map(|name| {
                let name = name.trim_end_matches("/**");
                ["", "x", ".x"].map(|other| fold(&name.replace('*', other)).into_owned())
            })
            .collect();
        let patterns: Vec<_> = TABLE.iter().flat_map(CompiledPattern::of_row).collect();
        let mut protected = 0;
        for one in &named {
            // Each with some of the others: not a multiple of three, so that all forms are among them.
            let others = named.iter().map(String::as_str).step_by(13);
            for two in others.chain(["src", "a.rs", "env", "ssh"]) {
                let path: Vec<&str> =
                    ["dir"].into_iter().chain(one.split('/')).chain([two]).collect();
                for path in [&path[..], &path[1..], &path[..path.len() - 1]] {
                    let found = of_rows(path, KnownContent::Unknown);
                    assert_eq!(found, by_each(&patterns, path), "{path:?}");
                    protected += usize::from(found.is_some());
                }
            }
        }
        assert!(protected > 1_000, "{protected}");
    }

    #[test]
    fn the_guide_has_the_whole_table() {
        let guide = include_str!("../../../../docs/admins.md");
        let (_, rest) = guide.split_once("\n## Protected names\n").unwrap();
        let (table, _) = rest.split_once("\n## ").unwrap();
        for row in TABLE {
            for name in row.names.iter().chain(row.but) {
                assert!(table.contains(&format!("`{name}`")), "{name}");
            }
        }
    }
}
