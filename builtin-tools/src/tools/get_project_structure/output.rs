//! What the tool returns, and how much of it.

use moss_sdk::file::Skipped;
use schemars::JsonSchema;
use serde::Serialize;

use super::central::{CentralFileOutput, ModuleOutput};
use super::landmarks::Tests;
use super::languages::LanguageCount;
use super::manifests::ProjectCommand;

/// Most bytes of a result with a tree of the default limit, as it is returned: about 6,000 tokens. What a larger
/// tree takes beyond that comes on top.
const OUTPUT_BYTES_MAX: usize = 24_000;
/// What the lists have in any case.
const LISTS_BYTES_MIN: usize = 6_000;

/// A project at a glance.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProjectStructure {
    /// The tree, a line for each entry, indented by two spaces a level. Directories end with a
    /// slash and come before files; what stands in round brackets is not part of a name.
    pub(super) tree: String,
    /// How many files there are. What is no directory is a file here.
    pub(super) files: u64,
    /// How many directories there are.
    pub(super) directories: u64,
    /// The size of all files in bytes.
    pub(super) bytes: u64,
    /// The languages: code first, then text, then data; the largest of each first.
    pub(super) languages: Vec<LanguageCount>,
    /// The manifests, those higher up first.
    pub(super) manifests: Vec<ProjectManifest>,
    /// How many manifests there are.
    pub(super) manifests_total: usize,
    /// Files that programs start in, by the manifests and by their names, those higher up first.
    pub(super) entry_points: Vec<String>,
    /// How many of them there are.
    pub(super) entry_points_total: usize,
    /// Where the tests are and how they are named.
    pub(super) tests: Tests,
    /// Files of continuous integration.
    pub(super) ci: Vec<String>,
    /// Files in the root that describe the project, such as a readme and a licence.
    pub(super) documents: Vec<String>,
    /// The files whose names stand in other files, those that everything leads to first, up to 15;
    /// missing where the code is not indexed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) central_files: Vec<CentralFileOutput>,
    /// Directories whose files use those of others, up to 20; missing where the code is not indexed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) modules: Vec<ModuleOutput>,
    /// How many files and directories the tree gives only as counts.
    pub(super) folded: u64,
    /// Whether a bound ended the look at the workspace early: then all counts are lower bounds.
    pub(super) truncated: bool,
    /// How many entries were left out, by reason.
    pub(super) skipped: Skipped,
    /// What is missing, and how to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

/// A file that says what a project is built with.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProjectManifest {
    /// Relative to the workspace root.
    pub(super) path: String,
    /// What builds the project or reads the file, such as `cargo`, `npm` or `cmake`.
    pub(super) kind: &'static str,
    /// The name of the project, where the manifest gives it and may be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// Commands that build, run, test and lint it, at most 2 of each; missing where it gives none or may
    /// not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) commands: Vec<ProjectCommand>,
}

/// A list of a result, with the bytes of each of its entries.
struct BoundedList {
    name: &'static str,
    entries: Vec<usize>,
    total: usize,
}

// === impl ProjectStructure ===

impl ProjectStructure {
    /// Shortens the lists until the result keeps to its bound, the longest first, and notes which.
    pub(super) fn fit(mut self) -> Self {
        let bytes_max = OUTPUT_BYTES_MAX.saturating_sub(written_bytes(&self.tree));
        let left_out = self.shorten(bytes_max.max(LISTS_BYTES_MIN));
        if !left_out.is_empty() {
            let no_room = format!("no room for {}: path shows one directory", left_out.join(", "));
            let notes = self.note.take().into_iter().chain([no_room]);
            self.note = Some(notes.collect::<Vec<_>>().join("; "));
        }
        self
    }

    /// Shortens the lists to so many bytes. Returns what was left out.
    fn shorten(&mut self, bytes_max: usize) -> Vec<String> {
        let mut lists = [
            BoundedList::new("languages", &self.languages),
            BoundedList::new("manifests", &self.manifests),
            BoundedList::new("entry_points", &self.entry_points),
            BoundedList::new("tests.directories", &self.tests.directories),
            BoundedList::new("tests.names", &self.tests.names),
            BoundedList::new("ci", &self.ci),
            BoundedList::new("documents", &self.documents),
            BoundedList::new("central_files", &self.central_files),
            BoundedList::new("modules", &self.modules),
        ];
        let whole = lists.each_ref().map(|list| list.entries.len());
        while lists.iter().map(|list| list.total).sum::<usize>() > bytes_max {
            let longest = lists.iter_mut().max_by_key(|list| list.total);
            if !longest.is_some_and(BoundedList::drop_last) {
                break;
            }
        }
        let kept = lists.each_ref().map(|list| list.entries.len());
        self.languages.truncate(kept[0]);
        self.manifests.truncate(kept[1]);
        self.entry_points.truncate(kept[2]);
        self.tests.directories.truncate(kept[3]);
        self.tests.names.truncate(kept[4]);
        self.ci.truncate(kept[5]);
        self.documents.truncate(kept[6]);
        self.central_files.truncate(kept[7]);
        self.modules.truncate(kept[8]);
        let left_out =
            lists.iter().zip(whole).map(|(list, whole)| (list.name, whole - list.entries.len()));
        let left_out = left_out.filter(|(_, count)| *count > 0);
        left_out.map(|(name, count)| format!("{count} of {name}")).collect()
    }
}

// === impl BoundedList ===

impl BoundedList {
    fn new(name: &'static str, entries: &[impl Serialize]) -> Self {
        let entries: Vec<usize> = entries.iter().map(written_bytes).collect();
        Self { name, total: entries.iter().sum(), entries }
    }

    fn drop_last(&mut self) -> bool {
        let dropped = self.entries.pop();
        self.total -= dropped.unwrap_or_default();
        dropped.is_some()
    }
}

/// How many bytes something has in a response, a comma behind it included.
fn written_bytes(value: &(impl Serialize + ?Sized)) -> usize {
    serde_json::to_string(value).map_or(OUTPUT_BYTES_MAX, |text| text.len() + 1)
}
