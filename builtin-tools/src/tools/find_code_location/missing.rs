//! What was looked for and not found, in words: declarations, uses, or both.

use moss_ranking::WrittenLocation;

use super::found::FoundCode;
use super::location::LocationKind;
use super::output::LocationSource;
use super::query::{CodeQuery, QueryTarget};

/// Says what was not found of what was looked for: to what the name should belong, declarations, uses.
pub(super) fn notes(
    query: &CodeQuery,
    found: &FoundCode,
    references: Option<LocationSource>,
) -> Vec<String> {
    let stray = match &query.target {
        QueryTarget::Name(wanted) if found.is_elsewhere() => wanted.owner(),
        _ => None,
    };
    let stray = stray.map(|owner| format!("none belongs to `{owner}`: these are named so"));
    stray.into_iter().chain(missing(query, found, references)).collect()
}

/// Says which of declarations and uses were not found; none where everything that was looked for was.
///
/// `references` is who knew the uses; none where they were not asked for.
fn missing(
    query: &CodeQuery,
    found: &FoundCode,
    references: Option<LocationSource>,
) -> Option<String> {
    let mut all = found.locations.iter().chain(&found.entries);
    let is_lines = all.next().is_some_and(|first| first.kind == LocationKind::Line);
    let has_locations = !found.locations.is_empty() || !found.entries.is_empty();
    let is_declared = has_locations && !is_lines;
    let is_used = found.total_uses > 0;
    let is_server = references == Some(LocationSource::LanguageServer);
    let lacks_uses = references.is_some() && !is_used;
    let note = match (is_declared, is_lines) {
        (true, _) if lacks_uses && !query.is_name() && !is_server => {
            "declarations were found, uses were not looked for: that needs a name as `search`, or a \
             language server"
        }
        (true, _) if lacks_uses && !found.locations.iter().any(|one| query.means(one)) => {
            "only names that contain `search` were found, and no use of a name that is it"
        }
        (true, _) if lacks_uses => "declarations were found, but no use of that name",
        (true, _) => return None,
        (false, true) if query.is_name() && lacks_uses => {
            "nothing is declared by that name and no code uses it: these are lines that hold it"
        }
        (false, true) => "nothing is declared by that name: these are lines that hold it",
        (false, false) => return Some(undeclared(query, found, is_used)),
    };
    Some(note.to_owned())
}

/// What to say where no declaration was found.
fn undeclared(query: &CodeQuery, found: &FoundCode, is_used: bool) -> String {
    if let QueryTarget::Line(WrittenLocation { path, line }) = &query.target {
        return match found.lines {
            Some(lines) if *line as usize > lines => {
                format!("{path} has {lines} lines: there is no line {line}")
            }
            Some(_) => format!("nothing is declared around line {line} of {path}"),
            None => {
                format!("{path} was not searched: `skipped` says why, or `fileType` leaves it out")
            }
        };
    }
    let (what, instead) = match query.kind() {
        Some(kind) => (format!("no {kind}"), "leave out `searchType`, "),
        None => ("nothing".to_owned(), ""),
    };
    if is_used {
        let instead = if instead.is_empty() { "" } else { "leave out `searchType`, or " };
        return format!(
            "uses were found, but {what} is declared by that name: {instead}it may be declared outside of what was \
             searched"
        );
    }
    format!(
        "{what} was found: {instead}look for a part of the name, or search text with grep_search"
    )
}
