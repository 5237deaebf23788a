//! Listings for a tool: what the rules show of a directory, and which name may have been meant.

use moss_sdk::file::{ListOptions, Listing};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::host::CallHost;
use super::read_access::NotRead;
use moss_schema::nearest;

/// Most names in a directory among which one that was meant is looked for.
const NEAR_NAMES_MAX: usize = 2_000;

// === impl CallHost ===

impl CallHost {
    /// Adds to an error about a missing name which one may have been meant: of those in its
    /// directory that a listing shows.
    pub(super) async fn with_near_name(&self, path: &RelPath, error: ToolError) -> ToolError {
        let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else { return error };
        if error.code != ErrorCode::NotFound {
            return error;
        }
        let options = ListOptions { recursive: false, entries_max: NEAR_NAMES_MAX };
        let Ok(listing) = self.list_names(&parent, options).await else { return error };
        let names = listing.entries.iter().filter_map(|entry| entry.path.file_name());
        match nearest(name, names) {
            Some(near) if near != name => {
                let meant =
                    listing.entries.iter().find(|entry| entry.path.file_name() == Some(near));
                let meant = meant.map(|entry| entry.path.to_string()).unwrap_or_default();
                error.hint(format!("did you mean `{meant}`?"))
            }
            _ => error,
        }
    }

    /// Lists a directory, as far as the rules show it. What is known of a small one is listed at once; whatever
    /// may have to wait for a disk does so on the blocking pool.
    pub(super) async fn list_names(
        &self,
        path: &RelPath,
        options: ListOptions,
    ) -> Result<Listing, ToolError> {
        let reader = self.reader();
        if let Some(listing) = reader.list_at_once(path, options) {
            return Ok(listing);
        }
        let path = path.clone();
        let list = move || {
            if let Some((real, decision)) = reader.hides(&path) {
                return Err(NotRead::Denied(real, decision));
            }
            let keep = |path: &RelPath| reader.lists(path);
            let cancelled = || reader.is_cancelled();
            Ok(reader.workspace().list(&path, options, &keep, &cancelled)?)
        };
        match self.scope.blocking(list).await? {
            Ok(listing) => Ok(self.scope.hold_listing(listing.entries.len()).map(|()| listing)?),
            Err(NotRead::Failed(error)) => Err(error),
            Err(NotRead::Ask(real, decision) | NotRead::Denied(real, decision)) => {
                let denied = self.effects.deny_read(&real, &decision).await;
                Err(self.effects.pass_on(denied))
            }
        }
    }
}
