//! Contents of the in-memory host: names, decoded texts, splices, windows of lines. Pure.

use crate::edit::Splice;
use crate::error::{ErrorCode, ToolError};
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

/// Applies splices to a text. The n-th line end of a splice becomes the n-th line end of its span,
/// further ones the last of those, or else that of the line in which the span ends, or of the line
/// before; without any, line ends stay as they are.
///
/// # Errors
///
/// `Internal` where the spans are not in order, overlap, or lie outside the text.
pub fn splice(text: &str, splices: &[Splice]) -> Result<String, ToolError> {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for splice in splices {
        let (start, end) = (splice.range.start, splice.range.end);
        let in_text = text.is_char_boundary(start) && text.is_char_boundary(end);
        if start < done || end < start || !in_text {
            return Err(ToolError::new(ErrorCode::Internal, format!("bad span {start}..{end}")));
        }
        result.push_str(&text[done..start]);
        push_adapted(&mut result, text, splice);
        done = end;
    }
    result.push_str(&text[done..]);
    Ok(result)
}

fn push_adapted(result: &mut String, text: &str, splice: &Splice) {
    let (start, end) = (splice.range.start, splice.range.end);
    let mut replaced = text[start..end].match_indices('\n').map(|(at, _)| start + at);
    let after = text[end..].find('\n').map(|at| end + at);
    let mut model = after.or_else(|| text[..start].rfind('\n'));
    for line in splice.text.split_inclusive('\n') {
        let Some(content) = line.strip_suffix('\n') else {
            result.push_str(line);
            break;
        };
        model = replaced.next().or(model);
        let line_end = match model {
            None if content.ends_with('\r') => "\r\n",
            None => "\n",
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            Some(_) => "\n",
        };
        result.push_str(content.strip_suffix('\r').unwrap_or(content));
        result.push_str(line_end);
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

/// Returns the lines of a window.
pub(super) fn window(text: &str, window: LineWindow) -> Lines {
    let mut lines = Lines::default();
    let mut bytes = 0;
    let skipped = usize::try_from(window.start).unwrap_or(usize::MAX).saturating_sub(1);
    for line in text.split_inclusive('\n').skip(skipped).take(window.lines_max) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_take_the_line_ends_around_them() {
        let cases = [
            ("a\r\nb\n", 0..1, "x\ny", "x\r\ny\r\nb\n"),
            ("a\r\nb\n", 3..4, "x\r\ny", "a\r\nx\ny\n"),
            ("a\r\nb", 4..4, "\nc", "a\r\nb\r\nc"),
            ("a\nb\r\nc\n", 0..5, "x\ny\nz\n", "x\ny\r\nz\r\nc\n"),
            ("", 0..0, "a\n", "a\n"),
            ("", 0..0, "a\r\n", "a\r\n"),
        ];
        for (text, range, new, after) in cases {
            let splices = [Splice { range, text: new.to_owned() }];
            assert_eq!(splice(text, &splices).unwrap(), after, "{text:?}");
        }
    }

    #[test]
    fn spans_out_of_order_or_out_of_the_text_are_refused() {
        let at = |range| Splice { range, text: String::new() };
        for splices in [vec![at(2..3), at(0..1)], vec![at(0..2), at(1..3)], vec![at(4..5)]] {
            assert_eq!(splice("abc", &splices).unwrap_err().code, ErrorCode::Internal);
        }
    }
}
