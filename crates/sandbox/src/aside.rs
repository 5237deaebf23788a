//! What commands made under protected names is moved aside: nothing is lost.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::FileType;

use crate::reached::ReachedDirectory;

/// Longest name of a file, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// What is added to the name of what was set aside.
pub(crate) const ASIDE: &str = ".set-aside-by-moss";
/// Longest such number, in bytes.
const NUMBER_BYTES: usize = 3;
/// How often another number is tried behind that, where what was set aside before cannot be removed.
const ASIDE_TRIES: usize = 100;
/// Most entries of a directory that was set aside before and is removed for the next one.
const REMOVED_MAX: usize = 1_000;
/// Most directories in one another of such a one.
const REMOVED_DEPTH_MAX: usize = 32;

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
    // Others wait meanwhile: what takes long to remove stays, as long as there are other names.
    let can_take = |aside: &OsStr, number| match number {
        1 => {
            is_small(directory, aside, &mut REMOVED_MAX.clone(), 0)
                && directory.remove(aside).is_ok()
        }
        _ => directory.stat(aside).is_err(),
    };
    let taken = || io::Error::other("what was set aside before cannot be removed");
    let first = |aside: &OsStr, number| number == 1 && directory.remove(aside).is_ok();
    let aside = aside_name(name, can_take).or_else(|| aside_name(name, first));
    let aside = aside.ok_or_else(taken)?;
    directory.rename(name, &aside)
}

/// Whether what has a name is nothing, no directory, or one with so few entries and so flat that it is soon removed.
fn is_small(directory: &ReachedDirectory, name: &OsStr, left: &mut usize, depth: usize) -> bool {
    match directory.stat(name) {
        Ok(found) if found.kind == FileType::Directory => {}
        _ => return true,
    }
    let entries = directory.child(name).and_then(|child| Ok((child.list()?, child)));
    let Ok((mut entries, child)) = entries else { return false };
    depth < REMOVED_DEPTH_MAX
        && entries.all(|entry| {
            *left = left.saturating_sub(1);
            *left > 0 && entry.is_ok_and(|entry| is_small(&child, &entry.name, left, depth + 1))
        })
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

    #[test]
    fn what_takes_long_to_remove_stays_as_long_as_there_are_other_names() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().canonicalize().unwrap().join(name);
        let aside = path("made.set-aside-by-moss");
        let set = |text: &str| {
            std::fs::write(path("made"), text).unwrap();
            move_aside(&path("made")).unwrap();
        };
        let deep = std::iter::repeat_n("d", REMOVED_DEPTH_MAX + 1).collect::<Vec<_>>().join("/");
        std::fs::create_dir_all(aside.join("few/in/it")).unwrap();
        set("one");
        assert_eq!(std::fs::read_to_string(&aside).unwrap(), "one");
        std::fs::remove_file(&aside).unwrap();
        std::fs::create_dir_all(aside.join(deep)).unwrap();
        for _ in 2..=ASIDE_TRIES {
            set("more");
        }
        assert!(aside.is_dir() && path("made.set-aside-by-moss100").exists());
        set("last");
        assert_eq!(std::fs::read_to_string(&aside).unwrap(), "last");
        for number in 0..REMOVED_MAX {
            std::fs::create_dir_all(path("made.x").join(number.to_string())).unwrap();
        }
        let reached = ReachedDirectory::open(root.path()).unwrap();
        assert!(!is_small(&reached, "made.x".as_ref(), &mut REMOVED_MAX.clone(), 0));
    }
}
