//! Issues of golangci-lint, of its first and of its second version: one JSON object, columns in bytes. Fixes of the first
//! replace lines or a part of one; those of the second count bytes of the file.

use serde_json::Value;

use super::LintReport;
use super::column::{self, ColumnUnit};
use super::fields::{from_one, list_at, number_at, severity_of, text_at, whole};
use crate::diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};

/// The characters of base64, in the order of what they stand for.
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn read(stdout: &str) -> LintReport {
    whole(stdout, &["{\"Issues\"", "{"], ColumnUnit::Bytes, |report, document| {
        let error = text_at(document, "/Report/Error");
        if !error.is_empty() {
            report.problem = Some(error);
        }
        for issue in list_at(document, "/Issues") {
            report.push(diagnostic(issue));
        }
    })
}

fn diagnostic(issue: &Value) -> CheckDiagnostic {
    let linter = text_at(issue, "/FromLinter");
    let severity = severity_of(&text_at(issue, "/Severity")).unwrap_or(match linter.as_str() {
        "typecheck" => CheckSeverity::Error,
        _ => CheckSeverity::Warning,
    });
    let path = text_at(issue, "/Pos/Filename");
    let (line, column) = (from_one(issue, "/Pos/Line", 1), from_one(issue, "/Pos/Column", 1));
    let text = text_at(issue, "/Text");
    let replaced = issue.get("Replacement").and_then(|new| replacement(issue, new, &path, line));
    let suggested =
        list_at(issue, "/SuggestedFixes").iter().filter_map(|fix| suggested(fix, &path));
    let found = CheckDiagnostic::at(&path, line, column, severity, "golangci-lint", text);
    CheckDiagnostic {
        fixes: replaced.into_iter().chain(suggested).collect(),
        ..found.by_rule(Some(linter))
    }
}

/// A fix of the first version: `NewLines` instead of the lines of the issue, or of `Inline` a part of its line.
fn replacement(issue: &Value, new: &Value, path: &str, line: u64) -> Option<CheckFix> {
    let edit = match new.get("Inline").filter(|inline| inline.is_object()) {
        Some(inline) => {
            let start = from_one(inline, "/StartCol", 0);
            let length = u64::try_from(number_at(inline, "/Length")?).ok()?;
            FixEdit {
                path: path.to_owned(),
                line,
                column: start,
                end_line: line,
                end_column: start.checked_add(length)?,
                new_text: text_at(inline, "/NewString"),
            }
        }
        None => {
            let lines = list_at(new, "/NewLines").iter();
            let new_text: String = lines.map(|line| format!("{}\n", text_at(line, ""))).collect();
            if new_text.is_empty() && new.get("NeedOnlyDelete") != Some(&Value::Bool(true)) {
                return None;
            }
            let (first, last) = match issue.get("LineRange").is_some_and(Value::is_object) {
                true => {
                    (from_one(issue, "/LineRange/From", 1), from_one(issue, "/LineRange/To", 1))
                }
                false => (line, line),
            };
            FixEdit {
                path: path.to_owned(),
                line: first,
                column: 1,
                end_line: last.max(first) + 1,
                end_column: 1,
                new_text,
            }
        }
    };
    Some(fix_of(String::new(), vec![edit]))
}

/// A fix of the second version; none where one of its edits cannot be read.
fn suggested(fix: &Value, path: &str) -> Option<CheckFix> {
    let edit = |edit: &Value| {
        let offset = |pointer| u64::try_from(number_at(edit, pointer)?).ok();
        let new_text = text_of_base64(&text_at(edit, "/NewText"))?;
        Some(column::edit_of_bytes(path, offset("/Pos")?, offset("/End")?, new_text))
    };
    let edits: Vec<FixEdit> = list_at(fix, "/TextEdits").iter().map(edit).collect::<Option<_>>()?;
    (!edits.is_empty()).then(|| fix_of(text_at(fix, "/Message"), edits))
}

fn fix_of(description: String, edits: Vec<FixEdit>) -> CheckFix {
    CheckFix { description, safety: FixSafety::Unknown, edits }
}

/// A text that JSON of Go has in base64, as it has all bytes; none where it is neither.
fn text_of_base64(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0);
    for digit in encoded.trim_end_matches('=').bytes() {
        let value = BASE64.iter().position(|known| *known == digit)?;
        held = (held << 6) | u32::try_from(value).ok()?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xff).ok()?);
            held &= (1 << bits) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_are_read_from_base64() {
        for (encoded, text) in [
            ("", Some("")),
            ("Xw==", Some("_")),
            ("Xz0=", Some("_=")),
            ("XyA9IGYoKQ==", Some("_ = f()")),
            ("w6nwn5iA", Some("é😀")),
            ("/+8=", None),
            ("a b", None),
        ] {
            assert_eq!(text_of_base64(encoded).as_deref(), text, "{encoded}");
        }
    }
}
