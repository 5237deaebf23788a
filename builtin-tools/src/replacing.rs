//! Edits that name their location by the text that stands there: finding it, saying why not, and
//! finding it again where the file changed before anybody saw the edit.

use moss_matching::lines::{LineIndex, has_gutter, refuse_gutter};
use moss_matching::{Located, Miss, Occurrence, locate};
use moss_sdk::context::Context;
use moss_sdk::edit::{Drift, MatchLevel, Matched};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use crate::closest::{closest, same_but_for_white_space};
use crate::edit::{Edit, EditOutput, EditTarget, until_fresh};

/// Most locations named where a text occurs several times.
const PLACES_MAX: usize = 10;
/// Most lines shown word for word as what was probably meant.
const QUOTED_LINES_MAX: usize = 40;
/// Most bytes shown of them.
const QUOTED_BYTES_MAX: usize = 4_000;
/// Most lines of drift named in an error.
const DRIFT_MAX: usize = 8;

/// A text, and its replacement.
#[derive(Debug, Clone)]
pub(crate) struct Replacement {
    pub(crate) search: String,
    pub(crate) replace: String,
    pub(crate) occurrence: Occurrence,
    /// How errors call the two texts.
    pub(crate) names: (&'static str, &'static str),
}

/// Replaces a text in a file.
///
/// # Errors
///
/// Why the location is not certain, so that the next try can succeed; what proposing can meet.
pub(crate) async fn replace(
    cx: &Context,
    path: &str,
    replacement: Replacement,
) -> Result<EditOutput, ToolError> {
    let Replacement { search, replace: new, names, .. } = &replacement;
    if !has_gutter(search) {
        refuse_gutter(new, names.1.trim_matches('`'))?;
    }
    until_fresh(async || {
        let target = EditTarget::open(cx, path).await?;
        let (text, wanted) = (target.text.clone(), replacement.clone());
        let found = cx
            .compute(move || locate(&text, &wanted.search, &wanted.replace, wanted.occurrence))
            .await?;
        let located =
            found.map_err(|miss| explained(&miss, &target.path, &target.text, search, *names))?;
        target.propose(cx, edit(located)).await
    })
    .await
}

fn edit(located: Located) -> Edit {
    let Located { level, splices, drift, places } = located;
    let (before, after) = match places[..] {
        [place] => (place.before, place.after),
        _ => (None, None),
    };
    Edit { splices, matched: Some(Matched { level, drift }), before, after }
}

/// Says why an edit is not made, and what to send in its place.
pub(crate) fn explained(
    miss: &Miss,
    path: &RelPath,
    text: &str,
    search: &str,
    (old, new): (&str, &str),
) -> ToolError {
    let invalid = |message: String| ToolError::new(ErrorCode::InvalidArguments, message);
    match miss {
        Miss::Empty | Miss::Blank => {
            let is = if *miss == Miss::Empty { "is empty" } else { "is only white space" };
            invalid(format!("{old} {is}"))
                .hint("give text that occurs once in the file; use create_file for a whole file")
        }
        Miss::Nul => invalid(format!("{old} or {new} has a NUL character"))
            .hint("text files have none: send the text without it"),
        Miss::Numbers => invalid(format!("every line of {new} starts with a line number and a tab"))
            .hint("send the lines alone: the numbers are not part of the file"),
        Miss::Same => ToolError::new(ErrorCode::NoChange, format!("{old} and {new} are the same"))
            .hint("nothing needs to be done, or the new text is not what was meant"),
        Miss::None | Miss::TooLarge => {
            no_match(path, &LineIndex::new(text), search, old, *miss == Miss::TooLarge)
        }
        Miss::Several { level, lines, more } => {
            several(path, &LineIndex::new(text), old, (*level, lines, *more))
        }
        Miss::Applied(line) => {
            let message = format!("already applied: {path} has {new} at line {line}");
            ToolError::new(ErrorCode::AlreadyApplied, message).hint(format!(
                "if that is not the edit that you mean, read the file and put more of the lines \
                 around into {old}"
            ))
        }
        Miss::Nothing(line) => {
            let message = format!(
                "the edit changes nothing: what it changes in {old} is not in {path} at line {line}"
            );
            ToolError::new(ErrorCode::NoChange, message).hint("read the lines there")
        }
        Miss::Placeholder(line) => {
            invalid(format!("{new} has a placeholder for lines that it leaves out: `{line}`")).hint(
                "write every line out, or search for less; \
                 if the line itself is meant, use replace_lines",
            )
        }
        Miss::Escaped => invalid(format!(
            "{new} has `\\n` or `\\t` outside of strings where {old} has line ends or tabs"
        ))
        .hint(
            "send line ends and tabs themselves; if the two characters are meant, use replace_lines",
        ),
        Miss::Elision => invalid(format!(
            "{old} and {new} do not leave out the same lines for certain: the lines that stand for \
             others must be the same in both, what is before and after them must each have one location \
             in {path}, in that order, and all must be in the block that the first line opens"
        ))
        .hint("write every line out, or make one edit for each part"),
        Miss::TooMuch(places) => invalid(format!(
            "{old} occurs {places} times in {path}: {new} at each of them is more than one edit may \
             write"
        ))
        .hint("replace it in parts, by more of the text around it, or with a command"),
        Miss::Drift { level, lines } => drifted(path, old, *level, lines),
    }
}

