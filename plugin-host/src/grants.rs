//! What a plugin asks for, what the user granted, and what it therefore has: the intersection.
//!
//! Only what is enforced has a type here: reading the files beneath a directory.

use moss_sdk::RelPath;

/// What the user grants a plugin. `grant` in the plugin list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// Directories, relative to the workspace of the call, whose files may be read.
    pub read: Vec<RelPath>,
}

/// Something that a plugin asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What it is.
    pub capability: Capability,
    /// Why it is needed, for the person who grants it.
    pub reason: String,
}

/// A capability that this version enforces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capability {
    /// Reading the files beneath a directory, relative to the workspace; the workspace itself
    /// stands for whatever is granted.
    Read(RelPath),
}

/// Returns the directories that were both requested and granted: of two that lie one within the
/// other, the inner one. A directory within another result is left out.
pub fn effective(requested: &[Request], granted: &Grant) -> Vec<RelPath> {
    let mut both: Vec<RelPath> = Vec::new();
    for Request { capability: Capability::Read(requested), .. } in requested {
        for granted in &granted.read {
            if is_within(requested, granted) {
                both.push(requested.clone());
            } else if is_within(granted, requested) {
                both.push(granted.clone());
            }
        }
    }
    both.sort();
    both.dedup();
    let outer = both.clone();
    both.retain(|inner| !outer.iter().any(|outer| outer != inner && is_within(inner, outer)));
    both
}

fn is_within(inner: &RelPath, outer: &RelPath) -> bool {
    let mut inner = inner.components();
    outer.components().all(|component| inner.next() == Some(component))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(texts: &[&str]) -> Vec<RelPath> {
        texts.iter().map(|text| RelPath::parse(text).unwrap()).collect()
    }

    #[test]
    fn what_is_effective_is_both_requested_and_granted() {
        let cases: &[(&[&str], &[&str], &[&str])] = &[
            (&["."], &["docs", "src"], &["docs", "src"]),
            (&["docs"], &["."], &["docs"]),
            (&["docs/a"], &["docs"], &["docs/a"]),
            (&["docs"], &["docs/a", "src"], &["docs/a"]),
            (&["docs"], &["documents"], &[]),
            (&["doc"], &["docs"], &[]),
            (&["."], &[], &[]),
            (&[], &["."], &[]),
            (&["."], &[".", "docs"], &["."]),
            (&["a", "a/b"], &["a"], &["a"]),
        ];
        for (requested, granted, expected) in cases {
            let requests: Vec<Request> = paths(requested)
                .into_iter()
                .map(|path| Request { capability: Capability::Read(path), reason: String::new() })
                .collect();
            let grant = Grant { read: paths(granted) };
            assert_eq!(
                effective(&requests, &grant),
                paths(expected),
                "{requested:?} and {granted:?}"
            );
        }
    }
}
