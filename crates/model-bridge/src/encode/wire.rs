//! Frames of streams: server-sent events and lines of JSON.

use serde_json::Value;

/// What some clients take for the end of a line though JSON lets it stand in strings, and how it is
/// written instead.
const LINE_ENDS: [(char, &str); 3] =
    [('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];

/// Adds an event without a name.
pub(super) fn data(out: &mut String, value: &Value) {
    out.push_str("data: ");
    out.push_str(&on_a_line(value));
    out.push_str("\n\n");
}

/// Adds an event that is named as its `type` says.
pub(super) fn event(out: &mut String, name: &str, value: &Value) {
    out.push_str("event: ");
    out.push_str(name);
    out.push('\n');
    data(out, value);
}

/// Adds a value as one line of JSON.
pub(super) fn line(out: &mut String, value: &Value) {
    out.push_str(&on_a_line(value));
    out.push('\n');
}

/// Writes JSON that is one line, whatever a reader takes for the end of one.
fn on_a_line(value: &Value) -> String {
    let mut text = value.to_string();
    for (end, escape) in LINE_ENDS {
        if text.contains(end) {
            text = text.replace(end, escape);
        }
    }
    text
}
