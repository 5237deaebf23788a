//! What commands made under protected names is moved aside: nothing is lost.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::reached::ReachedDirectory;

/// Longest name of a file, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// What is added to the name of what was set aside.
pub(crate) const ASIDE: &str = ".set-aside-by-moss";
/// Longest such number, in bytes.
const NUMBER_BYTES: usize = 3;
/// How often another number is tried behind that, where what was set aside before cannot be removed.
const ASIDE_TRIES: usize = 100;

/// Moves away what is at a path, without a link being followed: to the same name with
/// `.set-aside-by-moss` behind it, in the place of what was there.
pub(crate) fn move_aside(path: &Path) -> io::Result<()> {
    match ReachedDirectory::above(path) {
        Ok((directory, name)) => set_aside_in(&directory, name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The same with what has a name in a directory.
pub(crate) fn set_aside_in(directory: &ReachedDirectory, name: &OsStr) -> io::Result<()> {
    if let Err(error) = directory.stat(name) {
        return if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) };
    }
    let can_take = |aside: &OsStr, number| match number {
        1 => directory.remove(aside).is_ok(),
        _ => directory.stat(aside).is_err(),
    };
    let taken = || io::Error::other("what was set aside before cannot be removed");
    let aside = aside_name(name, can_take).ok_or_else(taken)?;
    directory.rename(name, &aside)
}

/// The first of the names to which something may be moved that can be taken: the second one and those after it have
/// a number.
fn aside_name(name: &OsStr, can_take: impl Fn(&OsStr, usize) -> bool) -> Option<OsString> {
    let kept = name.len().min(NAME_BYTES_MAX - ASIDE.len() - NUMBER_BYTES);
    let mut names = (1..=ASIDE_TRIES).map(|number| {
        let mut aside = OsStr::from_bytes(&name.as_bytes()[..kept]).to_owned();
        aside.push(ASIDE);
        if number > 1 {
            aside.push(number.to_string());
        }
        (aside, number)
    });
    names.find(|(aside, number)| can_take(aside, *number)).map(|(aside, _)| aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_what_was_set_aside_before_cannot_be_removed_the_name_has_a_number() {
        let name = |taken: usize| aside_name(OsStr::new("conf"), |_, number| number > taken);
        assert_eq!(name(0).unwrap(), "conf.set-aside-by-moss");
        assert_eq!(name(1).unwrap(), "conf.set-aside-by-moss2");
        assert_eq!(name(99).unwrap(), "conf.set-aside-by-moss100");
        assert_eq!(name(100), None);
    }
}
