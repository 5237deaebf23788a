//! `file_search`: files by name, by wildcards or by what a person remembers of the name.

mod ascii;
mod familiar;
mod query;
mod rank;
mod scan;

use std::collections::HashMap;
use std::sync::Arc;

use moss_ranking::FileTypes;
use moss_sdk::context::Context;
use moss_sdk::file::{EntryKind, Skipped};
use moss_sdk::tree_listing::{EntryNumber, TreeListing, TreeNames};
use moss_sdk::{Effect, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::familiar::FamiliarFiles;
use self::query::{FileQuery, QueryScope};
use self::rank::Rank;
use self::scan::FileScan;
use crate::extent::{self, without_slash};
use crate::result_page::{PageRoom, PageSize};

/// Most files of one result.
pub(crate) const FILES_MAX: usize = 100;

/// Finds files of the workspace by name or path.
///
/// A pattern with wildcards is matched as such: `*` and `?` within a name, `**` over directories,
/// `[a-z]`, `{a,b}`; without a slash against the name (`*.test.ts`), with one against the end of
/// the path (`src/**/*.rs`; a leading slash means the workspace root). Any other pattern is looked
/// for in names and paths, best first: the exact name, its start, the start of a word in it,
/// anywhere in it, then names that are a typo away (`user_sevrice`) and letters in this order with
/// others between them (`usrsvc` finds `user_service.rs`); where nothing fits, what is similar. Of files that fit
/// equally well, those come first that are open in the editor, were read in this session or
/// changed last. Letter case makes no difference. What ignore files such as `.gitignore`
/// name is left out. One call returns up to 100 files, and no more than 24,000 bytes; `total` says how many
/// there are, `note` the `offset` to continue with. To search in files, use grep_search; to see what is in a
/// directory, use list_directory.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FileSearch {
    /// The name, a part of it or of the path, or a pattern with wildcards.
    pattern: String,
    /// Finds only files of this type: a type name (`rust`, `py`) or an extension (`.rs`, `tsx`),
    /// several separated by commas. Default: every file.
    file_type: Option<String>,
    /// Whether other characters may stand between those of a pattern without wildcards, and, where
    /// nothing is found, similar names are returned. Default: true.
    #[serde(default = "yes")]
    fuzzy: bool,
    /// Whether to look at the directories of the path too, not only at the file name: true or
    /// false, not a path. Default: true.
    #[serde(default = "yes")]
    search_path: bool,
    /// Finds only files beneath this directory, whatever `searchPath` says; the pattern, with
    /// `searchPath` true, is seen from there. Default: the whole workspace.
    #[schemars(extend("x-extra" = true))]
    path: Option<String>,
    /// Files to pass over before the first that is returned; that of the next page is this one plus the number of
    /// those returned. Default: 0.
    #[serde(default)]
    #[schemars(extend("x-extra" = true))]
    offset: u64,
}

fn yes() -> bool {
    true
}

/// Files that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileSearchOutput {
    /// The files: by path for a pattern with wildcards, else the best first.
    files: Vec<FoundFile>,
    /// How many files were found, those included that are not returned.
    total: usize,
    /// How many files were looked at.
    files_searched: usize,
    /// Whether files are missing because of a bound; `note` says which.
    truncated: bool,
    /// How many entries were left out, by reason.
    skipped: Skipped,
    /// What is missing, and how to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A file that the pattern fits.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundFile {
    /// Its path, relative to the workspace root.
    path: String,
    /// Its size in bytes.
    size_bytes: u64,
}

/// A search for files, for a host that puts several of them together.
pub(crate) struct PathQuery(FileQuery);

/// What a search gathered.
struct SearchResult {
    /// The files of the page, as far as there is room.
    files: Vec<EntryNumber>,
    total: usize,
    /// How many were passed over.
    offset: usize,
    /// How many files were looked at.
    searched: usize,
    /// Whether they only look like what was searched for.
    are_similar: bool,
}

/// A file that fits, and its place in path order.
type RankedFile = (Rank, u32);

impl Tool for FileSearch {
    const NAME: &'static str = "file_search";
    const TITLE: &'static str = "Find files";
    const EFFECT: Effect = Effect::Read;
    type Output = FileSearchOutput;

    async fn run(self, cx: Context) -> Result<FileSearchOutput, ToolError> {
        let query = self.query()?;
        let types = self.file_type.as_deref().map(FileTypes::parse).transpose()?;
        let path = self.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let base = cx.path(without_slash(path))?;
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let listing = cx.list_tree(&base, extent::VISITED_MAX).await?;
        let names = Arc::clone(listing.names());
        let has_types = types.is_some();
        let familiar = FamiliarFiles::of(&cx, &listing).await;
        let (found, files) = cx
            .compute(move || {
                let admits = |name: &str| types.as_ref().is_none_or(|types| types.admit_name(name));
                let found = find(&query, &familiar, listing.names(), &admits, offset);
                let files = found.files.iter().map(|file| FoundFile::of(&listing, *file));
                let mut room = PageRoom::new(PageSize::usual(FILES_MAX));
                let files: Vec<FoundFile> = files.take_while(|file| room.takes(file)).collect();
                (found, files)
            })
            .await?;
        let is_truncated = names.is_truncated();
        Ok(FileSearchOutput {
            total: found.total,
            files_searched: found.searched,
            truncated: is_truncated || found.total > found.offset.saturating_add(files.len()),
            skipped: names.skipped(),
            note: note(&found, files.len(), is_truncated, found.searched == 0 && has_types),
            files,
        })
    }
}

