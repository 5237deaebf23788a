//! Resolution by the Linux kernel: `openat2` beneath the root, without magic links and without
//! crossing mounts.
//!
//! The real path is what the kernel calls the descriptor, made relative to what it calls the
//! root's. It is believed only where that name leads, without links, to the same file. Where a path
//! leads there without links itself, it is the real one and nobody is asked.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use moss_sdk::RelPath;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};

use super::{Gap, PathTarget, ResolvedPath};
use crate::error::Error;
use crate::handle;
use crate::root::Workspace;

const HOLD: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
const HOLD_DIRECTORY: OFlags = HOLD.union(OFlags::DIRECTORY);

/// Fails where the system lacks `openat2` or names of descriptors.
pub(super) fn probe(root: &OwnedFd) -> Result<()> {
    rustix::fs::openat2(root, ".", HOLD_DIRECTORY, Mode::empty(), ResolveFlags::BENEATH)?;
    name_of(root).map(drop)
}

/// Follows a path; none where something on the way changed meanwhile.
pub(super) fn find(
    workspace: &Workspace,
    path: &RelPath,
) -> std::result::Result<Option<PathTarget>, Error> {
    if path.is_root() {
        return root(workspace).map(Some);
    }
    if let Some(place) = find_plain(workspace, path) {
        return Ok(Some(PathTarget::Existing(place)));
    }
    let fd = match open(workspace, path.as_str(), HOLD, ResolveFlags::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT) => return gap(workspace, path),
        Err(Errno::AGAIN) => return Ok(None),
        Err(errno) => return Err(explain(workspace, path, errno)),
    };
    let stat = handle::stat(&fd).map_err(|errno| Error::io(path, "look at", errno))?;
    let Some(real) = real_path(workspace, &fd, path)? else { return Ok(None) };
    let Some(real) = workspace.listed_path(real, path)? else { return Ok(None) };
    let (Some(directory), Some(name)) = (real.parent(), real.file_name()) else {
        return root(workspace).map(Some);
    };
    let parent =
        match open(workspace, directory.as_str(), HOLD_DIRECTORY, ResolveFlags::NO_SYMLINKS) {
            Ok(parent) => parent,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::AGAIN) => return Ok(None),
            Err(errno) => return Err(explain(workspace, path, errno)),
        };
    match handle::find_at(&parent, name) {
        Ok(Some(now)) if now.identity == stat.identity => {}
        Ok(_) => return Ok(None),
        Err(errno) => return Err(Error::io(path, "look at", errno)),
    }
    let name = name.to_owned();
    Ok(Some(PathTarget::Existing(ResolvedPath { parent, name, path: real, stat })))
}

/// Follows a path that is its own real path: no link is on it, and no name of it can be another's.
/// None where that is not so, and where anything else is not as usual.
fn find_plain(workspace: &Workspace, path: &RelPath) -> Option<ResolvedPath> {
    if !workspace.has_no_aliases() {
        return None;
    }
    let (directory, name) = (path.parent()?, path.file_name()?);
    let resolve = ResolveFlags::NO_SYMLINKS | beneath(workspace);
    let above = directory.as_str();
    let parent = open(workspace, above, HOLD_DIRECTORY, ResolveFlags::NO_SYMLINKS).ok()?;
    let held = rustix::fs::openat2(&parent, name, HOLD, Mode::empty(), resolve).ok()?;
    let stat = handle::stat(&held).ok()?;
    Some(ResolvedPath { parent, name: name.to_owned(), path: path.clone(), stat })
}

/// Opens a name in a held directory, without links and on the same mount.
pub(crate) fn open_at(
    workspace: &Workspace,
    directory: &OwnedFd,
    name: &str,
    flags: OFlags,
) -> Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | beneath(workspace);
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat2(directory, name, flags, Mode::empty(), resolve)
}

