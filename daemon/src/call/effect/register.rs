//! Changing a plugin list: worked out, shown, decided, asked, written. No rule and no standing
//! approval allows it, and no blanket yes: a person looks at each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use moss_plugin_list::{Grant, OciReference, Sha256Digest};
use moss_sdk::context::Progress;
use moss_sdk::plugin::{PluginRegistered, PluginRequest};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::{FileAction, between, hash};
use serde_json::Map;

use super::ask::Ask;
use super::{Effects, FileNames};
use crate::call::stop::EffectStop;
use moss_dispatch::{
    AddPlugin, Event, Granting, PluginChange, PluginLocation, Role,
    change::{self, ChangeStatus, FileChange, Whole},
    consent::{ChangeStage, Consent, PluginsChanged},
};
use moss_plugins::{
    PluginState,
    compiling::OnCompile,
    registration::{self, Hears, Proposal, WrittenList},
};
use moss_policy::{Action, Verdict};

/// Longest wait for a plugin that was registered to be loaded.
const LOADED_WAIT: Duration = Duration::from_secs(20);

// === impl Effects ===

impl Effects {
    /// Registers a plugin that a tool asks for, in the user's list.
    pub(in crate::call) async fn register_plugin(
        self: &Arc<Self>,
        request: PluginRequest,
    ) -> Result<PluginRegistered, EffectStop> {
        let invalid = |message| ToolError::new(ErrorCode::InvalidArguments, message);
        let source = match request.source {
            source if OciReference::is_meant(&source) => {
                let reference = OciReference::parse(&source);
                PluginLocation::Url(
                    reference.map_err(|why| invalid(format!("{source}: {why}")))?.to_string(),
                )
            }
            source if source.starts_with("https://") => PluginLocation::Url(source),
            source => PluginLocation::File(self.component_of(&source).await?),
        };
        let grant = request.grant.map(|grant| Grant::parse(&grant.to_string())).transpose();
        let grant = grant.map_err(|why| invalid(format!("the grant: {why}")))?;
        let sha256 = request.sha256.map(|text| {
            let parsed = Sha256Digest::parse(&text.to_ascii_lowercase());
            parsed.ok_or_else(|| invalid("`sha256` is not 64 hexadecimal digits".to_owned()))
        });
        let add = AddPlugin {
            list: None,
            name: Some(request.name),
            source,
            signature: None,
            sha256: sha256.transpose()?,
            grant: grant.map_or(Granting::Unsaid, Granting::Exactly),
            config: Map::new(),
            replace: false,
            tools: BTreeMap::new(),
            reason: request.reason,
        };
        let done = self.change_plugins(PluginChange::Add(Box::new(add))).await?;
        let (Consent::Add(added) | Consent::Replace(added)) = done.consent else {
            unreachable!("a plugin was to be added");
        };
        Ok(PluginRegistered {
            version: added.component.version,
            sha256: added.component.sha256,
            tools: added.component.tools.into_iter().map(|tool| tool.name).collect(),
            may: added.allowed.may,
            may_not: added.allowed.may_not,
            list: added.list,
            applied: done.stage.is_applied(),
            loaded: done.stage.is_loaded(),
        })
    }

    /// Changes a list for who asks for just that; returns what programs get of it.
    pub(in crate::call) async fn change_list(
        self: &Arc<Self>,
        change: PluginChange,
    ) -> Result<String, EffectStop> {
        let done = self.change_plugins(change).await?;
        let text = done.to_json();
        self.lock().plugins = Some(Box::new(done));
        Ok(text)
    }

    /// Finds the component that a tool names: a file of the workspace that the caller may read.
    async fn component_of(&self, source: &str) -> Result<PathBuf, EffectStop> {
        let workspace = Arc::clone(&self.scope.workspace);
        let asked = workspace.files.path(source)?;
        let path = asked.clone();
        let files = Arc::clone(&workspace.files);
        let real = self.scope.blocking(move || files.resolve(&path)).await??.path;
        let policy = workspace.policy.load_full();
        let names = FileNames { real: &real, asked: &asked };
        let decision = self.decide_read(&policy, names);
        match decision.verdict {
            Verdict::Allow => {}
            Verdict::Deny => return Err(self.deny_read(&real, &decision).await),
            Verdict::Ask => self.ask_read(names, &decision).await?,
        }
        Ok(workspace.files.root().join(real.as_str()))
    }

