//! The list that a workspace brings along, as far as it can be looked at before it is trusted.

use std::sync::Arc;

use moss_plugin_host::{PluginList, Sha256Digest};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::between;
use serde_json::{Map, Value, json};

use super::looking::{Looking, look};
use super::{Hears, Proposal, Writing, add_plugin};
use crate::blocking::blocking;
use crate::config::Config;
use crate::plugins::agreed::Agreed;
use crate::plugins::lists::{self, Listed};
use crate::plugins::trust::{self, WORKSPACE_LIST};
use crate::state::{Daemon, WorkspaceState};

pub(super) async fn propose(
    daemon: &Arc<Daemon>,
    workspace: &WorkspaceState,
    hears: Hears<'_>,
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
    let mut seen = Seen::default();
    for entry in parsed.map_err(invalid)?.plugins {
        let only_for = Some(workspace.files.root().to_owned());
        let listed = Listed::new(&list, only_for, entry, &daemon.setup.dirs, &config);
        seen.look(daemon, workspace, &config, &listed, hears).await;
    }
    let digest = trust::digest(&text);
    let mut shown = Map::from_iter([
        ("action".to_owned(), json!("trust")),
        ("list".to_owned(), json!(list.display().to_string())),
        ("list_blake3".to_owned(), json!(digest.to_string())),
        ("plugins".to_owned(), Value::Array(seen.plugins)),
    ]);
    let (dirs, file) = (daemon.setup.dirs.clone(), list.clone());
    if let Some(before) = blocking(move || trust::trusted_text(&dirs, &file)).await?? {
        let path = RelPath::parse(WORKSPACE_LIST).expect("a plain path");
        // A list is bounded: who trusts it sees all of what changed.
        let diff = between(&path, Some(before.as_bytes()), Some(text.as_bytes())).text;
        shown.insert("since_trusted".to_owned(), json!(diff));
    }
    let (work, serves) = (Writing::Trust(text, seen.agreed), seen.serves);
    Ok(Proposal { shown, list, work, serves, forgets: None })
}

/// Trust that is taken back.
pub(super) fn untrust(workspace: &WorkspaceState) -> Proposal {
    let list = workspace.files.root().join(WORKSPACE_LIST);
    let shown = Map::from_iter([
        ("action".to_owned(), json!("untrust")),
        ("list".to_owned(), json!(list.display().to_string())),
    ]);
    Proposal { shown, list, work: Writing::Untrust, serves: Vec::new(), forgets: None }
}

/// What a person is shown of the plugins of a list.
#[derive(Default)]
struct Seen {
    plugins: Vec<Value>,
    /// What of those that the list does not pin.
    agreed: Vec<Agreed>,
    serves: Vec<(String, Sha256Digest)>,
}

// === impl Seen ===

impl Seen {
    /// Looks at one plugin. What is on the network is not fetched for a list that nobody trusts.
    async fn look(
        &mut self,
        daemon: &Arc<Daemon>,
        workspace: &WorkspaceState,
        config: &Config,
        listed: &Listed,
        hears: Hears<'_>,
    ) {
        let entry = &listed.entry;
        let mut shown = json!({ "name": entry.name, "source": entry.source });
        shown["pinned"] = json!(entry.sha256.map(|digest| digest.to_string()));
        shown["granted"] = json!(entry.grant.lines());
        shown["limits"] = json!(entry.limit_lines());
        if !entry.config.is_empty() {
            shown["config"] = Value::Object(entry.config.clone());
        }
        if entry.is_remote() && !listed.source.exists() {
            shown["problem"] = json!("it is fetched once the list is trusted");
            self.plugins.push(shown);
            return;
        }
        let looking = Looking { expected: entry.sha256, is_named: true, may_fetch: false };
        let looked = look(daemon, listed, looking, hears).await;
        if entry.sha256.is_none() {
            let plugin = looked.as_ref().ok().map(|looked| &looked.plugin);
            self.agreed.push(Agreed::shown(&listed.list, &entry.name, plugin));
        }
        match looked {
            Ok(looked) => {
                shown["signed_by"] = json!(looked.signed_by);
                add_plugin(&mut shown, &looked.plugin, &entry.grant, config, workspace);
                self.serves.push((entry.name.clone(), looked.digest));
            }
            Err(error) => shown["problem"] = json!(error.message),
        }
        self.plugins.push(shown);
    }
}
