//! The list that a workspace brings along, as far as it can be looked at before it is trusted.

use std::sync::Arc;

use moss_plugin_list::{PluginList, Sha256Digest};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::between;

use super::looking::{Looking, look};
use super::{Hears, ListWrite, Proposal, allowed};
use crate::agreed::Agreed;
use crate::environment::{Environment, Installed};
use crate::inspect;
use crate::lists::{self, ResolvedEntry};
use crate::settings::Settings;
use crate::trust::{self, WORKSPACE_LIST};
use moss_dispatch::{
    blocking::blocking,
    consent::{Consent, Inspection, ListedPlugin, Look, Trusted},
};

pub(super) async fn propose(
    environment: &Arc<Environment>,
    workspace: &Installed,
    hears: Hears<'_>,
) -> Result<Proposal, ToolError> {
    let files = Arc::clone(&workspace.files);
    let list = files.root().join(WORKSPACE_LIST);
    let text = blocking(move || lists::workspace_list(&files)).await?;
    let text = text.map_err(|reason| ToolError::new(ErrorCode::Io, reason))?.ok_or_else(|| {
        let message = format!("{} does not exist", list.display());
        ToolError::new(ErrorCode::NotFound, message)
    })?;
    let invalid = |error: moss_plugin_list::ListError| {
        ToolError::new(ErrorCode::InvalidArguments, error.to_string())
    };
    let parsed = PluginList::parse_of_workspace(&list.display().to_string(), &text);
    let settings = environment.settings();
    let mut seen = ListReview::default();
    for entry in parsed.map_err(invalid)?.plugins {
        let only_for = Some(workspace.files.root().to_owned());
        let listed = ResolvedEntry::new(&list, only_for, entry, &environment.dirs, &settings);
        seen.look(environment, workspace, &settings, &listed, hears).await;
    }
    let (dirs, file) = (environment.dirs.clone(), list.clone());
    let before = blocking(move || trust::trusted_text(&dirs, &file)).await??;
    let since_trusted = before.map(|before| {
        let path = RelPath::parse(WORKSPACE_LIST).expect("a plain path");
        // A list is bounded: who trusts it sees all of what changed.
        between(&path, Some(before.as_bytes()), Some(text.as_bytes())).text
    });
    let consent = Consent::Trust(Trusted {
        list: list.display().to_string(),
        list_blake3: trust::digest(&text).to_string(),
        plugins: seen.plugins,
        since_trusted,
    });
    let (work, serves) = (ListWrite::Trust(text, seen.agreed), seen.serves);
    Ok(Proposal { consent, list, work, serves, forgets: None })
}

/// Trust that is revoked.
pub(super) fn untrust(workspace: &Installed) -> Proposal {
    let list = workspace.files.root().join(WORKSPACE_LIST);
    let consent = Consent::Untrust { list: list.display().to_string() };
    Proposal { consent, list, work: ListWrite::Untrust, serves: Vec::new(), forgets: None }
}

/// What a person is shown of the plugins of a list.
#[derive(Default)]
struct ListReview {
    plugins: Vec<ListedPlugin>,
    /// What of those that the list does not pin.
    agreed: Vec<Agreed>,
    serves: Vec<(String, Sha256Digest)>,
}

// === impl ListReview ===

impl ListReview {
    /// Looks at one plugin. What is on the network is not fetched for a list that nobody trusts.
    async fn look(
        &mut self,
        environment: &Arc<Environment>,
        workspace: &Installed,
        settings: &Settings,
        listed: &ResolvedEntry,
        hears: Hears<'_>,
    ) {
        let entry = &listed.entry;
        let shown = |look| ListedPlugin {
            name: entry.name.clone(),
            source: entry.source.clone(),
            pinned: entry.sha256.map(|digest| digest.to_string()),
            granted: entry.grant.lines(),
            limits: entry.limit_lines(),
            config: entry.config.clone(),
            look,
        };
        if entry.is_remote() && !listed.source.exists() {
            let problem = "it is fetched once the list is trusted".to_owned();
            self.plugins.push(shown(Look::Problem { problem }));
            return;
        }
        let looking = Looking { expected: entry.sha256, is_named: true, may_fetch: false };
        let looked = look(environment, listed, looking, hears).await;
        if entry.sha256.is_none() {
            let plugin = looked.as_ref().ok().map(|looked| &looked.plugin);
            self.agreed.push(Agreed::shown(&listed.list, &entry.name, plugin));
        }
        let look = match looked {
            Ok(looked) => {
                self.serves.push((entry.name.clone(), looked.digest));
                Look::Found(Box::new(Inspection {
                    signed_by: looked.signed_by,
                    component: inspect::component(&looked.plugin),
                    allowed: allowed(&looked.plugin, &entry.grant, settings, workspace),
                }))
            }
            Err(error) => Look::Problem { problem: error.message },
        };
        self.plugins.push(shown(look));
    }
}
