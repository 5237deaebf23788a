//! Contents of the in-memory host: names, decoded texts, windows of lines. Pure.

use crate::file::{Content, Line, LineEnding, LineWindow, Lines, Text, TextForm};
use crate::hash::ContentHash;

/// Computes the name of a content.
pub fn hash(bytes: &[u8]) -> ContentHash {
    ContentHash::from_bytes(*blake3::hash(bytes).as_bytes())
}

/// Decodes the content of a file.
pub fn decode(bytes: &[u8]) -> Content {
    let (bom, body) = match bytes.strip_prefix("\u{feff}".as_bytes()) {
        Some(body) => (true, body),
        None => (false, bytes),
    };
    match std::str::from_utf8(body) {
        Ok(text) if !text.contains('\0') => {
            Content::Text(Text { text: text.to_owned(), form: form(text, bom) })
        }
        _ => Content::Binary,
    }
}

fn form(text: &str, bom: bool) -> TextForm {
    let lf = text.matches('\n').count();
    let crlf = text.matches("\r\n").count();
    let line_ending = match (lf, crlf) {
        (0, _) => LineEnding::None,
        (_, 0) => LineEnding::Lf,
        (all, crlf) if all == crlf => LineEnding::Crlf,
        _ => LineEnding::Mixed,
    };
    TextForm {
        encoding: "UTF-8".to_owned(),
        bom,
        line_ending,
        final_newline: text.is_empty() || text.ends_with('\n'),
    }
}

/// Returns the lines of a window; at least one where it starts in the text.
pub(super) fn window(text: &str, window: LineWindow) -> Lines {
    let mut lines = Lines::default();
    let mut bytes = 0;
    let skipped = usize::try_from(window.start).unwrap_or(usize::MAX).saturating_sub(1);
    for line in text.split_inclusive('\n').skip(skipped).take(window.lines_max.max(1)) {
        let line = line.strip_suffix('\n').map_or(line, |l| l.strip_suffix('\r').unwrap_or(l));
        let kept = &line[..line.floor_char_boundary(window.line_bytes_max)];
        bytes += kept.len();
        if bytes > window.bytes_max && !lines.is_empty() {
            break;
        }
        lines.push(Line { text: kept, bytes_cut: (line.len() - kept.len()) as u64 });
    }
    lines
}
