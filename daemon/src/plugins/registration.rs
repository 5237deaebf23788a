//! What somebody wants to change in a plugin list, worked out so that a person can decide: the
//! component looked at, the capabilities compared, the list's text before and after.
//!
//! Nothing here decides or writes: see `call/effect/register.rs`.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use moss_plugin_host::{Grant, ListEdit, Plugin, Sha256Digest};
use moss_sdk::{ErrorCode, ToolError};
use serde_json::{Map, Value, json};

use super::inspect;
use super::registry::{self, EditedList};
use super::{PluginState, read_list};
use crate::start;
use crate::state::{Daemon, WorkspaceState};

/// A change of a plugin list.
#[derive(Debug, Clone, PartialEq)]
pub enum PluginChange {
    /// Adds a plugin.
    Add(AddPlugin),
    /// Takes a plugin out.
    Remove {
        /// Where it is listed; the user's own list where none is named.
        list: Option<PathBuf>,
        /// The plugin.
        name: String,
    },
    /// Pins what the file of a plugin holds now.
    Accept {
        /// Where it is listed; the user's own list where none is named.
        list: Option<PathBuf>,
        /// The plugin.
        name: String,
    },
}

/// A plugin that is to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct AddPlugin {
    /// The list; the user's own where none is named.
    pub list: Option<PathBuf>,
    /// What it must be called; where none is named, what it calls itself.
    pub name: Option<String>,
    /// The file of its component.
    pub source: PathBuf,
    /// The digest that its component must have.
    pub sha256: Option<Sha256Digest>,
    /// What it is granted.
    pub grant: Granting,
    /// Whether it may take the place of an entry of its name.
    pub replace: bool,
    /// Why, for the person who decides.
    pub reason: String,
}

/// What a plugin is granted that is added.
#[derive(Debug, Clone, PartialEq)]
pub enum Granting {
    /// This.
    Exactly(Grant),
    /// All that it asks for.
    Requested,
}

/// A change that is worked out.
#[derive(Debug)]
pub(crate) struct Proposal {
    /// What people are shown, and what an answer is bound to.
    pub(crate) shown: Map<String, Value>,
    pub(crate) list: PathBuf,
    pub(crate) edits: Vec<ListEdit>,
    pub(crate) edited: EditedList,
    /// The plugin and the digest that serve afterwards; none where it is taken out.
    pub(crate) serves: Option<(String, Sha256Digest)>,
}

/// Works a change out. Compiling takes up to seconds.
///
/// # Errors
///
/// What the list or the component is refused for, and names that are taken.
pub(crate) async fn propose(
    daemon: &Arc<Daemon>,
    workspace: &WorkspaceState,
    change: &PluginChange,
) -> Result<Proposal, ToolError> {
    match change {
        PluginChange::Add(add) => propose_to_add(daemon, workspace, add).await,
        PluginChange::Remove { list, name } => {
            let list = list_of(daemon, list.as_deref());
            let edits = vec![ListEdit::Remove { name: name.clone() }];
            let shown = json!({ "action": "remove", "name": name });
            finish(list, edits, shown, None).await
        }
        PluginChange::Accept { list, name } => {
            propose_to_accept(daemon, workspace, list_of(daemon, list.as_deref()), name).await
        }
    }
}

// === impl PluginChange ===

impl PluginChange {
    /// The name under which policy and journal know it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add(_) => "add_plugin",
            Self::Remove { .. } => "remove_plugin",
            Self::Accept { .. } => "accept_plugin",
        }
    }

    /// What the journal keeps of it.
    pub fn arguments(&self) -> Value {
        match self {
            Self::Add(add) => json!({
                "list": add.list, "name": add.name, "source": add.source,
                "sha256": add.sha256.map(|digest| digest.to_string()),
            }),
            Self::Remove { list, name } | Self::Accept { list, name } => {
                json!({ "list": list, "name": name })
            }
        }
    }
}

fn list_of(daemon: &Daemon, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| start::user_plugin_list(&daemon.setup), Path::to_owned)
}

