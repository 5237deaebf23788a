//! Lines as many tools write them: `file:line:column: severity: message [rule]`, all but file, line and
//! message optional.

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::severity_of;
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

/// Most diagnostics of one output.
const DIAGNOSTICS_MAX: usize = 10_000;
/// Most characters of the name of a rule.
const RULE_CHARS_MAX: usize = 120;

/// What differs between tools that write so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GnuDialect {
    /// An error where no severity is named, `[rule]` at the end.
    Plain,
    /// Findings of vet are warnings, errors of the compiler have `vet: ` before them; columns are bytes.
    GoVet,
    /// `(rule)` at the end.
    Yamllint,
    /// Notes explain the diagnostic before them; columns are bytes.
    Clang,
}

/// A place that a line begins with.
struct GnuLocation<'a> {
    file: &'a str,
    line: u64,
    column: u64,
    rest: &'a str,
}

/// Reads the lines that name a place; others are passed over. The column is 0 where a line has none.
pub(crate) fn read(text: &str, source: &str) -> Vec<CheckDiagnostic> {
    let found = text.lines().filter_map(|line| diagnostic(line, source, GnuDialect::Plain));
    found.take(DIAGNOSTICS_MAX).collect()
}

/// Reads the lines that name a place, as one tool writes them.
pub(crate) fn read_as(text: &str, source: &str, dialect: GnuDialect) -> LintReport {
    let unit = match dialect {
        GnuDialect::GoVet | GnuDialect::Clang => ColumnUnit::Bytes,
        GnuDialect::Plain | GnuDialect::Yamllint => ColumnUnit::Characters,
    };
    let mut report = LintReport::of(unit);
    for line in text.lines() {
        if let Some(found) = diagnostic(line, source, dialect) {
            let (column, end_column) = (found.column.max(1), found.end_column.max(1));
            report.push(CheckDiagnostic { column, end_column, ..found });
        }
    }
    report
}

fn diagnostic(text: &str, source: &str, dialect: GnuDialect) -> Option<CheckDiagnostic> {
    let text = text.trim_end();
    let (text, is_compiler) = match text.strip_prefix("vet: ") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let place = place(text)?;
    let (severity, message) = severity(place.rest);
    if dialect == GnuDialect::Clang && severity == Some(CheckSeverity::Info) {
        return None;
    }
    let usual = match dialect {
        GnuDialect::GoVet if !is_compiler => CheckSeverity::Warning,
        _ => CheckSeverity::Error,
    };
    let (message, rule) = match dialect {
        GnuDialect::Yamllint => rule(message, '(', ')'),
        _ => rule(message, '[', ']'),
    };
    let file = place.file.trim_start_matches("./");
    let severity = severity.unwrap_or(usual);
    let found =
        CheckDiagnostic::at(file, place.line, place.column, severity, source, message.trim());
    (!message.is_empty()).then(|| found.by_rule(rule))
}

/// Finds `file:line:` or `file:line:column:` at the beginning of a line.
fn place(text: &str) -> Option<GnuLocation<'_>> {
    if text.starts_with([' ', '\t', '#', '=', '|', ':']) {
        return None;
    }
    text.match_indices(':').find_map(|(at, _)| {
        let file = &text[..at];
        let (line, rest) = number(&text[at + 1..])?;
        let rest = rest.strip_prefix(':')?;
        // A sentence with a time in it is no place.
        let follows_number = file.rsplit_once(':').is_some_and(|(_, last)| {
            !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())
        });
        let is_sentence = file.contains(": ") || (file.contains(' ') && !file.contains(['.', '/']));
        if line == 0 || follows_number || is_sentence || file.contains("://") {
            return None;
        }
        let (column, rest) = match number(rest) {
            Some((column, rest)) if rest.starts_with(':') => (column.max(1), &rest[1..]),
            _ => (0, rest),
        };
        Some(GnuLocation { file, line, column, rest: rest.trim() })
    })
}

/// The digits at the beginning of a text, and what follows.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// `error: x`, `fatal error: x`, `[warning] x`.
fn severity(text: &str) -> (Option<CheckSeverity>, &str) {
    let bracketed = text.strip_prefix('[').and_then(|text| text.split_once(']'));
    if let Some((word, message)) = bracketed
        && let Some(severity) = severity_of(word)
    {
        return (Some(severity), message.trim());
    }
    if let Some((word, message)) = text.split_once(':')
        && let Some(severity) = severity_of(word.trim())
    {
        return (Some(severity), message.trim());
    }
    (None, text)
}

/// Takes the rule off the end of a message.
fn rule(message: &str, open: char, close: char) -> (&str, Option<String>) {
    let Some((before, rule)) = message.strip_suffix(close).and_then(|text| text.rsplit_once(open))
    else {
        return (message, None);
    };
    let rule = rule.split_once(',').map_or(rule, |(rule, _)| rule);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    let is_rule = !rule.is_empty() && rule.len() <= RULE_CHARS_MAX && rule.chars().all(is_name);
    match is_rule && before.ends_with(' ') {
        true => (before.trim_end(), Some(rule.to_owned())),
        false => (message, None),
    }
}
