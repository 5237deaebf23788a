//! Errors of rustc as people read them: `error[E0308]: mismatched types`, then ` --> src/lib.rs:3:5`.

use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

/// Most diagnostics of one output.
const DIAGNOSTICS_MAX: usize = 1_000;

/// Reads the errors; warnings are passed over.
pub(crate) fn read(text: &str) -> Vec<CheckDiagnostic> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<CheckDiagnostic> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((code, message)) = heading(line) else { continue };
        let place = lines[at + 1..].iter().take(6).find_map(|line| location(line));
        let Some((file, line, column)) = place else { continue };
        let mut error =
            CheckDiagnostic::at(file, line, column, CheckSeverity::Error, "rustc", message);
        error.code = code.map(str::to_owned);
        // The library and its tests are compiled one after the other.
        if !found.contains(&error) && found.len() < DIAGNOSTICS_MAX {
            found.push(error);
        }
    }
    found
}

fn heading(line: &str) -> Option<(Option<&str>, &str)> {
    if let Some(rest) = line.strip_prefix("error[") {
        let (code, message) = rest.split_once("]: ")?;
        return Some((Some(code), message));
    }
    Some((None, line.strip_prefix("error: ")?))
}

fn location(line: &str) -> Option<(&str, u64, u64)> {
    let place = line.trim_start().strip_prefix("--> ")?;
    let mut parts = place.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some((file, line.parse().ok()?, column.parse().ok()?))
}
