//! Marks of calls in a text: what follows one, blanks, fences and names.

/// The most white space between marks, in bytes.
const BLANK_BYTES_MAX: usize = 64;
/// The most bytes of the name of a tool in a mark.
pub(super) const NAME_BYTES_MAX: usize = 160;
/// What may stand around JSON inside of a call.
pub(super) const FENCE: &str = "```";
/// What that may say.
const FENCE_INFO: &str = "json";

/// What begins a call in tags, and what ends it.
pub(super) const HERMES_OPEN: &str = "<tool_call>";
pub(super) const HERMES_CLOSE: &str = "</tool_call>";
/// What ends a call that `[TOOL:` begins.
pub(super) const TAG_CLOSE: &str = "[/TOOL]";

/// Why a text is not what was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Not {
    /// It is something else.
    Here,
    /// More must come to know.
    Yet,
}

/// What follows a mark.
pub(super) fn after<'t>(text: &'t str, mark: &str) -> Result<&'t str, Not> {
    text.strip_prefix(mark).ok_or(if mark.starts_with(text) { Not::Yet } else { Not::Here })
}

/// Where a mark is, from `at` on. Where it has not come, `at` becomes where it may begin.
pub(super) fn find(body: &str, mark: &str, at: &mut usize) -> Result<usize, Not> {
    if let Some(length) = memchr::memmem::find(&body.as_bytes()[*at..], mark.as_bytes()) {
        return Ok(*at + length);
    }
    let seen = body.floor_char_boundary((body.len() + 1).saturating_sub(mark.len()));
    *at = seen.max(*at);
    Err(Not::Yet)
}

/// What follows white space.
pub(super) fn after_blanks(text: &str) -> Result<&str, Not> {
    let rest = text.trim_start();
    if text.len() - rest.len() > BLANK_BYTES_MAX {
        return Err(Not::Here);
    }
    if rest.is_empty() { Err(Not::Yet) } else { Ok(rest) }
}

/// What follows the fence that may begin JSON.
pub(super) fn after_fence(text: &str) -> Result<&str, Not> {
    let inner = after(text, FENCE)?;
    let rest = match after(inner, FENCE_INFO) {
        Err(Not::Here) => inner,
        other => other?,
    };
    after_blanks(rest)
}

/// A name, and what follows it.
pub(super) fn name(text: &str, of_name: impl Fn(char) -> bool) -> Result<(&str, &str), Not> {
    let near = &text[..text.floor_char_boundary(NAME_BYTES_MAX + 1)];
    match near.find(|c| !of_name(c)) {
        Some(0) => Err(Not::Here),
        Some(length) => Ok(text.split_at(length)),
        None if near.len() > NAME_BYTES_MAX => Err(Not::Here),
        None => Err(Not::Yet),
    }
}

/// Whether a character may be one of a name that ends with a mark.
pub(super) fn of_name(c: char) -> bool {
    !c.is_control() && !"<>{}[]\"`".contains(c)
}

/// Leaves out the number that Kimi K2 puts behind a name.
pub(super) fn without_number(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

/// `function<｜tool▁sep｜>name`, a line end, and JSON in a fence: the name and the JSON.
pub(super) fn typed(text: &str) -> Result<(Option<&str>, &str), Not> {
    let (name, rest) = name(after_blanks(text)?, of_name)?;
    let rest = after_blanks(rest)?;
    let json = if rest.starts_with('`') { after_fence(rest)? } else { rest };
    Ok((Some(name.trim()), json))
}

/// How long a text is up to a mark on the same line, in bytes.
pub(super) fn until(text: &str, mark: &str, most: usize) -> Result<usize, Not> {
    let near = &text[..text.floor_char_boundary(most + mark.len())];
    let line = &near[..near.find('\n').unwrap_or(near.len())];
    match line.find(mark) {
        Some(length) => Ok(length),
        None if line.len() < near.len() || near.len() >= most => Err(Not::Here),
        None => Err(Not::Yet),
    }
}
