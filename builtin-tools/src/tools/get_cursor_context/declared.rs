//! Where names are declared, from what is kept of the code of the workspace.

use std::collections::BTreeMap;
use std::sync::Arc;

use moss_sdk::code_search::{CodeHit, CodeSearch, CodeSearchGoal};
use moss_sdk::context::Context;
use moss_sdk::file::Content;
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_symbols::language_family;

use super::FileLocation;
use super::code::FocusedCode;
use super::lines::EditorLines;

/// A name, and the first and last line of what declares it.
type NamedLines = (String, (u32, u32));

/// Most declarations of one name: of a name that is declared more often, nobody knows which is meant.
const DECLARATIONS_MAX: usize = 3;
/// Most declarations that are looked for.
const HITS_MAX: usize = 100;
/// Most files that are read for them.
const FILES_MAX: usize = 30;

/// Finds where names are declared, the nearest to a file first. Nothing where nothing is kept.
pub(super) async fn find(
    cx: &Context,
    near: &RelPath,
    names: Vec<String>,
) -> Result<BTreeMap<String, Vec<FileLocation>>, ToolError> {
    let mut found = BTreeMap::new();
    if names.is_empty() {
        return Ok(found);
    }
    let family = language_family(near.as_str()).to_owned();
    let search = CodeSearch {
        goal: CodeSearchGoal::Declared(names),
        wants: Arc::new(move |path| language_family(path.as_str()) == family),
        hits_max: HITS_MAX,
        hits_of_file_max: HITS_MAX,
    };
    let Some(answer) = cx.search_code(search).await? else { return Ok(found) };
    let mut by_name: BTreeMap<String, Vec<CodeHit>> = BTreeMap::new();
    for hit in answer.hits {
        if let Some(name) = hit.name.clone() {
            by_name.entry(name).or_default().push(hit);
        }
    }
    let mut by_file: BTreeMap<RelPath, Vec<NamedLines>> = BTreeMap::new();
    for (name, mut hits) in by_name {
        hits.sort_by_key(|hit| std::cmp::Reverse(shared(near, &hit.path)));
        for hit in hits.into_iter().take(DECLARATIONS_MAX) {
            by_file.entry(hit.path).or_default().push((name.clone(), hit.lines));
        }
    }
    let mut files: Vec<_> = by_file.into_iter().collect();
    files.sort_by_key(|(path, _)| std::cmp::Reverse(shared(near, path)));
    for (path, wanted) in files.into_iter().take(FILES_MAX) {
        for (name, location) in locations(cx, &path, wanted).await? {
            found.entry(name).or_insert_with(Vec::new).push(location);
        }
    }
    Ok(found)
}

/// How many directories two paths have in common.
fn shared(one: &RelPath, other: &RelPath) -> usize {
    one.components().zip(other.components()).take_while(|(one, other)| one == other).count()
}

/// Where names stand in lines of a file that declare them; none where it is another by now.
async fn locations(
    cx: &Context,
    path: &RelPath,
    wanted: Vec<NamedLines>,
) -> Result<Vec<(String, FileLocation)>, ToolError> {
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
    for (name, (first, last)) in wanted {
        let mut declared = code.declared(&name).into_iter();
        let here = declared.find(|position| (first..=last).contains(&(position.line + 1)));
        found.extend(here.map(|position| (name, FileLocation::new(path, position))));
    }
    Ok(found)
}
