//! What the tool returns.

use moss_sdk::file::{SkippedTexts, Visited};
use schemars::JsonSchema;
use serde::Serialize;

use super::found::{FoundCode, LOCATIONS_MAX};
use super::location::{CodeLocation, FileUses};
use super::room;

/// Where something is declared, and where it is used.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FindCodeLocationOutput {
    /// Declarations: those that are named exactly so first, then source, tests, documents, vendored,
    /// by path. Where nothing is named so, lines of code.
    locations: Vec<CodeLocation>,
    /// How many locations there are, those included that are not returned: at least so many where
    /// `truncated`.
    total_locations: u64,
    /// Where the name is used, by file; only with `findReferences`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    references: Vec<FileUses>,
    /// How many lines have uses, those included that are not returned.
    total_references: u64,
    /// Who knew the locations.
    source: LocationSource,
    /// Who knew the uses: `language_server` those of the declaration, `files` those of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    references_source: Option<LocationSource>,
    /// The language server that was asked, where one is a source.
    #[serde(skip_serializing_if = "Option::is_none")]
    language_server: Option<String>,
    /// Whether something is missing because of a bound; `note` says which.
    truncated: bool,
    /// How many entries were not searched, by reason.
    skipped: SkippedTexts,
    /// What is missing, and how to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Who knew a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum LocationSource {
    /// The files, by their grammars.
    Files,
    /// An attached editor, as far as the first locations go.
    Editor,
    /// A language server of the project; of the locations, as far as the first ones go.
    LanguageServer,
}

/// What is known of language servers beside locations.
#[derive(Debug, Default)]
pub(super) struct ServerWord {
    servers: Vec<String>,
    notes: Vec<String>,
}

/// How much each source of locations contributed.
#[derive(Debug)]
pub(super) struct FoundSources {
    pub(super) locations: LocationSource,
    pub(super) references: Option<LocationSource>,
    pub(super) word: ServerWord,
    /// What was looked for and not found.
    pub(super) missing: Vec<String>,
}

// === impl ServerWord ===

impl ServerWord {
    /// Notes that a server knew something.
    pub(super) fn name(&mut self, server: String) {
        if !self.servers.contains(&server) {
            self.servers.push(server);
        }
    }

    /// Notes why a server was of no use.
    pub(super) fn miss(&mut self, server: &str, why: &str) {
        self.say(format!("without the language server {server}: {why}"));
    }

    pub(super) fn say(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

// === impl FindCodeLocationOutput ===

impl FindCodeLocationOutput {
    pub(super) fn new(mut found: FoundCode, visited: &Visited, sources: FoundSources) -> Self {
        let FoundSources { locations: source, references: references_source, word, missing } =
            sources;
        let ServerWord { servers, notes: said } = word;
        found.locations.append(&mut found.entries);
        found.locations.truncate(LOCATIONS_MAX);
        let lacks_texts = room::fit(&mut found.locations, &mut found.uses);
        let mut notes = notes(&found, visited);
        notes.extend(missing);
        notes.extend(said);
        if lacks_texts {
            notes.push("not all lines and documentation had room: read_file shows them".to_owned());
        }
        let shown_uses = found.shown_uses() as u64;
        let FoundCode { locations, total_locations, uses, total_uses, .. } = found;
        let is_short = (locations.len() as u64) < total_locations || shown_uses < total_uses;
        Self {
            locations,
            total_locations,
            references: uses,
            total_references: total_uses,
            source,
            references_source,
            language_server: (!servers.is_empty()).then(|| servers.join(", ")),
            truncated: is_short || lacks_texts || found.is_cut || visited.truncated,
            skipped: visited.skipped,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        }
    }
}

fn notes(found: &FoundCode, visited: &Visited) -> Vec<String> {
    let mut notes = Vec::new();
    let shown = found.locations.len();
    let least = if found.is_cut || visited.truncated { "at least " } else { "" };
    if found.total_locations > shown as u64 {
        let total = found.total_locations;
        notes.push(format!(
            "{shown} of {least}{total} locations: name what it belongs to (`Type::name`), or give a `path` or a \
             `fileType`"
        ));
    } else if found.is_cut {
        notes.push(
            "the search ended at a bound: for more give the whole name, a `path` or a `fileType`"
                .to_owned(),
        );
    }
    let shown: usize = found.shown_uses();
    if found.total_uses > shown as u64 {
        let total = found.total_uses;
        notes.push(format!("{shown} of {least}{total} uses: give a `path` or a `fileType`"));
    }
    if found.generated > 0 {
        let count = found.generated;
        notes.push(format!(
            "{count} more are in lock files and other data that programs write: grep_search shows them"
        ));
    }
    if visited.truncated {
        let files = visited.files;
        notes.push(format!("the search ended at a bound after {files} files: the rest is unknown"));
    }
    if found.unparsed > 0 {
        let files = found.unparsed;
        notes.push(format!(
            "{files} files are too large, have too long lines, or took too long or too much memory to be parsed: \
             grep_search reads them"
        ));
    }
    if found.incomplete > 0 {
        let files = found.incomplete;
        notes.push(format!(
            "{files} files have more names than are kept of one, or nest too deep: grep_search reads them"
        ));
    }
    if visited.skipped.unapproved > 0 {
        let files = visited.skipped.unapproved;
        notes.push(format!(
            "not searched because a confirmation is needed first: {files}; read_file asks for it"
        ));
    }
    notes
}
