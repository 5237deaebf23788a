//! `get_project_structure`: a project at a glance, in few words.

mod central;
mod landmarks;
mod languages;
mod manifests;
mod output;
mod surroundings;
mod tree;

use std::borrow::Cow;
use std::collections::BTreeSet;

use moss_sdk::context::Context;
use moss_sdk::file::{Content, Entry, FileSnapshot, ListOptions, Listing};
use moss_sdk::{Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use self::central::{CentralFileOutput, ModuleOutput};
use self::landmarks::Landmarks;
use self::manifests::ManifestKind;
use self::output::{ProjectManifest, ProjectStructure};
use self::surroundings::{KnownManifests, ManifestPlace, is_file};
use self::tree::{Drawn, Tree, TreePage};
use crate::extent::{self, without_slash};

/// Most bytes of a manifest that is read.
const MANIFEST_BYTES_MAX: u64 = 256 << 10;
/// Most entry points of one result.
const ENTRY_POINTS_MAX: usize = 40;
/// Most lines that a tree may be asked to have.
const TREE_LINES_MAX: u64 = 2_000;
/// Most lines of a tree that is shown by pages, but for those of its first level.
const TREE_DRAWN_MAX: usize = 2_000;

fn default_limit() -> u64 {
    300
}

/// Shows how the project in the workspace is built up: a tree of its directories and files, its
/// languages, its manifests (`Cargo.toml`, `package.json` and the like) with the names of projects and the
/// commands that build, run, test and lint them, the files that programs start in, its tests, its continuous integration and what to read first; where
/// the code is indexed, also the files that others use most and which directories use which.
///
/// The tree has up to 300 lines. Where a project is larger, the levels at the top are shown first,
/// and what is further down is given as counts, such as `assets/ (412 files: 400 .png, 12 .svg)`;
/// a chain of directories with nothing else in them is one line. All of it takes about 6,000 tokens at most; `note` says
/// what had no room. What ignore files such as
/// `.gitignore` name is left out. Everything but the tree leaves out directories of other people's
/// code and of fixtures, such as `vendor` and `testdata`. To see more of a directory, use
/// list_directory; to find files by name, use file_search.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetProjectStructure {
    /// Shows only what is beneath this directory; all paths but those in the tree are from the workspace
    /// root nevertheless. Default: the whole workspace.
    #[schemars(extend("x-extra" = true))]
    path: Option<String>,
    /// Most lines of the tree, up to 2,000, but for those of its first level. Default: 300.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 2000), extend("x-extra" = true))]
    limit: u64,
    /// Shows a tree of up to 2,000 lines by pages of `limit` lines: so many lines are passed over, and the directories
    /// that the first one is in are repeated. 0 is the first page. Default: no pages, but the top of the project.
    #[schemars(extend("x-extra" = true))]
    offset: Option<u64>,
}

/// What follows from the names of entries.
struct Survey {
    listing: Listing,
    drawn: Drawn,
    /// Which page of the tree is drawn, where it has pages.
    page: Option<String>,
    files: u64,
    directories: u64,
    landmarks: Landmarks,
}

/// Paths of files that programs start in: those higher up first.
type EntryPoints = BTreeSet<(usize, RelPath)>;

impl Tool for GetProjectStructure {
    const NAME: &'static str = "get_project_structure";
    const TITLE: &'static str = "Show project structure";
    const EFFECT: Effect = Effect::Read;
    type Output = ProjectStructure;