    /// Shows what becomes of a plugin list, lets policy and people decide, and writes it.
    async fn change_plugins(
        self: &Arc<Self>,
        change: PluginChange,
    ) -> Result<PluginsChanged, EffectStop> {
        let (daemon, workspace) = (&self.scope.daemon, &self.scope.workspace);
        // What a rule refuses by itself is neither fetched nor compiled.
        self.refuse_denied(Action::Register).await?;
        if let PluginChange::Add(add) = &change
            && let AddPlugin { source: PluginLocation::Url(url), sha256, .. } = &**add
        {
            registration::check_entry(&daemon.plugins, add)?;
            self.permit_download(url, *sha256).await?;
        }
        let events = self.scope.events.clone();
        let tell = move |message, done, total| {
            events.offer(Event::Progress(Progress { message, done, total }));
        };
        let on_compile: OnCompile = {
            let tell = tell.clone();
            // A step without numbers: nothing shows how far a compiler is.
            Arc::new(move |compiling| {
                tell(compiling.to_string(), 0, None);
                None
            })
        };
        let on_bytes = |done, total| tell("bytes of the plugin".to_owned(), done, total);
        // What a caller asks for is compiled before anybody agrees to it.
        let in_turn = self.scope.call.caller.role() == Role::Caller;
        let hears = Hears { on_bytes: &on_bytes, on_compile: &on_compile, in_turn };
        let proposal =
            registration::propose(&daemon.plugins, &workspace.installed, &change, hears).await?;
        let arguments = proposal.consent.to_json();
        let digest = self.digest_of("register", &arguments);
        let changes: Vec<_> = self.change_of(&proposal).into_iter().collect();
        {
            let mut inner = self.lock();
            inner.digest = Some(digest);
            inner.changes.clone_from(&changes);
        }
        let decision = self.decide_own(Action::Register).await?;
        if self.scope.call.dry_run {
            return Ok(PluginsChanged { consent: proposal.consent, stage: ChangeStage::Shown });
        }
        if decision.verdict == Verdict::Ask {
            let ask = Ask {
                changes,
                arguments: Some(arguments),
                consent: Some(Arc::new(proposal.consent.clone())),
                ..Ask::of(digest, &decision)
            };
            if let Err(error) = self.ask(ask).await {
                self.mark(ChangeStatus::Unconfirmed);
                return Err(error.into());
            }
            // A rule may have come while somebody was being asked.
            self.decide_own(Action::Register).await?;
        }
        let proposal = self.write_list(proposal).await?;
        let loaded = self.await_loaded(&proposal).await;
        let not_loaded_because = self.why_not_loaded(&proposal).filter(|_| !loaded);
        let stage = ChangeStage::Applied { loaded, not_loaded_because };
        Ok(PluginsChanged { consent: proposal.consent, stage })
    }

    /// Shows what becomes of the list; nothing where it stays as it is.
    fn change_of(&self, proposal: &Proposal) -> Option<FileChange> {
        let edited = proposal.edited()?;
        let name = proposal.list.file_name().unwrap_or_default().to_string_lossy();
        let path = RelPath::parse(&name).unwrap_or_else(|_| RelPath::root());
        let before = edited.before.as_deref().map(str::as_bytes);
        let after = edited.after.as_bytes();
        let diff = between(&path, before, Some(after));
        let mut change = FileChange {
            path,
            real: None,
            action: if before.is_some() { FileAction::Modify } else { FileAction::Create },
            status: ChangeStatus::Proposed,
            diff_omitted: 0,
            diff: diff.text.clone(),
            lines_added: diff.added as u64,
            lines_removed: diff.removed as u64,
            before: before.map(hash),
            after: Some(hash(after)),
            unsaved: false,
            match_level: None,
            drift: Vec::new(),
            drift_omitted: 0,
            diagnostics: Vec::new(),
            unchecked: Vec::new(),
            whole: None,
        };
        let diff_bytes_max = self.scope.daemon.config().calls.diff_bytes_max;
        change.diff_omitted = change::cut(&mut change.diff, diff_bytes_max);
        if change.diff_omitted > 0 {
            change.whole = Some(Whole { drift: "".into(), diff: diff.text.into() });
        }
        Some(change)
    }

