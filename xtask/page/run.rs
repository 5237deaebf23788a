//! On what something was measured: the machine, the versions, the day. What cannot be found out is empty.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

const DAY_SECONDS: u64 = 86_400;

/// One run of a program that measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BenchRun {
    /// Year, month and day.
    pub(crate) date: String,
    /// The commit of the sources, with a `+` where something in them was changed.
    pub(crate) commit: String,
    pub(crate) moss: String,
    pub(crate) rustc: String,
    pub(crate) kernel: String,
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_bytes: u64,
    /// How many programs wanted a core in the minute before the results were taken.
    pub(crate) load: String,
}

// === impl BenchRun ===

impl BenchRun {
    /// Finds out about this machine.
    pub(crate) fn here(moss: &Path, sources: &Path) -> Self {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let git = |words: &[&str]| printed(Command::new("git").arg("-C").arg(sources).args(words));
        // Documents are no sources: results that were just kept are among them.
        let sources = ["--", ":/", ":(exclude,top)docs"];
        let status = ["status", "--porcelain", "--untracked-files=no"];
        let is_changed = !git(&[&status[..], &sources[..]].concat()).is_empty();
        let commit = git(&["rev-parse", "--short=12", "HEAD"]);
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        Self {
            date: date(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())),
            commit: if is_changed { format!("{commit}+") } else { commit },
            moss: printed(Command::new(moss).arg("--version")),
            rustc: printed(Command::new(rustc).arg("--version")),
            kernel: format!("{} {}", system("ostype"), system("osrelease")),
            processor: field("/proc/cpuinfo", "model name"),
            cores,
            memory_bytes: kibibytes(&field("/proc/meminfo", "MemTotal")) * 1024,
            load: text("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
        }
    }
}

/// The first line that a command prints.
fn printed(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned()
}

fn system(name: &str) -> String {
    text(&format!("/proc/sys/kernel/{name}")).trim().to_owned()
}

fn text(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// The value of the first line with a name.
fn field(file: &str, name: &str) -> String {
    let text = text(file);
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'));
    value.map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}

fn kibibytes(text: &str) -> u64 {
    text.trim_end_matches("kB").trim().parse().unwrap_or(0)
}

/// The day of a time since 1970, in UTC.
fn date(seconds: u64) -> String {
    // Years begin with March here, so that a leap day is the last of its year; 400 years are an era.
    let days = seconds / DAY_SECONDS + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        ..10 => (era * 400 + year, month + 3),
        _ => (era * 400 + year + 1, month - 9),
    };
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_798_761_599, "2026-12-31"),
        ] {
            assert_eq!(date(seconds), day);
        }
    }
}