    async fn run(self, cx: Context) -> Result<ProjectStructure, ToolError> {
        let path = self.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let base = cx.path(without_slash(path))?;
        let options = |recursive| ListOptions { recursive, entries_max: extent::VISITED_MAX };
        let listing = cx.list(&base, options(true)).await?;
        let top = match listing.truncated {
            true => Some(cx.list(&base, options(false)).await?.entries),
            false => None,
        };
        let lines_max = usize::try_from(self.limit.min(TREE_LINES_MAX)).expect("a small bound");
        let map = cx.map_code(&base).await?.unwrap_or_default();
        let offset = self.offset.map(|offset| usize::try_from(offset).unwrap_or(usize::MAX));
        let survey = move || Survey::new(&base, listing, top, (lines_max, offset));
        let survey = cx.compute(survey).await?;
        let Survey { listing, drawn, page, files, directories, landmarks } = survey;
        let mut starts: EntryPoints = landmarks.starts.into_iter().map(placed).collect();
        let mut manifests = Vec::new();
        let mut known = KnownManifests::default();
        for (file, kind) in landmarks.manifests {
            let name = file.path.file_name().unwrap_or_default();
            let text = text(&cx, &file, kind).await?;
            let facts = kind.facts(name, text.as_deref().unwrap_or_default());
            starts.extend(named_starts(&listing.entries, &file.path, kind, &facts.starts));
            let around = ManifestPlace::of(&listing.entries, &file.path, kind, &mut known);
            let commands = kind.commands(name, text.as_deref(), &around);
            let path = file.path.to_string();
            manifests.push(ProjectManifest { path, kind: kind.name, name: facts.name, commands });
        }
        let entry_points_total = starts.len();
        let first = starts.into_iter().take(ENTRY_POINTS_MAX);
        let structure = ProjectStructure {
            tree: drawn.text,
            files,
            directories,
            bytes: landmarks.bytes,
            languages: landmarks.languages,
            manifests,
            manifests_total: landmarks.manifests_total,
            entry_points: first.map(|(_, path)| path.to_string()).collect(),
            entry_points_total,
            tests: landmarks.tests,
            ci: landmarks.ci,
            documents: landmarks.documents,
            central_files: map.files.into_iter().map(CentralFileOutput::from).collect(),
            modules: map.modules.into_iter().map(ModuleOutput::from).collect(),
            folded: drawn.folded,
            truncated: listing.truncated,
            skipped: listing.skipped,
            note: note(drawn.folded, page, listing.truncated),
        };
        Ok(structure.fit())
    }
}

impl Survey {
    /// Of a tree of so many lines, or of pages of so many, with how many lines are passed over.
    fn new(
        base: &RelPath,
        listing: Listing,
        top: Option<Vec<Entry>>,
        (lines_max, offset): (usize, Option<usize>),
    ) -> Self {
        let seen = seen_from(base, &listing.entries);
        let top = top.map(|top| seen_from(base, &top).into_owned());
        let mut tree = Tree::new(&seen, top.as_deref());
        let (drawn, page) = match offset {
            None => (tree.draw(lines_max), None),
            Some(offset) => {
                let (drawn, note) = tree.draw(TREE_DRAWN_MAX).page(TreePage { offset, lines_max });
                (drawn, Some(note))
            }
        };
        let (files, directories) = (tree.files(), tree.directories());
        let landmarks = Landmarks::find(&seen).in_directory(base);
        drop(seen);
        Self { listing, drawn, page, files, directories, landmarks }
    }
}

/// The same entries with their paths as seen from a directory.
fn seen_from<'a>(base: &RelPath, entries: &'a [Entry]) -> Cow<'a, [Entry]> {
    if base.is_root() {
        return Cow::Borrowed(entries);
    }
    let seen = |entry: &Entry| Some(Entry { path: entry.path.beneath(base)?, ..entry.clone() });
    entries.iter().filter_map(seen).collect()
}

fn placed(path: RelPath) -> (usize, RelPath) {
    (path.components().count(), path)
}

/// Reads a manifest, where nobody has to be asked for it.
async fn text(cx: &Context, file: &Entry, kind: ManifestKind) -> Result<Option<String>, ToolError> {
    let is_small = file.size_bytes.is_some_and(|size| size <= MANIFEST_BYTES_MAX);
    if !kind.needs_text() || !is_small {
        return Ok(None);
    }
    match cx.read_unasked(&file.path).await {
        Ok(Some(FileSnapshot { content: Content::Text(text), .. })) => Ok(Some(text.text)),
        Err(error) if error.code == ErrorCode::Cancelled => Err(error),
        // It may not be read, is no text, or is not what it was any more: it is listed nevertheless.
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Returns the files that a manifest says programs start in, as far as they exist; else those that
/// they start in by custom.
fn named_starts(
    entries: &[Entry],
    manifest: &RelPath,
    kind: ManifestKind,
    named: &[String],
) -> EntryPoints {
    let directory = manifest.parent().unwrap_or_else(RelPath::root);
    let existing = |names: &[String]| -> EntryPoints {
        let paths = names.iter().filter_map(|name| RelPath::parse(name).ok());
        let beneath = paths.filter_map(|path| directory.join(path.as_str()).ok());
        beneath.filter(|path| is_file(entries, path)).map(placed).collect()
    };
    let starts = existing(named);
    if starts.is_empty() { existing(&kind.customary_starts()) } else { starts }
}

fn note(folded: u64, page: Option<String>, walk_ended: bool) -> Option<String> {
    let is_paged = page.is_some();
    let mut notes = Vec::from_iter(page);
    if walk_ended {
        notes.push(extent::ended());
    }
    if folded > 0 {
        let more = if is_paged { "" } else { ", `offset` 0 a longer tree by pages" };
        notes.push(format!("{folded} entries are only counted: list_directory shows them{more}"));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

#[cfg(test)]
mod tests;
