//! A call's whole life. Every front turns its request into a [`Call`] and ends up here, so the
//! same call over any front has the same result, the same audit record and the same effects.
//!
//! Top to bottom: find the tool, bind the arguments, decide, acquire a permit, run, check the
//! output. While a tool runs, its effects go through the module `effect`.

mod behalf;
mod checks;
mod content;
mod editor;
mod effect;
mod held_records;
mod holding;
mod host;
mod language_server;
mod listing;
mod meaning;
mod nested;
mod parse_ahead;
mod past;
mod plugin;
mod read_access;
mod record;
mod result_text;
mod roots;
mod scope;
mod searching;
mod stop;
mod weight;

use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_sdk::{Context, ErrorCode, ToolError};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::effect::Effects;
pub use self::effect::may_show;
pub(crate) use self::effect::{
    CommandRules, CommandSetting, ContentMemory, EmbeddingRules, ProtectedBefore, ReadableByAll,
    ShellFile, files_of_parts, known_directory, made_since, parts_in, protection, reading_doubt,
    set_aside_new, without_own_scratch,
};
use self::host::CallHost;
use self::scope::CallScope;
use self::stop::EffectStop;
use crate::caller::until_revoked;
use crate::state::Daemon;
use moss_catalog::{CatalogEntry, Runner};
use moss_dispatch::PluginChange;
use moss_dispatch::{
    Call, CallError, CallOutcome, Dispatcher, Event, Events, RunningCall, UnknownTool, Work,
    poll_caught,
};
use moss_workspace::UndoTarget;

impl Dispatcher for Daemon {
    fn start(self: Arc<Self>, call: Call, events: Events) -> RunningCall {
        let (cancel, tasks) = (self.stopping.child_token(), self.tasks.clone());
        let run = begin(self, call, events, cancel.clone());
        RunningCall::new(Box::pin(tasks.track_future(run)), cancel)
    }
}

/// Finds what a call needs before it is one: its workspace, and plugins that are on their way.
async fn begin(
    daemon: Arc<Daemon>,
    call: Call,
    events: Events,
    cancel: CancellationToken,
) -> Result<CallOutcome, CallError> {
    // Who ends waits for the calls that are there, and closes the journal after them.
    if daemon.draining.is_cancelled() {
        return Err(CallError::Cancelled);
    }
    if !call.further_workspaces.is_empty() {
        return Box::pin(roots::search(daemon, call, events, cancel)).await;
    }
    begin_one(daemon, call, None, events, cancel).await
}

/// Begins a call in one workspace; one that is refused already does nothing but leave a record of that.
async fn begin_one(
    daemon: Arc<Daemon>,
    call: Call,
    refusal: Option<CallError>,
    events: Events,
    cancel: CancellationToken,
) -> Result<CallOutcome, CallError> {
    let workspace = daemon.workspace(&call.workspace)?;
    let weight = weight::CallWeight::new(&daemon, &call.caller, &call.work);
    let is_loading = *daemon.plugins_loading.borrow();
    if is_loading
        && let Work::Tool { name, .. } = &call.work
        && refusal.is_none()
        && weight.admitted().is_ok()
    {
        // Boxed, as all that is seldom: a call moves the memory of it, whatever it does.
        let awaited = Box::pin(daemon.await_tool(&workspace, name));
        tokio::select! {
            () = cancel.cancelled() => {}
            () = awaited => {}
        }
    }
    let mut scope = CallScope::new(daemon, workspace, call, weight, events, cancel);
    scope.refusal = refusal.map(EffectStop::Call);
    execute(Arc::new(scope)).await
}

