//! What stands around a manifest, among the entries of a listing.

use std::collections::BTreeSet;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use moss_sdk::tree_listing::TreeNames;

use super::manifests::{ManifestKind, ManifestSurroundings};

/// Directories with manifests, with the kind of each.
pub(super) type KnownManifests = BTreeSet<(RelPath, &'static str)>;

/// What stands around one manifest.
pub(super) struct ManifestPlace<'a> {
    names: &'a TreeNames,
    directory: RelPath,
    is_member: bool,
}

/// Whether a path is that of a file of a listing.
fn is_file(names: &TreeNames, path: &RelPath) -> bool {
    names.find(path).is_some_and(|number| names.kind(number) == EntryKind::File)
}

/// The paths that a manifest names as seen from its directory, those of one kind that there are.
pub(super) fn existing(
    names: &TreeNames,
    manifest: &RelPath,
    named: &[String],
    kind: EntryKind,
) -> impl Iterator<Item = RelPath> {
    let directory = manifest.parent().unwrap_or_else(RelPath::root);
    let paths = named.iter().filter_map(|name| RelPath::parse(name).ok());
    let beneath = paths.filter_map(move |path| directory.join(path.as_str()).ok());
    let is_there = move |path: &RelPath| names.find(path).is_some_and(|at| names.kind(at) == kind);
    beneath.filter(is_there)
}

// === impl ManifestPlace ===

impl<'a> ManifestPlace<'a> {
    /// Looks around a manifest; those higher up come first, then those beside each other in path order.
    pub(super) fn of(
        names: &'a TreeNames,
        manifest: &RelPath,
        kind: ManifestKind,
        known: &mut KnownManifests,
    ) -> Self {
        let directory = manifest.parent().unwrap_or_else(RelPath::root);
        let is_known = |directory: RelPath| known.contains(&(directory, kind.name));
        let is_member = here_and_above(&directory).any(is_known);
        // The modules of a workspace of Go are built each by itself.
        if manifest.file_name() != Some("go.work") {
            known.insert((directory.clone(), kind.name));
        }
        Self { names, directory, is_member }
    }

    fn is_in(&self, directory: &RelPath, name: &str) -> bool {
        directory.join(name).is_ok_and(|path| is_file(self.names, &path))
    }
}

impl ManifestSurroundings for ManifestPlace<'_> {
    fn has(&self, name: &str) -> bool {
        self.is_in(&self.directory, name)
    }

    fn has_here_or_above(&self, name: &str) -> bool {
        here_and_above(&self.directory).any(|directory| self.is_in(&directory, name))
    }

    fn is_member(&self) -> bool {
        self.is_member
    }
}

fn here_and_above(directory: &RelPath) -> impl Iterator<Item = RelPath> + use<> {
    std::iter::successors(Some(directory.clone()), RelPath::parent)
}
