//! Macros that blanks stood for where the text was parsed: the tree has none of them.

use super::lost::innermost;
use super::{USES_MAX, bytes};
use crate::macros::macros;
use crate::outline::{NameUse, Outline, TextRange, UseKind};

/// Adds them to the names that are used.
pub(super) fn add_macros(outline: &mut Outline, text: &str) {
    let mut found = macros(outline.language, text);
    let room = USES_MAX.saturating_sub(outline.uses.len());
    outline.is_cut |= found.len() > room;
    found.truncate(room);
    if found.is_empty() {
        return;
    }
    let ranges: Vec<TextRange> = outline.declarations.iter().map(|one| one.range.clone()).collect();
    let (mut around, mut next) = (Vec::new(), 0);
    for found in found {
        let written = text.get(found.clone()).unwrap_or_default();
        let length = written.find('(').unwrap_or(written.len());
        let name = bytes(found.start, found.start + length);
        while let Some(range) = ranges.get(next).filter(|range| range.start <= name.start) {
            innermost(&mut around, &ranges, range.start);
            around.push(next);
            next += 1;
        }
        let container = innermost(&mut around, &ranges, name.start);
        outline.uses.push(NameUse { name, kind: UseKind::Other, container });
    }
    outline.uses.sort_by_key(|used| used.name.start);
}