async fn propose_to_add(
    daemon: &Arc<Daemon>,
    workspace: &WorkspaceState,
    add: &AddPlugin,
) -> Result<Proposal, ToolError> {
    let list = list_of(daemon, add.list.as_deref());
    let bytes_max = daemon.config().plugins.component_bytes_max;
    let bytes = inspect::read(&add.source, bytes_max).await?;
    let digest = Sha256Digest::of(&bytes);
    if let Some(expected) = add.sha256.filter(|expected| *expected != digest) {
        let file = add.source.display();
        let message = format!("{file} has the sha256 {digest}, but {expected} is asked for");
        return Err(ToolError::new(ErrorCode::Conflict, message)
            .hint("get the file that is meant, or ask for the digest that it has"));
    }
    let plugin = inspect::plugin(daemon, &add.source, add.name.as_deref(), bytes).await?;
    check_names(daemon, &plugin)?;
    let known = known(&list, plugin.name()).await?;
    if known && !add.replace {
        let message = format!("{} names a plugin `{}`", list.display(), plugin.name());
        return Err(ToolError::new(ErrorCode::AlreadyExists, message).hint(
            "`moss plugin accept` pins what its file holds now, `moss plugin add --replace` puts \
             another in its place",
        ));
    }
    let granted = match &add.grant {
        Granting::Exactly(grant) => grant.clone(),
        Granting::Requested => Grant::requested(plugin.requests()),
    };
    let source = written_source(&list, add.list.is_some(), &add.source);
    let pairs = [
        ("source", Some(json!(source))),
        ("sha256", Some(json!(digest.to_string()))),
        ("grant", Some(granted.to_json()).filter(|_| !granted.is_empty())),
    ];
    let edits = if known {
        let set = |(key, value)| ListEdit::Set { name: plugin.name().to_owned(), key, value };
        pairs.into_iter().map(set).collect()
    } else {
        let mut entry = Map::from_iter([("name".to_owned(), json!(plugin.name()))]);
        let given = pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        entry.extend(given);
        vec![ListEdit::Add(Value::Object(entry))]
    };
    let mut shown =
        json!({ "action": if known { "replace" } else { "add" }, "name": plugin.name() });
    shown["source"] = json!(add.source.display().to_string());
    add_plugin(&mut shown, &plugin, &granted, workspace);
    if !add.reason.is_empty() {
        shown["reason"] = json!(add.reason);
    }
    finish(list, edits, shown, Some((plugin.name().to_owned(), digest))).await
}

async fn propose_to_accept(
    daemon: &Arc<Daemon>,
    workspace: &WorkspaceState,
    list: PathBuf,
    name: &str,
) -> Result<Proposal, ToolError> {
    let file = list.clone();
    let read = blocking(move || read_list(&file)).await?;
    let read = read.map_err(|reason| ToolError::new(ErrorCode::InvalidArguments, reason))?;
    let Some(entry) = read.plugins.into_iter().find(|entry| entry.name == name) else {
        let message = format!("no plugin named `{name}` is listed in {}", list.display());
        return Err(ToolError::new(ErrorCode::NotFound, message)
            .hint("`moss plugin list` says which list names it; name the list with `--list`"));
    };
    let source = list.parent().unwrap_or(Path::new(".")).join(&entry.source);
    let bytes = inspect::read(&source, daemon.config().plugins.component_bytes_max).await?;
    let digest = Sha256Digest::of(&bytes);
    if entry.sha256 == Some(digest) {
        let message = format!("`{name}` is pinned to what {} holds already", source.display());
        return Err(ToolError::new(ErrorCode::NoChange, message));
    }
    let plugin = inspect::plugin(daemon, &source, Some(name), bytes).await?;
    check_names(daemon, &plugin)?;
    let value = Some(json!(digest.to_string()));
    let edits = vec![ListEdit::Set { name: name.to_owned(), key: "sha256", value }];
    let mut shown = json!({ "action": "accept", "name": name });
    shown["source"] = json!(source.display().to_string());
    shown["pinned"] = json!(entry.sha256.map(|digest| digest.to_string()));
    add_plugin(&mut shown, &plugin, &entry.grant, workspace);
    finish(list, edits, shown, Some((name.to_owned(), digest))).await
}

