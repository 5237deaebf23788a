//! What the file of a plugin holds now, as the new pin of its entry.

use std::path::PathBuf;
use std::sync::Arc;

use moss_plugin_list::ListEdit;
use moss_sdk::{ErrorCode, ToolError};
use serde_json::json;

use super::looking::{Looking, look};
use super::{Hears, Proposal, allowed, check_names, entry_of, finish};
use crate::plugins::inspect;
use crate::plugins::lists::Listed;
use crate::state::{Daemon, WorkspaceState};
use moss_dispatch::consent::{Accepted, Consent};

pub(super) async fn propose(
    daemon: &Arc<Daemon>,
    workspace: &WorkspaceState,
    list: PathBuf,
    name: &str,
    hears: Hears<'_>,
) -> Result<Proposal, ToolError> {
    let entry = entry_of(workspace, &list, name).await?;
    let config = Arc::clone(&daemon.config());
    let listed = Listed::new(&list, None, entry, &daemon.setup.dirs, &config);
    let looking = Looking { expected: None, is_named: true, may_fetch: true };
    let looked = look(daemon, &listed, looking, hears).await?;
    if listed.entry.sha256 == Some(looked.digest) {
        let message =
            format!("`{name}` is pinned to what {} holds already", listed.source.display());
        return Err(ToolError::new(ErrorCode::NoChange, message));
    }
    check_names(daemon, &looked.plugin)?;
    let value = Some(json!(looked.digest.to_string()));
    let edits = vec![ListEdit::Set { name: name.to_owned(), key: "sha256", value }];
    let accepted = Accepted {
        name: name.to_owned(),
        source: listed.source.display().to_string(),
        pinned: listed.entry.sha256.map(|digest| digest.to_string()),
        signed_by: looked.signed_by,
        component: inspect::component(&looked.plugin),
        granted: listed.entry.grant.lines(),
        allowed: allowed(&looked.plugin, &listed.entry.grant, &config, workspace),
        list: list.display().to_string(),
    };
    let consent = Consent::Accept(Box::new(accepted));
    finish(list, edits, consent, vec![(name.to_owned(), looked.digest)]).await
}
