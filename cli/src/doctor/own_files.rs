//! moss's own directories and credentials: there, ours, closed to others.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use moss_daemon::caller::tokens::Tokens;
use moss_dispatch::Role;
use moss_journal::audit::{self, Verification};
use moss_workspace::{Error, HISTORY_FILE, History, dirs::Dirs, own::OwnDir};
use rustix::fs::Access;

use super::{Check, CheckStatus, writing};

/// Permissions that nobody but the owner should have.
const OTHERS: u32 = 0o077;

pub(super) fn check(dirs: &Dirs, root: &Path) -> Vec<Check> {
    let token = |role: Role| dirs.state.join(format!("{}.token", role.as_str()));
    vec![
        directory("configuration directory", &dirs.config, 0o022),
        written("state directory", &dirs.state),
        written("workspace state", &dirs.workspace_state(root)),
        written("socket directory", &dirs.runtime),
        credential("caller credential", &token(Role::Caller)),
        credential("approver credential", &token(Role::Approver)),
        named_tokens(&dirs.state),
        history(&dirs.workspace_state(root)),
        journal(&dirs.workspace_state(root)),
    ]
}

/// What changes are undone from: read as a whole, beside a daemon that writes it.
fn history(state: &Path) -> Check {
    const NAME: &str = "history";
    let file = state.join(HISTORY_FILE);
    let shown = file.display();
    match file.symlink_metadata() {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Check::fail(NAME, format!("{shown} is not a file"), "move it away"),
        Err(_) => return Check::ok(NAME, format!("{shown} does not exist yet")),
    }
    match History::examine(state) {
        Ok(entries) => Check::ok(NAME, format!("{entries} changes in {shown}")),
        Err(error @ Error::Busy { .. }) => Check::warn(NAME, error.to_string(), "try again"),
        Err(error) => {
            Check::fail(NAME, format!("{shown}: {error}"), error.hint().unwrap_or("look at it"))
        }
    }
}

/// The audit journal, with the chain of its records.
fn journal(state: &Path) -> Check {
    const NAME: &str = "audit journal";
    const AWAY: &str = "move `audit.db` of the workspace's state away with the files next to it that start with its name, then \
                        restart the daemon: a new one is made";
    match audit::verify(state) {
        Ok(Verification { broken_at: Some(row), .. }) => {
            let detail = format!("record {row} is missing or not what was written");
            Check::fail(NAME, detail, "`moss audit verify` shows how much is in order")
        }
        Ok(verified) => Check::ok(NAME, format!("{} records in order", verified.rows)),
        Err(error) => Check::fail(NAME, error.to_string(), AWAY),
    }
}

fn named_tokens(state: &Path) -> Check {
    const NAME: &str = "named tokens";
    let listed = match OwnDir::open(state) {
        Ok(directory) => Tokens::open(directory).list(),
        // The check of the directory says what is wrong with it.
        Err(_) => Ok(Vec::new()),
    };
    match listed {
        Ok(tokens) => Check::ok(NAME, format!("{} (`moss token list`)", tokens.len())),
        Err(error) => Check::fail(NAME, error.to_string(), "repair or remove the file"),
    }
}

/// A directory of ours that must be writable.
fn written(name: &'static str, path: &Path) -> Check {
    let looked = directory(name, path, OTHERS);
    match looked.state {
        CheckStatus::Ok => writing::check(name, path),
        CheckStatus::Warn | CheckStatus::Fail => looked,
    }
}

/// A directory that others must not have certain permissions on. A missing one is made when it is
/// needed.
fn directory(name: &'static str, path: &Path, refused: u32) -> Check {
    let shown = path.display();
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Check::ok(name, format!("{shown} does not exist yet"));
        }
        Err(error) => return Check::fail(name, format!("{shown}: {error}"), "look at it"),
    };
    if !metadata.is_dir() {
        return Check::fail(name, format!("{shown} is not a directory"), "move it away");
    }
    if let Some(foreign) = owner(name, path, &metadata) {
        return foreign;
    }
    if metadata.mode() & refused != 0 {
        let detail =
            format!("{shown} is accessible to other users (mode {:o})", metadata.mode() & 0o7777);
        return Check::warn(name, detail, format!("chmod 700 {shown}"));
    }
    if let Err(errno) = rustix::fs::access(path, Access::WRITE_OK | Access::EXEC_OK) {
        let detail = format!("{shown} cannot be written: {errno}");
        return Check::fail(name, detail, format!("chmod 700 {shown}"));
    }
    Check::ok(name, shown.to_string())
}

fn credential(name: &'static str, path: &Path) -> Check {
    let shown = path.display();
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Check::ok(name, format!("{shown} does not exist yet"));
        }
        Err(error) => return Check::fail(name, format!("{shown}: {error}"), "look at it"),
    };
    if !metadata.is_file() || metadata.len() == 0 {
        let hint = "remove it: a new one is created";
        return Check::fail(name, format!("{shown} is not a credential"), hint);
    }
    if let Some(foreign) = owner(name, path, &metadata) {
        return foreign;
    }
    if metadata.mode() & OTHERS != 0 {
        let detail =
            format!("{shown} is accessible to other users (mode {:o})", metadata.mode() & 0o7777);
        let hint = format!("remove {shown} and restart the daemon: others may have read it");
        return Check::fail(name, detail, hint);
    }
    Check::ok(name, shown.to_string())
}

fn owner(name: &'static str, path: &Path, metadata: &std::fs::Metadata) -> Option<Check> {
    let us = rustix::process::geteuid().as_raw();
    (metadata.uid() != us).then(|| {
        let detail = format!("{} belongs to user {}, not {us}", path.display(), metadata.uid());
        Check::fail(name, detail, "let its owner remove it")
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn open_and_broken_files_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let chmod = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let directory = |path: &Path| directory("d", path, OTHERS).state;
        let token = dir.path().join("caller.token");
        let credential = || credential("c", &token).state;
        assert_eq!(directory(&dir.path().join("missing")), CheckStatus::Ok);
        assert_eq!(credential(), CheckStatus::Ok);
        chmod(dir.path(), 0o750);
        assert_eq!(directory(dir.path()), CheckStatus::Warn);
        chmod(dir.path(), 0o700);
        assert_eq!(directory(dir.path()), CheckStatus::Ok);
        std::fs::write(&token, "").unwrap();
        chmod(&token, 0o600);
        assert_eq!(credential(), CheckStatus::Fail);
        std::fs::write(&token, "x").unwrap();
        assert_eq!(credential(), CheckStatus::Ok);
        assert_eq!(directory(&token), CheckStatus::Fail);
        chmod(&token, 0o640);
        assert_eq!(credential(), CheckStatus::Fail);
    }
}
