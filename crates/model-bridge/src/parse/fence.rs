//! What the fence of a call says behind its backticks.

/// The most bytes of what a fence says that are waited for.
pub(super) const INFO_BYTES_MAX: usize = 20;
/// What a fence says that holds a call.
pub(super) const EXPLICIT: &[&str] = &[
    "json action",
    "action",
    "action json",
    "tool call",
    "tool calls",
    "json tool call",
    "json tool calls",
];
/// What a fence says that may hold a call.
pub(super) const IMPLICIT: &[&str] = &["json", ""];

/// Whether a fence is one that begins a call, by what follows it; none where more must come to know.
pub(super) fn begins_call(after: &str, is_last: bool) -> Option<bool> {
    let near = near(after);
    let end = near.find(['\n', '`', '{', '[']).filter(|end| *end <= INFO_BYTES_MAX);
    let info = info(&near[..end.unwrap_or(near.len())]);
    if end.is_some() {
        return Some(EXPLICIT.contains(&info.as_str()));
    }
    let may_be = EXPLICIT.iter().any(|known| known.starts_with(&info));
    let waits = may_be && !is_last && after.len() <= INFO_BYTES_MAX;
    if waits { None } else { Some(false) }
}

/// As much of what follows a fence as it may say, and what shows that it says more: whoever looks at all that
/// follows each of many fences needs for ever.
pub(super) fn near(after: &str) -> &str {
    &after[..after.floor_char_boundary(INFO_BYTES_MAX + char::MAX_LEN_UTF8)]
}

/// The words that a fence says, in lower case, a space between two. Words that are too long for a call
/// are left as they are.
pub(super) fn info(said: &str) -> String {
    if said.len() > INFO_BYTES_MAX {
        return said.to_owned();
    }
    let is_gap = |c: char| c.is_ascii_whitespace() || matches!(c, ':' | '_' | '-' | '\u{a0}');
    let mut info = String::with_capacity(said.len());
    for word in said.split(is_gap).filter(|word| !word.is_empty()) {
        if !info.is_empty() {
            info.push(' ');
        }
        info.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    }
    info
}
