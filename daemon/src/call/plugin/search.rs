//! Searches of a guest: over the texts that the policy lets its call read, through the index where there
//! is one.
//!
//! Names that decide what other programs do are out of sight, as they are among a guest's files: it may
//! pass on what it reads.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use moss_builtin_tools::LineSearch;
use moss_sdk::search::{TextQuery, TextQueryResult};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::{GateKey, MayRead, Protection, VisitGate};

use crate::call::CallScope;
use crate::call::behalf::CallCount;
use crate::call::effect::{Effects, ReadableByAll};
use crate::call::read_access::ReadAccess;
use crate::state::WorkspaceState;

/// How many searches one call from outside may lead to, calls of other tools included.
pub(super) const SEARCHES_MAX: usize = 512;

/// Whether a guest may see a name: not what decides what other programs do.
pub(super) fn is_shown(workspace: &WorkspaceState, path: &RelPath) -> bool {
    let protection = workspace.files.protection(path);
    !matches!(protection, Some(Protection::Code | Protection::Metadata))
}

/// Searches the texts of the workspace for a guest.
///
/// # Errors
///
/// `InvalidArguments`, `LimitExceeded`, `Cancelled`.
pub(super) async fn search(
    (scope, effects): (&Arc<CallScope>, &Arc<Effects>),
    made: &CallCount,
    query: &TextQuery,
) -> Result<TextQueryResult, ToolError> {
    if made.0.fetch_add(1, Ordering::Relaxed) >= SEARCHES_MAX {
        let message = format!("one call leads to at most {SEARCHES_MAX} searches and other calls");
        return Err(ToolError::new(ErrorCode::LimitExceeded, message)
            .hint("search for several texts at once, such as `one|other`"));
    }
    let mut search = LineSearch::compile(query)?;
    let reader = ReadAccess::new(scope, effects);
    let visit = move || {
        let workspace = reader.workspace();
        // The same rules let grep_search see more: what is kept of its walks is another thing.
        let name = reader.name().map(|GateKey { rules, facts }| GateKey {
            rules,
            facts: format!("{facts}, without what makes programs run code"),
        });
        let gate = VisitGate {
            lists: &|path| is_shown(workspace, path) && reader.lists(path),
            reads: &|real, asked| match is_shown(workspace, real) && is_shown(workspace, asked) {
                true => reader.reads(real, asked),
                false => MayRead::No,
            },
            buffers: &*workspace.editors,
            cancelled: &|| reader.is_cancelled(),
            name: name.as_ref(),
        };
        let rules = ReadableByAll(workspace);
        let options = LineSearch::EXTENT;
        let visited =
            workspace.visit_texts(&RelPath::root(), options, gate, &mut search, &rules)?;
        Ok::<_, ToolError>(search.result(&visited))
    };
    scope.blocking(visit).await?
}
