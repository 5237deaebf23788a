//! The slot of one plugin of a list through its versions: which one serves, and whether what the
//! file holds now may take over.

mod examination;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Weak};

use moss_plugin_host::{LoadError, Plugin};
use moss_plugin_list::{PluginEntry, Sha256Digest};

pub(super) use self::examination::{Examination, Examined};
use self::examination::{ExaminationResult, ExaminedFile};
use super::lists::ResolvedEntry;
use crate::status::{PluginState, PluginStatus};
use moss_catalog::PluginTools;

/// The error for calls of a plugin that may not serve as it is listed now.
const REFUSED: &str = "the plugin may not be used any more";
/// Digits of a digest that distinguish two versions for people.
const SHORT_DIGEST_CHARS: usize = 12;

/// The slot of one plugin.
#[derive(Debug)]
pub(super) struct Slot {
    listed: ResolvedEntry,
    /// The version whose tools are in the catalog.
    serving: Option<Arc<PluginTools>>,
    /// Versions that served before and may still have running calls.
    older: Vec<Weak<Plugin>>,
    /// What the file held when it was last looked at.
    seen: Option<ExaminedFile>,
    /// A version that would serve, but for the name of a tool that another plugin has.
    blocked: Option<Arc<PluginTools>>,
    /// Why what the file holds does not serve.
    problem: Option<String>,
}

// === impl Slot ===

impl Slot {
    pub(super) fn new(listed: ResolvedEntry) -> Self {
        Self { listed, serving: None, older: Vec::new(), seen: None, blocked: None, problem: None }
    }

    /// Whether this is the slot of that plugin.
    pub(super) fn is_of(&self, listed: &ResolvedEntry) -> bool {
        self.listed.list == listed.list && self.listed.entry.name == listed.entry.name
    }

    /// The version that serves.
    pub(super) fn serving(&self) -> Option<&Arc<PluginTools>> {
        self.serving.as_ref()
    }

    /// The root of the only workspace that it serves; none for all.
    pub(super) fn only_for(&self) -> Option<&Path> {
        self.listed.only_for.as_deref()
    }

    /// Whether its component, or its signature, is on the network and not there yet.
    pub(super) fn is_to_be_fetched(&self) -> bool {
        let ResolvedEntry { entry, source, signature, .. } = &self.listed;
        let place = entry.signature.as_deref().unwrap_or_default();
        let signature = signature.as_deref().filter(|_| place.starts_with("https://"));
        let component = Some(source.as_path()).filter(|_| entry.is_remote());
        [component, signature].into_iter().flatten().any(|file| !file.exists())
    }

    /// A version that waits for the name of a tool.
    pub(super) fn blocked(&self) -> Option<&Arc<PluginTools>> {
        self.blocked.as_ref()
    }

    /// Takes what the list says now. What it says about grants, limits and settings holds for the
    /// version that serves, whatever becomes of the file. Returns whether that one was replaced.
    pub(super) fn take_entry(&mut self, listed: ResolvedEntry) -> bool {
        let (old, new) = (&self.listed.entry, &listed.entry);
        let said = |entry: &PluginEntry| {
            let PluginEntry { tools, grant, maximum, limits, config, .. } = entry;
            (tools.clone(), grant.clone(), maximum.clone(), *limits, config.clone())
        };
        let is_same = said(old) == said(new);
        let mut replaced = false;
        if self.listed.signers != listed.signers || self.listed.signature != listed.signature {
            self.seen = None;
        }
        self.each_running(|plugin| {
            if plugin.revoke_unless_granted(&listed.entry) {
                tracing::info!(plugin = listed.entry.name, "a revoked grant stopped running calls");
            }
        });
        let new = &listed.entry;
        if let Some(refusal) = &listed.refusal {
            replaced = self.refuse(refusal.clone());
        } else if !is_same {
            // A version that waits was made for the old entry.
            (self.blocked, self.seen) = (None, None);
            if let Some(serving) = &self.serving {
                match rebound(serving.plugin(), new) {
                    Ok(tools) => {
                        let old = self.serving.replace(Arc::new(tools));
                        self.older.extend(old.map(|old| Arc::downgrade(old.plugin())));
                        replaced = true;
                    }
                    // It must not continue with a grant that was revoked.
                    Err(problem) => {
                        tracing::warn!(
                            plugin = new.name,
                            problem,
                            "a plugin cannot be used any more"
                        );
                        self.each_running(|plugin| plugin.revoke(REFUSED));
                        (self.serving, self.problem) = (None, Some(problem));
                        replaced = true;
                    }
                }
            }
        }
        self.listed = listed;
        replaced
    }

