//! The root directory that a command sees, built of mounts in a mount namespace of its own. The root of
//! the machine is left behind by `pivot_root`, and unmounted as soon as all is copied from it.
//!
//! Whatever is mounted is opened first, and mounted by its descriptor: no name is followed twice.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, fstatvfs, openat2};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
    mount_change, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, fchdir, pivot_root};

use crate::launch_order::LaunchOrder;
use crate::mount_index::MountIndex;
use crate::mounts::PlannedMount;
use crate::system;
use crate::visible::{DEVICES, SHARED_MEMORY};

/// Of what a command writes no program gains rights, and no device opens.
const PLAIN: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);
const READ_ONLY: MountAttrFlags = PLAIN.union(MountAttrFlags::MOUNT_ATTR_RDONLY);
/// Of what lies there no program is run, either.
const INERT: MountAttrFlags = READ_ONLY.union(MountAttrFlags::MOUNT_ATTR_NOEXEC);
const PROC: MountAttrFlags = PLAIN.union(MountAttrFlags::MOUNT_ATTR_NOEXEC);
/// Devices can be opened there; programs are not run.
const DEVICE: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NOEXEC);

/// The links beside the devices, with what they lead to.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("core", "/proc/kcore"),
    ("fd", "/proc/self/fd"),
    ("ptmx", "pts/ptmx"),
    ("stderr", "/proc/self/fd/2"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
];
/// What of `/proc` is the machine's: root writes some of it without any right.
const OF_MACHINE: &[&str] = &["acpi", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger"];
/// How many user namespaces there may be beneath this one.
const USER_NAMESPACES: &str = "/proc/sys/user/max_user_namespaces";
/// How much of what the kernel counts for a user there may be in this namespace, and beneath the name of each how much
/// that user may have altogether. Older kernels have no such bounds.
const SHARED_WITH_USER: [(&str, &str); 2] = [
    ("/proc/sys/user/max_inotify_instances", "/proc/sys/fs/inotify/max_user_instances"),
    ("/proc/sys/user/max_inotify_watches", "/proc/sys/fs/inotify/max_user_watches"),
];
/// A command has at most this part of that.
const PART_OF_USER: u64 = 2;
/// How many pages of memory segments of System V may take in this namespace of them, and how many queues of it there
/// may be.
const SEGMENT_PAGES: &str = "/proc/sys/kernel/shmall";
const QUEUES: (&str, &str) = ("/proc/sys/kernel/msgmni", "256");
/// Files and directories in memory take memory of the kernel, too: there are at most as many as there is room for with
/// so many bytes each.
const SCRATCH_FILE_BYTES: u64 = 4 << 10;

/// How often more one file is opened while others are moved around it.
const OPENINGS_MAX: usize = 64;

/// The root directory of a command while it is built.
struct NewRoot<'a> {
    /// The root of the machine.
    old: OwnedFd,
    order: &'a LaunchOrder,
}

/// Builds what an order says, and makes it the root of this process.
pub(super) fn build(order: &LaunchOrder) -> Result<(), String> {
    let failed = |error: io::Error| format!("a root directory cannot be made: {error}");
    let is_whole = order.mounts.contains(&PlannedMount::Everything);
    let (root, new) = NewRoot::begin(order, is_whole).map_err(failed)?;
    let failed =
        |path: &'static str| move |error: io::Error| format!("{path} cannot be mounted: {error}");
    new.show_processes().map_err(failed("/proc"))?;
    if !is_whole {
        new.show_devices().map_err(failed("/dev"))?;
    }
    let mut index = MountIndex::default();
    for (place, mount) in order.mounts.iter().enumerate() {
        let around = index.find(mount.at()).map(|around| &order.mounts[around]);
        match new.show(mount, around, &order.mounts[..place]) {
            Ok(()) => index.add(mount.at(), place),
            // Something else has its name by now: the command goes without it.
            Err(error) if mount.is_cache() && is_replaced(&error) => {}
            Err(error) => {
                return Err(format!("{} cannot be mounted: {error}", mount.at().display()));
            }
        }
    }
    new.finish(&root, is_whole).map_err(|error| format!("the old root directory stays: {error}"))
}

// === impl NewRoot ===

