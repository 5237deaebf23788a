//! Where a hunk belongs today. Its lines are whole lines: text that stands within others is no
//! location.

use moss_matching::lines::{LineIndex, split};
use moss_matching::{Located, Miss, Occurrence, locate, splices};
use moss_sdk::edit::{Drift, MatchLevel, Splice};

use super::hunks::Hunk;

/// Most locations that an error lists.
pub(super) const PLACES_SHOWN_MAX: usize = 8;

/// What became of the search for a hunk.
pub(super) enum HunkMatch {
    At {
        level: MatchLevel,
        splices: Vec<Splice>,
        drift: Vec<Drift>,
    },
    /// The hunk is there already.
    There,
    Not(String),
}

/// Searches for every hunk by itself in the text as it is.
pub(super) fn search_all(
    hunks: &[Hunk],
    today: &str,
    is_cancelled: impl Fn() -> bool,
) -> Vec<HunkMatch> {
    let lines = LineIndex::new(today);
    let file: Vec<&str> = lines.iter().collect();
    hunks
        .iter()
        .map(|hunk| {
            if hunk.search.trim().is_empty() || is_cancelled() {
                return HunkMatch::Not("there are no lines around it to find it by".to_owned());
            }
            search(hunk, today, &lines, &file)
        })
        .collect()
}

fn search(hunk: &Hunk, today: &str, lines: &LineIndex<'_>, file: &[&str]) -> HunkMatch {
    let (old, new) = (split(&hunk.search), split(&hunk.replace));
    let places: Vec<usize> = standing(file, &old).take(PLACES_SHOWN_MAX + 1).collect();
    match places[..] {
        [] => {}
        [first] if is_around(file, first, &old, &new) => return HunkMatch::There,
        [first] => {
            let range = lines.start(first + 1)..lines.start(first + old.len() + 1);
            let mut text: String = new.iter().flat_map(|line| [*line, "\n"]).collect();
            if range.end == today.len() && !today.ends_with('\n') {
                text.pop();
            }
            let splices = splices(today, range, &text);
            return HunkMatch::At { level: MatchLevel::Exact, splices, drift: Vec::new() };
        }
        _ => {
            let starts: Vec<usize> = places.iter().map(|first| first + 1).collect();
            return HunkMatch::Not(several(&starts));
        }
    }
    match locate(today, &hunk.search, &hunk.replace, Occurrence::Only) {
        Ok(located) if is_within_lines(&located, &old, file) => {
            HunkMatch::Not("they occur only within other lines today".to_owned())
        }
        Ok(Located { level, splices, drift, .. }) => HunkMatch::At { level, splices, drift },
        Err(Miss::Applied(_)) => HunkMatch::There,
        Err(miss) => HunkMatch::Not(why(&miss)),
    }
}

/// Where lines stand together, whatever their line ends.
fn standing<'a>(file: &'a [&str], wanted: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    file.windows(wanted.len())
        .enumerate()
        .filter(move |(_, lines)| *lines == wanted)
        .map(|(at, _)| at)
}

/// Whether the new lines stand around the location of the old ones, which they hold.
fn is_around(file: &[&str], first: usize, old: &[&str], new: &[&str]) -> bool {
    standing(new, old)
        .filter_map(|before| first.checked_sub(before))
        .any(|start| file[start..].starts_with(new))
}

/// Whether a location begins or ends amid a line. Levels that compare line by line have no such.
fn is_within_lines(located: &Located, old: &[&str], file: &[&str]) -> bool {
    match located.level {
        MatchLevel::Exact => true,
        MatchLevel::TrimmedBoundary => {
            let held = |lines: &[&str]| -> Vec<String> {
                let lines = lines.iter().map(|line| line.trim().to_owned());
                lines.filter(|line| !line.is_empty()).collect()
            };
            let span = located.places.first().and_then(|spot| spot.before);
            span.is_none_or(|span| held(&file[span.start_line - 1..span.end_line]) != held(old))
        }
        _ => false,
    }
}

/// Says why a hunk was not found.
fn why(miss: &Miss) -> String {
    match miss {
        Miss::Several { lines, .. } => several(lines),
        Miss::Drift { lines, .. } => {
            let first = lines.first().map_or(0, |drift| drift.line);
            format!("they are only alike today, and what would be replaced at line {first} is not")
        }
        Miss::TooLarge => {
            "they do not occur today, and the file is too large to look for something \
                           similar"
                .to_owned()
        }
        Miss::TooMuch(_) => "they are more than one edit may write".to_owned(),
        Miss::Placeholder(_) | Miss::Elision => {
            "they look as if lines were left out, and are not searched for".to_owned()
        }
        Miss::Escaped => "its replacement looks as if it were escaped once too often".to_owned(),
        Miss::Nothing(line) => format!("what they change is not there at line {line}"),
        Miss::Empty
        | Miss::Blank
        | Miss::Nul
        | Miss::Numbers
        | Miss::Same
        | Miss::None
        | Miss::Applied(_) => "they do not occur today, nor anything like them".to_owned(),
    }
}

fn several(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(PLACES_SHOWN_MAX).map(usize::to_string).collect();
    let more = if lines.len() > shown.len() { " and more" } else { "" };
    format!("they occur several times today, at lines {}{more}", shown.join(", "))
}