/// Runs a call and records it, whatever becomes of it.
async fn execute(scope: Arc<CallScope>) -> Result<CallOutcome, CallError> {
    let started = Instant::now();
    record::started(&scope).await?;
    scope.events.send(Event::Started { call_id: scope.call_id.clone() }).await;
    let effects = Arc::new(Effects::new(Arc::clone(&scope)));
    let result = attempt_in_time(&scope, &effects, started).await;
    let result = effects.conclude(result).await;
    drop(scope.leave_permit());
    let shown = effects.take();
    let duration = started.elapsed();
    record::counted(&scope, &result, duration);
    let recorded = record::finished(&scope, &result, &shown.changes, shown.history, duration).await;
    recorded.map_err(|error| match shown.history {
        Some(number) => CallError::Internal(format!(
            "the change is committed, as history {number}, but the audit journal is not: {error}"
        )),
        None => error,
    })?;
    drop(shown.rooms);
    effects.cleared().await;
    result.map(|result| CallOutcome {
        content: if result.is_ok() { scope.content.take() } else { Vec::new() },
        call_id: scope.call_id.clone(),
        tool: scope.call.tool().to_owned(),
        result,
        changes: shown.changes,
        digest: shown.digest,
        history: shown.history,
        conflicts: shown.conflicts,
        plugins: shown.plugins,
        duration,
    })
}

/// As [`attempt`], until the time is over, somebody cancels the call, or the token of its caller is revoked.
async fn attempt_in_time(
    scope: &Arc<CallScope>,
    effects: &Arc<Effects>,
    started: Instant,
) -> Result<Result<String, ToolError>, CallError> {
    let default = Duration::from_millis(scope.daemon.config().calls.timeout_ms);
    let latest = started + default;
    let deadline = scope.call.deadline.map_or(latest, |deadline| deadline.min(latest));
    let writes_down = async {
        tokio::time::sleep(record::HELD_MAX).await;
        match record::release(scope).await {
            Ok(_) => std::future::pending().await,
            Err(error) => error,
        }
    };
    let caller = &scope.call.caller;
    // The no of a person is recorded, whether or not its caller is still there.
    let may_end = scope.call.denial.is_none();
    let result = tokio::select! {
        biased;
        () = scope.cancel.cancelled(), if may_end => Err(CallError::Cancelled),
        // Before what waits: a call that ends at once sets no timer, which would wake another thread.
        result = tokio::time::timeout_at(deadline.into(), attempt_caught(scope, effects)) => {
            result.unwrap_or(Err(CallError::Timeout { after: deadline - started, stays: None }))
        }
        error = writes_down => Err(error),
        () = until_revoked(caller), if may_end => {
            scope.cancel.cancel();
            let message = format!("{}, and the call was ended", caller.revoked());
            Err(CallError::Denied { message, rule: None })
        }
    };
    let result = match result {
        // A tool may notice the end of its call a moment before the call itself does.
        Ok(Err(error)) if error.code == ErrorCode::Cancelled && scope.cancel.is_cancelled() => {
            Err(CallError::Cancelled)
        }
        Ok(Err(error)) if error.code == ErrorCode::Timeout && Instant::now() >= deadline => {
            Err(CallError::Timeout { after: deadline - started, stays: None })
        }
        result => result,
    };
    if matches!(result, Err(CallError::Timeout { .. })) {
        // What still reads on another thread stops: nobody waits for it.
        scope.cancel.cancel();
    }
    result
}

/// As [`attempt`]; a panic in a tool ends its call alone, which is then recorded like any other.
async fn attempt_caught(
    scope: &Arc<CallScope>,
    effects: &Arc<Effects>,
) -> Result<Result<String, ToolError>, CallError> {
    let mut attempt = Box::pin(attempt(scope, effects));
    std::future::poll_fn(|cx| poll_caught(&mut attempt, cx)).await?
}

