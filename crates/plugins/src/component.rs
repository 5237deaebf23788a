//! The files of components: reading them, and knowing without reading whether they changed.

use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use moss_sdk::RelPath;
use moss_workspace::Workspace;
use rustix::fs::OFlags;

/// How long after a change a file may change again without a change of its times.
const TIMES_TELL_AFTER: Duration = Duration::from_secs(2);

/// Where a component, or its signature, is.
#[derive(Debug, Clone)]
pub(super) enum ComponentSource {
    /// Any file of the machine, as the user's list or a person names it.
    File(PathBuf),
    /// Within a workspace, links included.
    Within(Arc<Workspace>, RelPath),
}

/// What a file looks like from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Last change of the content, in seconds and nanoseconds.
    modified: (i64, i64),
    /// Last change of anything.
    changed: (i64, i64),
}

/// The content of a file; none where its stamp says that it is what was read last.
pub(super) struct ComponentRead {
    pub(super) bytes: Option<Vec<u8>>,
    /// None where the file changed too short a time ago for its times to reveal the next change.
    pub(super) stamp: Option<Stamp>,
}

/// Reads a whole file that is not larger than a bound, unless it is the one of `known`.
///
/// # Errors
///
/// Why it cannot be read.
pub(super) fn read(
    source: &ComponentSource,
    bytes_max: u64,
    known: Option<Stamp>,
) -> Result<ComponentRead, String> {
    let name = source.path();
    let failed = |error: std::io::Error| format!("{}: {error}", name.display());
    let file = source.open()?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(format!("{}: not a regular file", name.display()));
    }
    // Taken before the content: what changes in between is read once more.
    let stamp = Stamp::of(&metadata);
    if known == Some(stamp) {
        return Ok(ComponentRead { bytes: None, stamp: known });
    }
    let mut bytes = Vec::new();
    if metadata.len() <= bytes_max {
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    // It may have grown meanwhile.
    let size = metadata.len().max(bytes.len() as u64);
    if size > bytes_max {
        let most = match bytes_max >> 20 {
            0 => format!("{bytes_max} bytes"),
            mebibytes => format!("{mebibytes}MiB"),
        };
        return Err(format!("{}: {size} bytes, at most {most} are loaded", name.display()));
    }
    Ok(ComponentRead { bytes: Some(bytes), stamp: stamp.filter_settled(SystemTime::now()) })
}

// === impl ComponentSource ===

impl ComponentSource {
    /// What it is called.
    pub(super) fn path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Within(files, path) => files.root().join(path.as_str()),
        }
    }

    fn open(&self) -> Result<std::fs::File, String> {
        match self {
            Self::File(path) => {
                let mut options = std::fs::OpenOptions::new();
                // Whoever opens a pipe would wait for somebody who writes.
                options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
                #[expect(clippy::disallowed_methods, reason = "the user's may lie anywhere")]
                let file = options.open(path);
                file.map_err(|error| format!("{}: {error}", path.display()))
            }
            Self::Within(files, path) => match files.open_for_reading(path) {
                Ok(opened) => Ok(opened.into_file()),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

impl From<&Path> for ComponentSource {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

// === impl Stamp ===

impl Stamp {
    fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn filter_settled(self, now: SystemTime) -> Option<Self> {
        let changed = u64::try_from(self.changed.0).ok()?;
        let since = now.duration_since(SystemTime::UNIX_EPOCH + Duration::from_secs(changed));
        since.is_ok_and(|since| since > TIMES_TELL_AFTER).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_without_a_wait() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let temp = tempfile::tempdir().unwrap();
        let pipe = temp.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for file in [&*pipe, temp.path(), Path::new("/dev/null")] {
            let refused = read(&file.into(), 10, None).err().unwrap();
            assert!(refused.ends_with(": not a regular file"), "{refused}");
        }
    }

    #[test]
    fn a_file_that_changed_just_now_is_read_again() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("a.wasm");
        let read = |bytes_max, known| super::read(&file.as_path().into(), bytes_max, known);
        std::fs::write(&file, "one").unwrap();
        let first = read(10, None).unwrap();
        assert_eq!((first.bytes.as_deref(), first.stamp), (Some(&b"one"[..]), None));
        let stamp = Stamp::of(&file.metadata().unwrap());
        assert!(read(10, Some(stamp)).unwrap().bytes.is_none());
        let later = SystemTime::now() + Duration::from_secs(10);
        assert_eq!(stamp.filter_settled(later), Some(stamp));
        std::fs::write(&file, "other").unwrap();
        assert_eq!(read(10, Some(stamp)).unwrap().bytes.as_deref(), Some(&b"other"[..]));
        assert!(read(4, None).err().unwrap().contains("5 bytes, at most"));
        assert!(super::read(&temp.path().join("none").as_path().into(), 4, None).is_err());
    }
}
