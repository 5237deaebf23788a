//! What the file of a plugin holds now, as the new pin of its entry.

use std::path::PathBuf;
use std::sync::Arc;

use moss_plugin_list::ListEdit;
use moss_sdk::{ErrorCode, ToolError};
use serde_json::json;

use super::looking::{Looking, look};
use super::{Hears, Proposal, allowed, check_names, entry_of, finish};
use crate::environment::{Environment, Installed};
use crate::inspect;
use crate::lists::ResolvedEntry;
use moss_dispatch::consent::{Accepted, Consent};

pub(super) async fn propose(
    environment: &Arc<Environment>,
    workspace: &Installed,
    list: PathBuf,
    name: &str,
    hears: Hears<'_>,
) -> Result<Proposal, ToolError> {
    let entry = entry_of(workspace, &list, name).await?;
    let settings = environment.settings();
    let listed = ResolvedEntry::new(&list, None, entry, &environment.dirs, &settings);
    let looking = Looking { expected: None, is_named: true, may_fetch: true };
    let looked = look(environment, &listed, looking, hears).await?;
    if listed.entry.sha256 == Some(looked.digest) {
        let message = format!("`{name}` is pinned to {} already", listed.source.display());
        return Err(ToolError::new(ErrorCode::NoChange, message));
    }
    check_names(environment, &looked.plugin)?;
    let value = Some(json!(looked.digest.to_string()));
    let edits = vec![ListEdit::Set { name: name.to_owned(), key: "sha256", value }];
    let accepted = Accepted {
        name: name.to_owned(),
        source: listed.shown_source(),
        pinned: listed.entry.sha256.map(|digest| digest.to_string()),
        signed_by: looked.signed_by,
        component: inspect::component(&looked.plugin),
        granted: listed.entry.grant.lines(),
        allowed: allowed(&looked.plugin, &listed.entry.grant, &settings, workspace),
        list: list.display().to_string(),
    };
    let consent = Consent::Accept(Box::new(accepted));
    finish(list, edits, consent, vec![(name.to_owned(), looked.digest)]).await
}
