//! A component that a change of a list is about: fetched where that is agreed to, held to what is known
//! of it, and looked at.

use std::path::PathBuf;
use std::sync::Arc;

use moss_plugin_host::Plugin;
use moss_plugin_list::Sha256Digest;
use moss_sdk::{ErrorCode, ToolError};

use tokio::sync::SemaphorePermit;

use super::Hears;
use crate::environment::Environment;
use crate::lists::ResolvedEntry;
use crate::{downloads, inspect};

/// How a component is looked at.
#[derive(Clone, Copy)]
pub(super) struct Looking {
    /// The digest that it must have, beside that of its entry where it is on the network.
    pub(super) expected: Option<Sha256Digest>,
    /// Whether it must have the name of the entry.
    pub(super) is_named: bool,
    /// Whether somebody agreed to what is fetched.
    pub(super) may_fetch: bool,
}

/// What an entry leads to.
pub(super) struct InspectedPlugin {
    pub(super) plugin: Plugin,
    pub(super) digest: Sha256Digest,
    pub(super) signed_by: Option<String>,
}

/// Waits for the turn of what is read and compiled before anybody agrees to it, where it needs one.
async fn turn<'a>(environment: &'a Environment, hears: Hears<'_>) -> Option<SemaphorePermit<'a>> {
    match hears.in_turn {
        true => Some(environment.looks.acquire().await.expect("nobody closes it")),
        false => None,
    }
}

/// Gets the component of an entry, holds it to the digest that is asked for and to its signature, and
/// looks at it, under the name of the entry where that is meant.
pub(super) async fn look(
    environment: &Arc<Environment>,
    listed: &ResolvedEntry,
    looking: Looking,
    hears: Hears<'_>,
) -> Result<InspectedPlugin, ToolError> {
    let Looking { expected, is_named, may_fetch } = looking;
    let failed = |reason: String| ToolError::new(ErrorCode::Io, reason);
    if may_fetch {
        downloads::fetch_missing(environment, &listed.entry, hears.on_bytes)
            .await
            .map_err(failed)?;
    }
    let turn = turn(environment, hears).await;
    let bytes_max = environment.settings().component_bytes_max;
    let bytes = inspect::read(listed.component(environment), bytes_max).await?;
    let digest = Sha256Digest::of(&bytes);
    let dirs = &environment.dirs;
    downloads::check_kept(dirs, &listed.entry, digest).await.map_err(failed)?;
    let called = match listed.entry.oci() {
        Some(reference) => PathBuf::from(reference.repository),
        None if listed.entry.is_remote() => PathBuf::from(&listed.entry.source),
        None => listed.source.clone(),
    };
    // Before anything is compiled.
    if let Some(expected) = expected.filter(|expected| *expected != digest) {
        let called = called.display();
        let message = format!("{called} has the sha256 {digest}, but {expected} is asked for");
        return Err(
            ToolError::new(ErrorCode::Conflict, message).hint("use the right file, or its digest")
        );
    }
    let (entry, on_compile) = (&listed.entry, hears.on_compile);
    let (file, signers) = (listed.signature(environment), &listed.signers);
    // Its host may be slow.
    let is_waited_for = may_fetch && downloads::remote_signature(entry).is_some();
    let turn = turn.filter(|_| !is_waited_for);
    let signed_by =
        downloads::check_signature(environment, entry, file, &bytes, signers, may_fetch).await;
    let signed_by = signed_by.map_err(|reason| ToolError::new(ErrorCode::Denied, reason))?;
    let _turn = if turn.is_some() { turn } else { self::turn(environment, hears).await };
    let plugin = inspect::plugin(environment, &called, entry, is_named, bytes, on_compile).await?;
    Ok(InspectedPlugin { plugin, digest, signed_by })
}
