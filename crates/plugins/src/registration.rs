//! What somebody wants to change in a plugin list, worked out so that a person can decide: the
//! component looked at, the capabilities compared, the list's text before and after.
//!
//! Nothing here decides or writes: see `call/effect/register.rs`.

mod accepting;
mod adding;
mod looking;
mod removing;
mod trusting;
mod written;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_plugin_host::Plugin;
use moss_plugin_list::{Grant, ListEdit, PluginEntry, Sha256Digest};
use moss_sdk::{Effect, ErrorCode, RelPath, ToolError};
use moss_workspace::{between, dirs::Dirs};

pub use self::removing::forget;
pub use self::written::WrittenList;
use super::agreed::{self, Agreed};
use super::inspect;
use super::list_file::read_list_if_there;
use super::registry::{self, EditedList};
use super::{downloads, trust};
use crate::compiling::OnCompile;
use crate::environment::{Environment, Installed};
use crate::settings::Settings;
use crate::status::PluginState;
use moss_dispatch::{
    AddPlugin, PluginChange,
    blocking::blocking,
    consent::{Allowed, Consent, SinceServed},
};
use moss_network::download::OnBytes;

/// A change that is worked out.
#[derive(Debug)]
pub struct Proposal {
    /// What people are shown, and what a decision is bound to.
    pub consent: Consent,
    /// The list that changes, or whose trust does.
    pub list: PathBuf,
    work: ListWrite,
    /// The plugins and the digests that serve afterwards.
    pub serves: Vec<(String, Sha256Digest)>,
    /// The plugin whose store is forgotten afterwards.
    pub forgets: Option<String>,
}

/// What an agreed change writes.
#[derive(Debug)]
enum ListWrite {
    /// Changes of the list, and what comes of them.
    List(Vec<ListEdit>, EditedList),
    /// That the list is trusted with this text, and what was shown of its plugins.
    Trust(String, Vec<Agreed>),
    /// That it is not.
    Untrust,
}

/// Who hears how far the working out is.
#[derive(Clone, Copy)]
pub struct Hears<'a> {
    /// Of bytes that were fetched.
    pub on_bytes: OnBytes<'a>,
    /// Of what is compiled.
    pub on_compile: &'a OnCompile,
    /// Whether it is read and compiled in turn with what others ask for in this way. What is fetched is waited for
    /// without a turn.
    pub in_turn: bool,
}

/// Works a change out. Compiling takes up to seconds.
///
/// # Errors
///
/// What the list or the component is refused for, and names that are taken.
pub async fn propose(
    environment: &Arc<Environment>,
    workspace: &Installed,
    change: &PluginChange,
    hears: Hears<'_>,
) -> Result<Proposal, ToolError> {
    match change {
        PluginChange::Add(add) => adding::propose(environment, workspace, add, hears).await,
        PluginChange::Remove(remove) => removing::propose(environment, workspace, remove).await,
        PluginChange::Accept { list, name } => {
            let list = list_of(environment, list.as_deref());
            accepting::propose(environment, workspace, list, name, hears).await
        }
        PluginChange::Trust => trusting::propose(environment, workspace, hears).await,
        PluginChange::Untrust => Ok(trusting::untrust(workspace)),
    }
}

// === impl Proposal ===

impl Proposal {
    /// The text of the list before and after; none where it stays as it is.
    pub fn edited(&self) -> Option<&EditedList> {
        match &self.work {
            ListWrite::List(_, edited) => Some(edited),
            ListWrite::Trust(..) | ListWrite::Untrust => None,
        }
    }
}

/// Writes what was worked out. Waits for the disk.
///
/// # Errors
///
/// Where the list is not what it was worked out on any more, or cannot be written.
pub fn write(dirs: &Dirs, proposal: &Proposal) -> Result<(), ToolError> {
    match &proposal.work {
        ListWrite::List(edits, _) => registry::edit(dirs, &proposal.list, edits).map(|_| ()),
        ListWrite::Trust(text, shown) => {
            shown.iter().try_for_each(|shown| agreed::keep(dirs, shown))?;
            trust::trust(dirs, &proposal.list, text)
        }
        ListWrite::Untrust => trust::untrust(dirs, &proposal.list),
    }
}

/// Whether a component was fetched from there before.
pub fn is_fetched(environment: &Environment, source: &str, digest: Sha256Digest) -> bool {
    downloads::component(&environment.dirs, digest, source).exists()
}

/// Refuses what cannot be added whatever its component holds, before anybody is asked about fetching that.
///
/// # Errors
///
/// What its entry is refused for.
pub fn check_entry(environment: &Environment, add: &AddPlugin) -> Result<(), ToolError> {
    adding::check_entry(environment, add)
}

