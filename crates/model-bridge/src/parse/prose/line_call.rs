//! `[TOOL_CALL]name[ARGS]{…}`, `[TOOL_CALLS]name{…}` and `[TOOL_CALLS][…]`: a call on a line.

use super::super::fence::INFO_BYTES_MAX;
use super::super::frame::{Frame, FrameKind};
use super::super::mark::NAME_BYTES_MAX;
use super::super::template::{Forms, MISTRAL};
use super::MarkOutcome;

/// What stands between a name and its arguments.
const ARGUMENTS_MARK: &str = "[ARGS]";
/// What stands between a name and the id of its call.
const ID_MARK: &str = "[CALL_ID]";

/// A call on a line, its mark read.
pub(super) fn read(rest: &str, mark: usize, forms: &Forms, is_last: bool) -> MarkOutcome {
    let after = &rest[mark..];
    let inner = after.trim_start();
    let blank = after.len() - inner.len();
    if blank > INFO_BYTES_MAX || (inner.is_empty() && is_last) {
        return MarkOutcome::Text(1);
    }
    if inner.is_empty() {
        return MarkOutcome::NeedsMore;
    }
    if inner.starts_with(['{', '[']) && !may_be_arguments_mark(inner) {
        return MarkOutcome::Frame(Box::new(Frame::new(FrameKind::Line, mark + blank).typed()));
    }
    // A name stands on the line of the mark.
    if after[..blank].contains('\n') {
        let waits = !is_last && ARGUMENTS_MARK.starts_with(inner);
        return if waits { MarkOutcome::NeedsMore } else { MarkOutcome::Text(1) };
    }
    match short(inner, forms) {
        ShortCall::Whole(name) => {
            let frame = Frame::new(FrameKind::Line, mark + blank + name.len());
            return MarkOutcome::Frame(Box::new(frame.typed().named(name)));
        }
        ShortCall::Open if !is_last => return MarkOutcome::NeedsMore,
        ShortCall::Open | ShortCall::None => {}
    }
    // What is further away is no name.
    let near = NAME_BYTES_MAX + ARGUMENTS_MARK.len() + INFO_BYTES_MAX + 1;
    let inner = &inner[..inner.floor_char_boundary(near)];
    let end = inner.find(ARGUMENTS_MARK);
    let no_name = inner.find(['\n', '{', '`', '<', '"']);
    let Some(end) = end.filter(|end| no_name.is_none_or(|place| *end < place)) else {
        let most = NAME_BYTES_MAX + ARGUMENTS_MARK.len();
        let waits = !is_last && inner.len() <= most && no_name.is_none();
        return if waits { MarkOutcome::NeedsMore } else { MarkOutcome::Text(1) };
    };
    let name = inner[..end].split(ID_MARK).next().unwrap_or_default().trim();
    let body = &inner[end + ARGUMENTS_MARK.len()..];
    let json = body.trim_start();
    if end > NAME_BYTES_MAX || name.is_empty() || body.len() - json.len() > INFO_BYTES_MAX {
        return MarkOutcome::Text(1);
    }
    if json.is_empty() && !is_last {
        return MarkOutcome::NeedsMore;
    }
    if !json.starts_with(['{', '｛']) && !json.is_empty() {
        return MarkOutcome::Text(1);
    }
    let begin = mark + blank + inner.len() - json.len();
    MarkOutcome::Frame(Box::new(Frame::new(FrameKind::Line, begin).named(name)))
}

/// A name with its arguments right behind it, as Mistral writes it from its eleventh tokenizer on.
enum ShortCall<'t> {
    Whole(&'t str),
    /// More must come to know.
    Open,
    None,
}

fn short<'t>(text: &'t str, forms: &Forms) -> ShortCall<'t> {
    let near = &text[..text.floor_char_boundary(NAME_BYTES_MAX)];
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let length = near.find(|c| !of_name(c)).unwrap_or(near.len());
    let Some(object) = near[length..].strip_prefix('{').filter(|_| length > 0) else {
        return ShortCall::None;
    };
    // A brace that begins no JSON is one of a text.
    match object.trim_start().chars().next() {
        _ if !forms.has(MISTRAL) => ShortCall::None,
        Some('"' | '}') => ShortCall::Whole(&near[..length]),
        None if near.len() == text.len() => ShortCall::Open,
        _ => ShortCall::None,
    }
}

fn may_be_arguments_mark(text: &str) -> bool {
    text.starts_with(ARGUMENTS_MARK) || ARGUMENTS_MARK.starts_with(text)
}