/// Finds the nearest existing directory above a path that does not exist.
fn gap(workspace: &Workspace, path: &RelPath) -> std::result::Result<Option<PathTarget>, Error> {
    let names: Vec<&str> = path.components().collect();
    for depth in (0..names.len()).rev() {
        let above = if depth == 0 { ".".to_owned() } else { names[..depth].join("/") };
        let directory = match open(workspace, &above, HOLD_DIRECTORY, ResolveFlags::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => continue,
            Err(Errno::AGAIN) => return Ok(None),
            Err(errno) => return Err(explain(workspace, path, errno)),
        };
        match handle::find_at(&directory, names[depth]) {
            Ok(None) => {}
            Ok(Some(stat)) if stat.kind == moss_sdk::file::EntryKind::Symlink => {
                return dangling(workspace, path);
            }
            // It has been made since.
            Ok(Some(_)) => return Ok(None),
            Err(Errno::NAMETOOLONG) => return Err(Error::NotFound { path: path.clone() }),
            Err(errno) => return Err(Error::io(path, "look at", errno)),
        }
        let Some(real) = real_path(workspace, &directory, path)? else { return Ok(None) };
        let Some(real) = workspace.listed_path(real, path)? else { return Ok(None) };
        let missing = names[depth..].iter().map(|name| (*name).to_owned()).collect();
        return Ok(Some(PathTarget::Missing(Gap { directory, path: real, missing })));
    }
    Ok(None)
}

/// A link with nothing behind it, unless its target was made since.
fn dangling(
    workspace: &Workspace,
    path: &RelPath,
) -> std::result::Result<Option<PathTarget>, Error> {
    match open(workspace, path.as_str(), HOLD, ResolveFlags::empty()) {
        Err(Errno::NOENT) => Err(Error::Dangling { path: path.to_string() }),
        _ => Ok(None),
    }
}

fn root(workspace: &Workspace) -> std::result::Result<PathTarget, Error> {
    let held = |errno| Error::io(&".", "open", errno);
    let parent = handle::open_at(&workspace.directory, ".", handle::DIRECTORY).map_err(held)?;
    let stat = handle::stat(&parent).map_err(held)?;
    Ok(PathTarget::Existing(ResolvedPath {
        parent,
        name: ".".to_owned(),
        path: RelPath::root(),
        stat,
    }))
}

fn open(workspace: &Workspace, path: &str, flags: OFlags, more: ResolveFlags) -> Result<OwnedFd> {
    let resolve = beneath(workspace) | more;
    rustix::fs::openat2(&workspace.directory, path, flags, Mode::empty(), resolve)
}

pub(crate) fn beneath(workspace: &Workspace) -> ResolveFlags {
    let flags = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if workspace.options.same_filesystem_only { flags | ResolveFlags::NO_XDEV } else { flags }
}

/// Reports the reasons of one error number apart.
fn explain(workspace: &Workspace, path: &RelPath, errno: Errno) -> Error {
    match errno {
        Errno::XDEV => {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            let directory = &workspace.directory;
            match rustix::fs::openat2(directory, path.as_str(), HOLD, Mode::empty(), resolve) {
                Err(Errno::XDEV) => Error::Outside { path: path.to_string() },
                _ => Error::OtherFilesystem { path: path.to_string() },
            }
        }
        Errno::LOOP => Error::LinkLoop { path: path.to_string() },
        Errno::NOTDIR => Error::NotADirectory { path: path.clone() },
        errno => Error::io(path, "open", errno),
    }
}

/// The path of a held file relative to the root; none where it is no longer beneath it.
pub(crate) fn real_path(
    workspace: &Workspace,
    fd: &OwnedFd,
    path: &RelPath,
) -> std::result::Result<Option<RelPath>, Error> {
    let named = |errno| Error::io(path, "name", errno);
    let root = name_of(&workspace.directory).map_err(named)?;
    let name = name_of(fd).map_err(named)?;
    let Ok(rest) = name.strip_prefix(&root) else { return Ok(None) };
    if rest.as_os_str().is_empty() {
        return Ok(Some(RelPath::root()));
    }
    let real = std::str::from_utf8(rest.as_os_str().as_bytes()).ok();
    let real = real.and_then(|text| RelPath::parse(text).ok());
    real.map(Some).ok_or_else(|| Error::Unnameable { path: path.to_string() })
}

fn name_of(fd: impl AsFd) -> Result<PathBuf> {
    let link = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
    let name = rustix::fs::readlink(link, Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsString::from(name.into_string().map_err(|_| Errno::ILSEQ)?)))
}
