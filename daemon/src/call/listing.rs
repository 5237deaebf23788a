//! Listings for one call: what its caller may see of directories.

use moss_schema::nearest;
use moss_sdk::file::{ListOptions, Listing};
use moss_sdk::tree_listing::TreeListing;
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::{Error, ListingGate};

use super::host::CallHost;
use super::read_access::{NotRead, ReadAccess};

/// Most names in a directory among which one that was meant is looked for.
const NEAR_NAMES_MAX: usize = 2_000;

// === impl CallHost ===

impl CallHost {
    /// Lists a directory, as far as the rules show it. What is known of a small one is listed at once; whatever
    /// may have to wait for a disk does so on the blocking pool.
    pub(super) async fn list_names(
        &self,
        path: &RelPath,
        options: ListOptions,
    ) -> Result<Listing, ToolError> {
        if let Some(listing) = self.reader().list_at_once(path, options) {
            return Ok(listing);
        }
        let list = move |reader: &ReadAccess, path: &RelPath| {
            let keep = |path: &RelPath| reader.lists(path);
            reader.workspace().list(path, options, &keep, &|| reader.is_cancelled())
        };
        let listing = self.listed(path, list).await?;
        Ok(self.scope.hold_listing(listing.entries.len()).map(|()| listing)?)
    }

    pub(super) async fn tree_names(
        &self,
        path: &RelPath,
        entries_max: usize,
    ) -> Result<TreeListing, ToolError> {
        let list = move |reader: &ReadAccess, path: &RelPath| {
            let name = reader.name();
            let gate = ListingGate {
                lists: &|path| reader.lists(path),
                lists_all: reader.lists_all(),
                cancelled: &|| reader.is_cancelled(),
                name: name.as_ref(),
            };
            reader.workspace().list_tree(path, entries_max, gate)
        };
        let listing = self.listed(path, list).await?;
        Ok(self.scope.hold_listing(listing.names().len()).map(|()| listing)?)
    }

    /// Lists a directory on the blocking pool, unless it is out of the caller's sight.
    async fn listed<T: Send + 'static>(
        &self,
        path: &RelPath,
        list: impl FnOnce(&ReadAccess, &RelPath) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (reader, path) = (self.reader(), path.clone());
        let list = move || {
            if let Some((real, decision)) = reader.hides(&path) {
                return Err(NotRead::Denied(real, decision));
            }
            Ok(list(&reader, &path)?)
        };
        match self.scope.blocking(list).await? {
            Ok(listing) => Ok(listing),
            Err(NotRead::Failed(error)) => Err(error),
            Err(NotRead::Ask(real, decision) | NotRead::Denied(real, decision)) => {
                let denied = self.effects.deny_read(&real, &decision).await;
                Err(self.effects.pass_on(denied))
            }
        }
    }

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
}
