//! Plugins are compiled in a process of their own, which is ended when it takes too long or needs
//! too much memory; what it makes is kept. Whoever asks for the same code meanwhile waits for it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use bytes::Bytes;
use jiff::Timestamp;
use moss_plugin_host::{
    Engine, EngineOptions, LoadError,
    code::{CODE_BYTES_MAX, CodeId, CodeKey, CompiledCode, Compiler, compile_sealed},
};
use moss_sandbox::{ProcessExit, Worker, WorkerError, WorkerLimits};
use moss_sdk::context::BoxFuture;
use tokio::task::spawn_blocking;

use crate::code_cache::{self, CodeCache};
use crate::compiling::{Compilation, CompileIndicator, Compiling, OnCompile};
use crate::environment::Environment;
use crate::settings::Settings;

/// The hidden command of moss that compiles: see [`compile`].
pub const COMMAND: &str = "compile-plugin";
/// The exit code of a compiler that found the component broken.
pub const BROKEN_COMPONENT: u8 = 65;

/// Threads of one compiler.
const THREADS_MAX: usize = 4;
/// Heaps of one compiler: each reserves address space.
const HEAPS: &str = "2";
/// Open files of one compiler.
const FILES_MAX: u64 = 32;
/// What the run-time library says where memory is refused; the last where a thread has none for its
/// stack.
const NO_MEMORY: &[&str] = &[
    "memory allocation of",
    "out of memory",
    "Cannot allocate memory",
    "os error 12",
    "Resource temporarily unavailable",
];

/// Compiles in a process of moss's own program.
pub(super) struct ChildCompiler {
    program: PathBuf,
    /// Not held: its catalogs hold plugins, and those their compiler.
    environment: Weak<Environment>,
    key: CodeKey,
    cache: Option<Arc<CodeCache>>,
    /// Who wants to know, where it is for a look; none where it is for the lists.
    looker: Option<OnCompile>,
    /// Components that are compiled now: whoever wants the same code waits.
    under_way: Mutex<HashMap<CodeId, Arc<tokio::sync::Mutex<()>>>>,
}

/// The whole work of a compiler's process: a key and a component in, sealed code out.
///
/// # Errors
///
/// What is wrong with the component.
pub fn compile(input: &[u8]) -> Result<Vec<u8>, String> {
    let (key, component) = input.split_first_chunk().ok_or("the input is cut short")?;
    compile_sealed(&CodeKey::from_bytes(*key), component)
}

/// What a compiler's process allows itself.
pub fn limits(memory_bytes: u64, cpu_seconds: u64) -> WorkerLimits {
    WorkerLimits { memory_bytes, cpu_seconds, files: FILES_MAX }
}

/// Sets up an engine that compiles in a process of its own: for the lists, or for somebody who looks
/// at a component.
pub(super) async fn engine(
    environment: &Arc<Environment>,
    options: EngineOptions,
    looker: Option<OnCompile>,
) -> Result<Engine, String> {
    let environment = Arc::clone(environment);
    let made = spawn_blocking(move || {
        let engine = Engine::new(options).map_err(|error| error.to_string())?;
        Ok(match environment.program.clone() {
            Some(program) => {
                engine.with_compiler(Arc::new(ChildCompiler::new(program, &environment, looker)))
            }
            None => engine,
        })
    });
    made.await.unwrap_or_else(|error| Err(error.to_string()))
}

// === impl ChildCompiler ===

impl ChildCompiler {
    /// Opens the cache; without one everything is compiled at every start.
    fn new(program: PathBuf, environment: &Arc<Environment>, looker: Option<OnCompile>) -> Self {
        let cache = CodeCache::open(&environment.dirs.code);
        let cache = cache.inspect_err(|error| {
            tracing::warn!(%error, "compiled code of plugins is not cached");
        });
        let cache = cache.ok().map(Arc::new);
        Self {
            program,
            environment: Arc::downgrade(environment),
            key: cache.as_ref().map_or_else(code_cache::random_key, |cache| cache.key().clone()),
            cache,
            looker,
            under_way: Mutex::default(),
        }
    }

    async fn find_or_compile(
        &self,
        plugin: &str,
        id: CodeId,
        component: Bytes,
    ) -> Result<CompiledCode, LoadError> {
        let turn = self.lock_of(id);
        let code = {
            let _turn = turn.lock().await;
            match self.find(id).await {
                Some(code) => Ok(code),
                None => self.compile_and_keep(plugin, id, &component).await,
            }
        };
        self.forget_lock(id, &turn);
        code
    }

    async fn find(&self, id: CodeId) -> Option<CompiledCode> {
        let cache = Arc::clone(self.cache.as_ref()?);
        spawn_blocking(move || cache.find(id)).await.ok()?
    }

