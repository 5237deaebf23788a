//! Names that a text uses, and how.

use super::{OutlineWalk, Step, USES_MAX, find, range, refine};
use crate::language::Language;
use crate::outline::{NameUse, UseKind};
use crate::rules::LAST;

/// Whether a name is written where a type is, as in annotations of Python: `path: List[str]`.
fn is_in_type(path: &[Step<'_>]) -> bool {
    let mut around = path.iter().rev().skip(1).map(|step| step.node.kind());
    match around.next() {
        Some("type") => true,
        Some("generic_type") => around.next() == Some("type"),
        _ => false,
    }
}

/// Whether a leaf of Haskell is the name of an equation: its signature, or the first equation, declares it.
#[cfg(feature = "lang-extra")]
fn is_equation(path: &[Step<'_>]) -> bool {
    let parent = path.len().checked_sub(2).map_or("", |at| path[at].node.kind());
    path[path.len() - 1].field == Some("name") && ["function", "bind"].contains(&parent)
}

// === impl OutlineWalk ===

impl OutlineWalk<'_> {
    pub(super) fn use_name(&mut self, path: &[Step<'_>]) {
        let leaf = path[path.len() - 1];
        let name = range(leaf.node);
        if self.declared.contains(&name.start) {
            return;
        }
        if self.outline.uses.len() >= USES_MAX {
            self.outline.is_cut = true;
            return;
        }
        let kind = if leaf.node.start_byte() < self.import_end {
            UseKind::Import
        } else if self.is_called(path) {
            UseKind::Call
        } else if self.rules.type_names.contains(&leaf.node.kind()) || is_in_type(path) {
            UseKind::Type
        } else {
            UseKind::Other
        };
        if self.language == Language::Bash && kind == UseKind::Other && leaf.node.kind() == "word" {
            // Words of a command line are no names.
            return;
        }
        #[cfg(feature = "lang-extra")]
        if self.language == Language::Elixir && refine::is_elixir_keyword(path, self.text) {
            return;
        }
        #[cfg(feature = "lang-extra")]
        if self.language == Language::Haskell && is_equation(path) {
            return;
        }
        let container = self.scopes.container();
        self.outline.uses.push(NameUse { name, kind, container });
    }

    /// Whether a leaf is what a call calls, or the last part of it.
    fn is_called(&self, path: &[Step<'_>]) -> bool {
        let mut places = (1..path.len()).rev();
        places.find_map(|place| {
            let (parent, field) = (path[place - 1].node.kind(), path[place].field);
            let is_last = || path[place].node.next_named_sibling().is_none();
            let is_at = |wanted: &str| {
                wanted.is_empty() || field == Some(wanted) || (wanted == LAST && is_last())
            };
            let mut calls = self.rules.calls.iter();
            if calls.any(|(node, wanted)| *node == parent && is_at(wanted)) {
                let call = path[place - 1].node;
                return Some(refine::may_call(self.language, call, path, self.text));
            }
            match find(self.rules.members, parent) {
                Some((_, wanted)) if is_at(wanted) => None,
                _ => Some(false),
            }
        }) == Some(true)
    }
}
