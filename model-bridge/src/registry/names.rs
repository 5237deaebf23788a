//! Names of tools as models write them.

use std::collections::HashMap;

/// Prefixes that models put before the names of tools, whatever the tool.
const PREFIXES: &[&str] = &["functions.", "tools."];
/// The prefix of tools of servers: `mcp__SERVER__NAME`.
const SERVER_PREFIX: &str = "mcp__";
/// How alike a name must be to be proposed, from 0 to 1.
const LIKENESS_MIN: f64 = 0.6;

/// Names, and the places of what they name.
#[derive(Debug, Default)]
pub(super) struct Names {
    exact: HashMap<String, usize>,
    /// By the folded name; none where several tools have it.
    folded: HashMap<String, Option<usize>>,
}

// === impl Names ===

impl Names {
    /// Adds a name. Returns whether it is new.
    pub(super) fn insert(&mut self, name: &str, place: usize) -> bool {
        if self.exact.insert(name.to_owned(), place).is_some() {
            return false;
        }
        self.folded.entry(fold(name)).and_modify(|entry| *entry = None).or_insert(Some(place));
        true
    }

    pub(super) fn exact(&self, name: &str) -> Option<usize> {
        self.exact.get(name).copied()
    }

    pub(super) fn resolve(&self, name: &str) -> Option<usize> {
        let name = name.trim();
        self.find(name).or_else(|| self.find(without_prefix(name)?))
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.exact(name).or_else(|| *self.folded.get(&fold(name))?)
    }
}

/// Leaves out what names differ in without meaning it: case, `-`, `_` and spaces.
pub(crate) fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

fn without_prefix(name: &str) -> Option<&str> {
    if let Some(rest) = name.strip_prefix(SERVER_PREFIX) {
        return rest.split_once("__").map(|(_, name)| name);
    }
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// The name that is most like a wrong one, where one is.
pub(super) fn closest<'n>(
    wrong: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let wrong = fold(wrong);
    names
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&wrong, &fold(name)), name))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}