    /// Writes on a thread of its own; a call that is cancelled meanwhile waits for it.
    async fn write_list(self: &Arc<Self>, proposal: Proposal) -> Result<Proposal, EffectStop> {
        let committing = Arc::clone(&self.committing).lock_owned().await;
        let effects = Arc::clone(self);
        let write = move || {
            effects.check_not_cancelled()?;
            effects.reserve_room([])?;
            let dirs = &effects.scope.daemon.setup.dirs;
            let written = registration::write(dirs, &proposal);
            effects.mark(match &written {
                Ok(_) => ChangeStatus::Committed,
                Err(_) => ChangeStatus::Conflict,
            });
            drop(committing);
            written?;
            registration::forget(&effects.scope.daemon.plugins, &proposal)?;
            Ok(proposal)
        };
        self.scope.blocking(write).await?
    }

    /// Waits, in bounded time, until the change is in effect: the list is read as it is now, and what
    /// serves is what was registered. Returns whether it serves; a daemon that reloads nothing does not
    /// load it either.
    async fn await_loaded(&self, proposal: &Proposal) -> bool {
        let (daemon, workspace) = (&self.scope.daemon, &self.scope.workspace);
        if !self.is_read(&proposal.list) || !daemon.is_following_plugins() {
            return false;
        }
        let list = proposal.list.clone();
        let written = self.scope.blocking(move || WrittenList::of(&list)).await;
        let Ok(Some(written)) = written else { return false };
        let mut replaced = workspace.installed.statuses_replaced.subscribe();
        let serves = async {
            loop {
                replaced.borrow_and_update();
                let statuses = workspace.installed.statuses.load();
                if written.is_in_effect(proposal, &statuses) {
                    return !proposal.serves.is_empty();
                }
                if replaced.changed().await.is_err() {
                    return false;
                }
            }
        };
        tokio::time::timeout(LOADED_WAIT, serves).await.unwrap_or(false)
    }

    /// Whether this daemon reads a list.
    fn is_read(&self, list: &Path) -> bool {
        let (daemon, workspace) = (&self.scope.daemon, &self.scope.workspace);
        daemon.plugins.lists.has(list) || list.parent() == Some(workspace.files.root())
    }

    /// Why what was registered does not serve, as far as that is known. Without a daemon that follows
    /// the lists, the next command loads it.
    fn why_not_loaded(&self, proposal: &Proposal) -> Option<String> {
        let (daemon, list) = (&self.scope.daemon, proposal.list.display());
        if proposal.serves.is_empty() {
            return None;
        }
        if !self.is_read(&proposal.list) {
            return Some(format!(
                "{list} is not read here; `moss serve --plugins {list}` reads it"
            ));
        }
        if !daemon.is_following_plugins() {
            return None;
        }
        let statuses = self.scope.workspace.installed.statuses.load();
        let of_list = statuses.iter().filter(|status| status.listed_in == list.to_string());
        let mut why = of_list.filter_map(|status| {
            proposal.serves.iter().find(|(name, _)| *name == status.name)?;
            match &status.state {
                PluginState::Failed(why) => Some(why.clone()),
                _ => status.notice.clone(),
            }
        });
        why.next().or_else(|| {
            Some("it is being loaded; `moss plugin list` shows the progress".to_owned())
        })
    }
}
