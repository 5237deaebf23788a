//! A plugin that comes into a list, or replaces another of its name.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use moss_plugin_host::Plugin;
use moss_plugin_list::{Grant, ListEdit, OciReference, PluginEntry, PluginList, Sha256Digest};
use moss_sdk::{ErrorCode, ToolError};
use serde_json::{Map, Value, json};

use super::looking::{Looking, look};
use super::{Hears, Proposal, allowed, check_names, entry_of, finish, list_of};
use crate::environment::{Environment, Installed, ListFiles};
use crate::lists::ResolvedEntry;
use crate::{bounds, inspect, oci, registry};
use moss_dispatch::{
    AddPlugin, Granting, PluginLocation,
    blocking::blocking,
    consent::{Added, Consent},
};

/// A name for as long as it has none.
const UNNAMED: &str = "plugin";

/// Refuses an entry as far as it is known before its component is.
pub(super) fn check_entry(environment: &Environment, add: &AddPlugin) -> Result<(), ToolError> {
    let list = list_of(environment, add.list.as_deref());
    let sha256 = match &add.source {
        // What the registry will say of it.
        PluginLocation::Url(source) if OciReference::is_meant(source) => {
            Some(add.sha256.unwrap_or_else(|| Sha256Digest::of(source.as_bytes())))
        }
        _ => add.sha256,
    };
    let entry = draft(add, sha256, &list)?;
    let settings = environment.settings();
    let listed = ResolvedEntry::new(&list, None, entry, &environment.dirs, &settings);
    match listed.refusal {
        Some(refusal) => Err(ToolError::new(ErrorCode::Denied, refusal)),
        None => Ok(()),
    }
}

pub(super) async fn propose(
    environment: &Arc<Environment>,
    workspace: &Installed,
    add: &AddPlugin,
    hears: Hears<'_>,
) -> Result<Proposal, ToolError> {
    let list = list_of(environment, add.list.as_deref());
    let settings = environment.settings();
    let sha256 = match &add.source {
        PluginLocation::Url(source) if OciReference::is_meant(source) => {
            Some(component(environment, source).await?)
        }
        _ => add.sha256,
    };
    let draft = draft(add, sha256, &list)?;
    let listed = ResolvedEntry::new(&list, None, draft, &environment.dirs, &settings);
    let (expected, is_named) = (add.sha256, add.name.is_some());
    let looking = Looking { expected, is_named, may_fetch: true };
    let looked = look(environment, &listed, looking, hears).await?;
    let (mut plugin, digest) = (looked.plugin, looked.digest);
    let mut pinned = PluginEntry { sha256: Some(digest), ..listed.entry };
    if let Some(refusal) = bounds::refusal(&pinned, &settings) {
        return Err(ToolError::new(ErrorCode::Denied, refusal));
    }
    let is_known = is_known(&list, plugin.name()).await?;
    if is_known {
        take_place(workspace, &list, add, &mut pinned, plugin.name()).await?;
        plugin = named(&plugin, &pinned)?;
    }
    check_first(environment, workspace, &list, plugin.name())?;
    check_names(environment, &plugin)?;
    let granted = match &add.grant {
        Granting::Unsaid => pinned.grant.clone(),
        Granting::Exactly(grant) => grant.clone(),
        Granting::Requested => Grant::requested(plugin.requests()).grantable(),
    };
    let edits = edits(plugin.name(), is_known, pairs(&pinned, &granted));
    let mut allowed = allowed(&plugin, &granted, &settings, workspace);
    if !pinned.config.is_empty() && plugin.settings_schema().is_none() {
        let unchecked = "settings: it declares none, so they are not checked";
        allowed.without_effect.push(unchecked.to_owned());
    }
    let withheld = || Grant::requested(plugin.requests()).beyond(&granted);
    let added = Box::new(Added {
        name: plugin.name().to_owned(),
        source: add.source.to_string(),
        signed_by: looked.signed_by,
        component: inspect::component(&plugin),
        granted: granted.lines(),
        allowed,
        withheld: (add.grant == Granting::Requested).then(withheld),
        config: pinned.config,
        reason: add.reason.clone(),
        list: list.display().to_string(),
    });
    let consent = if is_known { Consent::Replace(added) } else { Consent::Add(added) };
    finish(list, edits, consent, vec![(plugin.name().to_owned(), digest)]).await
}

/// What the entry that a plugin replaces says and nobody says anew.
async fn take_place(
    workspace: &Installed,
    list: &Path,
    add: &AddPlugin,
    pinned: &mut PluginEntry,
    name: &str,
) -> Result<(), ToolError> {
    if !add.replace {
        let message = format!("{} names a plugin `{name}`", list.display());
        return Err(ToolError::new(ErrorCode::AlreadyExists, message).hint(
            "`moss plugin accept` pins its current file, `moss plugin add --replace` replaces it",
        ));
    }
    let old = entry_of(workspace, list, name).await?;
    if add.tools.is_empty() {
        pinned.tools = old.tools;
    }
    if add.config.is_empty() {
        pinned.config = old.config;
    }
    pinned.grant = old.grant;
    Ok(())
}