/// Adds what a plugin is, what it asks for and what it gets, and what differs from the version that
/// serves.
fn add_plugin(shown: &mut Value, plugin: &Plugin, granted: &Grant, workspace: &WorkspaceState) {
    if let Value::Object(facts) = inspect::shown(plugin) {
        facts.into_iter().for_each(|(key, value)| shown[key] = value);
    }
    let requested = Grant::requested(plugin.requests());
    let effective = requested.meet(granted);
    shown["granted"] = json!(granted.lines());
    shown["may"] = json!(effective.lines());
    let refused = plugin
        .requests()
        .iter()
        .filter(|request| !effective.covers(&Grant::requested(std::slice::from_ref(request))));
    let refused = refused.map(|request| request.capability.to_string());
    shown["may_not"] = json!(refused.collect::<Vec<_>>());
    let statuses = workspace.plugins.load();
    let serving = statuses.iter().find(|status| status.name == plugin.name());
    if let Some(PluginState::Ready(serving)) = serving.map(|status| &status.state) {
        shown["differences"] = json!(plugin.differences(serving));
    }
}

/// Refuses tools whose names others have.
fn check_names(daemon: &Daemon, plugin: &Plugin) -> Result<(), ToolError> {
    for workspace in daemon.workspaces() {
        let catalog = workspace.catalog.load();
        for spec in plugin.specs() {
            let Ok(taken) = catalog.entry(&spec.name) else { continue };
            if taken.plugin() != Some(plugin.name()) {
                let (name, holder) = (&spec.name, taken.provider());
                let message = format!("the tool name `{name}` is taken by {holder}");
                return Err(ToolError::new(ErrorCode::AlreadyExists, message)
                    .hint("a plugin cannot take the place of another's tool"));
            }
        }
    }
    Ok(())
}

/// Whether a list names a plugin.
async fn known(list: &Path, name: &str) -> Result<bool, ToolError> {
    let (file, name) = (list.to_owned(), name.to_owned());
    let edits = [ListEdit::Set { name, key: "sha256", value: None }];
    // A list that is broken is refused where it is edited.
    blocking(move || registry::preview(&file, &edits).is_ok()).await
}

async fn finish(
    list: PathBuf,
    edits: Vec<ListEdit>,
    mut shown: Value,
    serves: Option<(String, Sha256Digest)>,
) -> Result<Proposal, ToolError> {
    shown["list"] = json!(list.display().to_string());
    let (file, planned) = (list.clone(), edits.clone());
    let edited = blocking(move || registry::preview(&file, &planned)).await??;
    let Value::Object(shown) = shown else { unreachable!("it was made as an object") };
    Ok(Proposal { shown, list, edits, edited, serves })
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))
}

/// How a list names a file: relative where the file lies beneath it, or where somebody keeps both
/// together; else whole.
fn written_source(list: &Path, is_named: bool, source: &Path) -> String {
    let directory = list.parent().unwrap_or(Path::new("/"));
    let relative = match source.strip_prefix(directory) {
        Ok(below) => below.to_owned(),
        Err(_) if is_named && directory.is_absolute() && source.is_absolute() => {
            relative(directory, source)
        }
        Err(_) => source.to_owned(),
    };
    relative.display().to_string()
}

fn relative(from: &Path, to: &Path) -> PathBuf {
    let (mut from, mut to) = (from.components().peekable(), to.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        (from.next(), to.next());
    }
    from.map(|_| Component::ParentDir).chain(to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_relative_to_a_list_that_is_kept_with_it() {
        for (list, is_named, source, written) in [
            ("/c/moss-tools.json", false, "/c/p/a.wasm", "p/a.wasm"),
            ("/c/moss-tools.json", false, "/w/a.wasm", "/w/a.wasm"),
            ("/w/p/moss-tools.json", true, "/w/target/a.wasm", "../target/a.wasm"),
            ("/w/moss-tools.json", true, "/a.wasm", "../a.wasm"),
        ] {
            assert_eq!(written_source(Path::new(list), is_named, Path::new(source)), written);
        }
    }
}
