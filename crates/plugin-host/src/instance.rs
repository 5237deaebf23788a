//! One call's instance: what it is linked with, what its store holds, and the watch over its run.
//!
//! A store lives for one call, or for some of one caller where the list wants that. Running stops at
//! the first of: the guest is done, its time is over, the call is cancelled, what the plugin was
//! granted is revoked. Dropping the future stops the guest wherever it is, in its own code or
//! parked in the host.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use wasmtime::component::{HasData, Linker, ResourceTable, ResourceTableError};
use wasmtime::{PoolConcurrencyLimitError, Store, Trap, UpdateDeadline};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{I32Exit, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use crate::bindings;
use crate::engine::Engine;
use crate::error::PluginCallError;
use crate::imports;
use crate::imports::content::GuestContent;
use crate::imports::context::{GuestContext, GuestReporter, NoEvents};
use crate::imports::filesystem::{Filesystem, FilesystemView};
use crate::imports::http::Http;
use crate::imports::services::Served;
use crate::imports::stdio::Printed;
use crate::limits::{LimitReached, Limiter, RANDOM_BYTES_MAX, RESOURCES_MAX, hostcall_fuel};
use crate::revocation::Revocation;
use crate::services::NoServices;
use moss_plugin_list::{PluginLimits, grants::paths::GrantedPaths};
use moss_sdk::deceptive::quoted;

/// What a store holds.
pub(crate) struct StoreData {
    pub(crate) context: GuestContext,
    pub(crate) content: GuestContent,
    pub(crate) limiter: Limiter,
    pub(crate) http: Http,
    served: Served,
    filesystem: Filesystem,
    printed: [Printed; 2],
    wasi: WasiCtx,
    table: ResourceTable,
}

/// What one run gets.
pub(crate) struct RunSetup {
    pub(crate) limits: PluginLimits,
    /// What is left of the caller's time.
    pub(crate) timeout: Option<Duration>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) revocation: Arc<Revocation>,
    pub(crate) voice: GuestReporter,
    pub(crate) settings: Arc<str>,
    pub(crate) granted: Arc<GrantedPaths>,
    pub(crate) served: Served,
}

/// When a run ends at the latest, and what that is called.
struct RunDeadline {
    at: Instant,
    error: PluginCallError,
}

/// Gives WASI's streams and pollables their table.
struct Io;

/// Links what is served: WASI 0.2, with HTTP for all network, and `moss:plugin`.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<StoreData>> {
    use wasmtime_wasi::p2::bindings::{cli, clocks, io, random};

    let mut linker = Linker::new(engine.wasm());
    let l = &mut linker;
    io::error::add_to_linker::<StoreData, Io>(l, |state| &mut state.table)?;
    io::poll::add_to_linker::<StoreData, Io>(l, |state| &mut state.table)?;
    io::streams::add_to_linker::<StoreData, Io>(l, |state| &mut state.table)?;
    clocks::wall_clock::add_to_linker::<StoreData, WasiClocks>(l, StoreData::clocks)?;
    clocks::monotonic_clock::add_to_linker::<StoreData, WasiClocks>(l, StoreData::clocks)?;
    imports::filesystem::add_to_linker(l, StoreData::filesystem)?;
    imports::sockets::add_to_linker(l)?;
    imports::http::add_to_linker(l)?;
    random::random::add_to_linker::<StoreData, WasiRandom>(l, |state| state.wasi.random())?;
    random::insecure::add_to_linker::<StoreData, WasiRandom>(l, |state| state.wasi.random())?;
    random::insecure_seed::add_to_linker::<StoreData, WasiRandom>(l, |state| state.wasi.random())?;
    cli::environment::add_to_linker::<StoreData, Served>(l, |state| &mut state.served)?;
    cli::exit::add_to_linker::<StoreData, WasiCli>(l, StoreData::cli)?;
    cli::stdin::add_to_linker::<StoreData, WasiCli>(l, StoreData::cli)?;
    cli::stdout::add_to_linker::<StoreData, WasiCli>(l, StoreData::cli)?;
    cli::stderr::add_to_linker::<StoreData, WasiCli>(l, StoreData::cli)?;
    cli::terminal_input::add_to_linker::<StoreData, WasiCli>(l, StoreData::cli)?;
    cli::terminal_output::add_to_linker::<StoreData, WasiCli>(l, StoreData::cli)?;
    cli::terminal_stdin::add_to_linker::<StoreData, WasiCli>(l, StoreData::cli)?;
    cli::terminal_stdout::add_to_linker::<StoreData, WasiCli>(l, StoreData::cli)?;
    cli::terminal_stderr::add_to_linker::<StoreData, WasiCli>(l, StoreData::cli)?;
    bindings::context::add_to_linker::<StoreData, GuestContext>(l, |state| &mut state.context)?;
    bindings::previous::context::add_to_linker::<StoreData, GuestContext>(l, |state| {
        &mut state.context
    })?;
    bindings::types::add_to_linker::<StoreData, Served>(l, |state| &mut state.served)?;
    bindings::editor::add_to_linker::<StoreData, Served>(l, |state| &mut state.served)?;
    bindings::store::add_to_linker::<StoreData, Served>(l, |state| &mut state.served)?;
    bindings::toolbox::add_to_linker::<StoreData, Served>(l, |state| &mut state.served)?;
    bindings::commands::add_to_linker::<StoreData, Served>(l, |state| &mut state.served)?;
    bindings::index::add_to_linker::<StoreData, Served>(l, |state| &mut state.served)?;
    bindings::content::add_to_linker::<StoreData, GuestContent>(l, |state| &mut state.content)?;
    Ok(linker)
}

