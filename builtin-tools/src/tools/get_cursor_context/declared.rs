//! Where names are declared, from what is kept of the code of the workspace.

use std::collections::BTreeMap;
use std::sync::Arc;

use moss_sdk::code_search::{CodeSearch, CodeSearchGoal};
use moss_sdk::context::Context;
use moss_sdk::editor_lines::EditorLines;
use moss_sdk::file::Content;
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_symbols::language_family;

use super::FileLocation;
use super::code::FocusedCode;

/// How many declarations of a name are nearer, the name, and the first and last line of what declares it.
type NamedLines = (usize, String, (u32, u32));

/// Most declarations of one name: of a name that is declared more often, nobody knows which is meant.
const DECLARATIONS_MAX: usize = 3;
/// Most files that are read for them: one for each of the names that a function calls.
const FILES_MAX: usize = 50;

/// Finds where names are declared, the nearest to a file first. Nothing where nothing is kept.
pub(super) async fn find(
    cx: &Context,
    near: &RelPath,
    names: Vec<String>,
) -> Result<BTreeMap<String, Vec<FileLocation>>, ToolError> {
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let family = language_family(near.as_str()).to_owned();
    let hits_max = names.len() * DECLARATIONS_MAX;
    let search = CodeSearch {
        goal: CodeSearchGoal::Declared { names, near: Some(near.clone()) },
        wants: Arc::new(move |path| language_family(path.as_str()) == family),
        hits_max,
        hits_of_file_max: hits_max,
    };
    let Some(answer) = cx.search_code(search).await? else { return Ok(BTreeMap::new()) };
    // Of each name the nearest comes first; files that have the nearest of one are read before others.
    let mut by_file: BTreeMap<RelPath, (usize, Vec<NamedLines>)> = BTreeMap::new();
    for of_name in answer.hits.chunk_by(|one, other| one.name == other.name) {
        for (rank, hit) in of_name.iter().take(DECLARATIONS_MAX).enumerate() {
            let (best, wanted) = by_file.entry(hit.path.clone()).or_insert((rank, Vec::new()));
            *best = rank.min(*best);
            wanted.push((rank, hit.name.clone().unwrap_or_default(), hit.lines));
        }
    }
    let mut files: Vec<_> = by_file.into_iter().collect();
    files.sort_by_key(|(_, (best, _))| *best);
    let mut found: BTreeMap<String, BTreeMap<usize, FileLocation>> = BTreeMap::new();
    for (path, (_, wanted)) in files.into_iter().take(FILES_MAX) {
        for ((rank, name, _), location) in locations(cx, &path, wanted).await? {
            found.entry(name).or_default().insert(rank, location);
        }
    }
    Ok(found.into_iter().map(|(name, ranked)| (name, ranked.into_values().collect())).collect())
}

/// Where names stand in lines of a file that declare them; none where it is another by now.
async fn locations(
    cx: &Context,
    path: &RelPath,
    wanted: Vec<NamedLines>,
) -> Result<Vec<(NamedLines, FileLocation)>, ToolError> {
    let text = match cx.read_unasked(path).await {
        Ok(Some(snapshot)) => match snapshot.content {
            Content::Text(text) => text.text,
            Content::Binary => return Ok(Vec::new()),
        },
        Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
        Ok(None) | Err(_) => return Ok(Vec::new()),
    };
    let lines = EditorLines::new(&text);
    let Some(code) = FocusedCode::read(cx, path, &text, &lines).await? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for one in wanted {
        let (_, name, (first, last)) = &one;
        let mut declared = code.declared(name).into_iter();
        let here = declared.find(|position| (*first..=*last).contains(&(position.line + 1)));
        found.extend(here.map(|position| (one, FileLocation::new(path, position))));
    }
    Ok(found)
}
