//! Whether a directory that moss needs can be written: it is tried, and what was written is removed.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use moss_plugin_list::units;
use moss_workspace::Error;
use moss_workspace::own::OwnDir;
use rustix::fs::Mode;

use super::Check;

/// The file that is written and removed.
const PROBE: &str = "doctor.probe";
/// How much is written: a disk can have room for a name and none for a change.
const PROBE_BYTES: usize = 64 << 10;
/// Less free space than this is worth a warning, in bytes.
const FREE_BYTES_MIN: u64 = 100 << 20;

/// Tries to write a directory; where it is missing, looks at the one in which it would be made.
pub(super) fn check(name: &'static str, path: &Path) -> Check {
    let shown = path.display();
    if !path.exists() {
        return missing(name, path);
    }
    if let Err(error) = attempt(path) {
        let detail = format!("{shown} cannot be written: {}", cause(&error));
        return Check::fail(name, detail, remedy(path, &error));
    }
    let Ok(disk) = rustix::fs::statvfs(path) else { return Check::ok(name, shown.to_string()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let detail =
        format!("{shown} ({} free)", units::about(usize::try_from(free).unwrap_or(usize::MAX)));
    if free < FREE_BYTES_MIN {
        return Check::warn(
            name,
            detail,
            format!("free some space: `df -h {shown}` shows the disk"),
        );
    }
    Check::ok(name, detail)
}

/// Writes a file and removes it.
fn attempt(path: &Path) -> Result<(), Error> {
    let directory = OwnDir::open(path)?;
    directory.write(PROBE, &[0; PROBE_BYTES])?;
    directory.remove(PROBE)
}

/// A directory that is made when it is needed, if that is possible: the first one that is missing is made
/// and removed.
fn missing(name: &'static str, path: &Path) -> Check {
    let is_missing = |path: &&Path| !path.exists();
    let first = path.ancestors().take_while(is_missing).last().unwrap_or(path);
    let above = first.parent().unwrap_or(Path::new("/"));
    let failed = |why: &str, hint: String| {
        let detail = format!(
            "{} is not there, and cannot be made: {} {why}",
            path.display(),
            above.display()
        );
        Check::fail(name, detail, hint)
    };
    if !above.is_dir() {
        let hint = format!("mv {0} {0}.old", above.display());
        return failed("is not a directory", hint);
    }
    let made = rustix::fs::mkdir(first, Mode::RWXU).and_then(|()| rustix::fs::rmdir(first));
    match made {
        Ok(()) => Check::ok(name, format!("{} does not exist yet", path.display())),
        Err(errno) => {
            let error = io::Error::from(errno);
            failed(&format!("cannot be written ({error})"), remedy_of(above, error.kind()))
        }
    }
}

/// Why, without the path that is shown anyway.
fn cause(error: &Error) -> String {
    match error {
        Error::Io { source, .. } => source.to_string(),
        Error::Own { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}

/// The command that helps.
fn remedy(path: &Path, error: &Error) -> String {
    match error {
        Error::Io { source, .. } => remedy_of(path, source.kind()),
        _ => format!("chmod 700 {}", path.display()),
    }
}

fn remedy_of(path: &Path, kind: io::ErrorKind) -> String {
    let shown = path.display();
    let us = rustix::process::geteuid().as_raw();
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("free some space: `df -h {shown}` shows the disk")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            format!(
                "mount {shown} writable, or name other directories: `export XDG_STATE_HOME=DIR`"
            )
        }
        io::ErrorKind::PermissionDenied
            if path.metadata().is_ok_and(|metadata| metadata.uid() != us) =>
        {
            format!("sudo chown -R {us} {shown}")
        }
        io::ErrorKind::PermissionDenied => format!("chmod u+rwx {shown}"),
        _ => "name another directory: `export XDG_STATE_HOME=DIR`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::CheckStatus;
    use super::*;

    #[test]
    fn directory_that_can_be_written_is_left_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let found = check("d", dir.path());
        assert_ne!(found.state, CheckStatus::Fail, "{}", found.detail);
        assert!(found.detail.ends_with("free)"), "{}", found.detail);
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
        assert_eq!(check("d", &dir.path().join("a/b")).state, CheckStatus::Ok);
    }

    #[test]
    fn directory_that_cannot_be_written_fails_with_a_command() {
        // Nobody, not even the super-user, writes here.
        let found = check("d", Path::new("/proc/self"));
        assert_eq!(found.state, CheckStatus::Fail, "{}", found.detail);
        assert!(found.hint.is_some());
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let found = check("d", &file.join("state"));
        assert_eq!(found.state, CheckStatus::Fail, "{}", found.detail);
        assert!(found.hint.unwrap().starts_with("mv "), "{}", found.detail);
    }

    #[test]
    fn remedies_are_about_what_went_wrong() {
        let path = Path::new("/");
        let full = remedy_of(path, io::ErrorKind::StorageFull);
        assert!(full.contains("df -h /"), "{full}");
        let fixed = remedy_of(path, io::ErrorKind::ReadOnlyFilesystem);
        assert!(fixed.contains("XDG_STATE_HOME"), "{fixed}");
    }
}