/// A store for one run, and the watch over it.
pub(crate) struct Run {
    pub(crate) store: Store<StoreData>,
    watch: RunWatchdog,
}

/// Ends a run in time.
pub(crate) struct RunWatchdog {
    deadline: RunDeadline,
    cancelled: CancellationToken,
    revocation: Arc<Revocation>,
    voice: GuestReporter,
    engine: Engine,
    hostcall_fuel: usize,
    output_bytes_max: usize,
}

// === impl Run ===

impl Run {
    /// Sets up a store. Its time runs from now.
    pub(crate) fn new(engine: &Engine, setup: RunSetup) -> Result<Self, PluginCallError> {
        let watch = RunWatchdog::new(engine, &setup);
        let mut store = Store::new(engine.wasm(), StoreData::new(setup));
        store.limiter(|state| &mut state.limiter);
        store.set_max_component_handles(RESOURCES_MAX);
        watch.guard(&mut store);
        Ok(Self { store, watch })
    }

    /// Makes it the run of another call: nothing that belongs to a call stays but what the guest
    /// has in its memory, which is counted on.
    pub(crate) fn renew(&mut self, engine: &Engine, setup: RunSetup) {
        self.watch = RunWatchdog::new(engine, &setup);
        let mut state = StoreData::new(setup);
        std::mem::swap(&mut state.limiter, &mut self.store.data_mut().limiter);
        *self.store.data_mut() = state;
        self.watch.guard(&mut self.store);
    }

    /// Lets go of what belongs to a call that is over: its events, services and files.
    pub(crate) fn release(&mut self, engine: &Engine) {
        self.renew(engine, RunSetup::without_call(PluginLimits::default()));
    }

    /// Whether the guest holds nothing that its call was served: no file, stream or request.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.store.data().table.is_empty()
    }

    /// Splits into what the guest runs in and what watches it.
    pub(crate) fn parts(&mut self) -> (&mut Store<StoreData>, &RunWatchdog) {
        (&mut self.store, &self.watch)
    }
}

// === impl RunSetup ===

impl RunSetup {
    /// What a guest gets that is not called by anybody: nothing.
    pub(crate) fn without_call(limits: PluginLimits) -> Self {
        Self {
            limits,
            timeout: None,
            cancelled: CancellationToken::new(),
            revocation: Arc::default(),
            voice: GuestReporter::new(Arc::new(NoEvents)),
            settings: "{}".into(),
            granted: Arc::default(),
            served: Served::new(Arc::default(), Arc::new(NoServices)),
        }
    }
}

// === impl RunWatchdog ===

impl RunWatchdog {
    fn new(engine: &Engine, setup: &RunSetup) -> Self {
        Self {
            deadline: RunDeadline::new(&setup.limits, setup.timeout),
            cancelled: setup.cancelled.clone(),
            revocation: Arc::clone(&setup.revocation),
            voice: setup.voice.clone(),
            engine: engine.clone(),
            hostcall_fuel: hostcall_fuel(&setup.limits),
            output_bytes_max: setup.limits.output_bytes_max,
        }
    }

    /// Lets the guest in a store run until the deadline, with pauses for others.
    fn guard(&self, store: &mut Store<StoreData>) {
        let deadline = self.deadline.clone();
        store.set_hostcall_fuel(self.hostcall_fuel);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| {
            if Instant::now() < deadline.at {
                Ok(UpdateDeadline::Yield(1))
            } else {
                Err(deadline.as_trap())
            }
        });
    }

    /// Runs the guest until it is done, out of time, cancelled or without what it was granted.
    pub(crate) async fn over<T>(
        &self,
        guest: impl Future<Output = wasmtime::Result<T>>,
    ) -> Result<T, PluginCallError> {
        let _ticking = self.engine.keep_ticking();
        tokio::select! {
            biased;
            revoked = self.revocation.happened() => Err(revoked),
            result = guest => result.map_err(|error| self.explain(&error)),
            () = self.cancelled.cancelled() => Err(PluginCallError::Cancelled),
            () = tokio::time::sleep_until(self.deadline.at.into()) => {
                Err(self.deadline.error.clone())
            }
        }
    }

    fn explain(&self, error: &wasmtime::Error) -> PluginCallError {
        if let Some(stop) = cause::<TimeOver>(error) {
            return stop.0.clone();
        }
        explain(error, self.output_bytes_max).unwrap_or_else(|mut reason| {
            if let Some(panic) = self.voice.panic() {
                return PluginCallError::Crashed(quoted(&panic));
            }
            let last_words = self.voice.last_words();
            if !last_words.is_empty() {
                reason = format!("{reason}: {last_words}");
            }
            PluginCallError::Crashed(quoted(&reason))
        })
    }
}