    /// Stops the calls of a plugin that the list no longer names, unless it moved to another list
    /// that grants as much.
    pub(super) fn leave(&mut self, listed: &[ResolvedEntry]) {
        let is_moved = |listed: &&ResolvedEntry| {
            listed.entry.name == self.listed.entry.name && listed.only_for == self.listed.only_for
        };
        match listed.iter().find(is_moved) {
            Some(moved) => self.each_running(|plugin| {
                plugin.revoke_unless_granted(&moved.entry);
            }),
            None => {
                self.each_running(|plugin| plugin.revoke("the plugin was removed from its list"));
            }
        }
    }

    /// Comes to every version that may have running calls.
    fn each_running(&mut self, visit: impl Fn(&Plugin)) {
        self.older.retain(|plugin| plugin.strong_count() > 0);
        let older: Vec<_> = self.older.iter().filter_map(Weak::upgrade).collect();
        let serving = self.serving.as_ref().map(|tools| tools.plugin());
        older.iter().chain(serving).for_each(|plugin| visit(plugin));
    }

    /// What has to be known to look at the file.
    pub(super) fn examination(&self) -> Examination {
        Examination {
            listed: self.listed.clone(),
            seen: self.seen.clone(),
            serving: self.serving.as_ref().map(|tools| Arc::clone(tools.plugin())),
            is_named: self.serving.as_ref().is_some_and(|tools| self.is_named(tools.plugin())),
        }
    }

    /// Whether the tools of a version have the names that the list gives them.
    fn is_named(&self, plugin: &Plugin) -> bool {
        let listed = self.listed.entry.tools.iter().filter(|(own, name)| own != name);
        names(plugin) == listed.map(|(own, name)| (own.clone(), name.clone())).collect()
    }

    /// Takes what was found in the file. `install` shows whether a version can have its tools in
    /// the catalog. Returns whether another version serves now.
    pub(super) fn take(
        &mut self,
        examined: Examined,
        install: impl FnOnce(&PluginTools) -> Result<(), String>,
    ) -> bool {
        self.seen = examined.seen;
        match examined.found {
            ExaminationResult::Same => false,
            ExaminationResult::Serving => {
                self.settle(None);
                false
            }
            ExaminationResult::Nothing(problem) => {
                self.settle(Some(problem));
                false
            }
            ExaminationResult::Refused(problem) => self.refuse(problem),
            ExaminationResult::Other(tools) => {
                self.blocked = Some(tools);
                self.unblock(install)
            }
        }
    }

    /// Lets the version serve that waits for the name of a tool, if it is free now.
    pub(super) fn unblock(
        &mut self,
        install: impl FnOnce(&PluginTools) -> Result<(), String>,
    ) -> bool {
        let Some(tools) = self.blocked.take() else { return false };
        match install(&tools) {
            Ok(()) => {
                let plugin = tools.plugin();
                let digest = short(plugin.digest());
                tracing::info!(plugin = plugin.name(), digest, "a plugin is ready");
                for why in plugin.left_out() {
                    tracing::warn!(plugin = plugin.name(), why, "a function is no tool");
                }
                let old = self.serving.replace(tools);
                self.older.extend(old.map(|old| Arc::downgrade(old.plugin())));
                self.problem = None;
                true
            }
            Err(problem) => {
                // What serves keeps serving, unless the list pins what waits.
                let pin = self.listed.entry.sha256;
                let is_pinned_away =
                    |plugin: &Plugin| pin.is_some_and(|pin| pin != plugin.digest());
                let ends = self.serving.as_ref().is_some_and(|old| is_pinned_away(old.plugin()));
                let has_changed = match ends {
                    true => self.refuse(problem),
                    false => {
                        self.settle(Some(problem));
                        false
                    }
                };
                self.blocked = Some(tools);
                has_changed
            }
        }
    }

