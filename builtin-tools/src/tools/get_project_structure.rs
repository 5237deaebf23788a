//! `get_project_structure`: a project at a glance, in few words.

mod central;
mod landmarks;
mod languages;
mod manifests;
mod output;
mod surroundings;
mod tree;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use moss_sdk::context::Context;
use moss_sdk::file::{Content, Entry, EntryKind, FileSnapshot, ListOptions};
use moss_sdk::tree_listing::{DerivedByContent, TreeListing, TreeNames};
use moss_sdk::{ContentHash, Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use self::central::{CentralFileOutput, ModuleOutput};
use self::landmarks::Landmarks;
use self::languages::LanguageCount;
use self::manifests::{ManifestKind, ManifestText, ProjectCommand};
use self::output::{ProjectManifest, ProjectStructure};
use self::surroundings::{KnownManifests, ManifestPlace, existing};
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

/// What follows from the names and sizes of entries.
struct Survey {
    drawn: Arc<Drawn>,
    /// A page of the tree, and which that is, where pages are wanted.
    page: Option<(String, String)>,
    landmarks: Arc<Landmarks>,
    bytes: u64,
    languages: Vec<LanguageCount>,
}

/// The tree of names that was drawn last, with the number of lines that it might have.
#[derive(Default)]
struct LastDrawn(Mutex<Option<(usize, Arc<Drawn>)>>);

/// Paths of files that programs start in: those higher up first.
type EntryPoints = BTreeSet<(usize, RelPath)>;

/// What a manifest says: the name of the project, where its programs start, its commands, where its tests are.
type ManifestReading = (Option<String>, EntryPoints, Vec<ProjectCommand>, Vec<RelPath>);

impl Tool for GetProjectStructure {
    const NAME: &'static str = "get_project_structure";
    const TITLE: &'static str = "Show project structure";
    const EFFECT: Effect = Effect::Read;
    type Output = ProjectStructure;

    async fn run(self, cx: Context) -> Result<ProjectStructure, ToolError> {
        let path = self.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let base = cx.path(without_slash(path))?;
        let listing = cx.list_tree(&base, extent::VISITED_MAX).await?;
        let names = Arc::clone(listing.names());
        let top = match names.is_truncated() {
            true => {
                let options = ListOptions { recursive: false, entries_max: extent::VISITED_MAX };
                Some(cx.list(&base, options).await?.entries)
            }
            false => None,
        };
        let lines_max = usize::try_from(self.limit.min(TREE_LINES_MAX)).expect("a small bound");
        let map = cx.map_code(&base).await?.unwrap_or_default();
        let offset = self.offset.map(|offset| usize::try_from(offset).unwrap_or(usize::MAX));
        let surveyed = listing.clone();
        let survey = move || Survey::new(&surveyed, top.as_deref(), (lines_max, offset));
        let Survey { drawn, page, landmarks, bytes, languages } = cx.compute(survey).await?;
        let mut starts: EntryPoints = landmarks.starts.iter().cloned().map(placed).collect();
        let (mut manifests, mut tests) = (Vec::new(), landmarks.tests.clone());
        let mut known = KnownManifests::default();
        let kept = names.derived(|_| DerivedByContent::<ManifestReading>::default());
        for &(number, kind) in &landmarks.manifests {
            let (path, name) = (names.path(number), names.name(number));
            let read = text(&cx, &path, listing.size_bytes(number), kind).await?;
            let (hash, text) = read.unzip();
            let around = ManifestPlace::of(&names, &path, kind, &mut known);
            let said = kept.of(number, hash, || {
                let unread = ManifestText::default();
                let facts = kind.facts(name, text.as_ref().unwrap_or(&unread));
                let starts = named_starts(&names, &path, kind, &facts.starts);
                let stated = text.as_ref().map_or("", |manifest| manifest.text.as_str());
                let stated = moss_checks::stated_test_directories(name, stated);
                let tests = existing(&names, &path, &stated, EntryKind::Directory).collect();
                (facts.name, starts, kind.commands(name, text.as_ref(), &around), tests)
            });
            let (name, own_starts, commands, stated) = (*said).clone();
            starts.extend(own_starts);
            stated.iter().for_each(|path| tests.add(&names, &landmarks.languages, path));
            let path = path.to_string();
            manifests.push(ProjectManifest { path, kind: kind.name, name, commands });
        }
        let (tree, page_note) = page.unzip();
        let tree = tree.unwrap_or_else(|| drawn.text.clone());
        let entry_points_total = starts.len();
        let first = starts.into_iter().take(ENTRY_POINTS_MAX);
        let structure = ProjectStructure {
            tree,
            files: drawn.files,
            directories: drawn.directories,
            bytes,
            languages,
            manifests,
            manifests_total: landmarks.manifests_total,
            entry_points: first.map(|(_, path)| path.to_string()).collect(),
            entry_points_total,
            tests,
            ci: landmarks.ci.clone(),
            documents: landmarks.documents.clone(),
            central_files: map.files.into_iter().map(CentralFileOutput::from).collect(),
            modules: map.modules.into_iter().map(ModuleOutput::from).collect(),
            folded: drawn.folded,
            truncated: names.is_truncated(),
            skipped: names.skipped(),
            note: note(drawn.folded, page_note, names.is_truncated()),
        };
        Ok(structure.fit())
    }
}

impl Survey {
    /// Of a tree of so many lines, or of pages of so many, with how many lines are passed over. What only
    /// follows from names is worked out once for as long as they stay the same.
    fn new(
        listing: &TreeListing,
        top: Option<&[Entry]>,
        (lines_max, offset): (usize, Option<usize>),
    ) -> Self {
        let names = listing.names();
        let landmarks = names.derived(Landmarks::find);
        let sizes = (0..).zip(&landmarks.languages).map(|(number, _)| listing.size_bytes(number));
        let drawn_max = if offset.is_some() { TREE_DRAWN_MAX } else { lines_max };
        let drawn = match top {
            None => names.derived(|_| LastDrawn::default()).draw(names, drawn_max),
            Some(_) => Arc::new(Tree::new(names, top).draw(drawn_max)),
        };
        Self {
            page: offset.map(|offset| drawn.page(TreePage { offset, lines_max })),
            drawn,
            bytes: sizes.flatten().sum(),
            languages: languages::counted(listing, &landmarks.languages),
            landmarks,
        }
    }
}

impl LastDrawn {
    fn draw(&self, names: &TreeNames, lines_max: usize) -> Arc<Drawn> {
        let last = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, drawn)) = last().as_ref().filter(|(lines, _)| *lines == lines_max) {
            return Arc::clone(drawn);
        }
        let drawn = Arc::new(Tree::new(names, None).draw(lines_max));
        *last() = Some((lines_max, Arc::clone(&drawn)));
        drawn
    }
}

