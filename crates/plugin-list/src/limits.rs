//! What one call of a plugin may use, as its list says it.

use std::time::Duration;

/// Longest time that a list may give a call, in milliseconds.
pub const TIMEOUT_MS_MAX: u64 = 600_000;
/// Most memory that a list may give a call, in bytes.
pub const MEMORY_BYTES_MAX: usize = 1 << 30;
/// Most output that a list may allow a call, in bytes.
pub const OUTPUT_BYTES_MAX: usize = 64 << 20;

/// What one call of a plugin may use. `limits` in the plugin list sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginLimits {
    /// Longest run, in wall-clock time.
    pub timeout: Duration,
    /// Most bytes of all linear memories and tables together.
    pub memory_bytes_max: usize,
    /// Most bytes of the output and the edits together.
    pub output_bytes_max: usize,
    /// Most calls of the plugin that run at once.
    pub calls_max: usize,
    /// Instances that are kept for the next call; none by default: every call has its own.
    pub warm: Option<WarmLimits>,
    /// Which of them the configuration lowered. No list says it: who reads it does.
    pub lowered: Lowered,
}

/// Which limits are lower than what the list says, because the configuration allows no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lowered {
    /// The time is that of `plugin_maximum.timeout_ms`.
    pub timeout: bool,
    /// The memory is that of `plugin_maximum.memory_bytes`.
    pub memory: bool,
    /// The output is that of `plugin_maximum.output_bytes`.
    pub output: bool,
}

/// How instances are kept between calls. `warm` in the plugin list sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmLimits {
    /// Most instances that wait for a call.
    pub instances_max: usize,
    /// Most calls of one instance.
    pub calls_max: usize,
    /// Longest wait for a call.
    pub idle: Duration,
}

// === impl WarmLimits ===

impl Default for WarmLimits {
    fn default() -> Self {
        Self { instances_max: 1, calls_max: 100, idle: Duration::from_secs(60) }
    }
}

// === impl PluginLimits ===

impl Default for PluginLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            memory_bytes_max: 64 << 20,
            output_bytes_max: 1 << 20,
            calls_max: 8,
            warm: None,
            lowered: Lowered::default(),
        }
    }
}
