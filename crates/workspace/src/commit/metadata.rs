//! What a new version of a file takes over from the old one, beside its mode: owner, group and
//! extended attributes. File capabilities are not taken over: they were given to other content.

use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use rustix::fs::{Gid, Uid, XattrFlags};
use rustix::io::Errno;

use crate::error::Error;
use crate::handle;

/// Longest list of attribute names and longest value, as in the Linux kernel.
const ATTRIBUTE_BYTES_MAX: usize = 64 * 1024;

/// Gives the new file the owner, group and attributes of the old one.
pub(super) fn carry_over(path: &RelPath, old: &OwnedFd, new: &OwnedFd) -> Result<(), Error> {
    let failed = |action| move |errno| Error::io(path, action, errno);
    let wanted = handle::stat(old).map_err(failed("look at"))?;
    let given = handle::stat(new).map_err(failed("look at"))?;
    let uid = (wanted.uid != given.uid).then(|| Uid::from_raw(wanted.uid));
    let gid = (wanted.gid != given.gid).then(|| Gid::from_raw(wanted.gid));
    if uid.is_some() || gid.is_some() {
        rustix::fs::fchown(new, uid, gid).map_err(failed("keep the owner and group of"))?;
    }
    copy_attributes(old, new).map_err(failed("keep the attributes of"))
}

fn copy_attributes(old: &OwnedFd, new: &OwnedFd) -> Result<(), Errno> {
    let mut names = vec![0; ATTRIBUTE_BYTES_MAX];
    let length = match rustix::fs::flistxattr(old, &mut names[..]) {
        Ok(length) => length,
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    let mut value = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| is_carried(name)) {
        value.resize(ATTRIBUTE_BYTES_MAX, 0);
        let length = match rustix::fs::fgetxattr(old, name, &mut value[..]) {
            Ok(length) => length,
            // Gone since the names were read.
            Err(Errno::NODATA) => continue,
            Err(errno) => return Err(errno),
        };
        match rustix::fs::fsetxattr(new, name, &value[..length], XattrFlags::empty()) {
            Ok(()) => {}
            // A label that the system gives by itself and that only it may set.
            Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP) if name.starts_with(b"security.") => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn is_carried(name: &[u8]) -> bool {
    name.starts_with(b"user.")
        || name.starts_with(b"com.apple.")
        || name == b"system.posix_acl_access"
        || name == b"security.selinux"
}
