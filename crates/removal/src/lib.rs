//! Removes what commands wrote: trees of any depth, with any permissions, in bounded memory and with few descriptors.
//! No link is followed, and no other mount is entered; where the system cannot say which mount that is, no other file
//! system. Whoever calls it says by an open directory where the tree lies.
//!
//! It goes into a tree no deeper than 16 levels. A directory that lies deeper is moved to the top, where the next
//! pass finds it: nothing has to be remembered, and no way back be looked for that somebody may have changed.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

/// How deep it is gone into a tree: each directory on the way is open meanwhile.
const DEPTH_MAX: usize = 16;
/// Most entries that are looked at: a program that still writes keeps nobody busy for ever.
const STEPS_MAX: u64 = 20_000_000;
/// How directories are opened.
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A tree that is being removed.
struct TreeRemoval<'a> {
    top: BorrowedFd<'a>,
    /// How many directories were moved to the top: each has a name with its number.
    moved: u64,
    steps_left: u64,
}

/// A directory on the way, of which the rest is to be looked at.
struct OpenedLevel {
    name: CString,
    entries: Dir,
}

/// What came of one pass through a tree.
#[derive(Default)]
struct RemovalPass {
    /// Whether there was something.
    has_found: bool,
    /// Whether something was removed or moved.
    has_moved_on: bool,
    /// Why something is still there.
    error: Option<Errno>,
}

/// Removes what has a name in a directory, a single one, with all that lies in it; nothing where nothing is.
///
/// # Errors
///
/// Where something cannot be removed. All else in it is removed.
pub fn remove(directory: impl AsFd, name: &OsStr) -> io::Result<()> {
    let directory = directory.as_fd();
    if name.as_bytes().contains(&b'/') || ["", ".", ".."].iter().any(|other| name == *other) {
        return Err(Errno::INVAL.into());
    }
    let name = CString::new(name.as_bytes())?;
    match rustix::fs::unlinkat(directory, &name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(error) if is_of_directory(error) => {}
        Err(error) => return Err(error.into()),
    }
    clear(&open(directory, &name)?)?;
    Ok(rustix::fs::unlinkat(directory, &name, AtFlags::REMOVEDIR)?)
}

/// Removes all that lies in a directory.
///
/// # Errors
///
/// Where something cannot be removed. All else in it is removed.
pub fn clear(directory: impl AsFd) -> io::Result<()> {
    TreeRemoval { top: directory.as_fd(), moved: 0, steps_left: STEPS_MAX }.clear()
}

/// Whether this is why a directory is not removed as a file. Linux says that it is one, POSIX that it is not permitted.
fn is_of_directory(error: Errno) -> bool {
    matches!(error, Errno::ISDIR | Errno::PERM)
}

/// Opens a directory and lets its owner remove what is in it.
fn open(directory: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let opened = match reach(directory, name, OFlags::RDONLY) {
        Err(Errno::ACCESS) => {
            permit(directory, name)?;
            reach(directory, name, OFlags::RDONLY)?
        }
        opened => opened?,
    };
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        // Where that is not possible, it is the removal that says why it fails.
        let _ = rustix::fs::fchmod(&opened, Mode::RWXU);
    }
    Ok(opened)
}

/// Opens a directory in another, neither through a link nor on another mount, where the system can say that.
#[cfg(target_os = "linux")]
fn reach(directory: BorrowedFd<'_>, name: &CStr, how: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(directory, name, how | DIRECTORY, Mode::empty(), resolve) {
        // Linux before 5.6, and containers that know no such call.
        Err(Errno::NOSYS | Errno::PERM) => reach_on_device(directory, name, how),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
use self::reach_on_device as reach;

/// Opens a directory in another, neither through a link nor on another file system.
fn reach_on_device(directory: BorrowedFd<'_>, name: &CStr, how: OFlags) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::openat(directory, name, how | DIRECTORY, Mode::empty())?;
    let device = |fd: BorrowedFd<'_>| rustix::fs::fstat(fd).map(|found| found.st_dev);
    if device(directory)? == device(opened.as_fd())? { Ok(opened) } else { Err(Errno::XDEV) }
}

/// Lets the owner of a directory read and change it, who may not even open it.
#[cfg(target_os = "linux")]
fn permit(directory: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    use std::os::fd::AsRawFd as _;
    let found = reach(directory, name, OFlags::PATH)?;
    // The system changes no permissions by a descriptor that was opened without the right to read.
    rustix::fs::chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), Mode::RWXU)
}

