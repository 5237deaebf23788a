//! Names of tools as models write them.

use std::collections::HashMap;

/// Prefixes that models put before the names of tools, whatever the tool.
const PREFIXES: &[&str] = &["functions.", "tools."];
/// How many `__` the name of a server has at most.
const SERVER_PARTS_MAX: usize = 4;
/// How many prefixes stand before a name at most.
const PREFIXES_MAX: usize = 2;
/// The prefix of tools of servers: `mcp__SERVER__NAME`.
const SERVER_PREFIX: &str = "mcp__";
/// How alike a name must be to be proposed, from 0 to 1.
const LIKENESS_MIN: f64 = 0.6;

/// Names, and the positions of what they name.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    exact: HashMap<String, usize>,
    /// The lengths of the names, a bit each: a word of a text is asked for often, and hardly ever one.
    lengths: u64,
    /// By the folded name; none where several tools have it.
    folded: HashMap<String, Option<usize>>,
}

// === impl NameIndex ===

impl NameIndex {
    /// Adds a name. Returns whether it is new.
    pub(super) fn insert(&mut self, name: &str, place: usize) -> bool {
        if self.exact.insert(name.to_owned(), place).is_some() {
            return false;
        }
        self.lengths |= length_bit(name);
        self.folded.entry(fold(name)).and_modify(|entry| *entry = None).or_insert(Some(place));
        true
    }

    pub(super) fn exact(&self, name: &str) -> Option<usize> {
        let may_be = self.lengths & length_bit(name) != 0;
        may_be.then(|| self.exact.get(name).copied()).flatten()
    }

    pub(super) fn resolve(&self, name: &str) -> Option<usize> {
        let mut name = name.trim();
        for _ in 0..=PREFIXES_MAX {
            if let Some(place) = self.find(name).or_else(|| self.find_of_server(name)) {
                return Some(place);
            }
            match without_prefix(name) {
                Some(rest) => name = rest,
                None => return self.find(own_namespace(name)?),
            }
        }
        None
    }

    /// Finds a name behind the prefix of a server, whose own name may hold `__` as well.
    fn find_of_server(&self, name: &str) -> Option<usize> {
        let rest = name.strip_prefix(SERVER_PREFIX)?;
        let mut ends = rest.match_indices("__").take(SERVER_PARTS_MAX);
        ends.find_map(|(end, mark)| self.find(&rest[end + mark.len()..]))
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.exact(name).or_else(|| *self.folded.get(&fold(name))?)
    }
}

/// The bit of a length; all long ones have the same.
fn length_bit(name: &str) -> u64 {
    1 << name.len().min(63)
}

/// Leaves out what names differ in without meaning it: case, `-`, `_` and spaces.
pub(crate) fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// The name of what is the only thing in a namespace that is called like it: `search.search`.
fn own_namespace(name: &str) -> Option<&str> {
    let (space, name) = name.split_once('.')?;
    (space == name).then_some(name)
}

/// What follows a prefix.
fn without_prefix(name: &str) -> Option<&str> {
    let after = |prefix: &&str| {
        let begin = name.get(..prefix.len())?;
        begin.eq_ignore_ascii_case(prefix).then(|| &name[prefix.len()..])
    };
    PREFIXES.iter().find_map(after)
}

/// Whether names of so many letters can be alike enough: each letter that one has more is a difference.
fn may_be_alike(one: usize, other: usize) -> bool {
    let (fewer, more) = (one.min(other) as f64, one.max(other) as f64);
    fewer >= more * LIKENESS_MIN - 1e-6
}

/// The name that is most like a wrong one, where one is.
pub(super) fn closest<'n>(
    wrong: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let wrong = fold(wrong);
    let letters = wrong.chars().count();
    names
        .into_iter()
        .map(|name| (name, fold(name)))
        .filter(|(_, folded)| may_be_alike(letters, folded.chars().count()))
        .map(|(name, folded)| (strsim::normalized_damerau_levenshtein(&wrong, &folded), name))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}
