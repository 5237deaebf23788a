//! What the manifests of a project say. Each is read at every call, as it is now; what follows from its text is worked
//! out once for each content, as long as the names around it stay the same.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use moss_sdk::context::Context;
use moss_sdk::file::{Content, FileSnapshot};
use moss_sdk::tree_listing::{EntryNumber, TreeNames};
use moss_sdk::{ContentHash, ErrorCode, RelPath, ToolError};

use super::manifests::{ManifestKind, ManifestText, ProjectCommand};
use super::surroundings::{KnownManifests, ManifestPlace, is_file};

/// Most bytes of a manifest that is read.
const MANIFEST_BYTES_MAX: u64 = 256 << 10;

/// Paths of files that programs start in: those higher up first.
pub(super) type EntryPoints = BTreeSet<(usize, RelPath)>;

/// Reads manifests one after the other: those higher up first.
pub(super) struct ManifestReader<'a> {
    cx: &'a Context,
    names: &'a TreeNames,
    known: KnownManifests,
    kept: Arc<KeptReadings>,
}

/// What a manifest says.
#[derive(Debug, Default)]
pub(super) struct ManifestReading {
    pub(super) name: Option<String>,
    pub(super) commands: Vec<ProjectCommand>,
    /// Files that programs start in, as far as they exist.
    pub(super) starts: EntryPoints,
}

/// What manifests said, by their numbers, each with the content that it had where it was read.
#[derive(Debug, Default)]
struct KeptReadings(Mutex<HashMap<EntryNumber, KeptReading>>);

type KeptReading = (Option<ContentHash>, Arc<ManifestReading>);

/// With how many components a path is written comes first.
pub(super) fn placed(path: RelPath) -> (usize, RelPath) {
    (path.components().count(), path)
}

// === impl ManifestReader ===

impl<'a> ManifestReader<'a> {
    /// Begins with the names that all manifests are among.
    pub(super) fn new(cx: &'a Context, names: &'a TreeNames) -> Self {
        let kept = names.derived(|_| KeptReadings::default());
        Self { cx, names, known: KnownManifests::default(), kept }
    }

    /// Reads a manifest of so many bytes, where nobody has to be asked for it, and says what it says.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    pub(super) async fn read(
        &mut self,
        (number, kind): (EntryNumber, ManifestKind),
        size_bytes: Option<u64>,
    ) -> Result<Arc<ManifestReading>, ToolError> {
        let path = self.names.path(number);
        let read = self.text(&path, size_bytes, kind).await?;
        let (hash, text) = read.unzip();
        let around = ManifestPlace::of(self.names, &path, kind, &mut self.known);
        if let Some(known) = self.kept.find(number, hash) {
            return Ok(known);
        }
        let text = text.map(ManifestText::from);
        let name = self.names.name(number);
        let facts = kind.facts(name, text.as_ref().unwrap_or(&ManifestText::default()));
        let reading = Arc::new(ManifestReading {
            name: facts.name,
            commands: kind.commands(name, text.as_ref(), &around),
            starts: named_starts(self.names, &path, kind, &facts.starts),
        });
        self.kept.put(number, hash, &reading);
        Ok(reading)
    }

    async fn text(
        &self,
        path: &RelPath,
        size_bytes: Option<u64>,
        kind: ManifestKind,
    ) -> Result<Option<(ContentHash, String)>, ToolError> {
        let is_small = size_bytes.is_some_and(|size| size <= MANIFEST_BYTES_MAX);
        if !kind.needs_text() || !is_small {
            return Ok(None);
        }
        match self.cx.read_unasked(path).await {
            Ok(Some(FileSnapshot { content: Content::Text(text), hash, .. })) => {
                Ok(Some((hash, text.text)))
            }
            Err(error) if error.code == ErrorCode::Cancelled => Err(error),
            // It may not be read, is no text, or is not what it was any more: it is listed nevertheless.
            Ok(_) | Err(_) => Ok(None),
        }
    }
}

// === impl KeptReadings ===

impl KeptReadings {
    fn find(&self, number: EntryNumber, hash: Option<ContentHash>) -> Option<Arc<ManifestReading>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&number).filter(|(known, _)| *known == hash).map(|(_, reading)| reading.clone())
    }

    fn put(&self, number: EntryNumber, hash: Option<ContentHash>, reading: &Arc<ManifestReading>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(number, (hash, Arc::clone(reading)));
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
    let directory = manifest.parent().unwrap_or_else(RelPath::root);
    let existing = |starts: &[String]| -> EntryPoints {
        let paths = starts.iter().filter_map(|name| RelPath::parse(name).ok());
        let beneath = paths.filter_map(|path| directory.join(path.as_str()).ok());
        beneath.filter(|path| is_file(names, path)).map(placed).collect()
    };
    let starts = existing(named);
    if starts.is_empty() { existing(&kind.customary_starts()) } else { starts }
}
