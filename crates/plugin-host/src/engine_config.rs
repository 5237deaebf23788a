//! The settings of the WASM engine that compiled code depends on.
//!
//! Only Cranelift, only what WASI 0.2 components need. Proposals that no supported guest needs are
//! off: less code of the engine is reachable from a plugin.

use wasmtime::Config;

use crate::limits::STACK_BYTES_MAX;

const ASYNC_STACK_BYTES: usize = 2 << 20;

/// The settings that code depends on. Where the memory of instances comes from makes no difference.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES_MAX)
        .async_stack_size(ASYNC_STACK_BYTES)
        .memory_init_cow(true)
        // Guests are stripped: their frames have no names.
        .wasm_backtrace_max_frames(None)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        .wasm_custom_page_sizes(false)
        .wasm_wide_arithmetic(false);
    config
}