fn placed(path: RelPath) -> (usize, RelPath) {
    (path.components().count(), path)
}

/// Reads a manifest, where nobody has to be asked for it.
async fn text(
    cx: &Context,
    path: &RelPath,
    size_bytes: Option<u64>,
    kind: ManifestKind,
) -> Result<Option<(ContentHash, ManifestText)>, ToolError> {
    let is_small = size_bytes.is_some_and(|size| size <= MANIFEST_BYTES_MAX);
    if !kind.needs_text() || !is_small {
        return Ok(None);
    }
    match cx.read_unasked(path).await {
        Ok(Some(FileSnapshot { content: Content::Text(text), hash, .. })) => {
            Ok(Some((hash, text.text.into())))
        }
        Err(error) if error.code == ErrorCode::Cancelled => Err(error),
        // It may not be read, is no text, or is not what it was any more: it is listed nevertheless.
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Returns the files that a manifest says programs start in, as far as they exist; else those that
/// they start in by custom.
fn named_starts(
    names: &TreeNames,
    manifest: &RelPath,
    kind: ManifestKind,
    named: &[String],
) -> EntryPoints {
    let files = |starts: &[String]| -> EntryPoints {
        existing(names, manifest, starts, EntryKind::File).map(placed).collect()
    };
    let starts = files(named);
    if starts.is_empty() { files(&kind.customary_starts()) } else { starts }
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
