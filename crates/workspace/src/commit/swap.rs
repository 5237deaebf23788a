//! The exchange of a file's versions, and rolling it back, without losing anybody's bytes.
//!
//! A version is put in by an exchange with the file beside it, and what came out is looked at: if
//! it is not what the plan saw, another program was faster, and its version goes back in. The same
//! steps serve a commit that fails and the recovery after a crash: what to do follows from what
//! lies there.

use moss_sdk::ContentHash;
use moss_sdk::file::EntryKind;
use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::Errno;

use super::{Spot, stage, unlink};
use crate::changes::FileAction;
use crate::error::{Error, kind_name};
use crate::handle::{self, Identity, Patience};
use crate::history::{History, IntentFile, store};
use crate::options::{Bound, KEPT_OF_OTHERS};
use crate::root::Workspace;

/// How often versions swap with those of a program that saves at the same time.
const ROUNDS_MAX: usize = 64;

/// What lies under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Occupant {
    identity: Identity,
    kind: EntryKind,
    /// None for what is not a regular file, or is too large to be ours.
    hash: Option<ContentHash>,
}

/// Puts the new version in. Returns whether that was one atomic exchange.
pub(super) fn put_in(
    spot: &Spot,
    file: &IntentFile,
    staged: Option<Identity>,
    history: &History,
    workspace: &Workspace,
) -> Result<bool, Error> {
    match (file.action, staged) {
        (FileAction::Create, _) => create(spot, file).map(|()| true),
        (FileAction::Delete, _) => delete(spot, file, history, workspace).map(|()| true),
        (FileAction::Modify, Some(staged)) => modify(spot, file, staged, history, workspace),
        (FileAction::Modify, None) => Err(changed(spot, file, None)),
    }
}

/// Fails where the version that came out was written to since.
pub(super) fn check_displaced(
    spot: &Spot,
    file: &IntentFile,
    workspace: &Workspace,
) -> Result<(), Error> {
    match look(spot, &file.temp, workspace)? {
        Some(seen) if seen.hash != file.before => Err(changed(spot, file, Some(seen))),
        _ => Ok(()),
    }
}

/// Rolls one file back to what it was before, as far as it holds what the commit put there. A
/// version that another program put there stays.
pub(crate) fn roll_back(
    spot: &Spot,
    file: &IntentFile,
    history: &History,
    workspace: &Workspace,
) -> Result<(), Error> {
    let restored = old_content_name(file);
    let failed = |errno| Error::io(&spot.path, "look at", errno);
    if stage::regular(spot, &restored).map_err(failed)?.is_some() {
        // An earlier rollback was cut off while it wrote the old content.
        unlink(spot, &restored)?;
    }
    let present = look(spot, &spot.name, workspace)?;
    let beside = look(spot, &file.temp, workspace)?;
    let is_ours = present.is_some_and(|seen| seen.hash.is_some() && seen.hash == file.after);
    match (file.action, beside) {
        (FileAction::Modify, Some(beside)) if is_ours => {
            if is_unfinished(spot, file, beside, history)? {
                return unlink(spot, &file.temp);
            }
            let ours = present.map(|seen| seen.identity);
            give_back(spot, file, ours, beside.identity, history, workspace)
        }
        (FileAction::Modify, None) if is_ours => write_back(spot, file, history, workspace),
        (FileAction::Create, None) if is_ours => withdraw(spot, file, history, workspace),
        // Linked in and not yet unlinked beside: one file with two names.
        (FileAction::Create, Some(_)) if is_ours && beside == present => {
            unlink(spot, &file.temp)?;
            withdraw(spot, file, history, workspace)
        }
        (FileAction::Delete, Some(_)) if present.is_none() => {
            match rename_new(spot, &file.temp, &spot.name) {
                Ok(()) => Ok(()),
                Err(Errno::EXIST) => discard(spot, file, history, workspace),
                Err(errno) => Err(Error::io(&spot.path, "bring back", errno)),
            }
        }
        (FileAction::Delete, Some(beside)) if beside.hash == file.before => {
            // Another program has made a file there since: what was to be deleted has no other place.
            if file.before.map(|hash| history.content(&hash)).transpose()?.flatten().is_some() {
                keep(spot, &file.temp, history, workspace)?;
            }
            unlink(spot, &file.temp)
        }
        (_, Some(_)) => discard(spot, file, history, workspace),
        (_, None) => Ok(()),
    }
}

