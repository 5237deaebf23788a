//! What is refused before anything is written, for planning and again for committing.

use moss_sdk::file::EntryKind;
use moss_sdk::{ContentHash, RelPath};

use super::PlannedFile;
use crate::error::Error;
use crate::handle::{self, Stat};
use crate::resolve::{Gap, ResolvedPath};
use crate::root::Workspace;

/// Refuses what the owner may not write, whoever asks.
pub(crate) fn check_writable(place: &ResolvedPath) -> Result<(), Error> {
    let parent = handle::stat(&place.parent)
        .map_err(|errno| Error::io(&place.path, "look at the directory of", errno))?;
    check_directory(&place.path.parent().unwrap_or_else(RelPath::root), &parent)?;
    if place.stat.is_writable() {
        return Ok(());
    }
    Err(Error::ReadOnly { path: place.path.clone() })
}

/// Refuses a directory that the owner may not write, whoever asks.
pub(crate) fn check_gap(gap: &Gap) -> Result<(), Error> {
    let stat =
        handle::stat(&gap.directory).map_err(|errno| Error::io(&gap.path, "look at", errno))?;
    check_directory(&gap.path, &stat)
}

fn check_directory(path: &RelPath, stat: &Stat) -> Result<(), Error> {
    if stat.kind != EntryKind::Directory {
        return Err(Error::NotADirectory { path: path.clone() });
    }
    if stat.is_writable() { Ok(()) } else { Err(Error::ReadOnly { path: path.clone() }) }
}

/// Refuses to remove a link's target by the link's name: it would leave the link dangling.
pub(super) fn check_removable(
    workspace: &Workspace,
    path: &RelPath,
    place: &ResolvedPath,
) -> Result<(), Error> {
    check_writable(place)?;
    if let (Some(directory), Some(name)) = (path.parent(), path.file_name()) {
        let held = workspace.existing(&directory)?;
        let held = workspace.open_place(&held, handle::DIRECTORY)?;
        let found = handle::find_at(&held, name)
            .map_err(|errno| Error::io(path, "look at", errno))?
            .ok_or_else(|| Error::NotFound { path: path.clone() })?;
        if found.identity == place.stat.identity {
            return Ok(());
        }
    }
    Err(Error::IsLink { path: path.clone(), target: place.path.clone() })
}

pub(crate) fn check_base(
    path: &RelPath,
    expected: ContentHash,
    found: ContentHash,
) -> Result<(), Error> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) =
        (format!("content {}", expected.short()), format!("content {}", found.short()));
    Err(Error::Changed { path: path.clone(), expected, found })
}

/// Refuses two changes of one file and a file where another change needs a directory.
pub(super) fn check_clashes(files: &[PlannedFile]) -> Result<(), Error> {
    let mut sorted: Vec<&PlannedFile> = files.iter().collect();
    sorted.sort_by(|a, b| a.real.cmp_components(&b.real));
    for pair in sorted.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        let mut names = second.real.components();
        let is_above = first.real.components().all(|name| names.next() == Some(name));
        let reason = match (is_above, names.next().is_some()) {
            (false, _) => continue,
            (true, false) => "both name the same file",
            (true, true) => "the first is a file, the second needs a directory there",
        };
        let (path, other) = (first.path.clone(), second.path.clone());
        return Err(Error::Clash { path, other, reason });
    }
    sorted.retain(|file| file.identity.is_some());
    sorted.sort_by_key(|file| file.identity);
    match sorted.windows(2).find(|pair| pair[0].identity == pair[1].identity) {
        None => Ok(()),
        Some(pair) => Err(Error::Clash {
            path: pair[0].path.clone(),
            other: pair[1].path.clone(),
            reason: "both name the same file",
        }),
    }
}
