//! The same component in the same engine, without a host around it.
//!
//! The settings of the engine are those of `crates/plugin-host/src/engine_config.rs` and `engine.rs`; where
//! they differ, the comparison is not fair.

use std::path::{Path, PathBuf};
use std::time::Duration;

use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime::error::Context as _;
use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result, Store,
    UpdateDeadline,
};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

wasmtime::component::bindgen!({
    path: "../sdk/wit",
    world: "plugin",
    exports: { default: async },
});

const TICK: Duration = Duration::from_millis(5);
const CALLS_MAX: u32 = 64;
const MEMORY_BYTES_MAX: usize = 1 << 30;
const TABLES_KEPT_BYTES: usize = 32 << 10;

/// A component that is ready to be instantiated.
pub(crate) struct BareComponent {
    code: PluginPre<BareState>,
    engine: Engine,
    /// What it may read `docs` of.
    workspace: Option<PathBuf>,
}

struct BareState {
    wasi: WasiCtx,
    table: ResourceTable,
}

/// Turns the engine's errors into those of this program.
pub(crate) fn error(error: wasmtime::Error) -> anyhow::Error {
    anyhow::anyhow!("{error:#}")
}

// === impl BareComponent ===

impl BareComponent {
    pub(crate) fn load(file: &Path, workspace: Option<&Path>) -> Result<Self> {
        let engine = Engine::new(&config())?;
        let component = wasmtime::component::Component::from_file(&engine, file)
            .with_context(|| format!("cannot load {}", file.display()))?;
        let mut linker: Linker<BareState> = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        moss::plugin::context::add_to_linker::<BareState, HasSelf<BareState>>(
            &mut linker,
            |state| state,
        )?;
        let code = PluginPre::new(linker.instantiate_pre(&component)?)?;
        let ticking = engine.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(TICK);
                ticking.increment_epoch();
            }
        });
        Ok(Self { code, engine, workspace: workspace.map(Path::to_owned) })
    }

    /// Calls a tool in an instance of its own.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: &str,
    ) -> Result<std::result::Result<String, String>> {
        let mut wasi = WasiCtxBuilder::new();
        if let Some(workspace) = &self.workspace {
            wasi.preopened_dir(workspace.join("docs"), "docs", FsPerms::ReadOnly)?;
        }
        let state = BareState { wasi: wasi.build(), table: ResourceTable::new() };
        let mut store = Store::new(&self.engine, state);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
        let instance = self.code.instantiate_async(&mut store).await?;
        let returned = instance.moss_plugin_tools().call_call(&mut store, tool, arguments).await?;
        Ok(returned.map(|outcome| outcome.output).map_err(|error| error.message))
    }
}

fn config() -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(CALLS_MAX)
        .total_core_instances(32 * CALLS_MAX)
        .total_memories(2 * CALLS_MAX)
        .total_tables(4 * CALLS_MAX)
        .total_stacks(CALLS_MAX)
        .max_core_instances_per_component(32)
        .max_memories_per_component(8)
        .max_tables_per_component(16)
        .max_component_instance_size(16 << 20)
        .max_core_instance_size(16 << 20)
        .max_memory_size(MEMORY_BYTES_MAX)
        .table_elements(65_536)
        .max_tables_per_module(16)
        .table_keep_resident(TABLES_KEPT_BYTES);
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(512 << 10)
        .async_stack_size(2 << 20)
        .memory_init_cow(true)
        .wasm_backtrace_max_frames(None)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        .wasm_custom_page_sizes(false)
        .wasm_wide_arithmetic(false)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

// === impl BareState ===

impl WasiView for BareState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl moss::plugin::context::Host for BareState {
    fn log(&mut self, _: moss::plugin::context::Level, _: String) {}

    fn progress(&mut self, _: String, _: u64, _: Option<u64>) {}

    fn cancelled(&mut self) -> bool {
        false
    }

    fn settings(&mut self) -> String {
        "{}".to_owned()
    }
}
