//! Tests of the module `caller`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::*;

#[track_caller]
fn check_refused(file: &str, reason: &str, spoil: impl Fn(&Path)) {
    let temp = tempfile::tempdir().unwrap();
    let state = OwnDir::create(&temp.path().join("state")).unwrap();
    let made = Credentials::load_or_create(&state).unwrap();
    assert_eq!(Credentials::load_or_create(&state).unwrap().caller, made.caller);
    let path = state.path().join(file);
    spoil(&path);
    let message = Credentials::load_or_create(&state).unwrap_err().to_string();
    assert_eq!(message, format!("{}: {reason}, and a new one is made", path.display()));
    fs::remove_file(&path).unwrap();
    Credentials::load_or_create(&state).unwrap();
}

#[test]
fn credential_that_others_may_read_is_refused() {
    for mode in [0o640, 0o604] {
        check_refused("caller.token", "can be read by other users: remove it", |path| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        });
    }
}

#[test]
fn empty_credential_is_refused() {
    check_refused("approver.token", "is empty: remove it", |path| {
        fs::write(path, " \n").unwrap();
    });
}

#[test]
fn credentials_that_are_the_same_are_refused() {
    check_refused("approver.token", "is the same as `caller.token`: remove it", |path| {
        fs::copy(path.with_file_name("caller.token"), path).unwrap();
    });
}
