//! The rows of tables of figures: what the programs that measure write, one JSON object on a line, and
//! what the page of figures is made of.
//!
//! Knows nothing of how something is measured, or shown.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One line of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What was measured, as the table calls it.
    pub name: String,
    /// What its numbers count.
    pub unit: Unit,
    /// What moss took, in the unit.
    pub value: Spread,
    /// The same without moss, in the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Spread>,
    /// What is wished for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Where it stands on a plot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
}

/// What the numbers of a row are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// How long something took.
    Nanoseconds,
    /// How much something holds.
    Bytes,
    /// How often something was done in a second.
    PerSecond,
    /// How many there are.
    Count,
}

/// A measured number, often the median of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// What half of the measurements stay within; the number itself where there is one.
    pub median: u64,
    /// What 99 of 100 stay within.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
}

/// A point of a plot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The name of the plot that it is on.
    pub plot: String,
    /// How far to the right.
    pub x: u64,
}

/// Writes rows into a file of their own.
///
/// # Errors
///
/// Fails where the file cannot be written.
pub fn write(file: &Path, rows: &[Row]) -> io::Result<()> {
    let mut file = io::BufWriter::new(File::create(file)?);
    for row in rows {
        serde_json::to_writer(&mut file, row)?;
        file.write_all(b"\n")?;
    }
    file.flush()
}

/// Reads what [`write()`] wrote.
///
/// # Errors
///
/// Fails where the file cannot be read, and at the first line that is no row.
pub fn read(file: &Path) -> io::Result<Vec<Row>> {
    let lines = BufReader::new(File::open(file)?).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

// === impl Row ===

impl Row {
    /// Makes a row of durations.
    pub fn timed(name: impl Into<String>, durations: Vec<Duration>) -> Self {
        Self::new(name.into(), Unit::Nanoseconds, Spread::of(durations))
    }

    /// Makes a row of something that holds so many bytes.
    pub fn bytes(name: impl Into<String>, bytes: u64) -> Self {
        Self::new(name.into(), Unit::Bytes, Spread::single(bytes))
    }

    /// Makes a row of something that was done so often in a second.
    pub fn per_second(name: impl Into<String>, times: u64) -> Self {
        Self::new(name.into(), Unit::PerSecond, Spread::single(times))
    }

    /// Makes a row of how many there are.
    pub fn count(name: impl Into<String>, count: u64) -> Self {
        Self::new(name.into(), Unit::Count, Spread::single(count))
    }

    fn new(name: String, unit: Unit, value: Spread) -> Self {
        Self { name, unit, value, baseline: None, target: None, point: None }
    }

    /// Adds the same without moss.
    pub fn against(self, baseline: Spread) -> Self {
        Self { baseline: Some(baseline), ..self }
    }

    /// Adds what is wished for.
    pub fn wanted(self, target: &str) -> Self {
        Self { target: Some(target.to_owned()), ..self }
    }

    /// Puts it on a plot.
    pub fn at(self, plot: &str, x: u64) -> Self {
        Self { point: Some(Point { plot: plot.to_owned(), x }), ..self }
    }

    /// How many times the baseline it is.
    pub fn ratio(&self) -> Option<f64> {
        let baseline = self.baseline?.median;
        (baseline > 0).then(|| self.value.median as f64 / baseline as f64)
    }
}

// === impl Spread ===

impl Spread {
    /// Takes the median and the 99th percentile of durations.
    pub fn of(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        let at = |percent: usize| {
            let index = (durations.len() * percent / 100).min(durations.len().saturating_sub(1));
            durations.get(index).map_or(0, |duration| duration.as_nanos() as u64)
        };
        Self { median: at(50), p99: Some(at(99)) }
    }

    /// Makes a number that stands for itself.
    pub fn single(median: u64) -> Self {
        Self { median, p99: None }
    }
}

// === impl Unit ===

impl Unit {
    /// Returns a number as people read it.
    pub fn shown(self, number: u64) -> String {
        match self {
            Self::Nanoseconds if number < 1_000_000 => {
                format!("{} µs", significant(number as f64 / 1e3))
            }
            Self::Nanoseconds if number < 1_000_000_000 => {
                format!("{} ms", significant(number as f64 / 1e6))
            }
            Self::Nanoseconds => format!("{} s", significant(number as f64 / 1e9)),
            Self::Bytes if number < 1 << 20 => {
                format!("{} KiB", significant(number as f64 / 1024.0))
            }
            Self::Bytes if number < 1 << 30 => {
                format!("{} MiB", significant(number as f64 / 1_048_576.0))
            }
            Self::Bytes => format!("{} GiB", significant(number as f64 / 1_073_741_824.0)),
            Self::PerSecond => format!("{}/s", grouped(number)),
            Self::Count => grouped(number),
        }
    }
}

/// A number with three digits that say something, at least.
fn significant(number: f64) -> String {
    match number {
        ..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => grouped(number.round() as u64),
    }
}

/// A number with its thousands apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_in_the_unit_that_fits() {
        let shown = [
            (Unit::Nanoseconds, 3_140, "3.14 µs"),
            (Unit::Nanoseconds, 220_400, "220 µs"),
            (Unit::Nanoseconds, 2_100_000, "2.10 ms"),
            (Unit::Nanoseconds, 62_340_000_000, "62.3 s"),
            (Unit::Nanoseconds, 981_000_000_000, "981 s"),
            (Unit::Bytes, 512, "0.50 KiB"),
            (Unit::Bytes, 50_331_648, "48.0 MiB"),
            (Unit::Bytes, 5 << 30, "5.00 GiB"),
            (Unit::PerSecond, 1_234_567, "1,234,567/s"),
        ];
        for (unit, number, text) in shown {
            assert_eq!(unit.shown(number), text);
        }
    }

    #[test]
    fn rows_read_back_as_they_were_written() {
        let full = Row {
            name: "a".to_owned(),
            unit: Unit::Nanoseconds,
            value: Spread { median: 3, p99: Some(4) },
            baseline: Some(Spread::single(2)),
            target: Some("ratio ≤ 2".to_owned()),
            point: Some(Point { plot: "p".to_owned(), x: 64 }),
        };
        let bare = Row { baseline: None, target: None, point: None, ..full.clone() };
        assert_eq!(full.ratio(), Some(1.5));
        let file = std::env::temp_dir().join(format!("moss-rows-{}", std::process::id()));
        write(&file, &[full.clone(), bare.clone()]).expect("the directory can be written");
        assert_eq!(read(&file).expect("it was written"), [full, bare]);
        std::fs::remove_file(file).expect("it is there");
    }
}