/// Removes the version beside a file. Bytes that are neither of the two versions belong to another
/// program: they are kept in the history first.
pub(crate) fn discard(
    spot: &Spot,
    file: &IntentFile,
    history: &History,
    workspace: &Workspace,
) -> Result<(), Error> {
    let Some(beside) = look(spot, &file.temp, workspace)? else { return Ok(()) };
    // A version that does not exist has no hash either.
    let is_known =
        beside.hash.is_some() && (beside.hash == file.before || beside.hash == file.after);
    if !is_known && !is_unfinished(spot, file, beside, history)? {
        keep(spot, &file.temp, history, workspace)?;
    }
    unlink(spot, &file.temp)
}

/// Makes what a committed change did again where a power cut lost it: the new version still lies
/// beside the file, durable since before its exchange. Then removes what lies beside.
pub(crate) fn complete(
    spot: &Spot,
    file: &IntentFile,
    history: &History,
    workspace: &Workspace,
) -> Result<(), Error> {
    let beside = look(spot, &file.temp, workspace)?;
    let is_ours = beside.is_some_and(|seen| seen.hash.is_some() && seen.hash == file.after);
    let present = look(spot, &spot.name, workspace)?;
    match (file.action, present, beside) {
        (FileAction::Create, None, _) if is_ours => create(spot, file)?,
        (FileAction::Modify, Some(present), Some(ours))
            if is_ours && present.hash.is_some() && present.hash == file.before =>
        {
            modify(spot, file, ours.identity, history, workspace)?;
        }
        _ => {}
    }
    discard(spot, file, history, workspace)
}

fn create(spot: &Spot, file: &IntentFile) -> Result<(), Error> {
    rename_new(spot, &file.temp, &spot.name).map_err(|errno| match errno {
        Errno::EXIST => Error::Exists { path: spot.path.clone() },
        errno => Error::io(&spot.path, "create", errno),
    })
}

fn modify(
    spot: &Spot,
    file: &IntentFile,
    staged: Identity,
    history: &History,
    workspace: &Workspace,
) -> Result<bool, Error> {
    match exchange(spot, &file.temp) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Err(changed(spot, file, None)),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            return replace(spot, file, workspace).map(|()| false);
        }
        Err(errno) => return Err(Error::io(&spot.path, "replace", errno)),
    }
    let out = look(spot, &file.temp, workspace)?;
    if out.is_some_and(|out| out.hash.is_some() && out.hash == file.before) {
        return Ok(true);
    }
    if let Some(out) = out {
        give_back(spot, file, Some(staged), out.identity, history, workspace)?;
    }
    Err(changed(spot, file, out))
}

/// Replaces where the file system has no exchange: looks once more, then renames.
fn replace(spot: &Spot, file: &IntentFile, workspace: &Workspace) -> Result<(), Error> {
    let present = look(spot, &spot.name, workspace)?;
    let hash = present.and_then(|seen| seen.hash);
    if hash.is_none() || hash != file.before {
        return Err(changed(spot, file, present));
    }
    rustix::fs::renameat(&spot.parent, &file.temp, &spot.parent, &spot.name)
        .map_err(|errno| Error::io(&spot.path, "replace", errno))
}

fn delete(
    spot: &Spot,
    file: &IntentFile,
    history: &History,
    workspace: &Workspace,
) -> Result<(), Error> {
    match rename_new(spot, &spot.name, &file.temp) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Err(changed(spot, file, None)),
        Err(errno) => return Err(Error::io(&spot.path, "delete", errno)),
    }
    let out = look(spot, &file.temp, workspace)?;
    if out.is_some_and(|out| out.hash.is_some() && out.hash == file.before) {
        return Ok(());
    }
    match rename_new(spot, &file.temp, &spot.name) {
        Ok(()) => {}
        Err(Errno::EXIST) => discard(spot, file, history, workspace)?,
        Err(errno) => return Err(Error::io(&spot.path, "bring back", errno)),
    }
    Err(changed(spot, file, out))
}