    /// Stops serving where that does not fit beside those that come first; it waits for its names.
    pub(super) fn make_way(&mut self, fits: impl FnOnce(&PluginTools) -> Result<(), String>) {
        let Some(tools) = self.serving.take() else { return };
        match fits(&tools) {
            Ok(()) => self.serving = Some(tools),
            Err(problem) => {
                self.settle(Some(problem));
                self.blocked = Some(tools);
            }
        }
    }

    /// Ends what serves. Returns whether anything did.
    fn refuse(&mut self, problem: String) -> bool {
        self.each_running(|plugin| plugin.revoke(REFUSED));
        let served = self.serving.take().is_some();
        self.settle(Some(problem));
        served
    }

    fn settle(&mut self, problem: Option<String>) {
        self.blocked = None;
        if self.problem == problem {
            return;
        }
        let plugin = &self.listed.entry.name;
        match &problem {
            Some(problem) if self.serving.is_some() => {
                tracing::warn!(
                    plugin,
                    problem,
                    "a plugin's file does not serve; an older version does"
                );
            }
            Some(problem) => tracing::warn!(plugin, problem, "a plugin cannot be used"),
            None => tracing::info!(plugin, "the plugin's file holds the version that serves"),
        }
        self.problem = problem;
    }

    /// The digest of what the file holds, where that does not serve.
    fn staged_digest(&self) -> Option<Sha256Digest> {
        let serving = self.serving.as_ref().map(|tools| tools.plugin().digest());
        let seen = self.seen.as_ref().map(|seen| seen.digest);
        seen.filter(|seen| self.problem.is_some() && Some(*seen) != serving)
    }

    /// The message for people.
    pub(super) fn status(&self) -> PluginStatus {
        let (state, notice) = match (&self.serving, &self.problem) {
            (Some(tools), problem) => {
                (PluginState::Ready(Arc::clone(tools.plugin())), problem.clone())
            }
            (None, Some(problem)) => (PluginState::Failed(problem.clone()), None),
            (None, None) => (PluginState::Loading, None),
        };
        PluginStatus {
            name: self.listed.entry.name.clone(),
            listed_in: self.listed.list.display().to_string(),
            entry: Some(self.listed.entry.clone()),
            source: self.listed.shown_source(),
            state,
            notice,
            staged: self.staged_digest(),
        }
    }
}

/// The names of the tools that are not the plugin's own, by those.
fn names(plugin: &Plugin) -> BTreeMap<String, String> {
    plugin.renamed().map(|(name, own)| (own.to_owned(), name.to_owned())).collect()
}

/// The same version under another entry. Its tools keep their names: other ones wait until it is
/// known whether they are free.
fn rebound(plugin: &Plugin, entry: &PluginEntry) -> Result<PluginTools, String> {
    let entry = PluginEntry { tools: names(plugin), ..entry.clone() };
    let plugin = match plugin.with_entry(&entry) {
        // It continues with those that it had. The file check reports it.
        Err(LoadError::Settings(_)) => plugin.with_entry_but_settings(&entry),
        bound => bound,
    };
    let plugin = plugin.map_err(|error| error.to_string())?;
    PluginTools::new(Arc::new(plugin)).map_err(|error| error.to_string())
}

fn short(digest: Sha256Digest) -> String {
    digest.to_string().chars().take(SHORT_DIGEST_CHARS).collect()
}