/// Lets the owner of a directory read and change it, who may not even open it.
#[cfg(not(target_os = "linux"))]
fn permit(directory: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    rustix::fs::chmodat(directory, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}

// === impl TreeRemoval ===

impl TreeRemoval<'_> {
    fn clear(&mut self) -> io::Result<()> {
        loop {
            let pass = self.pass()?;
            if !pass.has_found {
                return Ok(());
            }
            if !pass.has_moved_on {
                return Err(pass.error.unwrap_or(Errno::NOTEMPTY).into());
            }
        }
    }

    /// Goes through the tree once.
    fn pass(&mut self) -> io::Result<RemovalPass> {
        let mut pass = RemovalPass::default();
        let mut levels = vec![OpenedLevel::new(self.top, c".")?];
        loop {
            let depth = levels.len();
            let Some(level) = levels.last_mut() else { return Ok(pass) };
            let Some(entry) = level.entries.next() else {
                let name = std::mem::take(&mut level.name);
                levels.pop();
                if let Some(above) = levels.last() {
                    let above = above.entries.fd()?;
                    pass.note(rustix::fs::unlinkat(above, &name, AtFlags::REMOVEDIR));
                }
                continue;
            };
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            self.step()?;
            pass.has_found = true;
            let here = level.entries.fd()?;
            if entry.file_type() != FileType::Directory {
                match rustix::fs::unlinkat(here, name, AtFlags::empty()) {
                    Err(error) if is_of_directory(error) => {}
                    removed => {
                        pass.note(removed);
                        continue;
                    }
                }
            }
            if depth == DEPTH_MAX {
                pass.note(self.move_up(here, name)?);
                continue;
            }
            match OpenedLevel::new(here, name) {
                Ok(inner) => levels.push(inner),
                Err(error) => pass.note(Err(error)),
            }
        }
    }

    /// Moves a directory to the top, under a name that is free there.
    fn move_up(&mut self, from: BorrowedFd<'_>, name: &CStr) -> io::Result<Result<(), Errno>> {
        let mut is_permitted = false;
        loop {
            self.step()?;
            let free = format!("moved-{}", self.moved);
            match rustix::fs::renameat(from, name, self.top, &free) {
                Err(Errno::ACCESS) if !is_permitted => {
                    is_permitted = true;
                    if let Err(error) = permit(from, name) {
                        return Ok(Err(error));
                    }
                }
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR | Errno::ISDIR) => {
                    self.moved += 1;
                }
                moved => {
                    self.moved += 1;
                    return Ok(moved);
                }
            }
        }
    }

    fn step(&mut self) -> io::Result<()> {
        let too_much = || io::Error::other("there is too much to be removed");
        self.steps_left = self.steps_left.checked_sub(1).ok_or_else(too_much)?;
        Ok(())
    }
}

// === impl OpenedLevel ===

impl OpenedLevel {
    fn new(directory: BorrowedFd<'_>, name: &CStr) -> Result<Self, Errno> {
        let entries = Dir::new(open(directory, name)?)?;
        Ok(Self { name: name.to_owned(), entries })
    }
}

// === impl RemovalPass ===

impl RemovalPass {
    /// Takes note of what became of an entry. One that is gone was removed by somebody else.
    fn note(&mut self, removed: Result<(), Errno>) {
        match removed {
            Ok(()) | Err(Errno::NOENT) => self.has_moved_on = true,
            Err(error) => self.error = Some(error),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn no_other_mount_is_entered() {
        let root = rustix::fs::openat(rustix::fs::CWD, "/", DIRECTORY, Mode::empty()).unwrap();
        for reach in [reach, reach_on_device] {
            let found = reach(root.as_fd(), c"proc", OFlags::RDONLY);
            assert_eq!(found.unwrap_err(), Errno::XDEV);
            reach(root.as_fd(), c"usr", OFlags::RDONLY).unwrap();
        }
    }
}
