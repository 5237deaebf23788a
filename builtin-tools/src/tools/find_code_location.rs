//! `find_code_location`: where something is declared, and where its name is used.

mod definition;
mod finder;
mod found;
mod lined;
mod location;
mod missing;
mod output;
mod placed;
mod query;
mod reference;
mod room;

use std::sync::Arc;

use moss_ranking::{FileTypes, NameTier};
use moss_sdk::context::Context;
use moss_sdk::file::{ListOptions, VisitOptions, Visited};
use moss_sdk::{Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use self::finder::CodeFinding;
use self::found::FoundCode;
use self::output::{FindCodeLocationOutput, FoundSources, LocationSource, ServerWord};
use self::query::{CodeQuery, PassGoal, QueryPass, QueryTarget, SearchType};
use crate::extent;

/// How far one search goes.
const EXTENT: VisitOptions = VisitOptions { entries_max: extent::VISITED_MAX, bytes_max: 2 << 30 };
/// Enough to know whether a path is a directory.
const GLANCE: ListOptions = ListOptions { recursive: false, entries_max: 1 };

/// Finds where something is declared, with its signature, documentation and container, in the files
/// as they are now, unsaved ones included. `search` is a name (`parse`), one with the type, module or
/// package that it belongs to (`Parser::parse`, `requests.get`; where nothing does, what only has the
/// name), a location (`src/lib.rs:40`: what is declared around it) or, where nothing is named so, a line
/// of code.
///
/// `findReferences` also lists where the name is used, by file, as a call, a type, an import or
/// otherwise. Where `references_source` is `files`, that is by name alone, and uses of another thing with
/// that name are among them; a language server, where one may run, knows which are. To search for text, use
/// grep_search.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FindCodeLocation {
    /// The file or directory to search in. Default: the whole workspace.
    path: Option<String>,
    /// A name such as `main`, `Type::name`, `path:line`, or a line of code.
    search: String,
    /// How names are compared (`exact`, `contains`, `regex`), or which are looked for by a part of
    /// their name: `class` (any type), `function`, `variable` (constants and fields, too). Default:
    /// `contains`.
    #[serde(default)]
    search_type: SearchType,
    /// Whether to list where the name is used, up to 200 uses. Default: false.
    #[serde(default)]
    find_references: bool,
    /// Whether to find only what is named exactly `search`, and to ask an attached editor or a language server.
    /// Default: false.
    #[serde(default)]
    find_definition: bool,
    /// Searches only files of this type: a type name (`rust`, `py`) or an extension (`.rs`), several
    /// separated by commas. Default: every file.
    file_type: Option<String>,
}

/// Where is searched, and for what besides declarations.
#[derive(Debug)]
struct SearchScope {
    directory: RelPath,
    /// The only file, where one was named.
    file: Option<RelPath>,
    types: Option<String>,
    has_references: bool,
}

impl Tool for FindCodeLocation {
    const NAME: &'static str = "find_code_location";
    const TITLE: &'static str = "Find code location";
    const EFFECT: Effect = Effect::Read;
    type Output = FindCodeLocationOutput;

    async fn run(self, cx: Context) -> Result<FindCodeLocationOutput, ToolError> {
        let mut query = CodeQuery::parse(&self.search, self.search_type, self.find_definition)?;
        let path = self.path.as_deref().filter(|path| !path.is_empty());
        let mut root = path.map_or_else(|| Ok(RelPath::root()), |path| cx.path(path))?;
        if let QueryTarget::Line(location) = &query.target {
            match location.file(&cx, &root).await? {
                Some(file) => root = file,
                None => query.read_as_words(),
            }
        }
        let scope = SearchScope::new(&cx, root, self.file_type, self.find_references).await?;
        let (mut found, mut visited) = (FoundCode::default(), Visited::default());
        for pass in query.passes()? {
            if pass.is_needed(&found) {
                let finding;
                (finding, visited) = scope.visit(&cx, pass).await?;
                found.add(finding);
            }
        }
        let mut word = ServerWord::default();
        let locations = match self.find_definition {
            true => definition::confirm(&cx, &mut found, &mut word).await?,
            false => LocationSource::Files,
        };
        let references = match scope.has_references {
            true => Some(reference::confirm(&cx, &scope, &query, &mut found, &mut word).await?),
            false => None,
        };
        let missing = missing::notes(&query, &found, references);
        let sources = FoundSources { locations, references, word, missing };
        Ok(FindCodeLocationOutput::new(found, &visited, sources))
    }
}

// === impl SearchScope ===

impl SearchScope {
    async fn new(
        cx: &Context,
        root: RelPath,
        types: Option<String>,
        has_references: bool,
    ) -> Result<Self, ToolError> {
        // Only directories are walked: a file is looked for in its own.
        let (directory, file) = match cx.list(&root, GLANCE).await {
            Ok(_) => (root, None),
            Err(error) if error.code == ErrorCode::NotADirectory => {
                (root.parent().unwrap_or_else(RelPath::root), Some(root))
            }
            Err(error) => return Err(error),
        };
        Ok(Self { directory, file, types, has_references })
    }

    /// Looks at the files: first at those that name what the name is said to belong to.
    async fn visit(
        &self,
        cx: &Context,
        mut pass: QueryPass,
    ) -> Result<(FoundCode, Visited), ToolError> {
        if self.has_references {
            // Uses are those of the name, wherever they are.
            pass.owner = None;
        }
        let (found, visited) = self.look(cx, pass.clone()).await?;
        let is_strange = found.fit.is_none_or(|fit| fit.tier == NameTier::Name);
        let is_named = matches!(pass.goal, PassGoal::Named(_));
        if is_strange && is_named && pass.owner.take().is_some() {
            return self.look(cx, pass).await;
        }
        Ok((found, visited))
    }

    /// Looks at the files once, and where that ends before the last, at those that are known to declare the name.
    async fn look(&self, cx: &Context, pass: QueryPass) -> Result<(FoundCode, Visited), ToolError> {
        let finding = CodeFinding::new(pass, self.types()?, self.file.clone(), self.has_references);
        let (mut finding, visited) = cx.visit(&self.directory, EXTENT, finding).await?;
        if let Some(wanted) = finding.missed() {
            let (directory, types) = (self.directory.clone(), self.types()?);
            let is_typed = move |path: &RelPath| types.as_ref().is_none_or(|one| one.admits(path));
            let wants = move |path: &RelPath| path.beneath(&directory).is_some() && is_typed(path);
            let declaring = wanted.declaring_files(cx, Arc::new(wants)).await?;
            if finding.resumes_in(declaring) {
                (finding, _) = cx.visit(&self.directory, EXTENT, finding).await?;
            }
        }
        Ok((finding.found, visited))
    }

    fn types(&self) -> Result<Option<FileTypes>, ToolError> {
        self.types.as_deref().map(FileTypes::parse).transpose()
    }
}

#[cfg(test)]
mod tests;