/// The keys of an entry, beside its name.
fn pairs(pinned: &PluginEntry, granted: &Grant) -> [(&'static str, Option<Value>); 6] {
    let (tools, config) = (&pinned.tools, &pinned.config);
    [
        ("source", Some(json!(pinned.source))),
        ("sha256", pinned.sha256.map(|digest| json!(digest.to_string()))),
        ("signature", pinned.signature.clone().map(Value::String)),
        ("tools", Some(json!(tools)).filter(|_| !tools.is_empty())),
        ("grant", Some(granted.to_json()).filter(|_| !granted.is_empty())),
        ("config", Some(json!(config)).filter(|_| !config.is_empty())),
    ]
}

/// Refuses a name that a list has which comes before.
fn check_first(
    environment: &Environment,
    workspace: &Installed,
    list: &Path,
    name: &str,
) -> Result<(), ToolError> {
    let ListFiles { users, named, .. } = &environment.lists;
    let lists: Vec<_> = [users].into_iter().chain(named).collect();
    let rank = |list: &Path| lists.iter().position(|known| *known == list).unwrap_or(lists.len());
    let statuses = workspace.statuses.load();
    let first = statuses.iter().find(|status| {
        let is_before = rank(Path::new(&status.listed_in)) < rank(list);
        status.entry.is_some() && status.name == name && is_before
    });
    let Some(first) = first else { return Ok(()) };
    let message = format!("{} names a plugin `{name}`, too, and has precedence", first.listed_in);
    Err(ToolError::new(ErrorCode::AlreadyExists, message)
        .hint("remove it there, or add this one there"))
}

/// Gives a plugin the names of tools and the settings of the entry that it replaces.
fn named(plugin: &Plugin, entry: &PluginEntry) -> Result<Plugin, ToolError> {
    plugin.with_entry(entry).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArguments, error.to_string())
            .hint("use other names with `moss plugin add --rename OWN=NAME`")
    })
}

/// Finds the component that a reference to a registry stands for.
async fn component(environment: &Environment, reference: &str) -> Result<Sha256Digest, ToolError> {
    let parsed = OciReference::parse(reference).map_err(|why| {
        ToolError::new(ErrorCode::InvalidArguments, format!("{reference}: {why}"))
            .hint("nothing was changed")
    })?;
    let layer = oci::layer(environment, &parsed).await;
    Ok(layer.map_err(|why| ToolError::new(ErrorCode::Io, why))?.digest)
}

/// The entry as far as it is known before the component is.
fn draft(
    add: &AddPlugin,
    sha256: Option<Sha256Digest>,
    list: &Path,
) -> Result<PluginEntry, ToolError> {
    let place = |place: &PluginLocation| match place {
        PluginLocation::File(path) => written(list, add.list.is_some(), path),
        PluginLocation::Url(url) => url.clone(),
    };
    let mut entry = json!({ "name": add.name.as_deref().unwrap_or(UNNAMED) });
    entry["source"] = json!(place(&add.source));
    if let Some(digest) = sha256 {
        entry["sha256"] = json!(digest.to_string());
    }
    if !add.tools.is_empty() {
        entry["tools"] = json!(add.tools);
    }
    if !add.config.is_empty() {
        entry["config"] = Value::Object(add.config.clone());
    }
    if let Some(signature) = &add.signature {
        entry["signature"] = json!(place(signature));
    }
    let text = json!({ "version": 1, "plugins": [entry] }).to_string();
    let parsed = PluginList::parse("the entry", &text).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArguments, error.to_string()).hint("nothing was changed")
    })?;
    Ok(parsed.plugins.into_iter().next().expect("it has one"))
}

fn edits(name: &str, is_known: bool, pairs: [(&'static str, Option<Value>); 6]) -> Vec<ListEdit> {
    if is_known {
        let set = |(key, value)| ListEdit::Set { name: name.to_owned(), key, value };
        return pairs.into_iter().map(set).collect();
    }
    let mut entry = Map::from_iter([("name".to_owned(), json!(name))]);
    entry.extend(pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    vec![ListEdit::Add(Value::Object(entry))]
}

/// Whether a list names a plugin.
async fn is_known(list: &Path, name: &str) -> Result<bool, ToolError> {
    let (file, name) = (list.to_owned(), name.to_owned());
    let edits = [ListEdit::Set { name, key: "limits", value: None }];
    // A list that is broken is refused where it is edited.
    Ok(blocking(move || registry::preview(&file, &edits).is_ok()).await?)
}

/// How a list names a file: relative where the file lies beneath it, or where somebody keeps both
/// together; else whole.
fn written(list: &Path, is_named: bool, source: &Path) -> String {
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
        from.next();
        to.next();
    }
    from.map(|_| Component::ParentDir).chain(to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_relative_to_a_list_that_is_kept_with_it() {
        for (list, is_named, source, expected) in [
            ("/c/moss-tools.json", false, "/c/p/a.wasm", "p/a.wasm"),
            ("/c/moss-tools.json", false, "/w/a.wasm", "/w/a.wasm"),
            ("/w/p/moss-tools.json", true, "/w/target/a.wasm", "../target/a.wasm"),
            ("/w/moss-tools.json", true, "/a.wasm", "../a.wasm"),
        ] {
            assert_eq!(written(Path::new(list), is_named, Path::new(source)), expected);
        }
    }
}
