//! Lines as many tools write them: `file:line:column: severity: message`, the column and the severity
//! optional.

use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

/// Most diagnostics of one output.
const DIAGNOSTICS_MAX: usize = 10_000;

/// Reads the lines that name a place; others are passed over.
pub(crate) fn read(text: &str, source: &str) -> Vec<CheckDiagnostic> {
    text.lines().filter_map(|text| line(text, source)).take(DIAGNOSTICS_MAX).collect()
}

fn line(text: &str, source: &str) -> Option<CheckDiagnostic> {
    let text = text.trim_end();
    let text = text.strip_prefix("vet: ").unwrap_or(text);
    // A drive letter is no file of ours; a file has no blank at its beginning.
    let (file, rest) = text.split_once(':')?;
    if file.is_empty() || file.starts_with([' ', '\t', '#', '=']) || file.contains("://") {
        return None;
    }
    let (number, rest) = rest.split_once(':')?;
    let number: u64 = number.parse().ok().filter(|line| *line > 0)?;
    let (column, rest) = match rest.split_once(':') {
        Some((column, after)) => match column.trim().parse::<u64>() {
            Ok(column) => (column.max(1), after),
            Err(_) => (1, rest),
        },
        None => (1, rest),
    };
    let rest = rest.trim();
    let (severity, message) = severity(rest);
    (!message.is_empty()).then(|| {
        CheckDiagnostic::at(
            file.trim_start_matches("./"),
            number,
            column,
            severity,
            source,
            message,
        )
    })
}

/// `error: x`, `warning: x`, `[warning] x`, `fatal error: x`; without a word it is an error.
fn severity(text: &str) -> (CheckSeverity, &str) {
    let known = [
        ("fatal error:", CheckSeverity::Error),
        ("error:", CheckSeverity::Error),
        ("warning:", CheckSeverity::Warning),
        ("note:", CheckSeverity::Info),
        ("info:", CheckSeverity::Info),
        ("style:", CheckSeverity::Hint),
        ("[error]", CheckSeverity::Error),
        ("[warning]", CheckSeverity::Warning),
    ];
    for (word, severity) in known {
        if let Some(message) = text.strip_prefix(word) {
            return (severity, message.trim());
        }
    }
    (CheckSeverity::Error, text)
}
