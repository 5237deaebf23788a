//! After a crash: rolls back every change set that was begun and not finished, makes again what a
//! power cut lost of finished ones, and removes files that lie beside others. Doing it again changes
//! nothing; being killed in its midst only means doing it again.

use std::collections::BTreeSet;

use moss_sdk::RelPath;
use rustix::io::Errno;

use super::{Spot, swap};
use crate::error::Error;
use crate::handle;
use crate::history::{History, IntentFile, store};
use crate::root::Workspace;

/// What was left of commits that a crash interrupted, and is in order now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovered {
    /// Change sets that were begun and are rolled back.
    pub rolled_back: u64,
    /// Finished change sets that were looked through for files left beside others.
    pub swept: u64,
}

/// Brings a workspace and its history back in step. Called once when they are opened, before
/// anything is changed; waits for other processes that commit at the moment.
///
/// # Errors
///
/// `Busy` where the lock is held for long; `History`; `Io`. What could not be rolled back stays
/// recorded, and the next call tries again.
pub fn recover(workspace: &Workspace, history: &History) -> Result<Recovered, Error> {
    workspace.check_root()?;
    let _alone = history.alone()?;
    resume(workspace, history)
}

/// Does it for a caller that holds the lock while no commit of this process runs.
pub(crate) fn resume(workspace: &Workspace, history: &History) -> Result<Recovered, Error> {
    // Nearly always nothing is, and each change looks.
    if !store::is_anything_left(&history.connection(), workspace.root(), history.settled_up_to())? {
        return Ok(Recovered::default());
    }
    let rolled_back = roll_back(workspace, history)?;
    let swept = sweep(workspace, history)?;
    Ok(Recovered { rolled_back, swept })
}

/// Rolls back what was begun and not finished.
fn roll_back(workspace: &Workspace, history: &History) -> Result<u64, Error> {
    let pending = store::pending(&history.connection(), workspace.root())?;
    for intent in &pending {
        for file in intent.files.iter().rev() {
            let Some(spot) = spot_in_place(workspace, &file.real)? else { continue };
            swap::roll_back(&spot, file, history, workspace)?;
            sync(&spot)?;
        }
        remove_directories(workspace, &intent.directories)?;
        store::remove(&mut history.connection(), intent.number)?;
        history.settle(intent.number);
    }
    if !pending.is_empty() {
        // Another program may write from now on just what an intent would have left: nobody rolls that back.
        history.make_durable()?;
    }
    Ok(pending.len() as u64)
}

/// Completes finished change sets of which something still lies beside the files.
fn sweep(workspace: &Workspace, history: &History) -> Result<u64, Error> {
    let mut swept = 0;
    loop {
        let after = history.settled_up_to();
        let unswept = store::unswept(&history.connection(), workspace.root(), after)?;
        let mut newest = None;
        let mut is_all = !unswept.is_empty();
        for intent in &unswept {
            for file in &intent.files {
                is_all &= complete(workspace, history, file)?;
            }
            if is_all {
                newest = Some(intent.number);
                swept += 1;
            }
        }
        if let Some(newest) = newest {
            note_swept(workspace, history, newest, sync_later)?;
            history.recovered(newest);
        }
        if !is_all {
            let left =
                unswept.iter().find(|intent| newest.is_none_or(|newest| newest < intent.number));
            left.into_iter().for_each(|intent| history.left(intent.number));
            break;
        }
    }
    Ok(swept)
}

/// Removes what is too old from the history, and writes down where recovery may begin, where that is time: what is
/// held up goes then.
pub(super) fn make_room(
    workspace: &Workspace,
    history: &History,
    newest: u64,
) -> Result<(), Error> {
    history.prune(newest)?;
    let Some(settled) = history.sweep_due(newest)? else { return Ok(()) };
    note_swept(workspace, history, settled, sync_later)?;
    history.prune(newest)
}

/// Writes down that nothing lies beside the files of entries up to this one, as far as that is durable: a power cut
/// brings back what was removed and not synced, and nobody looks there again.
fn note_swept(
    workspace: &Workspace,
    history: &History,
    up_to: u64,
    sync: impl Fn(&Spot) -> Result<(), Error>,
) -> Result<(), Error> {
    let files = store::files_since_swept(&history.connection(), workspace.root(), up_to)?;
    let mut synced = BTreeSet::new();
    let mut swept = up_to;
    for (number, real) in &files {
        if !synced.insert(real.parent()) {
            continue;
        }
        // None where the directory is gone, with all that lay in it.
        let spot = spot_in_place(workspace, real);
        if spot.and_then(|spot| spot.as_ref().map_or(Ok(()), &sync)).is_err() {
            swept = number.saturating_sub(1);
            break;
        }
    }
    store::mark_swept(&history.connection(), swept)
}

/// Whether it is known that nothing lies beside the file any more: a directory that cannot be looked at just
/// now is looked at the next time.
fn complete(workspace: &Workspace, history: &History, file: &IntentFile) -> Result<bool, Error> {
    let spot = match spot_in_place(workspace, &file.real) {
        // A mount covers what lies there until it is gone.
        Err(Error::Io { .. } | Error::OtherFilesystem { .. }) => return Ok(false),
        spot => spot?,
    };
    let Some(spot) = spot else { return Ok(true) };
    match handle::find_at(&spot.parent, &file.temp) {
        Ok(None) | Err(Errno::NOTDIR) => return Ok(true),
        Ok(Some(_)) => {}
        Err(_) => return Ok(false),
    }
    swap::complete(&spot, file, history, workspace)?;
    sync(&spot)?;
    Ok(true)
}

/// Removes directories that change sets made, the deepest first, where they are empty.
pub(super) fn remove_directories(
    workspace: &Workspace,
    directories: &[RelPath],
) -> Result<(), Error> {
    for directory in directories.iter().rev() {
        if let Some(spot) = spot_in_place(workspace, directory)? {
            spot.remove_directory()?;
        }
    }
    Ok(())
}

/// The spot of a file whose directory is in place; none where it is gone, or where a link took its place,
/// wherever that leads: whoever made it does not keep moss from all else.
fn spot_in_place(workspace: &Workspace, path: &RelPath) -> Result<Option<Spot>, Error> {
    match Spot::of_path(workspace, path) {
        Err(Error::Outside { .. } | Error::LinkLoop { .. } | Error::Unnameable { .. }) => Ok(None),
        spot => spot,
    }
}

fn sync(spot: &Spot) -> Result<(), Error> {
    handle::sync_directory(&spot.parent)
        .map_err(|errno| Error::io(&spot.path, "make durable", errno))
}

fn sync_later(spot: &Spot) -> Result<(), Error> {
    handle::sync_directory_later(&spot.parent)
        .map_err(|errno| Error::io(&spot.path, "make durable", errno))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at files from outside")]
mod tests;