/// Exchanges until the newest version of another program is in and ours is out. What comes out
/// each time must be what was put in the time before, or else somebody saved in between.
fn give_back(
    spot: &Spot,
    file: &IntentFile,
    ours: Option<Identity>,
    beside: Identity,
    history: &History,
    workspace: &Workspace,
) -> Result<(), Error> {
    let (mut expected, mut put_in) = (ours, beside);
    for _ in 0..ROUNDS_MAX {
        match exchange(spot, &file.temp) {
            Ok(()) => {}
            // Somebody removed ours: what lies beside goes back under its name.
            Err(Errno::NOENT) => match rename_new(spot, &file.temp, &spot.name) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => continue,
                Err(errno) => return Err(Error::io(&spot.path, "give back", errno)),
            },
            Err(errno) => return Err(Error::io(&spot.path, "give back", errno)),
        }
        let Some(out) = look(spot, &file.temp, workspace)? else { return Ok(()) };
        let is_whole = Some(out.identity) != ours || out.hash == file.after;
        if Some(out.identity) == expected && is_whole {
            break;
        }
        (expected, put_in) = (Some(put_in), out.identity);
    }
    discard(spot, file, history, workspace)
}

/// Removes a file that the commit made, unless another program has written to it.
fn withdraw(
    spot: &Spot,
    file: &IntentFile,
    history: &History,
    workspace: &Workspace,
) -> Result<(), Error> {
    let failed = |errno| Error::io(&spot.path, "withdraw", errno);
    match rename_new(spot, &spot.name, &file.temp) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(failed(errno)),
    }
    if look(spot, &file.temp, workspace)?.is_some_and(|seen| seen.hash == file.after) {
        return unlink(spot, &file.temp);
    }
    match rename_new(spot, &file.temp, &spot.name) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => discard(spot, file, history, workspace),
        Err(errno) => Err(failed(errno)),
    }
}

/// The name under which the old content is written before it is brought back. It is not that of the new version:
/// what lies there can be determined only as long as no other content is written there.
fn old_content_name(file: &IntentFile) -> String {
    format!("{}-old.tmp", file.temp.strip_suffix(".tmp").unwrap_or(&file.temp))
}

/// Brings the old content back from the history, where it was replaced without an exchange.
fn write_back(
    spot: &Spot,
    file: &IntentFile,
    history: &History,
    workspace: &Workspace,
) -> Result<(), Error> {
    let failed = |errno| Error::io(&spot.path, "bring back", errno);
    let held = file.before.map(|hash| history.content(&hash)).transpose()?.flatten();
    let Some(bytes) = held else {
        return Err(Error::Forgotten { path: spot.path.clone(), number: None });
    };
    let present = handle::open_at(&spot.parent, &spot.name, handle::READ).map_err(failed)?;
    let mode = handle::stat(&present).map_err(failed)?.mode;
    let restored = old_content_name(file);
    stage::restore(spot, &restored, &bytes, &present, mode)?;
    let seen = look(spot, &spot.name, workspace)?.and_then(|seen| seen.hash);
    if seen != file.after {
        return unlink(spot, &restored);
    }
    rustix::fs::renameat(&spot.parent, &restored, &spot.parent, &spot.name).map_err(failed)
}

/// Whether what lies beside is our new version, cut off while it was written.
fn is_unfinished(
    spot: &Spot,
    file: &IntentFile,
    beside: Occupant,
    history: &History,
) -> Result<bool, Error> {
    if beside.hash.is_none() || beside.hash == file.before {
        return Ok(false);
    }
    let Some(new) = file.after.map(|hash| history.content(&hash)).transpose()?.flatten() else {
        return Ok(false);
    };
    let failed = |errno| Error::io(&spot.path, "read the temporary file of", errno);
    let fd = handle::open_at(&spot.parent, &file.temp, handle::READ).map_err(failed)?;
    let bytes = handle::read_to(&fd, new.len() as u64, Patience::Wait).map_err(failed)?;
    Ok(new.starts_with(&bytes))
}

