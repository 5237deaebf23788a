//! What one call may use, and the accounting that holds it to that.
//!
//! Memory is counted over all memories of a call together, not for each alone. A limit that is
//! reached stops the guest with a [`LimitReached`] that names the limit and how to raise it.

use std::fmt;
use std::time::Duration;

use moss_plugin_list::{
    PluginLimits,
    limits::{MEMORY_BYTES_MAX, OUTPUT_BYTES_MAX, TIMEOUT_MS_MAX},
    units,
};
use wasmtime::ResourceLimiter;

/// Largest component that is loaded, in bytes.
pub const COMPONENT_BYTES_MAX: usize = 64 << 20;
/// Most core instances of one call.
pub const INSTANCES_MAX: usize = 32;
/// Most linear memories of one call.
pub const MEMORIES_MAX: usize = 8;
/// Most tables of one call.
pub const TABLES_MAX: usize = 16;
/// Most elements of all tables of one call. Each counts towards the memory as well.
pub const TABLE_ELEMENTS_MAX: usize = 65_536;
/// What an element of a table takes, in bytes.
pub const TABLE_ELEMENT_BYTES: usize = size_of::<usize>();
/// Largest stack of a guest, in bytes.
pub const STACK_BYTES_MAX: usize = 512 << 10;
/// Calls that wait for a slot, for each that `limits.calls` lets run.
pub const WAITING_PER_CALL: usize = 4;
/// Most WASI resources (open files, streams, pollables) of one call.
pub const RESOURCES_MAX: usize = 1024;
/// Most files that one call holds open.
pub const FILES_MAX: usize = 128;
/// Most memory for the names of directories that one call is listing, in bytes.
pub const LISTED_BYTES_MAX: usize = 16 << 20;
/// Most bytes that a guest gets from one request for random bytes.
pub const RANDOM_BYTES_MAX: u64 = 64 << 10;
/// Most edits that one call returns.
pub const EDITS_MAX: usize = 1024;

/// Least host-call fuel: about the bytes that one host call may copy out of the guest.
const HOSTCALL_FUEL_MIN: usize = 8 << 20;

/// A limit that a call reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitReached {
    /// The time of a call, as `limits.timeout` says it.
    Timeout(Duration),
    /// Memories and tables together, in bytes, as `limits.memory` says it.
    Memory(usize),
    /// Output and edits together, in bytes, as `limits.output` says it.
    Output(usize),
    /// `limits.calls`: so many run, and [`WAITING_PER_CALL`] times as many wait.
    Calls(usize),
    /// More edits than [`EDITS_MAX`].
    Edits,
    /// Larger tables than [`TABLE_ELEMENTS_MAX`].
    TableElements,
    /// [`INSTANCES_MAX`], [`MEMORIES_MAX`] or [`TABLES_MAX`].
    Instances,
    /// More resources than [`RESOURCES_MAX`].
    Resources,
    /// More open files than [`FILES_MAX`].
    Files,
    /// The stack of the guest.
    Stack,
}

/// Counts what the instances of one call use together.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory_bytes_max: usize,
    memory_bytes: usize,
    memory_bytes_peak: usize,
    /// What the last growth added, to release it where the growth then fails.
    bytes_added: usize,
    table_elements: usize,
    table_elements_added: usize,
}

/// Returns how much one host call, or the result of the call, may copy out of the guest. A result
/// within the output limit never runs into it.
pub(crate) fn hostcall_fuel(limits: &PluginLimits) -> usize {
    limits.output_bytes_max.saturating_mul(4).max(HOSTCALL_FUEL_MIN)
}

// === impl LimitReached ===

