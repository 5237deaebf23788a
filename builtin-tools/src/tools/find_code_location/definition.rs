//! What an attached editor or a language server says of the definition: they know what a name means there.

use std::collections::BTreeMap;

use moss_sdk::context::Context;
use moss_sdk::editor::{DefinitionKind, Location, Position};
use moss_sdk::language_server::{ServerGoal, ServerQuestion, ServerReply};
use moss_sdk::{RelPath, ToolError};

use super::EXTENT;
use super::found::{FoundCode, LOCATIONS_MAX};
use super::location::{CodeLocation, LocationKind};
use super::output::{LocationSource, ServerWord};
use super::placed::{PlacedFinding, PlacedGoal};

/// Asks the editor, or else a language server, for the definition of what was found first, and puts what is said
/// in front.
pub(super) async fn confirm(
    cx: &Context,
    found: &mut FoundCode,
    word: &mut ServerWord,
) -> Result<LocationSource, ToolError> {
    let Some(first) = found.locations.first().filter(|first| first.name.is_some()) else {
        return Ok(LocationSource::Files);
    };
    let Ok(path) = RelPath::parse(&first.path) else { return Ok(LocationSource::Files) };
    let (position, name) = (first.position(), first.name.clone());
    let (mut known, server) = match of_editor(cx, &path, position).await {
        known if !known.is_empty() => (known, None),
        _ => of_server(cx, path, position, word).await,
    };
    let mut described = describe(cx, found, &known).await?;
    if server.is_some() {
        // A server may say it of an older text: where there is no name now, nothing is defined.
        let said = known.len();
        known.retain(|one| place(found, one).is_some() || described.contains_key(one));
        if known.len() < said {
            let misfits = said - known.len();
            word.say(format!("{misfits} definitions were left out: the text there has changed"));
        }
    }
    if known.is_empty() {
        return Ok(LocationSource::Files);
    }
    for location in known.iter().rev() {
        put_first(found, location, described.remove(location), name.as_deref());
    }
    Ok(match server {
        Some(server) => {
            word.name(server);
            LocationSource::LanguageServer
        }
        None => LocationSource::Editor,
    })
}

async fn of_editor(cx: &Context, path: &RelPath, position: Position) -> Vec<Location> {
    if cx.editors().state().is_none() {
        return Vec::new();
    }
    let asked = cx.editors().definitions(path, position, DefinitionKind::Symbol).await;
    asked.map(|definitions| definitions.locations).unwrap_or_default()
}

/// What a server says, and which one it is; none where none says anything.
async fn of_server(
    cx: &Context,
    path: RelPath,
    position: Position,
    word: &mut ServerWord,
) -> (Vec<Location>, Option<String>) {
    let positions = vec![position];
    let question = ServerQuestion { path, positions, goal: ServerGoal::Definitions };
    match cx.ask_server(question).await {
        ServerReply::Known { server, places } => (places.locations, Some(server)),
        ServerReply::Unavailable { server, why } => {
            word.miss(&server, &why);
            (Vec::new(), None)
        }
        ServerReply::NoServer => (Vec::new(), None),
    }
}

/// What is declared at locations that the search has not found by itself.
async fn describe(
    cx: &Context,
    found: &FoundCode,
    known: &[Location],
) -> Result<BTreeMap<Location, CodeLocation>, ToolError> {
    let unknown: Vec<_> =
        known.iter().filter(|said| place(found, said).is_none()).cloned().collect();
    if unknown.is_empty() {
        return Ok(BTreeMap::new());
    }
    let finding = PlacedFinding::new(&unknown, PlacedGoal::Declarations, None, None);
    let (finding, _) = cx.visit(&RelPath::root(), EXTENT, finding).await?;
    let mut described = BTreeMap::new();
    for location in finding.found.locations {
        let is_it = |said: &&Location| {
            said.path.as_str() == location.path && said.span.start == location.position()
        };
        if let Some(said) = unknown.iter().find(is_it) {
            described.insert(said.clone(), location);
        }
    }
    Ok(described)
}

fn line_of(said: &Location) -> u64 {
    u64::from(said.span.start.line) + 1
}

/// The place of a location among those that were found: those of one name may lie in each other.
fn place(found: &FoundCode, said: &Location) -> Option<usize> {
    let column = said.span.start.character as usize;
    let all = found.locations.iter().enumerate();
    let there =
        all.filter(|(_, known)| known.path == said.path.as_str() && known.line == line_of(said));
    there.min_by_key(|(_, known)| known.utf16_column.abs_diff(column)).map(|(place, _)| place)
}

/// Puts a location in front: what is known of it, what is declared there, or where it is said to be.
fn put_first(
    found: &mut FoundCode,
    said: &Location,
    described: Option<CodeLocation>,
    name: Option<&str>,
) {
    let location = match place(found, said) {
        Some(place) => found.locations.remove(place),
        None => {
            found.total_locations += 1;
            described.unwrap_or_else(|| CodeLocation {
                path: said.path.to_string(),
                line: line_of(said),
                column: u64::from(said.span.start.character) + 1,
                start_line: None,
                end_line: u64::from(said.span.end.line) + 1,
                name: name.map(str::to_owned),
                kind: LocationKind::Definition,
                container: None,
                text: None,
                documentation: None,
                utf16_column: said.span.start.character as usize,
            })
        }
    };
    found.locations.insert(0, location);
    found.locations.truncate(LOCATIONS_MAX);
}