    async fn compile_and_keep(
        &self,
        plugin: &str,
        id: CodeId,
        component: &[u8],
    ) -> Result<CompiledCode, LoadError> {
        let of_daemon = |environment: Arc<Environment>| {
            (environment.settings().clone(), Arc::clone(&environment.compilers))
        };
        let Some((settings, compilers)) = self.environment.upgrade().map(of_daemon) else {
            return Err(LoadError::Compiler("moss is about to stop".to_owned()));
        };
        let _place = compilers.acquire().await.expect("nobody closes it");
        let worker = self.worker(&settings);
        let announced = self.announce(plugin, component.len());
        let sealed = worker.run(&[self.key.as_bytes(), component]).await;
        drop(announced);
        let sealed = sealed.map_err(|error| explain(error, &settings))?;
        let (key, cache) = (self.key.clone(), self.cache.clone());
        let opened = spawn_blocking(move || {
            let code = key.open(id, sealed)?;
            if let Some(cache) = cache {
                cache.keep(id, &code, settings.cache_bytes_max);
            }
            Some(code)
        });
        let opened = opened.await.map_err(|error| LoadError::Compiler(error.to_string()))?;
        opened.ok_or_else(|| {
            LoadError::Compiler("the compiler is of another version of moss".to_owned())
        })
    }

    /// Says to whoever wants to know that a component is compiled, until what is returned is
    /// dropped.
    fn announce(&self, plugin: &str, bytes: usize) -> Option<(Compilation, CompileIndicator)> {
        let compiling = Compiling {
            plugin: plugin.to_owned(),
            bytes,
            since: Timestamp::now(),
            is_kept: self.cache.is_some(),
            is_listed: self.looker.is_none(),
        };
        tracing::info!(plugin, bytes, "a plugin is compiled");
        let shown = self.looker.as_ref().and_then(|on_compile| on_compile(&compiling));
        let environment = self.environment.upgrade()?;
        Some((environment.compilations.begin(compiling), shown))
    }

    fn worker(&self, settings: &Settings) -> Worker {
        let timeout = settings.compile_timeout;
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let cpu_seconds = timeout.as_secs() + 1;
        Worker {
            program: self.program.clone(),
            arguments: vec![
                COMMAND.into(),
                settings.compile_memory_bytes.to_string().into(),
                cpu_seconds.to_string().into(),
            ],
            environment: vec![
                ("RAYON_NUM_THREADS".into(), threads.to_string().into()),
                ("MALLOC_ARENA_MAX".into(), HEAPS.into()),
            ],
            output_bytes_max: CODE_BYTES_MAX,
            timeout,
        }
    }

    fn lock_of(&self, id: CodeId) -> Arc<tokio::sync::Mutex<()>> {
        let mut all = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(id).or_default())
    }

    /// Forgets who compiles, unless somebody waits: the map and this are two holders.
    fn forget_lock(&self, id: CodeId, turn: &Arc<tokio::sync::Mutex<()>>) {
        let mut all = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::strong_count(turn) <= 2 {
            all.remove(&id);
        }
    }
}

impl Compiler for ChildCompiler {
    fn code<'a>(
        &'a self,
        plugin: &'a str,
        id: CodeId,
        component: Bytes,
    ) -> BoxFuture<'a, Result<CompiledCode, LoadError>> {
        Box::pin(self.find_or_compile(plugin, id, component))
    }
}

/// Says what ended a compiler, in terms of what can be set.
fn explain(error: WorkerError, settings: &Settings) -> LoadError {
    let time = || LoadError::CompileTime(settings.compile_timeout);
    match error {
        WorkerError::Timeout(_) => time(),
        WorkerError::Failed { ending, .. } if ending.is_out_of_cpu() => time(),
        WorkerError::Failed { said, .. } if NO_MEMORY.iter().any(|words| said.contains(words)) => {
            LoadError::CompileMemory(usize::try_from(settings.compile_memory_bytes).unwrap_or(0))
        }
        WorkerError::Failed { ending: ProcessExit::Exited(code), said }
            if code == i32::from(BROKEN_COMPONENT) =>
        {
            LoadError::Invalid(said)
        }
        other => LoadError::Compiler(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_ends_a_compiler_names_the_limit_and_how_to_raise_it() {
        let settings = Settings::roomy();
        let failed = |ending, said: &str| WorkerError::Failed { ending, said: said.to_owned() };
        let killed_by_abort = ProcessExit::Killed(6);
        for (error, expected) in [
            (
                WorkerError::Timeout(Duration::from_secs(1)),
                "takes longer than 1m; to allow more, raise compile_timeout_ms",
            ),
            (failed(ProcessExit::Killed(24), ""), "takes longer than 1m"),
            (
                failed(killed_by_abort, "memory allocation of 8192 bytes failed"),
                "needs more memory than 2GiB; to allow more, raise compile_memory_bytes",
            ),
            (failed(ProcessExit::Exited(65), "cut short"), "the component is not valid: cut short"),
            (
                failed(killed_by_abort, "else"),
                "was not compiled: the process was ended by signal 6",
            ),
        ] {
            let error = explain(error, &settings).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
