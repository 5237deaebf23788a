//! Searches of a guest: over the texts that it may see, through the index where there is one.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use moss_builtin_tools::LineSearch;
use moss_sdk::search::{TextQuery, TextQueryResult};
use moss_sdk::{ErrorCode, ToolError};

use super::guest_reader::GuestReader;
use crate::call::CallScope;
use crate::call::behalf::CallCount;
use crate::call::effect::Effects;

/// How many searches one call from outside may lead to, calls of other tools included.
pub(super) const SEARCHES_MAX: usize = 512;

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
    let query = query.clone();
    let reader = GuestReader::new(scope, effects);
    let visit = move || {
        // A pattern may take tenths of a second to be compiled.
        let mut search = LineSearch::compile(&query)?;
        let visited = reader.visit(LineSearch::EXTENT, &mut search)?;
        Ok::<_, ToolError>(search.result(&visited))
    };
    scope.blocking(visit).await?
}
