//! A call of a plugin's tool: runs the guest to its end, serves what was granted to it, then
//! proposes the edits that it returned like those of any tool.

mod files;
mod guest_reader;
mod search;
mod services;
mod store;
mod symbols;

use std::sync::Arc;
use std::time::Duration;

use moss_plugin_host::{
    CallRequest, CallSlot, GuestEvents, LimitReached, LogLevel, Plugin, PluginCallError, PluginEdit,
};
use moss_sdk::context::{Files as _, Host as _, Progress};
use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Retention, Splice};
use moss_sdk::file::{Content, FileSnapshot};
use moss_sdk::{ContentHash, ErrorCode, RelPath, ToolError};
use serde_json::Value;

use self::services::CallServices;
use super::CallScope;
use super::effect::Effects;
use super::host::CallHost;
use moss_catalog::CatalogEntry;
use moss_dispatch::blocking::Broken;
use moss_dispatch::{Event, Events};

/// Runs a plugin's tool and proposes its edits.
pub(super) async fn run(
    scope: &Arc<CallScope>,
    effects: &Arc<Effects>,
    entry: &CatalogEntry,
    plugin: &Plugin,
    arguments: Value,
) -> Result<Value, ToolError> {
    let place = place(scope, plugin).await?;
    let services = Arc::new(CallServices::new(scope, effects, plugin));
    let request = CallRequest {
        tool: entry.spec.name.clone(),
        arguments,
        timeout: remaining(scope),
        cancelled: scope.cancel.clone(),
        events: Arc::new(EventReporter(scope.events.clone())),
        services: Arc::clone(&services) as _,
        whom: Some(whom(scope)),
    };
    let outcome =
        plugin.call_in(place, request).await.map_err(|error| match services.has_broken() {
            // The guest failed over an error that is none of its own.
            true => Broken.into(),
            false => plugin.tool_error(error),
        })?;
    let host = CallHost::new(Arc::clone(scope), Arc::clone(effects));
    outcome.content.into_iter().try_for_each(|part| host.add_content(part))?;
    if !outcome.edits.is_empty() {
        let changes = change_set(&host, outcome.edits).await?;
        host.propose(changes).await?.applied()?;
    }
    Ok(outcome.output)
}

/// Whom an instance is kept for: a later token of the same name is somebody else.
fn whom(scope: &CallScope) -> String {
    let caller = &scope.call.caller;
    let token = caller.token_id().map(|id| id.to_string()).unwrap_or_default();
    format!("{} {token} {}", caller.name(), scope.workspace.name())
}

/// Takes a slot among the plugin's calls. Who waits for one keeps nobody from another tool; who is
/// called by the same plugin does not wait: what it waits for may wait for it.
async fn place<'p>(scope: &CallScope, plugin: &'p Plugin) -> Result<CallSlot<'p>, ToolError> {
    match plugin.take_place() {
        Err(PluginCallError::Limit(LimitReached::Calls(_))) if !scope.is_for(plugin.name()) => {
            let waiting = plugin.wait_for_place(remaining(scope), &scope.cancel);
            scope.parked(waiting).await.map_err(|error| plugin.tool_error(error))
        }
        taken => taken.map_err(|error| plugin.tool_error(error)),
    }
}

/// The time that is left of the caller's deadline.
fn remaining(scope: &CallScope) -> Option<Duration> {
    scope
        .call
        .deadline
        .map(|deadline| deadline.saturating_duration_since(std::time::Instant::now()))
}

