//! Texts of models, files and tools as a person at a client reads them.

use moss_sdk::deceptive::is_deceptive;

/// A text as a person reads it: all but its line breaks and tabs that deceives a reader is an escape.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if is_deceptive(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}
