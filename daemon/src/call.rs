//! A call's whole life. Every front turns its request into a [`Call`] and ends up here, so the
//! same call over any front has the same result, the same audit record and the same effects.
//!
//! Top to bottom: find the tool, bind the arguments, decide, take a place, run, check the output.
//! While a tool runs, its effects go through the module `effect`.

mod behalf;
mod editor;
mod effect;
mod error;
mod events;
mod holding;
mod host;
mod nested;
mod past;
mod plugin;
mod record;
mod running;
mod weight;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_sdk::{ContentHash, Context, ErrorCode, RelPath, ToolError};
use moss_workspace::{UndoConflict, UndoTarget};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::behalf::Behalf;
use self::effect::Effects;
pub(crate) use self::effect::{may_show, protection};
pub use self::error::{CallError, Unconfirmed};
pub use self::events::{Event, Events};
use self::host::CallHost;
pub use self::running::{Background, Running};
pub use self::weight::TooMuch;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::catalog::{Catalog, Entry, Runner, UnknownTool};
use crate::change::FileChange;
use crate::consent::PluginsChanged;
use crate::operations;
use crate::permits::Permit;
use crate::plugins::registration::PluginChange;
use crate::sessions::SessionKey;
use crate::state::{Daemon, WorkspaceState};
use crate::traces::Parent;
use moss_schema::arguments::Unreadable;

/// One use of a tool, as it arrived.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who calls.
    pub caller: Caller,
    /// The workspace.
    pub workspace: Arc<WorkspaceState>,
    /// What to do.
    pub work: Work,
    /// What to do when an answer is needed.
    pub confirm: ConfirmMode,
    /// Approves exactly the effects with these digests; only an approver may say it.
    pub approved_digests: Vec<ContentHash>,
    /// Show the effect and do nothing.
    pub dry_run: bool,
    /// Whether whoever calls answers the questions of the call, too, and showed the approver's
    /// credential for it.
    pub is_attended: bool,
    /// The caller's name for the conversation.
    pub session_id: Option<String>,
    /// Hashes that files must have when they are changed.
    pub expected_hashes: BTreeMap<RelPath, ContentHash>,
    /// When the caller stops waiting.
    pub deadline: Option<Instant>,
    /// What the caller counts it to, where spans are wanted.
    pub parent: Option<Parent>,
}

/// What a call does.
#[derive(Debug, Clone)]
pub enum Work {
    /// Uses a tool.
    Tool {
        /// Its name.
        name: String,
        /// Its arguments as given.
        arguments: Result<Map<String, Value>, Unreadable>,
    },
    /// Takes history entries back.
    Undo(UndoTarget),
    /// Takes a change of the user's prompt back.
    UndoUserPrompt {
        /// Its number in the prompt's history; none for the newest.
        number: Option<u64>,
    },
    /// Changes a plugin list.
    ChangePlugins(PluginChange),
}

/// What to do when an answer from a person is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmMode {
    /// Ask and wait.
    Wait,
    /// Fail, with the exact effect and its digest.
    Refuse,
    /// Wait if an approver is watching, refuse otherwise.
    Auto,
}

/// How a call that ran ended.
#[derive(Debug, Clone)]
pub struct CallOutcome {
    /// Names the call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The JSON text of what it returned, or why it failed.
    pub result: Result<String, ToolError>,
    /// What it changed, or in a dry run would change.
    pub changes: Vec<FileChange>,
    /// The digest of its effect.
    pub digest: Option<ContentHash>,
    /// The number of its change in the history, where it made one.
    pub history: Option<u64>,
    /// What stands in the way of an undo.
    pub conflicts: Vec<UndoConflict>,
    /// What became of a plugin list, where the call is a change of one.
    pub plugins: Option<Box<PluginsChanged>>,
    /// How long it took, waiting included.
    pub duration: Duration,
}

