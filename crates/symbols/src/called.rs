//! By which name something that is declared is called.

use crate::outline::{Declaration, Outline, TextRange};
use crate::rules::rules;

// === impl Outline ===

impl Outline {
    /// The name of what a declaration belongs to; none where it belongs to nothing.
    pub fn owner<'a>(&'a self, declaration: &'a Declaration) -> Option<&'a TextRange> {
        let container = declaration.container.and_then(|at| self.declarations.get(at as usize));
        declaration.owner.as_ref().or(container.map(|container| &container.name))
    }

    /// The name by which a declaration of a text is called: of a constructor, that of its type.
    pub fn called_name<'a>(&'a self, declaration: &'a Declaration, text: &str) -> &'a TextRange {
        let name = &declaration.name;
        let written = text.get(name.start as usize..name.end as usize).unwrap_or_default();
        match rules(self.language).constructors.contains(&written) {
            true => self.owner(declaration).unwrap_or(name),
            false => name,
        }
    }
}
