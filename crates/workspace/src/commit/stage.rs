//! Before the exchange: holding a file as the plan saw it, and writing its new version beside it.

use std::os::fd::{AsFd, OwnedFd};

use moss_sdk::file::EntryKind;
use moss_sdk::{ContentHash, RelPath};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{Spot, metadata};
use crate::changes::{FileAction, PlannedFile, check_base, check_gap, check_writable};
use crate::error::{Error, kind_name};
use crate::handle::{self, CancelCheck, Identity, Patience};
use crate::resolve::{Gap, PathTarget, ResolvedPath};
use crate::root::Workspace;

/// Holds the directory of a file and checks that the file is what the plan saw. Returns the
/// directories that are missing above it.
///
/// The path is followed once for each attempt: the location that is compared with the plan is the
/// place that is read and written.
pub(super) fn hold(
    workspace: &Workspace,
    planned: &PlannedFile,
    stop: CancelCheck<'_>,
) -> Result<(Spot, Vec<RelPath>), Error> {
    let path = &planned.path;
    workspace.retry(path, || match (workspace.find(path)?, planned.action) {
        (PathTarget::Missing(gap), FileAction::Create) => hold_gap(planned, gap),
        (PathTarget::Existing(_), FileAction::Create) => Err(Error::Exists { path: path.clone() }),
        (PathTarget::Missing(_), _) => {
            Err(changed(path, content_name(planned.before), "nothing there"))
        }
        (PathTarget::Existing(place), _) if place.path != planned.real => {
            Err(changed(path, way_name(path, &planned.real), way_name(path, &place.path)))
        }
        (PathTarget::Existing(place), _) => {
            check_place(workspace, planned, &place, stop)?;
            Ok((Spot::of_place(place), Vec::new()))
        }
    })
}

fn hold_gap(planned: &PlannedFile, gap: Gap) -> Result<(Spot, Vec<RelPath>), Error> {
    check_gap(&gap)?;
    let real = gap.real()?;
    if real != planned.real {
        let expected = format!("to make it at {}", planned.real);
        return Err(changed(&planned.path, expected, format!("that it leads to {real}")));
    }
    let names = gap.missing.len() - 1;
    let mut directories: Vec<RelPath> =
        std::iter::successors(planned.real.parent(), RelPath::parent).take(names).collect();
    directories.reverse();
    Ok((Spot::of_gap(gap)?, directories))
}

/// Fails where the file at the planned place is not what the plan saw.
fn check_place(
    workspace: &Workspace,
    planned: &PlannedFile,
    place: &ResolvedPath,
    stop: CancelCheck<'_>,
) -> Result<(), Error> {
    let path = &planned.path;
    if place.stat.kind != EntryKind::File {
        return Err(changed(path, "a file", kind_name(place.stat.kind)));
    }
    let fd = workspace.open_place(place, handle::READ)?;
    let stat = handle::stat(&fd).map_err(|errno| Error::io(path, "look at", errno))?;
    check_writable(place)?;
    if planned.action == FileAction::Modify && stat.names > 1 {
        return Err(Error::HardLinked { path: path.clone(), names: stat.names });
    }
    let bytes_max = workspace.limits().read_bytes_max;
    let (hash, _) = handle::hash_to(&fd, bytes_max, stat.size_bytes, (Patience::Wait, stop))
        .map_err(|errno| workspace.unread(path, errno))?;
    if let Some(before) = planned.before {
        check_base(path, before, hash)?;
    }
    if planned.action == FileAction::Modify && Some(stat.mode & 0o1777) != planned.mode_before {
        let expected = format!("mode {:o}", planned.mode_before.unwrap_or_default());
        return Err(changed(path, expected, format!("mode {:o}", stat.mode & 0o1777)));
    }
    Ok(())
}

fn changed(path: &RelPath, expected: impl Into<String>, found: impl Into<String>) -> Error {
    Error::Changed { path: path.clone(), expected: expected.into(), found: found.into() }
}

/// How a path leads to a real one.
fn way_name(path: &RelPath, real: &RelPath) -> String {
    if path == real { "no link on the way".to_owned() } else { format!("a link to {real}") }
}

/// What a file was planned to hold.
pub(super) fn content_name(before: Option<ContentHash>) -> String {
    before.map_or_else(|| "nothing there".to_owned(), |hash| format!("content {}", hash.short()))
}

/// Writes the new version of a file beside it, durably. Nothing for a deletion.
pub(super) fn write(
    spot: &Spot,
    planned: &PlannedFile,
    temp: &str,
) -> Result<Option<Identity>, Error> {
    let Some(new) = &planned.new else { return Ok(None) };
    let failed = |errno| Error::io(&planned.path, "write", errno);
    // A new file gets the mode that any program's would; anything else is private until its mode
    // is set.
    let mode = if planned.mode.is_none() { 0o666 } else { 0o600 };
    let fd = create(spot, temp, mode).map_err(failed)?;
    write_all(&fd, new).map_err(failed)?;
    if planned.action == FileAction::Modify {
        let old = handle::open_at(&spot.parent, &spot.name, handle::READ).map_err(failed)?;
        metadata::carry_over(&planned.path, &old, &fd)?;
    }
    if let Some(mode) = planned.mode {
        // After the owner: changing that clears bits.
        rustix::fs::fchmod(&fd, Mode::from_raw_mode(raw(mode))).map_err(failed)?;
    }
    handle::sync(fd.as_fd()).map_err(failed)?;
    Ok(Some(handle::stat(&fd).map_err(failed)?.identity))
}

/// Writes an old content beside a file, durably, with all else as the file has it now.
pub(super) fn restore(
    spot: &Spot,
    temp: &str,
    bytes: &[u8],
    present: &OwnedFd,
    mode: u32,
) -> Result<(), Error> {
    let failed = |errno| Error::io(&spot.path, "write", errno);
    let fd = create(spot, temp, 0o600).map_err(failed)?;
    write_all(&fd, bytes).map_err(failed)?;
    metadata::carry_over(&spot.path, present, &fd)?;
    rustix::fs::fchmod(&fd, Mode::from_raw_mode(raw(mode))).map_err(failed)?;
    handle::sync(fd.as_fd()).map_err(failed)
}

/// Makes a file that was not there before.
fn create(spot: &Spot, name: &str, mode: u32) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&spot.parent, name, flags, Mode::from_raw_mode(raw(mode)))
}

fn write_all(fd: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(0) => return Err(Errno::IO),
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Whether a name holds a regular file, and which.
pub(super) fn regular(spot: &Spot, name: &str) -> Result<Option<Identity>, Errno> {
    let found = handle::find_at(&spot.parent, name)?;
    Ok(found.filter(|stat| stat.kind == EntryKind::File).map(|stat| stat.identity))
}

#[allow(clippy::unnecessary_cast, reason = "modes have other widths on other systems")]
fn raw(mode: u32) -> rustix::fs::RawMode {
    mode as rustix::fs::RawMode
}
