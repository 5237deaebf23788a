//! What declares names, for a guest: of the texts that it may see, from what is kept of their code, else by
//! reading them.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use moss_ranking::CodeGathering;
use moss_sdk::code_search::{CodeHit, CodeSearch, CodeSearchGoal, FileChoice};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::MayRead;

use super::guest_reader::GuestReader;
use super::search::SEARCHES_MAX;
use crate::call::CallScope;
use crate::call::behalf::CallCount;
use crate::call::effect::{Effects, ReadableByAll};
use crate::call::searching::lists;
use moss_live_index::ranked_texts::RankedGate;

/// Most names that one search looks for.
const NAMES_MAX: usize = 200;
/// Most declarations of one result.
const DECLARATIONS_MAX: usize = 1_000;
/// Most files that are looked at for it, while nothing is taken into the index.
const LOOKS_MAX: usize = 4 * DECLARATIONS_MAX;

/// Finds what declares some names.
///
/// # Errors
///
/// `InvalidArguments`, `LimitExceeded`, `Cancelled`.
pub(super) async fn symbols(
    (scope, effects): (&Arc<CallScope>, &Arc<Effects>),
    made: &CallCount,
    names: Vec<String>,
) -> Result<Vec<CodeHit>, ToolError> {
    if names.len() > NAMES_MAX {
        let message = format!("`names` has {}: it has at most {NAMES_MAX}", names.len());
        return Err(ToolError::new(ErrorCode::InvalidArguments, message)
            .hint("look for them in several parts"));
    }
    if made.0.fetch_add(1, Ordering::Relaxed) >= SEARCHES_MAX {
        let message = format!("one call leads to at most {SEARCHES_MAX} searches and other calls");
        return Err(ToolError::new(ErrorCode::LimitExceeded, message)
            .hint("look for several names at once"));
    }
    let reader = Arc::new(GuestReader::new(scope, effects));
    let search = CodeSearch {
        goal: CodeSearchGoal::Declared { names, near: None },
        wants: Arc::new(|_| true),
        hits_max: DECLARATIONS_MAX,
        hits_of_file_max: DECLARATIONS_MAX,
    };
    let find = move || {
        let workspace = reader.workspace();
        let rules = ReadableByAll(workspace);
        let cancelled = || reader.access().is_cancelled();
        let mut listed: HashMap<RelPath, bool> = HashMap::new();
        let mut sees = |path: &RelPath| {
            let parent = path.parent();
            reader.reads(path, path) == MayRead::Yes
                && parent.is_none_or(|parent| lists(reader.access(), &parent, &mut listed))
        };
        let gate = RankedGate {
            name: reader.name(),
            sees: &mut sees,
            shows: Some(has_one_name(&reader)),
            sees_commits: false,
            near: None,
        };
        if let Some(found) = workspace.search_code(gate, &search, &rules, &cancelled)?
            && found.pending == 0
        {
            return Ok::<_, ToolError>(found.hits);
        }
        let mut gathering = CodeGathering::new(&search);
        let visited = reader.visit(CodeGathering::EXTENT, &mut gathering)?;
        if visited.truncated {
            let files = visited.files;
            let message = format!(
                "the workspace is not indexed yet, and has more than {files} files that can be read at once"
            );
            return Err(ToolError::new(ErrorCode::LimitExceeded, message).hint(
                "call it again in a minute: `moss index status` shows how far the index is",
            ));
        }
        Ok(gathering.answer(&search).hits)
    };
    scope.blocking(find).await?
}

/// Whether files have one name, each looked at once; after a cancellation, or as many looks as there may be, none has.
fn has_one_name(reader: &Arc<GuestReader>) -> FileChoice {
    let (reader, known) = (Arc::clone(reader), Mutex::new(HashMap::new()));
    Arc::new(move |path: &RelPath| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let may_look = known.len() < LOOKS_MAX && !reader.access().is_cancelled();
        match known.get(path) {
            Some(has_one_name) => *has_one_name,
            None => may_look && *known.entry(path.clone()).or_insert(reader.has_one_name(path)),
        }
    })
}
