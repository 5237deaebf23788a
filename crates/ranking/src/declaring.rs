//! Which files declare a name, from what is kept of the code of a workspace.

use std::collections::BTreeSet;

use moss_sdk::code_search::{CodeHit, CodeSearch, CodeSearchGoal, FileChoice};
use moss_sdk::context::Context;
use moss_sdk::{RelPath, ToolError};

use crate::qualified::{DeclaredPlace, QualifiedName};

/// Most declarations of a name that are looked through for those that belong to what is said.
const DECLARATIONS_MAX: usize = 10_000;
/// Most files that are named.
const FILES_MAX: usize = 200;

// === impl QualifiedName ===

impl QualifiedName {
    /// Finds the files that declare it, as far as that is kept: those that fit best, of many.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    pub async fn declaring_files(
        &self,
        cx: &Context,
        wants: FileChoice,
    ) -> Result<BTreeSet<RelPath>, ToolError> {
        let mut names = vec![self.name.clone(), self.written().to_owned()];
        names.dedup();
        let search = CodeSearch {
            goal: CodeSearchGoal::Declared { names, near: None },
            wants,
            hits_max: DECLARATIONS_MAX,
            hits_of_file_max: DECLARATIONS_MAX,
        };
        let mut hits = cx.search_code(search).await?.map(|found| found.hits).unwrap_or_default();
        hits.sort_by_cached_key(|hit: &CodeHit| {
            let containers: Vec<&str> = hit.container.as_deref().into_iter().collect();
            let is_member = !containers.is_empty();
            let place = DeclaredPlace { path: &hit.path, containers, is_member, text: "" };
            self.fit(&self.name, None, &place)
        });
        let mut files = BTreeSet::new();
        for hit in hits {
            if files.len() < FILES_MAX {
                files.insert(hit.path);
            }
        }
        Ok(files)
    }
}
