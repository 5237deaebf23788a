//! Calls that a plugin makes of other tools. Each is a call like any other, with a record of its
//! own, in the name of who called the plugin: with their rights, less what the rules for the plugin
//! take away. It reads and nothing else, and nobody is asked on its behalf.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use moss_config::DEPTH_MAX;
use moss_dispatch::{ApprovedDigests, Call, CallError, ConfirmMode, Events, RunningCall, Work};
use moss_sdk::{Effect, ErrorCode, ToolError, Toolset};

use super::behalf::{Behalf, CallCount};
use super::stop::EffectStop;
use super::{CallScope, execute, record, weight};
use moss_schema::arguments::{self, UnreadableArguments};

/// How many calls one call from outside may lead to: each leaves a record.
pub(super) const CALLS_MAX: usize = 512;

/// Runs a tool for a plugin and returns the JSON text of its output. Dropping the future cancels it.
///
/// # Errors
///
/// What the tool says; `Denied` where it does more than read, or where the policy denies it or would
/// ask.
pub(super) async fn call(
    scope: &Arc<CallScope>,
    plugin: &str,
    made: &CallCount,
    name: &str,
    text: String,
) -> Result<String, ToolError> {
    let behalf = deeper(scope, plugin, made).await.map_err(|error| explain(name, error))?;
    let number = made.0.fetch_add(1, Ordering::Relaxed);
    // Of those that are too many the first leaves a record.
    if number > CALLS_MAX {
        return Err(too_many());
    }
    let refusal = match number {
        CALLS_MAX => Err(too_many()),
        _ => check_depth(&behalf).and_then(|()| check_reads(scope, name)),
    };
    let arguments =
        arguments::parse(&text).map_err(|violation| UnreadableArguments { text, violation });
    let call = Call {
        caller: scope.call.caller.clone(),
        workspace: scope.call.workspace.clone(),
        work: Work::Tool { name: name.to_owned(), arguments },
        confirm: ConfirmMode::Refuse,
        approved_digests: ApprovedDigests::default(),
        denial: None,
        dry_run: scope.call.dry_run,
        is_attended: scope.call.is_attended,
        session_id: scope.call.session_id.clone(),
        further_workspaces: Vec::new(),
        expected_hashes: BTreeMap::new(),
        deadline: scope.call.deadline,
        parent: scope.call.parent.clone(),
    };
    let cancel = scope.cancel.child_token();
    let weight = weight::CallWeight::new(&scope.daemon, &call.caller, &call.work);
    let (daemon, workspace) = (Arc::clone(&scope.daemon), Arc::clone(&scope.workspace));
    // What a nested call shows is not what the plugin returns.
    let mut nested =
        CallScope::new(daemon, workspace, call, weight, Events::default(), cancel.clone());
    nested.catalog = Arc::clone(&scope.catalog);
    nested.behalf = Some(behalf);
    nested.refusal = refusal.err().map(EffectStop::Tool);
    let run = scope.daemon.tasks.track_future(execute(Arc::new(nested)));
    match RunningCall::new(Box::pin(run), cancel).await {
        Ok(outcome) => outcome.result,
        Err(error) => Err(explain(name, error)),
    }
}

/// In whose behalf a call is made that is one deeper.
async fn deeper(scope: &CallScope, plugin: &str, made: &CallCount) -> Result<Behalf, CallError> {
    let around = scope.behalf.iter().flat_map(Behalf::plugins);
    let plugins = around.chain([plugin]).map(str::to_owned).collect();
    let on_record = record::release(scope).await?;
    Ok(Behalf::new(on_record, scope.call_id.clone(), plugins, made.clone()))
}

fn check_depth(behalf: &Behalf) -> Result<(), ToolError> {
    if behalf.plugins().count() > DEPTH_MAX {
        let message = format!("tools call tools at most {DEPTH_MAX} deep");
        return Err(ToolError::new(ErrorCode::LimitExceeded, message)
            .hint("the plugins may call each other recursively"));
    }
    Ok(())
}

fn too_many() -> ToolError {
    let message = format!("one call leads to at most {CALLS_MAX} calls of other tools");
    ToolError::new(ErrorCode::LimitExceeded, message)
        .hint("files are read faster with a grant of their own")
}

/// Says why no plugin may call a tool.
pub(super) fn check_reads(scope: &CallScope, name: &str) -> Result<(), ToolError> {
    let denied = |why: &str| {
        Err(ToolError::new(ErrorCode::Denied, format!("`{name}` {why}: plugins do not call it")))
    };
    let entry = scope
        .catalog
        .entry(name)
        .map_err(|unknown| ToolError::new(ErrorCode::NotFound, unknown.to_string()))?;
    match (entry.spec.effect, entry.spec.toolset) {
        (Effect::Read, Toolset::Interaction) => denied("asks a person"),
        (Effect::Read, _) => Ok(()),
        (Effect::Write | Effect::Exec, _) => denied("does more than read"),
    }
}

/// The error that a plugin gets for a call that could not run.
fn explain(name: &str, error: CallError) -> ToolError {
    if let CallError::Unconfirmed(_) = error {
        let message = format!("`{name}` needs a confirmation, which no plugin is given");
        return ToolError::new(ErrorCode::Denied, message)
            .hint("call the tool without the plugin, or allow it with a rule of the policy");
    }
    error.as_tool_error()
}
