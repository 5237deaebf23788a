//! Where names are declared, from what is kept of the code of the workspace.

use std::collections::BTreeMap;
use std::sync::Arc;

use moss_sdk::code_search::{CodeHit, CodeSearch, CodeSearchGoal};
use moss_sdk::context::Context;
use moss_sdk::file::Content;
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::FileLocation;
use super::code::FocusedCode;
use super::lines::EditorLines;
use super::names::ending;

/// Most declarations of one name: of a name that is declared more often, nobody knows which is meant.
const DECLARATIONS_MAX: usize = 3;
/// Most declarations that are looked for.
const HITS_MAX: usize = 100;

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
    let wanted = ending(near).map(str::to_owned);
    let search = CodeSearch {
        goal: CodeSearchGoal::Declared(names),
        wants: Arc::new(move |path| ending(path) == wanted.as_deref()),
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
    for (name, mut hits) in by_name {
        hits.sort_by_key(|hit| std::cmp::Reverse(shared(near, &hit.path)));
        let mut locations = Vec::new();
        for hit in hits.iter().take(DECLARATIONS_MAX) {
            locations.extend(location(cx, hit, &name).await?);
        }
        if !locations.is_empty() {
            found.insert(name, locations);
        }
    }
    Ok(found)
}

/// How many directories two paths have in common.
fn shared(one: &RelPath, other: &RelPath) -> usize {
    one.components().zip(other.components()).take_while(|(one, other)| one == other).count()
}

/// Where the name stands in the lines of a hit; none where the file is another by now.
async fn location(
    cx: &Context,
    hit: &CodeHit,
    name: &str,
) -> Result<Option<FileLocation>, ToolError> {
    let text = match cx.read_unasked(&hit.path).await {
        Ok(Some(snapshot)) => match snapshot.content {
            Content::Text(text) => text.text,
            Content::Binary => return Ok(None),
        },
        Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
        Ok(None) | Err(_) => return Ok(None),
    };
    let lines = EditorLines::new(&text);
    let Some(code) = FocusedCode::read(cx, &hit.path, &text, &lines).await? else {
        return Ok(None);
    };
    let (first, last) = hit.lines;
    let mut declared = code.declared(name).into_iter();
    let here = declared.find(|position| (first..=last).contains(&(position.line + 1)));
    Ok(here.map(|position| FileLocation::new(&hit.path, position)))
}
