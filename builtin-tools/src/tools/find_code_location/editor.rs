//! What an attached editor says of the definition: it may know what a name means there.

use moss_sdk::RelPath;
use moss_sdk::context::Context;
use moss_sdk::editor::{DefinitionKind, Location, Position};

use super::found::{FoundCode, LOCATIONS_MAX};
use super::location::{CodeLocation, LocationKind};
use super::output::LocationSource;

/// Asks the editor for the definition of what was found first, and puts what it says in front.
pub(super) async fn confirm(cx: &Context, found: &mut FoundCode) -> LocationSource {
    let Some(first) = found.locations.first().filter(|first| first.name.is_some()) else {
        return LocationSource::Files;
    };
    if cx.editors().state().is_none() {
        return LocationSource::Files;
    }
    let Ok(path) = RelPath::parse(&first.path) else { return LocationSource::Files };
    let line = u32::try_from(first.line - 1).unwrap_or(u32::MAX);
    let character = u32::try_from(first.utf16_column).unwrap_or(u32::MAX);
    let position = Position { line, character };
    let asked = cx.editors().definitions(&path, position, DefinitionKind::Symbol).await;
    let known = asked.map(|definitions| definitions.locations).unwrap_or_default();
    if known.is_empty() {
        return LocationSource::Files;
    }
    let name = first.name.clone();
    for location in known.iter().rev() {
        put_first(found, location, name.as_deref());
    }
    LocationSource::Editor
}

/// Puts a location in front: what is known of it, or where the editor says that it is.
fn put_first(found: &mut FoundCode, said: &Location, name: Option<&str>) {
    let line = u64::from(said.span.start.line) + 1;
    let is_it = |known: &CodeLocation| {
        known.path == said.path.as_str() && (known.line..=known.end_line).contains(&line)
    };
    let location = match found.locations.iter().position(is_it) {
        Some(place) => found.locations.remove(place),
        None => {
            found.total_locations += 1;
            CodeLocation {
                path: said.path.to_string(),
                line,
                column: u64::from(said.span.start.character) + 1,
                end_line: u64::from(said.span.end.line) + 1,
                name: name.map(str::to_owned),
                kind: LocationKind::Definition,
                container: None,
                text: String::new(),
                documentation: None,
                utf16_column: said.span.start.character as usize,
            }
        }
    };
    found.locations.insert(0, location);
    found.locations.truncate(LOCATIONS_MAX);
}
