//! The list that a workspace brings along, as far as it can be looked at before it is trusted.

use std::sync::Arc;

use moss_plugin_host::PluginList;
use moss_sdk::{ErrorCode, ToolError};
use serde_json::{Map, Value, json};

use super::{Proposal, Writing, add_plugin, blocking, look};
use crate::config::Config;
use crate::plugins::lists::{self, Listed};
use crate::plugins::trust::{self, WORKSPACE_LIST};
use crate::state::{Daemon, WorkspaceState};

pub(super) async fn propose(
    daemon: &Arc<Daemon>,
    workspace: &WorkspaceState,
) -> Result<Proposal, ToolError> {
    let files = Arc::clone(&workspace.files);
    let list = files.root().join(WORKSPACE_LIST);
    let text = blocking(move || lists::workspace_list(&files)).await?;
    let text = text.map_err(|reason| ToolError::new(ErrorCode::Io, reason))?.ok_or_else(|| {
        let message = format!("{} does not exist", list.display());
        ToolError::new(ErrorCode::NotFound, message)
    })?;
    let invalid = |error: moss_plugin_host::ListError| {
        ToolError::new(ErrorCode::InvalidArguments, error.to_string())
    };
    let parsed = PluginList::parse_of_workspace(&list.display().to_string(), &text);
    let config = Arc::clone(&daemon.config());
    let mut plugins = Vec::new();
    for entry in parsed.map_err(invalid)?.plugins {
        let only_for = Some(workspace.files.root().to_owned());
        let listed = Listed::new(&list, only_for, entry, &daemon.setup.dirs, &config);
        plugins.push(described(daemon, workspace, &config, &listed).await);
    }
    let digest = trust::digest(&text);
    let shown = Map::from_iter([
        ("action".to_owned(), json!("trust")),
        ("list".to_owned(), json!(list.display().to_string())),
        ("list_blake3".to_owned(), json!(digest.to_string())),
        ("plugins".to_owned(), Value::Array(plugins)),
    ]);
    Ok(Proposal { shown, list, work: Writing::Trust(digest), serves: None, forgets: None })
}

/// Shows one plugin. What is on the network is not fetched for a list that nobody trusts.
async fn described(
    daemon: &Arc<Daemon>,
    workspace: &WorkspaceState,
    config: &Config,
    listed: &Listed,
) -> Value {
    let entry = &listed.entry;
    let mut shown = json!({ "name": entry.name, "source": entry.source });
    shown["pinned"] = json!(entry.sha256.map(|digest| digest.to_string()));
    shown["granted"] = json!(entry.grant.lines());
    if entry.is_remote() && !listed.source.exists() {
        shown["problem"] = json!("it is fetched once the list is trusted");
        return shown;
    }
    match look(daemon, listed, true, &|_, _| {}).await {
        Ok(looked) => {
            shown["signed_by"] = json!(looked.signed_by);
            add_plugin(&mut shown, &looked.plugin, &entry.grant, config, workspace);
        }
        Err(error) => shown["problem"] = json!(error.message),
    }
    shown
}
