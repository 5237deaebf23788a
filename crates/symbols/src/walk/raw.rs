//! Names that are keywords of their language: the signs that it has before or around them are no part of them.

use crate::language::Language;
use crate::outline::{Outline, TextRange};

/// What stands before and after a name that is a keyword; none where such names are written as they are.
fn signs(language: Language) -> Option<(&'static str, &'static str)> {
    match language {
        Language::Rust => Some(("r#", "")),
        #[cfg(feature = "lang-extra")]
        Language::CSharp => Some(("@", "")),
        #[cfg(feature = "lang-extra")]
        Language::Kotlin | Language::Scala | Language::Swift => Some(("`", "`")),
        _ => None,
    }
}

/// Leaves the signs out of each name, so that it is the same name with and without them.
pub(super) fn without_signs(outline: &mut Outline, text: &str) {
    let Some((before, after)) = signs(outline.language) else { return };
    let bare = |name: &mut TextRange| {
        let written = text.get(name.start as usize..name.end as usize).unwrap_or_default();
        let inner = written.strip_prefix(before).and_then(|inner| inner.strip_suffix(after));
        if inner.is_some_and(|inner| !inner.is_empty()) {
            name.start += before.len() as u32;
            name.end -= after.len() as u32;
        }
    };
    for declaration in &mut outline.declarations {
        bare(&mut declaration.name);
        declaration.owner.iter_mut().for_each(bare);
    }
    outline.uses.iter_mut().for_each(|used| bare(&mut used.name));
}
