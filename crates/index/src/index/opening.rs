//! Opening an index: what its files say, as far as they are whole.

use std::any::Any;
use std::sync::Arc;

use crate::core::IndexCore;
use crate::manifest::{IndexManifest, newer};
use crate::numbers::{NumberedDocument, SegmentNumbers};
use crate::problem::IndexProblem;
use crate::segment::{IndexSegment, SegmentName};
use crate::store::IndexStore;
use crate::table::{DocumentLocation, SegmentLocation};

/// What makes the directory ours.
type DirectoryLock = Box<dyn Any + Send + Sync>;

/// Reads the files of a directory; an index that is off where it cannot be used.
pub(super) fn open(store: &dyn IndexStore) -> (IndexCore, Option<DirectoryLock>) {
    let opened = store.lock().map_err(IndexProblem::from);
    match opened.and_then(|lock| Ok((load(store)?, lock))) {
        Ok((core, lock)) => (core, Some(lock)),
        Err(problem) => {
            let mut core = IndexCore::empty(0);
            core.off = Some(problem);
            (core, None)
        }
    }
}

fn load(store: &dyn IndexStore) -> Result<IndexCore, IndexProblem> {
    let problem = newer(&store.names()?);
    let (manifest, damaged) = match IndexManifest::load(store) {
        Ok(manifest) => (manifest, None),
        Err(damaged) => (IndexManifest::default(), Some(damaged)),
    };
    remove_outlived(store, &manifest, false)?;
    let mut core = IndexCore::empty(manifest.next);
    core.problem = damaged.clone().or(problem);
    for name in &manifest.segments {
        if let Err(problem) = load_segment(store, &mut core, *name) {
            core.problem = Some(problem);
        }
    }
    if damaged.is_some() || core.segments.len() < manifest.segments.len() {
        let manifest = core.manifest();
        manifest.save(store)?;
        remove_outlived(store, &manifest, false)?;
    }
    Ok(core)
}

fn load_segment(
    store: &dyn IndexStore,
    core: &mut IndexCore,
    name: SegmentName,
) -> Result<(), IndexProblem> {
    let segment = open_segment(store, name)?;
    let documents = segment.read_documents()?;
    let mut numbers = SegmentNumbers::default();
    for document in &documents {
        numbers.push(core.adopt(&document.path), document.numbers);
    }
    let numbered: Vec<_> = numbers.documents().collect();
    core.add_segment(Arc::new(segment), numbers);
    for (NumberedDocument { slot, first, .. }, document) in numbered.into_iter().zip(documents) {
        let location = SegmentLocation { segment: name.number, number: first };
        core.put(slot, DocumentLocation::Segment(location), Some(document.indexed));
    }
    Ok(())
}

pub(super) fn open_segment(
    store: &dyn IndexStore,
    name: SegmentName,
) -> Result<IndexSegment, IndexProblem> {
    let damaged = |what| IndexProblem::damaged(&name.file(), what);
    let reader = store.reader(&name.file()).map_err(|_| damaged("a file that cannot be opened"))?;
    IndexSegment::open(name, reader.ok_or_else(|| damaged("no file"))?)
}

/// Removes what an index is not made of any more, its manifest too where that is wanted.
pub(super) fn remove_outlived(
    store: &dyn IndexStore,
    manifest: &IndexManifest,
    with_manifest: bool,
) -> Result<(), IndexProblem> {
    for file in store.names()? {
        if manifest.has_outlived(&file) || with_manifest && IndexManifest::is_called(&file) {
            store.remove(&file)?;
        }
    }
    Ok(())
}