fn keep(spot: &Spot, name: &str, history: &History, workspace: &Workspace) -> Result<(), Error> {
    if stage::regular(spot, name)
        .map_err(|errno| Error::io(&spot.path, "look at", errno))?
        .is_none()
    {
        return Ok(());
    }
    let failed = |errno| Error::io(&spot.path, "keep", errno);
    let bytes_max = workspace.limits().change_bytes_max;
    let bound = Bound { bytes_max, setting: KEPT_OF_OTHERS };
    let fd = handle::open_at(&spot.parent, name, handle::READ).map_err(failed)?;
    let beside = spot.path.parent().and_then(|directory| directory.join(name).ok());
    let check = |size_bytes| {
        crate::read::check_size(beside.as_ref().unwrap_or(&spot.path), size_bytes, bound)
    };
    // Each change tries it again: what is too large is not read.
    check(handle::stat(&fd).map_err(failed)?.size_bytes)?;
    let bytes = handle::read_to(&fd, bytes_max, Patience::Wait).map_err(failed)?;
    check(bytes.len() as u64)?;
    let hash = handle::hash(&bytes);
    store::keep(&mut history.connection(), &spot.path, &hash, &bytes)?;
    // The bytes are removed from beside the file next.
    history.make_durable()
}

fn look(spot: &Spot, name: &str, workspace: &Workspace) -> Result<Option<Occupant>, Error> {
    let failed = |errno| Error::io(&spot.path, "look at", errno);
    let Some(stat) = handle::find_at(&spot.parent, name).map_err(failed)? else {
        return Ok(None);
    };
    let (identity, kind) = (stat.identity, stat.kind);
    if kind != EntryKind::File {
        return Ok(Some(Occupant { identity, kind, hash: None }));
    }
    let fd = match handle::open_at(&spot.parent, name, handle::READ) {
        Ok(fd) => fd,
        Err(Errno::NOENT) => return Ok(None),
        // Replaced by a link since.
        Err(Errno::LOOP) => {
            return Ok(Some(Occupant { identity, kind: EntryKind::Symlink, hash: None }));
        }
        Err(errno) => return Err(failed(errno)),
    };
    let bytes_max = workspace.limits().read_bytes_max;
    let (hash, size_bytes) =
        handle::hash_to(&fd, bytes_max, stat.size_bytes, handle::TO_THE_END).map_err(failed)?;
    let identity = handle::stat(&fd).map_err(failed)?.identity;
    Ok(Some(Occupant { identity, kind, hash: (size_bytes <= bytes_max).then_some(hash) }))
}

fn exchange(spot: &Spot, temp: &str) -> Result<(), Errno> {
    let flags = RenameFlags::EXCHANGE;
    rustix::fs::renameat_with(&spot.parent, temp, &spot.parent, &spot.name, flags)
}

/// Renames where the new name is free; by a link and an unlink where the file system has no such
/// rename.
fn rename_new(spot: &Spot, from: &str, to: &str) -> Result<(), Errno> {
    let flags = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(&spot.parent, from, &spot.parent, to, flags) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        outcome => return outcome,
    }
    rustix::fs::linkat(&spot.parent, from, &spot.parent, to, AtFlags::empty())?;
    rustix::fs::unlinkat(&spot.parent, from, AtFlags::empty())
}

fn changed(spot: &Spot, file: &IntentFile, found: Option<Occupant>) -> Error {
    let expected = stage::content_name(file.before);
    let found = match found {
        None => "nothing there".to_owned(),
        Some(Occupant { hash: Some(hash), .. }) => format!("content {}", hash.short()),
        Some(Occupant { kind: EntryKind::File, .. }) => "a much larger file".to_owned(),
        Some(Occupant { kind, .. }) => kind_name(kind).to_owned(),
    };
    Error::Changed { path: spot.path.clone(), expected, found }
}
