//! A plugin that is removed from a list, and what it keeps.

use std::sync::Arc;

use moss_plugin_list::ListEdit;
use moss_sdk::ToolError;

use super::{Proposal, entry_of, finish, list_of};
use crate::environment::{Environment, Installed};
use moss_dispatch::{
    RemovePlugin,
    blocking::blocking,
    consent::{Consent, Removed},
};

pub(super) async fn propose(
    environment: &Arc<Environment>,
    workspace: &Installed,
    remove: &RemovePlugin,
) -> Result<Proposal, ToolError> {
    let RemovePlugin { list, name, forget_store } = remove;
    let list = list_of(environment, list.as_deref());
    let entry = entry_of(workspace, &list, name).await?;
    let (asked, plugin) = (Arc::clone(environment), name.clone());
    let count = move || {
        let counts = asked.workspaces().map(|workspace| workspace.stores.count(&plugin));
        counts.sum::<Result<u64, ToolError>>()
    };
    let keys = match blocking(count).await? {
        Ok(keys) => Some(keys),
        // A plugin can be taken out whatever became of the stores.
        Err(_) if !forget_store => None,
        Err(error) => return Err(error),
    };
    let consent = Consent::Remove(Removed {
        name: name.clone(),
        sha256: entry.sha256.map(|pinned| pinned.to_string()),
        store_keys: keys,
        forgets_store: *forget_store,
        list: list.display().to_string(),
    });
    let proposal =
        finish(list, vec![ListEdit::Remove { name: name.clone() }], consent, Vec::new()).await?;
    Ok(Proposal { forgets: forget_store.then(|| name.clone()), ..proposal })
}

/// Forgets what the plugin keeps that was removed, if that was meant. Waits for the disk.
///
/// # Errors
///
/// Where that cannot be; it is out of the list already.
pub fn forget(environment: &Environment, proposal: &Proposal) -> Result<(), ToolError> {
    let Some(plugin) = &proposal.forgets else { return Ok(()) };
    environment.workspaces().try_for_each(|workspace| {
        workspace.stores.forget(plugin).map(drop).map_err(|error| {
            let message = format!("`{plugin}` is removed from the list, but {}", error.message);
            ToolError { message, ..error }
        })
    })
}