/// What a call is about to do, found and decided about.
enum PreparedWork<'a> {
    Tool(&'a Arc<CatalogEntry>, Value),
    Undo(&'a UndoTarget),
    UndoUserPrompt(Option<u64>),
    ChangePlugins(&'a PluginChange),
}

/// A tool that ran gives its own result; a call that could not run gives an error.
async fn attempt(
    scope: &Arc<CallScope>,
    effects: &Arc<Effects>,
) -> Result<Result<String, ToolError>, CallError> {
    match scope.refusal.clone() {
        Some(EffectStop::Call(error)) => return Err(error),
        Some(EffectStop::Tool(error)) => return Ok(Err(error)),
        None => {}
    }
    scope.weight.admitted().map_err(CallError::TooMuch)?;
    if let Some(denial) = &scope.call.denial {
        return Err(effects.denied_by_person(denial.digest, &denial.reason).await);
    }
    let ready = ready(scope, effects).await?;
    if matches!(ready, PreparedWork::Tool(..) | PreparedWork::Undo(_))
        && let Err(error) = check_root(scope).await
    {
        return Ok(Err(error));
    }
    scope.take_permit().await?;
    match carry_out(scope, effects, ready).await {
        Ok(output) => Ok(Ok(output)),
        Err(EffectStop::Tool(error)) => Ok(Err(error)),
        Err(EffectStop::Call(error)) => Err(error),
    }
}

/// What is reached by the open directory of a root that was replaced is another tree than what commands see.
async fn check_root(scope: &Arc<CallScope>) -> Result<(), ToolError> {
    let files = Arc::clone(&scope.workspace.files);
    if files.is_local() {
        return Ok(files.check_root()?);
    }
    Ok(scope.blocking(move || files.check_root()).await??)
}

/// Finds what is called, binds its arguments, decides about the call as such. What has no tool shows
/// what it would do before anything else is decided.
async fn ready<'a>(
    scope: &'a Arc<CallScope>,
    effects: &Effects,
) -> Result<PreparedWork<'a>, CallError> {
    let (name, arguments) = match &scope.call.work {
        Work::Undo(target) => return Ok(PreparedWork::Undo(target)),
        Work::UndoUserPrompt { number } => return Ok(PreparedWork::UndoUserPrompt(*number)),
        Work::ChangePlugins(change) => return Ok(PreparedWork::ChangePlugins(change)),
        Work::Tool { name, arguments } => (name, arguments),
    };
    let entry = scope.catalog.entry(name).map_err(|unknown| {
        let is_loading = *scope.daemon.plugins_loading.borrow();
        let unknown = UnknownTool { is_loading, ..unknown };
        CallError::UnknownTool(scope.daemon.with_plugins(&scope.workspace, unknown))
    })?;
    let arguments =
        arguments.clone().map_err(|unread| CallError::Invalid(vec![unread.violation]))?;
    let arguments = holding::bind(scope, entry, arguments).await?;
    effects.permit_call(entry, &arguments).await?;
    Ok(PreparedWork::Tool(entry, arguments))
}

/// Returns the JSON text of what comes of a call. What is seldom called is boxed: a call moves the memory
/// of the largest of them, whatever it does.
async fn carry_out(
    scope: &Arc<CallScope>,
    effects: &Arc<Effects>,
    ready: PreparedWork<'_>,
) -> Result<String, EffectStop> {
    match ready {
        PreparedWork::Tool(entry, arguments) => {
            let output = run(scope, effects, entry, arguments).await;
            let is_guest = matches!(entry.runner, Runner::Plugin(_));
            let output = output.map_err(|error| effects.meant_by(error, is_guest))?;
            let bytes_max = scope.daemon.config().calls.output_bytes_max;
            Ok(holding::check_output(scope, entry, output, bytes_max).await?)
        }
        PreparedWork::Undo(target) => Ok(Box::pin(effects.undo(target.clone())).await?.to_string()),
        PreparedWork::UndoUserPrompt(number) => {
            Ok(Box::pin(effects.undo_user_prompt(number)).await?.to_string())
        }
        PreparedWork::ChangePlugins(change) => Box::pin(effects.change_list(change.clone())).await,
    }
}

async fn run(
    scope: &Arc<CallScope>,
    effects: &Arc<Effects>,
    entry: &CatalogEntry,
    arguments: Value,
) -> Result<Value, ToolError> {
    match &entry.runner {
        Runner::Native(tool) => {
            let host = CallHost::new(Arc::clone(scope), Arc::clone(effects));
            tool.call(arguments, Context::new(Arc::new(host))).await
        }
        Runner::Plugin(plugin) => {
            Box::pin(plugin::run(scope, effects, entry, plugin, arguments)).await
        }
    }
}

#[cfg(test)]
mod tests;