/// Picks the files that a query finds, or else those that look alike; of equal ones those first that
/// the caller is busy with, then by path. Paths are seen from the directory that was listed.
fn find(
    query: &FileQuery,
    familiar: &FamiliarFiles,
    names: &TreeNames,
    admits: &dyn Fn(&str) -> bool,
    offset: usize,
) -> SearchResult {
    let is_wanted =
        |file: &EntryNumber| names.kind(*file) == EntryKind::File && admits(names.name(*file));
    let files: Vec<EntryNumber> = names.in_order().iter().copied().filter(is_wanted).collect();
    let places = if query.has_ranks() { familiar.places(names) } else { HashMap::new() };
    let placed = |rank: Rank, at: u32| match query.has_ranks() {
        true => rank.at(places.get(&files[at as usize]).copied().unwrap_or(u32::MAX)),
        false => rank,
    };
    let mut scan = FileScan::new(query, names);
    let mut ranked: Vec<RankedFile> = Vec::new();
    for (at, file) in (0..).zip(&files) {
        ranked.extend(scan.rank(*file).map(|rank| (placed(rank, at), at)));
    }
    // Where only the letters fit, a typo is as likely as an abbreviation.
    if !ranked.is_empty() && !ranked.iter().any(|(rank, _)| query.is_certain(*rank)) {
        let mut typos = scan.typos(&files);
        for (rank, at) in &mut ranked {
            *rank = typos.remove(at).map_or(*rank, |typo| placed(typo, *at).min(*rank));
        }
        ranked.extend(typos.into_iter().map(|(at, typo)| (placed(typo, at), at)));
    }
    let are_similar = ranked.is_empty();
    if are_similar {
        let alike = scan.alike(&files).into_iter();
        ranked.extend(alike.map(|(at, rank)| (placed(rank, at), at)));
    }
    let total = ranked.len();
    let page = page(&mut ranked, offset).iter().map(|(_, at)| files[*at as usize]);
    SearchResult { files: page.collect(), total, offset, searched: files.len(), are_similar }
}

/// The best files from an offset on: of equal ones those that come first in path order.
fn page(ranked: &mut Vec<RankedFile>, offset: usize) -> &[RankedFile] {
    let end = offset.saturating_add(FILES_MAX);
    if end < ranked.len() {
        ranked.select_nth_unstable(end);
        ranked.truncate(end);
    }
    ranked.sort_unstable();
    ranked.get(offset..).unwrap_or_default()
}

fn note(
    found: &SearchResult,
    shown: usize,
    walk_ended: bool,
    no_such_type: bool,
) -> Option<String> {
    let mut notes = Vec::new();
    if found.are_similar && found.total > 0 {
        notes.push("nothing has this name: these names are similar".to_owned());
    }
    if no_such_type {
        notes.push("no file of the wanted types was found".to_owned());
    }
    let (offset, total) = (found.offset, found.total);
    let next = offset.saturating_add(shown);
    if offset > 0 && shown > 0 {
        let more = if next < total { extent::continued(next) } else { String::new() };
        notes.push(format!("files {} to {next} of {total}{more}", offset + 1));
    } else if offset > 0 {
        notes.push(format!("there are {total} files: `offset` passes over all of them"));
    } else if total > shown {
        notes.push(format!(
            "{shown} of {total} files: make the pattern longer, give a `fileType` or a `path`, or \
             continue with `offset` {shown}"
        ));
    }
    if walk_ended {
        notes.push(extent::ended());
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

// === impl PathQuery ===

impl PathQuery {
    /// Reads the arguments of a call; none where they do not fit the tool.
    pub(crate) fn of_arguments(arguments: &Map<String, Value>) -> Option<Self> {
        let search: FileSearch = serde_json::from_value(Value::Object(arguments.clone())).ok()?;
        search.query().ok().map(Self)
    }

    /// Whether one search finds a file beside the best of all: a typo not where that has all of what is searched for,
    /// what only looks alike not where that does more.
    pub(crate) fn finds_beside(&self, path: &RelPath, best: rank::MatchClass) -> bool {
        match best {
            best if best < rank::MatchClass::Typo => self.0.rank(path.as_str()).is_some(),
            best if best < rank::MatchClass::Similar => {
                self.class(path).is_some_and(|class| class < rank::MatchClass::Similar)
            }
            _ => true,
        }
    }

    /// In which way a file fits, the best first.
    pub(crate) fn class(&self, path: &RelPath) -> Option<rank::MatchClass> {
        let path = path.as_str();
        let rank = self.0.rank(path);
        let is_certain = rank.is_some_and(|rank| self.0.is_certain(rank));
        let typo = if is_certain { None } else { self.0.typo(path) };
        let best = rank.into_iter().chain(typo).min();
        best.or_else(|| self.0.likeness(path)).map(Rank::class)
    }
}

// === impl FileSearch ===

impl FileSearch {
    fn query(&self) -> Result<FileQuery, ToolError> {
        let scope = if self.search_path { QueryScope::Path } else { QueryScope::Name };
        FileQuery::parse(&self.pattern, self.fuzzy, scope)
    }
}

// === impl FoundFile ===

impl FoundFile {
    fn of(listing: &TreeListing, file: EntryNumber) -> Self {
        let size_bytes = listing.size_bytes(file).unwrap_or_default();
        Self { path: listing.names().path(file).to_string(), size_bytes }
    }
}

#[cfg(test)]
mod tests;