/// Finds the typed error behind what stopped a guest; otherwise returns it as a text.
fn explain(error: &wasmtime::Error, output_bytes_max: usize) -> Result<PluginCallError, String> {
    if let Some(limit) = cause::<LimitReached>(error) {
        return Ok(PluginCallError::Limit(*limit));
    }
    if cause::<PoolConcurrencyLimitError>(error).is_some() {
        return Ok(PluginCallError::Busy);
    }
    if let Some(ResourceTableError::Full) = cause::<ResourceTableError>(error) {
        return Ok(PluginCallError::Limit(LimitReached::Resources));
    }
    if let Some(exit) = cause::<I32Exit>(error) {
        return Err(format!("it exited with status {}", exit.0));
    }
    match cause::<Trap>(error) {
        Some(Trap::StackOverflow) => Ok(PluginCallError::Limit(LimitReached::Stack)),
        Some(trap) => Err(trap.to_string()),
        None => explain_untyped(error, output_bytes_max),
    }
}

/// Knows the engine's limits that have no type by their words.
fn explain_untyped(
    error: &wasmtime::Error,
    output_bytes_max: usize,
) -> Result<PluginCallError, String> {
    let root = error.root_cause().to_string();
    if root.starts_with("resource limit exceeded") {
        Ok(PluginCallError::Limit(LimitReached::Instances))
    } else if root.contains("fuel allocated for hostcalls") {
        Ok(PluginCallError::Limit(LimitReached::Output(output_bytes_max)))
    } else {
        Err(error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": "))
    }
}

fn cause<E: std::error::Error + Send + Sync + 'static>(error: &wasmtime::Error) -> Option<&E> {
    error.downcast_ref().or_else(|| error.chain().find_map(|cause| cause.downcast_ref()))
}

// === impl RunDeadline ===

/// Carries the end of a run's time out of the guest.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct TimeOver(PluginCallError);

impl Clone for RunDeadline {
    fn clone(&self) -> Self {
        Self { at: self.at, error: self.error.clone() }
    }
}

impl RunDeadline {
    fn new(limits: &PluginLimits, timeout: Option<Duration>) -> Self {
        let now = Instant::now();
        match timeout {
            Some(timeout) if timeout < limits.timeout => {
                Self { at: now + timeout, error: PluginCallError::Deadline }
            }
            _ => Self {
                at: now + limits.timeout,
                error: PluginCallError::Limit(LimitReached::Timeout(limits.timeout)),
            },
        }
    }

    fn as_trap(&self) -> wasmtime::Error {
        wasmtime::Error::new(TimeOver(self.error.clone()))
    }
}

// === impl StoreData ===

impl StoreData {
    fn new(setup: RunSetup) -> Self {
        let output = Printed::output(setup.voice.clone());
        let error = Printed::error(setup.voice.clone());
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(output.clone()).stderr(error.clone()).max_random_size(RANDOM_BYTES_MAX);
        imports::sockets::refuse(&mut wasi);
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES_MAX);
        Self {
            limiter: Limiter::new(setup.limits.memory_bytes_max),
            context: GuestContext {
                voice: setup.voice,
                cancelled: setup.cancelled,
                settings: setup.settings,
            },
            content: GuestContent::new(setup.limits.output_bytes_max),
            filesystem: Filesystem::new(setup.granted, setup.served.clone()),
            http: Http::new(setup.served.clone()),
            served: setup.served,
            printed: [output, error],
            wasi: wasi.build(),
            table,
        }
    }

    pub(crate) fn filesystem(&mut self) -> FilesystemView<'_> {
        FilesystemView { filesystem: &mut self.filesystem, table: &mut self.table }
    }

    /// What the guest was refused last, unless something of the kind went well since.
    pub(crate) fn trouble(&self) -> Option<crate::imports::trouble::GuestRefusal> {
        self.served.trouble.noted()
    }

    /// Passes on what was printed without a line end.
    pub(crate) fn finish_printing(&self) {
        self.printed.iter().for_each(Printed::finish);
    }
}

impl WasiView for StoreData {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for StoreData {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.http.view(&mut self.table)
    }
}

impl HasData for Io {
    type Data<'a> = &'a mut ResourceTable;
}

impl HasData for GuestContext {
    type Data<'a> = &'a mut Self;
}

impl HasData for GuestContent {
    type Data<'a> = &'a mut Self;
}

impl HasData for Served {
    type Data<'a> = &'a mut Self;
}