/// What every part of a call may look at.
#[derive(Debug)]
pub(crate) struct Scope {
    daemon: Arc<Daemon>,
    call: Call,
    call_id: String,
    /// The tools as they were when the call came.
    catalog: Arc<Catalog>,
    events: Events,
    cancel: CancellationToken,
    permit: std::sync::Mutex<Option<Permit>>,
    /// The call that made this one, where a plugin did.
    behalf: Option<Behalf>,
    /// What is not written of it yet.
    held: record::Held,
    /// What it came with, in memory.
    weight: weight::Held,
}

/// Makes a call that goes on when it is polled.
pub fn start(daemon: &Arc<Daemon>, call: Call, events: Events) -> Running {
    let cancel = daemon.stopping.child_token();
    let (daemon_of_call, cancel_of_call) = (Arc::clone(daemon), cancel.clone());
    let run = async move {
        let (daemon, cancel) = (daemon_of_call, cancel_of_call);
        // Who ends waits for the calls that are there, and closes the journal after them.
        if daemon.draining.is_cancelled() {
            return Err(CallError::Cancelled);
        }
        let weight = weight::Held::new(&daemon, call.caller.role(), &call.work);
        if let Work::Tool { name, .. } = &call.work
            && weight.admitted().is_ok()
        {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = daemon.await_tool(&call.workspace, name) => {}
            }
        }
        let catalog = call.workspace.catalog.load_full();
        let (call_id, permit) = (crate::ids::random(), std::sync::Mutex::default());
        let (behalf, held) = (None, record::Held::default());
        execute(Arc::new(Scope {
            daemon,
            call,
            call_id,
            catalog,
            events,
            cancel,
            permit,
            behalf,
            held,
            weight,
        }))
        .await
    };
    Running::new(Box::pin(daemon.tasks.track_future(run)), cancel)
}

