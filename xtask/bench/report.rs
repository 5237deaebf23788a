//! The table.

use std::time::Duration;

use crate::timing::Durations;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Figure {
    /// What was measured.
    pub(crate) name: &'static str,
    /// The number.
    pub(crate) value: Value,
    /// The same without moss.
    pub(crate) baseline: Option<Value>,
    /// What is wished for.
    pub(crate) target: Option<&'static str>,
}

/// A measured number.
#[derive(Debug)]
pub(crate) enum Value {
    /// How long something took, many times.
    Durations(Durations),
    /// How much memory something held, in bytes.
    Bytes(u64),
}

/// Prints the table.
pub(crate) fn print(figures: &[Figure]) {
    println!(
        "\n{:<36} {:>10} {:>10} {:>10} {:>10} {:>7}  target",
        "", "median", "p99", "bare", "bare p99", "ratio"
    );
    for Figure { name, value, baseline, target } in figures {
        let (median, p99) = value.columns();
        let (bare, bare_p99) = baseline.as_ref().map_or_else(Default::default, Value::columns);
        let ratio = baseline.as_ref().and_then(|baseline| value.ratio(baseline));
        let ratio = ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        let target = target.unwrap_or("—");
        println!(
            "{name:<36} {median:>10} {p99:>10} {bare:>10} {bare_p99:>10} {ratio:>7}  {target}"
        );
    }
}

// === impl Value ===

impl Value {
    fn columns(&self) -> (String, String) {
        match self {
            Self::Durations(durations) => (shown(durations.median()), shown(durations.p99())),
            Self::Bytes(bytes) => {
                let tenths = bytes * 10 / (1 << 20);
                (format!("{}.{} MiB", tenths / 10, tenths % 10), String::new())
            }
        }
    }

    fn ratio(&self, baseline: &Self) -> Option<f64> {
        match (self, baseline) {
            (Self::Durations(value), Self::Durations(baseline)) => {
                Some(value.median().as_secs_f64() / baseline.median().as_secs_f64())
            }
            _ => None,
        }
    }
}

fn shown(duration: Duration) -> String {
    match duration.as_micros() {
        micros @ ..10_000 => format!("{micros} µs"),
        micros => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
    }
}
