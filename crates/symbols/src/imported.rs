//! What is imported where something stands.

use std::cmp::Reverse;

use crate::outline::{Import, Outline};

// === impl Outline ===

impl Outline {
    /// What is imported at a byte: by the declarations around it and by the file, the nearest first. What another function
    /// or module imports counts only there.
    pub fn imports_at(&self, at: u32) -> Vec<&Import> {
        let mut found = Vec::new();
        for import in &self.imports {
            let around = self.around(import);
            let holds = around.is_none_or(|place| {
                let declaration = &self.declarations[place];
                (declaration.begin..=declaration.range.end).contains(&at)
            });
            if holds {
                found.push((Reverse(around), import));
            }
        }
        found.sort_by_key(|(around, _)| *around);
        found.into_iter().map(|(_, import)| import).collect()
    }

    /// The place of the innermost declaration that an import lies in.
    fn around(&self, import: &Import) -> Option<usize> {
        let begins = |place: usize| self.declarations[place].range.start;
        let behind = self.declarations.partition_point(|one| one.range.start <= import.range.start);
        let mut place = behind.checked_sub(1);
        // It may be a declaration itself.
        while let Some(at) = place
            && (self.declarations[at].range.end < import.range.end
                || begins(at) == import.range.start)
        {
            place = self.declarations[at].container.map(|container| container as usize);
        }
        place
    }
}
