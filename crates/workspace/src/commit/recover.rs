//! After a crash: rolls back every change set that was begun and not finished, makes again what a
//! power cut lost of finished ones, and removes files that lie beside others. Doing it again changes
//! nothing; being killed in its midst only means doing it again.

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
            let Some(spot) = Spot::of_path(workspace, &file.real)? else { continue };
            swap::roll_back(&spot, file, history, workspace)?;
            sync(&spot)?;
        }
        remove_directories(workspace, &intent.directories)?;
        store::remove(&mut history.connection(), intent.number)?;
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
            store::mark_swept(&history.connection(), newest)?;
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

/// Whether it is known that nothing lies beside the file any more: a directory that cannot be looked at just
/// now is looked at the next time.
fn complete(workspace: &Workspace, history: &History, file: &IntentFile) -> Result<bool, Error> {
    let spot = match Spot::of_path(workspace, &file.real) {
        Err(Error::Io { .. }) => return Ok(false),
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
        if let Some(spot) = Spot::of_path(workspace, directory)? {
            spot.remove_directory()?;
        }
    }
    Ok(())
}

fn sync(spot: &Spot) -> Result<(), Error> {
    handle::sync_directory(&spot.parent)
        .map_err(|errno| Error::io(&spot.path, "make durable", errno))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at files from outside")]
mod tests;