impl LimitReached {
    /// Returns how to raise the limit of a plugin, named with its list, or what to do where it is
    /// fixed.
    pub(crate) fn hint(self, limits: &PluginLimits, listed: &str) -> String {
        let raise = |key: &str, now: String, most: String| {
            format!("raise `limits.{key}` of {listed} (now {now}, at most {most})")
        };
        let lowered = |key: &str, now: String| {
            format!("`plugin_maximum.{key}` in config.toml allows no more than {now}")
        };
        let most = Duration::from_millis(TIMEOUT_MS_MAX);
        let fixed = match self {
            Self::Timeout(now) if limits.lowered.timeout => {
                return lowered("timeout_ms", units::duration(now));
            }
            Self::Timeout(now) => {
                return raise("timeout", units::duration(now), units::duration(most));
            }
            Self::Memory(now) if limits.lowered.memory => {
                return lowered("memory_bytes", units::size(now));
            }
            Self::Memory(now) => {
                return raise("memory", units::size(now), units::size(MEMORY_BYTES_MAX));
            }
            Self::Output(now) if limits.lowered.output => {
                return lowered("output_bytes", units::size(now));
            }
            Self::Output(now) => {
                return raise("output", units::size(now), units::size(OUTPUT_BYTES_MAX));
            }
            Self::Calls(calls) => {
                return format!(
                    "retry when others have ended, or raise `limits.calls` of {listed} (now \
                     {calls})"
                );
            }
            Self::Edits => "propose fewer edits in one call",
            Self::TableElements | Self::Instances => "the plugin needs a smaller build",
            Self::Resources | Self::Files => {
                "the plugin must close files and streams that it no longer uses"
            }
            Self::Stack => "the plugin must recurse less deeply",
        };
        format!("the limit is fixed: {fixed}")
    }
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(timeout) => {
                write!(f, "the plugin ran longer than {}", units::duration(*timeout))
            }
            Self::Memory(bytes) => {
                write!(f, "the plugin needs more than {} of memory", units::size(*bytes))
            }
            Self::Output(bytes) => {
                write!(f, "the plugin returned more than {}", units::size(*bytes))
            }
            Self::Calls(calls) => {
                let waiting = calls * WAITING_PER_CALL;
                write!(
                    f,
                    "at most {calls} calls of the plugin run at once and {waiting} wait for a slot"
                )
            }
            Self::Edits => write!(f, "the plugin returned more than {EDITS_MAX} edits"),
            Self::TableElements => {
                write!(f, "the plugin needs more than {TABLE_ELEMENTS_MAX} table elements")
            }
            Self::Instances => write!(
                f,
                "the plugin needs more than {INSTANCES_MAX} instances, {MEMORIES_MAX} memories \
                 or {TABLES_MAX} tables"
            ),
            Self::Resources => {
                write!(f, "the plugin has more than {RESOURCES_MAX} files, streams and the like")
            }
            Self::Files => write!(f, "the plugin has more than {FILES_MAX} files open"),
            Self::Stack => {
                write!(f, "the plugin needs more than {} of stack", units::size(STACK_BYTES_MAX))
            }
        }
    }
}

impl std::error::Error for LimitReached {}

// === impl Limiter ===

impl Limiter {
    pub(crate) fn new(memory_bytes_max: usize) -> Self {
        Self {
            memory_bytes_max,
            memory_bytes: 0,
            memory_bytes_peak: 0,
            bytes_added: 0,
            table_elements: 0,
            table_elements_added: 0,
        }
    }

    /// Returns the most bytes that all memories and tables had together.
    pub(crate) fn memory_bytes_peak(&self) -> usize {
        self.memory_bytes_peak
    }

    /// Whether there is room for what a memory or a table would grow by.
    fn check(&self, bytes: usize) -> wasmtime::Result<()> {
        if self.memory_bytes.saturating_add(bytes) > self.memory_bytes_max {
            return Err(wasmtime::Error::new(LimitReached::Memory(self.memory_bytes_max)));
        }
        Ok(())
    }

    fn add(&mut self, bytes: usize) {
        self.memory_bytes += bytes;
        self.bytes_added = bytes;
        self.memory_bytes_peak = self.memory_bytes_peak.max(self.memory_bytes);
    }

    fn release_growth(&mut self) {
        self.memory_bytes -= std::mem::take(&mut self.bytes_added);
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let added = desired.saturating_sub(current);
        self.check(added)?;
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.add(added);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.release_growth();
        Ok(())
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let added = desired.saturating_sub(current);
        let total = self.table_elements.saturating_add(added);
        if total > TABLE_ELEMENTS_MAX {
            return Err(wasmtime::Error::new(LimitReached::TableElements));
        }
        let bytes = added.saturating_mul(TABLE_ELEMENT_BYTES);
        self.check(bytes)?;
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.add(bytes);
        self.table_elements = total;
        self.table_elements_added = added;
        Ok(true)
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.release_growth();
        self.table_elements -= std::mem::take(&mut self.table_elements_added);
        Ok(())
    }

    fn instances(&self) -> usize {
        INSTANCES_MAX
    }

    fn tables(&self) -> usize {
        TABLES_MAX
    }

    fn memories(&self) -> usize {
        MEMORIES_MAX
    }
}

#[cfg(test)]
mod tests {
    use moss_plugin_list::Lowered;

    use super::*;

    #[test]
    fn what_holds_a_limit_down_is_named() {
        let hint = |reached: LimitReached, lowered| {
            reached.hint(&PluginLimits { lowered, ..PluginLimits::default() }, "p in l.json")
        };
        let timeout = LimitReached::Timeout(Duration::from_millis(5));
        assert_eq!(
            hint(timeout, Lowered::default()),
            "raise `limits.timeout` of p in l.json (now 5ms, at most 10m)"
        );
        assert_eq!(
            hint(timeout, Lowered { timeout: true, ..Lowered::default() }),
            "`plugin_maximum.timeout_ms` in config.toml allows no more than 5ms"
        );
        let memory = hint(LimitReached::Memory(64 << 20), Lowered::default());
        assert_eq!(memory, "raise `limits.memory` of p in l.json (now 64MiB, at most 1GiB)");
        let output = Lowered { output: true, ..Lowered::default() };
        assert!(hint(LimitReached::Output(1), output).contains("plugin_maximum.output_bytes"));
        assert!(hint(LimitReached::Stack, Lowered::default()).contains("fixed"));
    }
}
