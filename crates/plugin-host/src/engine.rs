//! The one WASM engine: where its instances live, and the clock that lets a guest be interrupted.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::{Config, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::code::{self, Compiler, EngineId};
use crate::engine_config::config;
use crate::limits::{INSTANCES_MAX, MEMORIES_MAX, TABLE_ELEMENTS_MAX, TABLES_MAX};

/// How often a running guest is interrupted, to see whether it must stop.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// How much of the tables of a finished call is kept and zeroed for the next, in bytes. Of its memory
/// nothing is: most guests have their stack at its beginning and touch its other end.
const TABLES_KEPT_BYTES: usize = 32 << 10;

/// How to set up an [`Engine`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOptions {
    /// Most calls at the same time. A call above it fails as [`PluginCallError::Busy`].
    ///
    /// [`PluginCallError::Busy`]: crate::PluginCallError::Busy
    pub calls_max: u32,
    /// Most instances of all plugins that are kept between calls. The pool has room for them.
    pub warm_max: u32,
    /// Most bytes that `limits.memory` of any plugin may allow.
    pub memory_bytes_max: usize,
    /// Where the memory of instances comes from.
    pub allocation: Allocation,
}

/// Where the memory of instances comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// From a pool that is reserved at the start; where address space is short, on demand.
    Auto,
    /// Mapped for each call.
    OnDemand,
}

/// Compiles and runs plugins. Cheap to clone; one for the whole process.
#[derive(Clone)]
pub struct Engine {
    wasm: wasmtime::Engine,
    options: EngineOptions,
    id: EngineId,
    pooled: bool,
    compiler: Arc<dyn Compiler>,
    /// Slots for instances that are kept between calls: the pool has room for those as well.
    warm: Arc<Semaphore>,
    ticker: Arc<Ticker>,
}

/// The engine could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the WASM engine: {0}")]
pub struct EngineError(String);

/// Advances the engine's epoch while calls run, on a thread of its own: a busy async runtime does
/// not hold it up. Without calls the thread sleeps.
struct Ticker {
    shared: Arc<TickerShared>,
}

struct TickerShared {
    state: Mutex<TickerState>,
    changed: Condvar,
}

#[derive(Default)]
struct TickerState {
    calls: usize,
    stopped: bool,
}

/// Keeps the ticker going while a call runs.
pub(crate) struct Ticking(Arc<TickerShared>);

// === impl EngineOptions ===

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            calls_max: 64,
            warm_max: 32,
            memory_bytes_max: 512 << 20,
            allocation: Allocation::Auto,
        }
    }
}

// === impl Engine ===

impl Engine {
    /// Sets up the engine.
    ///
    /// # Errors
    ///
    /// When the platform refuses the settings or the ticker's thread.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let failed = |error: wasmtime::Error| EngineError(format!("{error:#}"));
        let pooled = match options.allocation {
            Allocation::Auto => wasmtime::Engine::new(&pooled(config(), options)).ok(),
            Allocation::OnDemand => None,
        };
        let is_pooled = pooled.is_some();
        let wasm = match pooled {
            Some(engine) => engine,
            None => wasmtime::Engine::new(&config()).map_err(failed)?,
        };
        let ticker = Ticker::start(wasm.clone()).map_err(|error| EngineError(error.to_string()))?;
        Ok(Self {
            id: EngineId::of(&wasm),
            wasm,
            options,
            pooled: is_pooled,
            compiler: code::in_process(),
            warm: Arc::new(Semaphore::new(options.warm_max as usize)),
            ticker: Arc::new(ticker),
        })
    }

    /// Lets another compiler than [`InProcess`](code::InProcess) make the code of plugins.
    #[must_use]
    pub fn with_compiler(mut self, compiler: Arc<dyn Compiler>) -> Self {
        self.compiler = compiler;
        self
    }

    /// Whether instances come from a pool.
    pub fn is_pooled(&self) -> bool {
        self.pooled
    }

    /// Returns the options it was set up with.
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Takes a slot for an instance that is kept; none where there is no more.
    pub(crate) fn keep_warm(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.warm).try_acquire_owned().ok()
    }

    pub(crate) fn compiler(&self) -> &dyn Compiler {
        self.compiler.as_ref()
    }

    pub(crate) fn id(&self) -> EngineId {
        self.id
    }

    pub(crate) fn wasm(&self) -> &wasmtime::Engine {
        &self.wasm
    }

    pub(crate) fn keep_ticking(&self) -> Ticking {
        Ticking::new(&self.ticker.shared)
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("options", &self.options).finish_non_exhaustive()
    }
}

fn pooled(mut config: Config, options: EngineOptions) -> Config {
    let calls = options.calls_max.saturating_add(options.warm_max);
    let per_call = |count: usize| calls.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_core_instances(per_call(INSTANCES_MAX))
        // A component of a usual tool chain has one memory and up to three tables.
        .total_memories(per_call(2))
        .total_tables(per_call(4))
        .total_stacks(calls)
        .max_core_instances_per_component(as_u32(INSTANCES_MAX))
        .max_memories_per_component(as_u32(MEMORIES_MAX))
        .max_tables_per_component(as_u32(TABLES_MAX))
        .max_component_instance_size(16 << 20)
        .max_core_instance_size(16 << 20)
        .max_memory_size(options.memory_bytes_max)
        .table_elements(TABLE_ELEMENTS_MAX)
        .max_tables_per_module(as_u32(TABLES_MAX))
        .table_keep_resident(TABLES_KEPT_BYTES);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

fn as_u32(count: usize) -> u32 {
    u32::try_from(count).expect("the limits on counts are small")
}

// === impl Ticker ===

impl Ticker {
    fn start(engine: wasmtime::Engine) -> std::io::Result<Self> {
        let shared = Arc::new(TickerShared {
            state: Mutex::new(TickerState::default()),
            changed: Condvar::new(),
        });
        let of_thread = shared.clone();
        thread::Builder::new()
            .name("plugin-ticker".to_owned())
            .spawn(move || of_thread.run(&engine))?;
        Ok(Self { shared })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.update(|state| state.stopped = true);
    }
}

impl TickerShared {
    fn run(&self, engine: &wasmtime::Engine) {
        loop {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let state = self
                .changed
                .wait_while(state, |state| state.calls == 0 && !state.stopped)
                .unwrap_or_else(PoisonError::into_inner);
            if state.stopped && state.calls == 0 {
                return;
            }
            drop(state);
            thread::sleep(TICK);
            engine.increment_epoch();
        }
    }

    fn update(&self, change: impl FnOnce(&mut TickerState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

// === impl Ticking ===

impl Ticking {
    fn new(shared: &Arc<TickerShared>) -> Self {
        shared.update(|state| state.calls += 1);
        Self(shared.clone())
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.update(|state| state.calls -= 1);
    }
}
