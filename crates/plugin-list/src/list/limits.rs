//! The limits of an entry.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::PluginEntry;
use super::source::{ListNode, ListProblem};
use crate::limits::{MEMORY_BYTES_MAX, OUTPUT_BYTES_MAX, PluginLimits, TIMEOUT_MS_MAX, WarmLimits};
use crate::units;

const TIMEOUTS_MS: RangeInclusive<u128> = 1..=TIMEOUT_MS_MAX as u128;
const MEMORIES: RangeInclusive<usize> = (64 << 10)..=MEMORY_BYTES_MAX;
pub(super) const STORES: RangeInclusive<usize> = 1..=(64 << 20);
const WARM_INSTANCES: RangeInclusive<usize> = 1..=16;
const WARM_CALLS: RangeInclusive<usize> = 2..=1_000_000;
const IDLES_MS: RangeInclusive<u128> = 1000..=3_600_000;
const CALLS: RangeInclusive<usize> = 1..=1024;
const OUTPUTS: RangeInclusive<usize> = 1..=OUTPUT_BYTES_MAX;

pub(super) fn parse_limits(node: ListNode<'_>) -> Result<PluginLimits, ListProblem> {
    let mut given = node.object(&["timeout", "memory", "output", "calls"])?;
    let mut limits = PluginLimits::default();
    if let Some(node) = given.optional("timeout") {
        let timeout = parse_duration(node)?;
        let is_inside = TIMEOUTS_MS.contains(&timeout.as_millis());
        limits.timeout = in_range(node, "timeout", timeout, is_inside, "1ms to 10m")?;
    }
    if let Some(node) = given.optional("memory") {
        let size = parse_size(node)?;
        limits.memory_bytes_max =
            in_range(node, "memory", size, MEMORIES.contains(&size), "64KiB to 1GiB")?;
    }
    if let Some(node) = given.optional("calls") {
        let calls = usize::try_from(node.integer()?).unwrap_or(usize::MAX);
        limits.calls_max = in_range(node, "calls", calls, CALLS.contains(&calls), "1 to 1024")?;
    }
    if let Some(node) = given.optional("output") {
        let size = parse_size(node)?;
        limits.output_bytes_max =
            in_range(node, "output", size, OUTPUTS.contains(&size), "1B to 64MiB")?;
    }
    Ok(limits)
}

pub(super) fn parse_warm(node: ListNode<'_>) -> Result<WarmLimits, ListProblem> {
    let mut given = node.object(&["instances", "calls", "idle"])?;
    let mut warm = WarmLimits::default();
    let count = |node: ListNode<'_>| Ok(usize::try_from(node.integer()?).unwrap_or(usize::MAX));
    if let Some(node) = given.optional("instances") {
        let instances = count(node)?;
        warm.instances_max =
            in_range(node, "instances", instances, WARM_INSTANCES.contains(&instances), "1 to 16")?;
    }
    if let Some(node) = given.optional("calls") {
        let calls = count(node)?;
        warm.calls_max =
            in_range(node, "calls", calls, WARM_CALLS.contains(&calls), "2 to 1000000")?;
    }
    if let Some(node) = given.optional("idle") {
        let idle = parse_duration(node)?;
        let is_inside = IDLES_MS.contains(&idle.as_millis());
        warm.idle = in_range(node, "idle", idle, is_inside, "1s to 60m")?;
    }
    Ok(warm)
}

fn parse_duration(node: ListNode<'_>) -> Result<Duration, ListProblem> {
    let text = with_unit(node, "10s")?;
    units::parse_duration(text).ok_or_else(|| {
        node.problem(format!("`{text}` is not a duration"))
            .help("expected a whole number and `ms`, `s` or `m`, such as `10s`")
    })
}

pub(super) fn parse_size(node: ListNode<'_>) -> Result<usize, ListProblem> {
    let text = with_unit(node, "64MiB")?;
    units::parse_size(text).ok_or_else(|| {
        node.problem(format!("`{text}` is not a size"))
            .help("expected a whole number and `B`, `KiB`, `MiB` or `GiB`, such as `64MiB`")
    })
}

fn with_unit<'t>(node: ListNode<'t>, example: &str) -> Result<&'t str, ListProblem> {
    let help = format!("write it with its unit, such as \"{example}\"");
    node.string().map_err(|problem| problem.help(help))
}

pub(super) fn in_range<T>(
    node: ListNode<'_>,
    key: &str,
    value: T,
    is_inside: bool,
    range: &str,
) -> Result<T, ListProblem> {
    if is_inside {
        return Ok(value);
    }
    let given = node.value()?;
    let given = given.as_str().map_or_else(|| given.to_string(), ToOwned::to_owned);
    let problem = node.problem(format!("`{key}` is out of range: {given}"));
    Err(problem.help(format!("it can be {range}")))
}

// === impl PluginEntry ===

impl PluginEntry {
    /// Returns what one call may use as people read it, one line each.
    pub fn limit_lines(&self) -> Vec<String> {
        let PluginLimits { timeout, memory_bytes_max, output_bytes_max, calls_max, warm, .. } =
            self.limits;
        let (timeout, memory) = (units::duration(timeout), units::size(memory_bytes_max));
        let output = units::size(output_bytes_max);
        let mut lines =
            vec![format!("{timeout}, {memory} of memory, {output} of output, {calls_max} at once")];
        if let Some(WarmLimits { instances_max, calls_max, idle }) = warm {
            let idle = units::duration(idle);
            lines.push(format!("{instances_max} kept for {idle}, for {calls_max} calls each"));
        }
        lines
    }
}