impl<'a> NewRoot<'a> {
    /// Makes a new root, and this process see it in the stead of the old one.
    fn begin(order: &'a LaunchOrder, is_whole: bool) -> io::Result<(OwnedFd, Self)> {
        // Nothing of it reaches the mounts of the machine.
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let old = rustix::fs::open("/", directory, Mode::empty())?;
        let root = if is_whole {
            copy(old.as_fd(), MountAttrFlags::MOUNT_ATTR_NOSUID)?
        } else {
            fresh("tmpfs", &[("mode", "0755")], PLAIN)?
        };
        move_mount(&root, "", CWD, "/", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        fchdir(&root)?;
        // The old root lies on the new one from then on, and is reached by its descriptor.
        pivot_root(".", ".")?;
        Ok((root, Self { old, order }))
    }

    fn show_processes(&self) -> io::Result<()> {
        let processes = fresh("proc", &[], PROC)?;
        attach(&processes, &make("/proc".as_ref(), true)?)?;
        // Who has no right to it cannot change that again: the command has none.
        fs::write(USER_NAMESPACES, "0")?;
        for (bound, of_user) in SHARED_WITH_USER {
            bound_part(Path::new(bound), Path::new(of_user))?;
        }
        // Root may, from Linux 6.9 on; for others a control group alone counts them.
        let pages = (self.order.scratch_bytes / system::page_bytes()).max(1);
        let _ = fs::write(SEGMENT_PAGES, pages.to_string());
        let _ = fs::write(QUEUES.0, QUEUES.1);
        for name in OF_MACHINE {
            match find(&Path::new("/proc").join(name), ResolveFlags::NO_SYMLINKS) {
                Ok(found) => attach(&copy(found.as_fd(), INERT)?, &found)?,
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn show_devices(&self) -> io::Result<()> {
        let devices = fresh("tmpfs", &[("mode", "0755")], DEVICE)?;
        attach(&devices, &make("/dev".as_ref(), true)?)?;
        for path in DEVICES.iter().map(Path::new) {
            let device = copy(self.source(path, ResolveFlags::empty())?.as_fd(), DEVICE)?;
            attach(&device, &make(path, false)?)?;
        }
        for (name, target) in DEVICE_LINKS {
            symlink(target, Path::new("/dev").join(name))?;
        }
        self.show_scratch(SHARED_MEMORY.as_ref())?;
        let terminals = fresh("devpts", &[("ptmxmode", "0666"), ("mode", "0620")], DEVICE)?;
        attach(&terminals, &make("/dev/pts".as_ref(), true)?)
    }

    /// Shows an empty directory in memory.
    fn show_scratch(&self, at: &Path) -> io::Result<()> {
        let size = self.order.scratch_bytes.to_string();
        let options = [("mode", "1777"), ("size", &size)];
        let mut directory = fresh("tmpfs", &options, PLAIN)?;
        let files_max = (self.order.scratch_bytes / SCRATCH_FILE_BYTES).max(1);
        // Of itself it has as many as half of the machine's memory has pages.
        if fstatvfs(&directory)?.f_files > files_max {
            let files_max = files_max.to_string();
            let options = options.into_iter().chain([("nr_inodes", files_max.as_str())]);
            directory = fresh("tmpfs", &options.collect::<Vec<_>>(), PLAIN)?;
        }
        attach(&directory, &make(at, true)?)
    }

    /// Shows one mount, in another; `before` are those that are there already.
    fn show(
        &self,
        mount: &PlannedMount,
        around: Option<&PlannedMount>,
        before: &[PlannedMount],
    ) -> io::Result<()> {
        let at = mount.at();
        match mount {
            PlannedMount::Everything => Ok(()),
            PlannedMount::Link { target, .. } => symlink(target, at),
            PlannedMount::Readable(_) => self.show_host(at, around, before, READ_ONLY),
            PlannedMount::Writable(_) => self.show_host(at, around, before, PLAIN),
            PlannedMount::Cache { real, is_writable, .. } => {
                let attributes = if *is_writable { PLAIN } else { READ_ONLY };
                self.show_cache(real, at, around, attributes)
            }
            PlannedMount::Scratch(_) => self.show_scratch(at),
            PlannedMount::Copy { from, .. } => self.show_copy(from, at),
            PlannedMount::MaskedFile(_) => self.mask(&find(at, ResolveFlags::NO_SYMLINKS)?),
            PlannedMount::MaskedSocket(_) => {
                let found = find(at, ResolveFlags::NO_SYMLINKS).map_err(io::Error::from);
                match found.and_then(|found| self.mask(&found)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    masked => masked,
                }
            }
            PlannedMount::MaskedDirectory(_) => {
                let nothing = fresh("tmpfs", &[("mode", "0000")], INERT)?;
                attach(&nothing, &find(at, ResolveFlags::NO_SYMLINKS)?)
            }
        }
    }

    /// Hides a file by a device that a mount without devices does not open.
    fn mask(&self, at: &OwnedFd) -> io::Result<()> {
        let null = self.source("/dev/null".as_ref(), ResolveFlags::empty())?;
        attach(&copy(null.as_fd(), INERT)?, at)
    }

    /// Shows a file in the place of another one.
    fn show_copy(&self, from: &Path, at: &Path) -> io::Result<()> {
        let source = self.source(from, ResolveFlags::empty())?;
        attach(&copy(source.as_fd(), INERT)?, &find(at, ResolveFlags::NO_SYMLINKS)?)
    }

    /// Shows what is there outside. What lies in a writable directory is found in the new root itself,
    /// without following links, and mounted upon itself: nothing that takes its name meanwhile is.
    fn show_host(
        &self,
        path: &Path,
        around: Option<&PlannedMount>,
        before: &[PlannedMount],
        attributes: MountAttrFlags,
    ) -> io::Result<()> {
        if around.is_some_and(PlannedMount::is_writable) {
            let found = find(path, ResolveFlags::NO_SYMLINKS)?;
            return attach(&copy(found.as_fd(), attributes)?, &found);
        }
        let mut writable = before.iter().filter(|one| one.is_writable());
        // What is written is named by its real path.
        let is_real = attributes == PLAIN || writable.any(|one| path.starts_with(one.at()));
        let links = if is_real { ResolveFlags::NO_SYMLINKS } else { ResolveFlags::empty() };
        let source = self.source(path, links)?;
        let is_directory = FileType::from_raw_mode(fstat(&source)?.st_mode).is_dir();
        attach(&copy(source.as_fd(), attributes)?, &make(path, is_directory)?)
    }

    /// Shows a cache. No link is followed to it, neither outside nor where it is shown: a command may have made it.
    fn show_cache(
        &self,
        real: &Path,
        at: &Path,
        around: Option<&PlannedMount>,
        attributes: MountAttrFlags,
    ) -> io::Result<()> {
        let source = self.source(real, ResolveFlags::NO_SYMLINKS)?;
        if !FileType::from_raw_mode(fstat(&source)?.st_mode).is_dir() {
            return Err(Errno::NOTDIR.into());
        }
        // In what is there outside as well nothing is made for it.
        let is_made = !around.is_some_and(PlannedMount::shows_host);
        let place = match find(at, ResolveFlags::NO_SYMLINKS) {
            Err(Errno::NOENT) if is_made => make(at, true)?,
            found => found?,
        };
        attach(&copy(source.as_fd(), attributes)?, &place)
    }

    /// Opens what is there outside.
    fn source(&self, path: &Path, links: ResolveFlags) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        // Links lead to what they name on the machine.
        let resolve = ResolveFlags::IN_ROOT | links;
        let open = || openat2(&self.old, path, flags, Mode::empty(), resolve);
        let mut opened = open();
        for _ in 0..OPENINGS_MAX {
            // Something was moved while the kernel followed a link upwards.
            if !matches!(opened, Err(Errno::AGAIN)) {
                break;
            }
            opened = open();
        }
        Ok(opened?)
    }

    /// Gives up the old root.
    fn finish(self, root: &OwnedFd, is_whole: bool) -> io::Result<()> {
        fchdir(&self.old)?;
        unmount(".", UnmountFlags::DETACH)?;
        chdir("/")?;
        if is_whole {
            return Ok(());
        }
        // What else is mounted there stays as it is.
        let devices = find("/dev".as_ref(), ResolveFlags::empty())?;
        system::restrict_mount(devices.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY, false)?;
        system::restrict_mount(root.as_fd(), READ_ONLY, false)
    }
}

/// A copy of what is there, with all that is mounted in it.
fn copy(from: BorrowedFd<'_>, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let copied = open_tree(from, "", flags)?;
    system::restrict_mount(copied.as_fd(), attributes, true)?;
    Ok(copied)
}

/// Bounds what there may be in this namespace of what a user may have.
fn bound_part(bound: &Path, of_user: &Path) -> io::Result<()> {
    let Ok(text) = fs::read_to_string(of_user) else { return Ok(()) };
    let all: u64 = text.trim().parse().map_err(io::Error::other)?;
    match fs::write(bound, (all / PART_OF_USER).to_string()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}

/// A file system of its own.
fn fresh(kind: &str, options: &[(&str, &str)], attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let opened = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(&opened, *name, *value)?;
    }
    fsconfig_create(&opened)?;
    Ok(fsmount(&opened, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Whether what was to be opened has been removed, or something else has taken its name.
fn is_replaced(error: &io::Error) -> bool {
    let kinds = [Errno::LOOP, Errno::NOENT, Errno::NOTDIR];
    kinds.iter().any(|kind| error.raw_os_error() == Some(kind.raw_os_error()))
}

fn attach(mount: &OwnedFd, at: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, "", at, "", flags)?)
}

/// Opens what is there in the new root.
fn find(path: &Path, links: ResolveFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::NO_MAGICLINKS | links;
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
}

/// Opens where something is to be mounted, and makes that where it is not there.
fn make(path: &Path, is_directory: bool) -> io::Result<OwnedFd> {
    match find(path, ResolveFlags::empty()) {
        Err(Errno::NOENT) => {}
        found => return Ok(found?),
    }
    if is_directory {
        fs::create_dir_all(path)?;
    } else {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        File::create_new(path)?;
    }
    Ok(find(path, ResolveFlags::empty())?)
}
