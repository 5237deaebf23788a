//! What a language server says of uses: those of the declarations that were found, not of others with their name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use moss_sdk::context::Context;
use moss_sdk::editor::{Location, Position};
use moss_sdk::language_server::{ServerGoal, ServerQuestion, ServerReply};
use moss_sdk::{RelPath, ToolError};

use super::found::FoundCode;
use super::location::{CodeUse, CodeUseKind};
use super::output::{LocationSource, ServerWord};
use super::placed::{PlacedFinding, PlacedGoal};
use super::query::{CodeQuery, SearchType};
use super::{EXTENT, SearchScope};

/// Most declarations whose uses a server is asked for.
const DECLARATIONS_MAX: usize = 8;

/// What language servers say of all declarations that are meant.
#[derive(Debug, Default)]
struct SaidUses {
    known: Vec<Location>,
    servers: Vec<String>,
    elsewhere: u64,
}

/// Asks a language server where the declarations that are meant are used, and puts that in place of the uses of
/// their name.
pub(super) async fn confirm(
    cx: &Context,
    scope: &SearchScope,
    query: &CodeQuery,
    found: &mut FoundCode,
    word: &mut ServerWord,
) -> Result<LocationSource, ToolError> {
    let meant: Vec<_> = found.locations.iter().filter(|one| query.means(one)).collect();
    if meant.is_empty() {
        return Ok(LocationSource::Files);
    }
    if meant.len() > DECLARATIONS_MAX {
        word.say(format!(
            "{} declarations have that name: the uses are those of the name. Name what it belongs to \
             (`Type::name`) for those of one of them",
            meant.len()
        ));
        return Ok(LocationSource::Files);
    }
    let mut asked: BTreeMap<RelPath, Vec<Position>> = BTreeMap::new();
    let mut names: BTreeSet<(RelPath, String)> = BTreeSet::new();
    for one in meant {
        let Ok(path) = RelPath::parse(&one.path) else { continue };
        names.extend(one.name.clone().map(|name| (path.clone(), name)));
        asked.entry(path).or_default().push(one.position());
    }
    let mut said = match ask(cx, &asked).await {
        Ok(said) => said,
        Err(unsaid) => {
            unsaid.iter().for_each(|(server, why)| word.miss(server, why));
            return Ok(LocationSource::Files);
        }
    };
    if said.known.is_empty() && said.elsewhere == 0 {
        for (path, name) in &names {
            if is_called_where_declared(cx, path.clone(), name).await? {
                let why = format!("it names no use of `{name}`, which its own file calls");
                said.servers.iter().for_each(|server| word.miss(server, &why));
                return Ok(LocationSource::Files);
            }
        }
    }
    let names: BTreeSet<String> = names.into_iter().map(|(_, name)| name).collect();
    let mut placed = look(cx, scope, &said.known, &names).await?;
    // What has another name there is used by that, or the text has changed since it was shown to the server.
    if placed.strangers > 0
        && let Ok(again) = ask(cx, &asked).await
    {
        placed = look(cx, scope, &again.known, &names).await?;
        said = again;
    }
    let (misfits, elsewhere, of_name) = (placed.misfits, said.elsewhere, found.total_uses);
    found.uses = placed.found.uses;
    found.total_uses = placed.found.total_uses;
    said.servers.into_iter().for_each(|server| word.name(server));
    if of_name > found.total_uses {
        let others = of_name - found.total_uses;
        word.say(format!("{others} other uses of the name are of something else"));
    }
    if misfits > 0 {
        word.say(format!("{misfits} uses were left out: the text there has changed"));
    }
    if elsewhere > 0 {
        word.say(format!("{elsewhere} uses are outside of what may be shown"));
    }
    Ok(LocationSource::LanguageServer)
}

/// Whether a file calls the only thing that it declares by a name: then somebody who knows no use of it knows nothing.
/// Of several things with that name the others may be called.
async fn is_called_where_declared(
    cx: &Context,
    path: RelPath,
    name: &str,
) -> Result<bool, ToolError> {
    let query = CodeQuery::parse(name, SearchType::Exact, true)?;
    let Some(pass) = query.passes()?.into_iter().next() else { return Ok(false) };
    let directory = path.parent().unwrap_or_else(RelPath::root);
    let scope = SearchScope { directory, file: Some(path), types: None, has_references: true };
    let (found, _) = scope.visit(cx, pass).await?;
    let is_call = |used: &CodeUse| used.kind == Some(CodeUseKind::Call);
    let is_called = found.uses.iter().flat_map(|file| &file.uses).any(is_call);
    Ok(found.total_locations == 1 && is_called)
}

/// Asks once. What one does not say nobody completes: then there is nothing but the reason, if there is one.
async fn ask(
    cx: &Context,
    asked: &BTreeMap<RelPath, Vec<Position>>,
) -> Result<SaidUses, Option<(String, String)>> {
    let mut said = SaidUses::default();
    for (path, positions) in asked.clone() {
        let question = ServerQuestion { path, positions, goal: ServerGoal::References };
        match cx.ask_server(question).await {
            ServerReply::Known { server, places } => {
                said.servers.push(server);
                said.elsewhere += places.elsewhere as u64;
                said.known.extend(places.locations);
            }
            ServerReply::Unavailable { server, why } => return Err(Some((server, why))),
            ServerReply::NoServer => return Err(None),
        }
    }
    Ok(said)
}

/// Looks at the texts where something of these names is said to be used.
async fn look(
    cx: &Context,
    scope: &SearchScope,
    known: &[Location],
    names: &BTreeSet<String>,
) -> Result<PlacedFinding, ToolError> {
    let goal = PlacedGoal::Uses(Arc::new(names.clone()));
    let finding = PlacedFinding::new(known, goal, scope.types()?, scope.file.clone());
    let (finding, _) = cx.visit(&scope.directory, EXTENT, finding).await?;
    Ok(finding)
}
