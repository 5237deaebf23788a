//! Names in the text, and the symbols around a position.

use moss_sdk::editor::{Position, Symbol};
use moss_sdk::editor_lines::byte_of;

/// Kinds of symbols that are called, as the Language Server Protocol names them.
const CALLED: &[&str] = &["function", "method", "constructor", "macro"];

/// The symbols that a position lies in, the outermost first.
pub(super) fn holding(symbols: Vec<Symbol>, place: Position) -> Vec<Symbol> {
    let holds = |symbol: &Symbol| symbol.span.start <= place && place <= symbol.span.end;
    symbols.into_iter().filter(holds).collect()
}

pub(super) fn is_called(kind: &str) -> bool {
    CALLED.contains(&kind)
}

/// The name of a symbol without what some editors write around it, such as `run(int)` or `A.run`.
pub(super) fn plain(name: &str) -> &str {
    let name = name.split(|c: char| !is_part(c) && c != '.' && c != ':').next().unwrap_or(name);
    name.rsplit(['.', ':']).next().unwrap_or(name)
}

/// The name that a character of a line, in UTF-16 code units, stands in or right after.
pub(super) fn at(line: &str, character: u32) -> Option<&str> {
    let at = byte_of(line, character);
    let start = line[..at]
        .rfind(|c| !is_part(c))
        .map_or(0, |before| before + line[before..].chars().next().map_or(0, char::len_utf8));
    let end = line[at..].find(|c| !is_part(c)).map_or(line.len(), |after| at + after);
    let name = &line[start..end];
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// Whether a character is part of names.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}