/// Turns a plugin's edits into one change per file, against what the files hold now.
async fn change_set(host: &CallHost, edits: Vec<PluginEdit>) -> Result<ChangeSet, ToolError> {
    let mut changes: Vec<Change> = Vec::new();
    // One text at a time: there may be many, and large ones.
    let mut last: Option<(RelPath, FileSnapshot)> = None;
    for edit in edits {
        let path = edit.path().clone();
        let kind = match edit {
            PluginEdit::Create { content, .. } => ChangeKind::Create { content },
            PluginEdit::Write { expected, content, .. } => {
                let base = expect(&path, host.read(&path).await?.hash, expected)?;
                ChangeKind::Write { base, content }
            }
            PluginEdit::Delete { expected, .. } => {
                let base = expect(&path, host.read(&path).await?.hash, expected)?;
                ChangeKind::Delete { base, retention: Retention::Recoverable }
            }
            PluginEdit::ReplaceText { old_text, new_text, .. } => {
                let known = last.take().filter(|(known, _)| *known == path);
                let snapshot = match known {
                    Some((_, snapshot)) => snapshot,
                    None => host.read(&path).await?,
                };
                let splice = locate(&path, &snapshot, &old_text, new_text)?;
                let base = snapshot.hash;
                last = Some((path.clone(), snapshot));
                if add_splice(&mut changes, &path, base, &splice)? {
                    continue;
                }
                ChangeKind::Edit { base, splices: vec![splice] }
            }
        };
        if changes.iter().any(|change| change.path == path) {
            return Err(broken(format!("{path}: the plugin returned conflicting edits")));
        }
        changes.push(Change::new(path, kind));
    }
    Ok(ChangeSet { changes })
}

/// Holds a file to what the plugin looked at.
fn expect(
    path: &RelPath,
    found: ContentHash,
    expected: Option<ContentHash>,
) -> Result<ContentHash, ToolError> {
    match expected {
        Some(expected) if expected != found => Err(ToolError::new(
            ErrorCode::Conflict,
            format!("{path} changed while the plugin looked at it"),
        )
        .hint("call the tool again")),
        _ => Ok(found),
    }
}

/// Finds the one location of a text.
fn locate(
    path: &RelPath,
    snapshot: &FileSnapshot,
    old_text: &str,
    new_text: String,
) -> Result<Splice, ToolError> {
    let Content::Text(text) = &snapshot.content else {
        return Err(ToolError::new(ErrorCode::Binary, format!("{path} is not text")));
    };
    let Some(start) = text.text.find(old_text) else {
        return Err(broken(format!("{path}: the text that the plugin replaces does not occur")));
    };
    if text.text.rfind(old_text) != Some(start) {
        return Err(broken(format!("{path}: the text that the plugin replaces occurs twice")));
    }
    Ok(Splice { range: start..start + old_text.len(), text: new_text })
}

/// Adds a replacement to an edit of the same file, in order. Returns whether there was one.
fn add_splice(
    changes: &mut [Change],
    path: &RelPath,
    found_in: ContentHash,
    splice: &Splice,
) -> Result<bool, ToolError> {
    let Some(change) = changes.iter_mut().find(|change| change.path == *path) else {
        return Ok(false);
    };
    let ChangeKind::Edit { splices, base } = &mut change.kind else {
        return Ok(false);
    };
    expect(path, found_in, Some(*base))?;
    let index = splices.partition_point(|other| other.range.start < splice.range.start);
    let before = index.checked_sub(1).and_then(|before| splices.get(before));
    let overlaps = before.is_some_and(|other| other.range.end > splice.range.start)
        || splices.get(index).is_some_and(|other| splice.range.end > other.range.start);
    if overlaps {
        return Err(broken(format!("{path}: two replacements of the plugin overlap")));
    }
    splices.insert(index, splice.clone());
    Ok(true)
}

fn broken(message: String) -> ToolError {
    ToolError::new(ErrorCode::PluginFailed, message)
        .hint("this is a defect of the plugin; report it to its author")
}

/// Passes on what a guest says while it runs.
struct EventReporter(Events);

// === impl EventReporter ===

impl GuestEvents for EventReporter {
    fn log(&self, level: LogLevel, message: &str) {
        tracing::debug!(?level, message, "a plugin says");
        self.0.offer_output("log", message.to_owned());
    }

    fn progress(&self, progress: Progress) {
        self.0.offer(Event::Progress(progress));
    }
}