/// Finds a plugin in a list.
async fn entry_of(
    workspace: &Installed,
    list: &Path,
    name: &str,
) -> Result<PluginEntry, ToolError> {
    let file = list.to_owned();
    let read = blocking(move || read_list_if_there(&file)).await?;
    let read = read.map_err(|reason| ToolError::new(ErrorCode::InvalidArguments, reason))?;
    let plugins = read.map(|read| read.plugins).unwrap_or_default();
    let listed: Vec<_> = plugins.iter().map(|entry| entry.name.clone()).collect();
    plugins.into_iter().find(|entry| entry.name == name).ok_or_else(|| {
        let message = format!("no plugin named `{name}` is listed in {}", list.display());
        let statuses = workspace.statuses.load();
        let elsewhere = statuses.iter().filter(|status| status.entry.is_some());
        let elsewhere = elsewhere.clone().find(|status| status.name == name);
        let hint = match (elsewhere, listed.as_slice()) {
            (Some(status), _) => {
                format!("{} lists it: name that with `--list`", status.listed_in)
            }
            (None, []) => "no list names it".to_owned(),
            (None, listed) => format!("listed are: {}", listed.join(", ")),
        };
        ToolError::new(ErrorCode::NotFound, message).hint(hint)
    })
}

fn list_of(environment: &Environment, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| environment.lists.users.clone(), Path::to_owned)
}

/// What comes of a grant, and what differs from the version that serves.
fn allowed(
    plugin: &Plugin,
    granted: &Grant,
    settings: &Settings,
    workspace: &Installed,
) -> Allowed {
    let requested = Grant::requested(plugin.requests());
    let uncapped = requested.meet(granted);
    let effective = uncapped.meet(&settings.maximum.grant);
    let refused = plugin
        .requests()
        .iter()
        .filter(|request| !effective.covers(&Grant::requested(std::slice::from_ref(request))));
    Allowed {
        may: effective.lines(),
        may_not: refused.map(|request| request.capability.to_string()).collect(),
        capped: uncapped.beyond(&effective),
        without_effect: without_effect(&requested, granted, workspace),
        since_served: since_served(plugin, workspace),
    }
}

/// What differs from the version that serves; none where none does.
fn since_served(plugin: &Plugin, workspace: &Installed) -> Option<SinceServed> {
    let statuses = workspace.statuses.load();
    let serving = statuses.iter().find(|status| status.name == plugin.name())?;
    let PluginState::Ready(serving) = &serving.state else { return None };
    let (before, now) = (inspect::texts(serving), inspect::texts(plugin));
    let texts = (before != now).then(|| {
        let path = RelPath::parse("tools").expect("a plain name");
        between(&path, Some(before.as_bytes()), Some(now.as_bytes())).text
    });
    let same_component = plugin.digest() == serving.digest();
    Some(SinceServed { differences: plugin.differences(serving), texts, same_component })
}

/// What of a grant does nothing.
fn without_effect(requested: &Grant, granted: &Grant, workspace: &Installed) -> Vec<String> {
    let unasked = granted.beyond(requested).into_iter();
    let mut all: Vec<_> = unasked.map(|line| format!("{line}: it does not request it")).collect();
    let catalog = workspace.catalog.load();
    for tool in granted.tools.iter().map(ToString::to_string).filter(|tool| tool != "*") {
        match catalog.entry(&tool) {
            Err(_) => all.push(format!("call {tool}: there is no such tool now")),
            Ok(entry) if entry.spec.effect != Effect::Read => {
                all.push(format!("call {tool}: plugins call only tools that read"));
            }
            Ok(_) => {}
        }
    }
    all
}

/// Refuses tools whose names others have.
fn check_names(environment: &Environment, plugin: &Plugin) -> Result<(), ToolError> {
    for workspace in environment.workspaces() {
        let catalog = workspace.catalog.load();
        for spec in plugin.specs() {
            if let Some(holder) = catalog.holder(&spec.name, Some(plugin.name())) {
                let message = format!("the tool name `{}` is used by {holder}", spec.name);
                return Err(ToolError::new(ErrorCode::AlreadyExists, message).hint(
                    "a plugin cannot replace another's tool; `moss plugin add \
                        --rename OWN=OTHER`, or `tools` in the list, gives it another name",
                ));
            }
        }
    }
    Ok(())
}

async fn finish(
    list: PathBuf,
    edits: Vec<ListEdit>,
    consent: Consent,
    serves: Vec<(String, Sha256Digest)>,
) -> Result<Proposal, ToolError> {
    let (file, planned) = (list.clone(), edits.clone());
    let edited = blocking(move || registry::preview(&file, &planned)).await??;
    Ok(Proposal { consent, list, work: ListWrite::List(edits, edited), serves, forgets: None })
}