fn no_match(
    path: &RelPath,
    lines: &LineIndex<'_>,
    search: &str,
    old: &str,
    is_too_large: bool,
) -> ToolError {
    let error = |message: String| ToolError::new(ErrorCode::NoMatch, message);
    if lines.count() == 0 {
        return error(format!("{old} does not occur in {path}: the file is empty"));
    }
    if has_gutter(search) {
        return error(format!("{old} does not occur in {path}"))
            .hint("leave out the line numbers and the tabs after them");
    }
    let not_tried = if is_too_large {
        "; the file or the text is too large to match by similarity"
    } else {
        ""
    };
    let Some(range) = closest(lines, search) else {
        let message = format!("{old} does not occur in {path}, nor anything like it{not_tried}");
        return error(message).hint("read the file and copy the text from it");
    };
    let whole = part_of_lines(lines, search);
    if !whole.is_empty() {
        let message = format!("{old} is no whole line of {path}: it is part of {whole}");
        return error(message).hint(format!("give whole lines in {old}, enough to occur once"));
    }
    let (first, last) = (*range.start(), *range.end());
    let text: Vec<&str> = range.clone().map(|number| lines.line(number)).collect();
    let why = if same_but_for_white_space(&text.join("\n"), search) {
        "only the white space differs at"
    } else {
        "the closest are"
    };
    let place =
        if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
    let why = if first == last { why.replace("are", "is") } else { why.to_owned() };
    let message = format!("{old} does not occur in {path}{not_tried}; {why} {place}");
    let quoted = text.join("\n");
    if text.len() > QUOTED_LINES_MAX || quoted.len() > QUOTED_BYTES_MAX {
        let excerpt = lines.excerpt(range).text;
        return error(format!("{message}:{excerpt}"))
            .hint("copy the text from there exactly, without the line numbers");
    }
    error(format!("{message}, exactly:\n{quoted}\n"))
        .hint(format!("if these are meant, send them as {old}, each character as it is here"))
}

/// Names the lines of which a search for one whole line is a part.
fn part_of_lines(lines: &LineIndex<'_>, search: &str) -> String {
    let wanted = search.trim();
    if !search.ends_with('\n') || wanted.contains('\n') {
        return String::new();
    }
    let holds = lines.iter().enumerate().filter(|(_, line)| line.contains(wanted));
    let mut numbers: Vec<String> =
        holds.take(PLACES_MAX + 1).map(|(at, _)| (at + 1).to_string()).collect();
    let more = if numbers.len() > PLACES_MAX { ", …" } else { "" };
    numbers.truncate(PLACES_MAX);
    match &numbers[..] {
        [] => String::new(),
        [number] => format!("line {number}"),
        numbers => format!("lines {}{more}", numbers.join(", ")),
    }
}

fn several(
    path: &RelPath,
    lines: &LineIndex<'_>,
    old: &str,
    (level, places, more): (MatchLevel, &[usize], bool),
) -> ToolError {
    let shown: Vec<String> = places
        .iter()
        .take(PLACES_MAX)
        .map(|line| format!("\nline {line}:{}", lines.excerpt(*line..=*line).text))
        .collect();
    let at_least = if more { "at least " } else { "" };
    let cut = if places.len() > shown.len() { "\n…" } else { "" };
    let count = places.len();
    let what = match level {
        MatchLevel::Exact => format!("occurs {at_least}{count} times in {path}"),
        MatchLevel::BlockAnchor | MatchLevel::ContextAware => {
            format!("does not occur in {path}, and may mean {count} locations")
        }
        level => format!("occurs {at_least}{count} times in {path}, as {level} reads it"),
    };
    let message = format!("{old} {what}:{}{cut}", shown.concat());
    ToolError::new(ErrorCode::Ambiguous, message)
        .hint("add more of its line, or lines before or after it, until it occurs once, or use replace_lines")
}

fn drifted(path: &RelPath, old: &str, level: MatchLevel, lines: &[Drift]) -> ToolError {
    let shown: Vec<String> = lines
        .iter()
        .take(DRIFT_MAX)
        .map(|Drift { line, expected, found }| match (&**expected, &**found) {
            ("", found) => format!("\nline {line} is `{found}`, which {old} does not show"),
            (expected, "") => format!("\nbefore line {line} there is no `{expected}`"),
            (expected, found) => format!("\nline {line} is `{found}`, not `{expected}`"),
        })
        .collect();
    let cut = if lines.len() > shown.len() { "\n…" } else { "" };
    let message = format!(
        "the edit would replace lines of {path} that are not as {old} says (found by the level \
         {level}):{}{cut}",
        shown.concat()
    );
    ToolError::new(ErrorCode::Drift, message)
        .hint("read these lines and send the edit for their current content")
}