/// Runs a call and records it, whatever becomes of it.
async fn execute(scope: Arc<Scope>) -> Result<CallOutcome, CallError> {
    let started = Instant::now();
    record::started(&scope).await?;
    scope.events.send(Event::Started { call_id: scope.call_id.clone() }).await;
    let effects = Arc::new(Effects::new(Arc::clone(&scope)));
    let default = Duration::from_millis(scope.daemon.config().calls.timeout_ms);
    let latest = started + default;
    let deadline = scope.call.deadline.map_or(latest, |deadline| deadline.min(latest));
    let writes_down = async {
        tokio::time::sleep(record::HELD_MAX).await;
        match record::release(&scope).await {
            Ok(()) => std::future::pending().await,
            Err(error) => error,
        }
    };
    let result = tokio::select! {
        biased;
        () = scope.cancel.cancelled() => Err(CallError::Cancelled),
        // Before what waits: a call that ends at once sets no timer, which would wake another thread.
        result = tokio::time::timeout_at(deadline.into(), attempt_caught(&scope, &effects)) => {
            result.unwrap_or(Err(CallError::Timeout { after: deadline - started, committed: None }))
        }
        error = writes_down => Err(error),
    };
    let result = match result {
        // A tool may notice the end of its call a moment before the call itself does.
        Ok(Err(error)) if error.code == ErrorCode::Cancelled && scope.cancel.is_cancelled() => {
            Err(CallError::Cancelled)
        }
        Ok(Err(error)) if error.code == ErrorCode::Timeout && Instant::now() >= deadline => {
            Err(CallError::Timeout { after: deadline - started, committed: None })
        }
        result => result,
    };
    let result = effects.conclude(result).await;
    scope.permit.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
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

/// As [`attempt`]; a panic in a tool ends its call alone, which is then recorded like any other.
async fn attempt_caught(
    scope: &Arc<Scope>,
    effects: &Arc<Effects>,
) -> Result<Result<String, ToolError>, CallError> {
    let mut attempt = Box::pin(attempt(scope, effects));
    std::future::poll_fn(|cx| running::poll_caught(&mut attempt, cx)).await?
}

/// A tool that ran gives its own result; a call that could not run gives an error.
async fn attempt(
    scope: &Arc<Scope>,
    effects: &Arc<Effects>,
) -> Result<Result<String, ToolError>, CallError> {
    scope.weight.admitted().map_err(CallError::TooMuch)?;
    let (name, arguments) = match &scope.call.work {
        Work::Undo(target) => {
            scope.take_place().await?;
            return Ok(effects.undo(target.clone()).await.map(|output| output.to_string()));
        }
        Work::UndoUserPrompt { number } => {
            scope.take_place().await?;
            return Ok(effects.undo_user_prompt(*number).await.map(|output| output.to_string()));
        }
        Work::ChangePlugins(change) => {
            scope.take_place().await?;
            return Ok(effects.change_list(change.clone()).await);
        }
        Work::Tool { name, arguments } => (name, arguments),
    };
    let entry = scope.catalog.entry(name).map_err(|unknown| {
        let is_loading = *scope.daemon.plugins_loading.borrow();
        let unknown = UnknownTool { is_loading, ..unknown };
        CallError::UnknownTool(scope.daemon.with_plugins(&scope.call.workspace, unknown))
    })?;
    let arguments =
        arguments.clone().map_err(|unread| CallError::Invalid(vec![unread.violation]))?;
    let arguments = holding::bind(scope, entry, arguments).await?;
    effects.permit_call(entry, &arguments).await?;
    scope.take_place().await?;
    let bytes_max = scope.daemon.config().calls.output_bytes_max;
    let result = run(scope, effects, entry, arguments).await;
    match result {
        Ok(output) => Ok(holding::check_output(scope, entry, output, bytes_max).await),
        Err(error) => Ok(Err(error)),
    }
}

async fn run(
    scope: &Arc<Scope>,
    effects: &Arc<Effects>,
    entry: &Entry,
    arguments: Value,
) -> Result<Value, ToolError> {
    match &entry.runner {
        Runner::Native(tool) => {
            let host = CallHost::new(Arc::clone(scope), Arc::clone(effects));
            tool.call(arguments, Context::new(Arc::new(host))).await
        }
        Runner::Plugin(plugin) => plugin::run(scope, effects, entry, plugin, arguments).await,
    }
}

// === impl Call ===

impl Call {
    /// The name under which policy and journal know what the call does.
    pub fn tool(&self) -> &str {
        match &self.work {
            Work::Tool { name, .. } => name,
            Work::Undo(_) => operations::UNDO,
            Work::UndoUserPrompt { .. } => operations::UNDO_USER_PROMPT,
            Work::ChangePlugins(change) => change.name(),
        }
    }

    fn session(&self) -> Option<SessionKey> {
        self.session_id
            .clone()
            .map(|session_id| SessionKey { caller: self.caller.name().to_owned(), session_id })
    }
}

// === impl Scope ===

impl Scope {
    /// Whether it runs, directly or not, for a call of this plugin.
    fn is_for(&self, plugin: &str) -> bool {
        self.behalf.iter().flat_map(Behalf::plugins).any(|name| name == plugin)
    }

    async fn take_place(&self) -> Result<(), CallError> {
        // Who waits for another call to end would wait for its own place.
        if self.behalf.is_some() {
            return Ok(());
        }
        let caller = &self.call.caller;
        let places = self.daemon.places(caller.role());
        let permit = places.acquire(caller.name()).await.map_err(CallError::QueueFull)?;
        *self.permit.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(permit);
        Ok(())
    }

    /// Runs blocking work on the pool for it. Work that goes on after its call was broken off still
    /// counts against the number of places, so that it cannot pile up.
    ///
    /// # Errors
    ///
    /// `Internal` where the work panics: a defect.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let worker = self.daemon.workers.acquire_again().await;
        let work = move || {
            let value = work();
            drop(worker);
            value
        };
        Ok(blocking(work).await?)
    }

    /// Gives the place away while a future waits for a person.
    async fn parked<T>(&self, wait: impl Future<Output = T>) -> T {
        let had = {
            let mut permit = self.permit.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            permit.take().is_some()
        };
        let value = wait.await;
        if had {
            let permit = self.daemon.places(self.call.caller.role()).acquire_again().await;
            *self.permit.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(permit);
        }
        value
    }
}
