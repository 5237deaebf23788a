//! The directory of a project that moss makes for a person: a new plugin, its copy of the SDK, a
//! place to try it in. Nothing here is a workspace: no tool can reach it.
//!
//! Files have the usual modes. Names come from moss itself, never from a model or a plugin.

#![cfg_attr(
    not(test),
    expect(
        clippy::disallowed_methods,
        reason = "the person at the terminal names the directory by an ambient path"
    )
)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests look from outside"))]

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::Error;

/// Bytes of a random name.
const NAME_BYTES: usize = 8;

/// A directory that is removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

/// Lays files into a directory that must not exist, or be empty. Paths are relative to it.
///
/// # Errors
///
/// `Own` where something is there, and where the files cannot be written.
pub fn lay_out(directory: &Path, files: &[(String, String)]) -> Result<(), Error> {
    let is_taken = match fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    };
    if is_taken {
        let reason = "is there already, and not empty".to_owned();
        return Err(Error::Own { path: directory.display().to_string(), reason });
    }
    write_all(directory, files)
}

/// Makes a directory of a project hold exactly these files, whatever it held before. It stays the same directory.
///
/// # Errors
///
/// Where something cannot be removed or written, and where a link is on the way: what that leads to may be anything.
pub fn replace(project: &Path, beneath: &str, files: &[(String, String)]) -> Result<(), Error> {
    let directory = &directory_within(project, beneath)?;
    let failed = |error| Error::std_io(&directory.display(), "empty", error);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_directory = entry.file_type().map_err(failed)?.is_dir();
        let path = entry.path();
        let removed = if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.map_err(failed)?;
    }
    write_all(directory, files)
}

/// Finds a directory of a project, or makes it. No link beneath the project is followed.
fn directory_within(project: &Path, beneath: &str) -> Result<PathBuf, Error> {
    let mut directory = project.to_owned();
    for name in Path::new(beneath) {
        directory.push(name);
        let failed = |error| Error::std_io(&directory.display(), "create", error);
        match fs::symlink_metadata(&directory) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let reason = "is a link or a file where a directory is expected: remove it first";
                let path = directory.display().to_string();
                return Err(Error::Own { path, reason: reason.to_owned() });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir(&directory).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(directory)
}

/// Reads a text file of a project, of at most so many bytes; none where there is no such file.
///
/// # Errors
///
/// Where it cannot be read, is too large, or is not UTF-8.
pub fn read(file: &Path, bytes_max: u64) -> Result<Option<String>, Error> {
    let Some(bytes) = read_bytes(file, bytes_max)? else { return Ok(None) };
    let failed =
        |_| Error::std_io(&file.display(), "read", std::io::Error::other("not UTF-8 text"));
    String::from_utf8(bytes).map(Some).map_err(failed)
}

/// Reads a file of a project, of at most so many bytes; none where there is no such file.
///
/// # Errors
///
/// Where it cannot be read, or is too large.
pub fn read_bytes(file: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
    let failed = |error| Error::std_io(&file.display(), "read", error);
    let opened = match fs::File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = Vec::new();
    opened.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > bytes_max {
        return Err(failed(std::io::Error::other(format!("larger than {bytes_max} bytes"))));
    }
    Ok(Some(bytes))
}

/// Writes a file of a project, in place of what it held.
///
/// # Errors
///
/// Where it cannot be written.
pub fn write(file: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    fs::write(file, content).map_err(|error| Error::std_io(&file.display(), "write", error))
}

/// Returns when a file was changed last; `None` if it does not exist.
pub fn changed(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

/// Returns the files beneath a directory and when each was changed last, in the order of paths.
/// Names that start with a dot and directories of these names are left out; links are not followed.
///
/// # Errors
///
/// Where the directory cannot be read, or has more files than that.
pub fn files(
    directory: &Path,
    left_out: &[&str],
    files_max: usize,
) -> Result<Vec<(PathBuf, Option<SystemTime>)>, Error> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        let failed = |error| Error::std_io(&directory.display(), "list", error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = entry.file_type().map_err(failed)?;
            if name.starts_with('.') || kind.is_dir() && left_out.contains(&name.as_ref()) {
                continue;
            }
            if kind.is_dir() {
                pending.push(entry.path());
            } else if kind.is_file() {
                found.push((entry.path(), changed(&entry.path())));
            }
            if found.len() > files_max {
                let message = format!("there are more than {files_max} files");
                return Err(failed(std::io::Error::other(message)));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn write_all(directory: &Path, files: &[(String, String)]) -> Result<(), Error> {
    for (path, text) in files {
        let file = directory.join(path);
        let parent = file.parent().unwrap_or(directory);
        fs::create_dir_all(parent)
            .map_err(|error| Error::std_io(&parent.display(), "create", error))?;
        write(&file, text)?;
    }
    Ok(())
}

// === impl Scratch ===

impl Scratch {
    /// Makes a private directory where the system keeps what does not last.
    ///
    /// # Errors
    ///
    /// Where it cannot be made.
    pub fn new(prefix: &str) -> Result<Self, Error> {
        use std::fmt::Write as _;
        use std::os::unix::fs::DirBuilderExt as _;

        let temporary = std::env::temp_dir();
        let failed = |error| Error::std_io(&temporary.display(), "create a directory in", error);
        let mut random = [0; NAME_BYTES];
        getrandom::fill(&mut random).map_err(|error| failed(error.into()))?;
        let mut name = prefix.to_owned();
        for byte in random {
            let _ = write!(name, "{byte:02x}");
        }
        // Without links on the way: it becomes the root of workspaces.
        let path = temporary.canonicalize().map_err(failed)?.join(name);
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        Ok(Self(path))
    }

    /// Its absolute path, without links on the way.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system removes what is left of it in time.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn files_are_laid_out_only_where_nothing_is() {
        let scratch = Scratch::new("moss-test-").unwrap();
        let directory = scratch.path().join("a/b");
        lay_out(&directory, &texts(&[("c.txt", "one"), ("d/e.txt", "two")])).unwrap();
        assert_eq!(read(&directory.join("d/e.txt"), 3).unwrap().as_deref(), Some("two"));
        assert!(read(&directory.join("d/e.txt"), 2).is_err());
        assert!(read(&directory.join("none"), 2).unwrap().is_none());
        let again = lay_out(&directory, &texts(&[("f.txt", "three")]));
        assert!(matches!(again, Err(Error::Own { .. })), "{again:?}");
        replace(scratch.path(), "a/b", &texts(&[("f.txt", "three")])).unwrap();
        let found = files(&directory, &[], 10).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, directory.join("f.txt"));
        assert!(files(scratch.path(), &["b"], 0).unwrap().is_empty());
        assert!(files(scratch.path(), &[], 0).is_err());
    }

    #[test]
    fn what_a_link_leads_to_is_not_replaced() {
        let scratch = Scratch::new("moss-test-").unwrap();
        let [project, other] = ["project", "other"].map(|name| scratch.path().join(name));
        lay_out(&other, &texts(&[("moss/kept.txt", "kept"), ("kept.txt", "kept")])).unwrap();
        for (link, target) in [("vendor", "../other"), ("vendor/moss", "../../other")] {
            fs::create_dir_all(project.join(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, project.join(link)).unwrap();
            let refused = replace(&project, "vendor/moss", &texts(&[("f.txt", "three")]));
            assert!(refused.unwrap_err().to_string().contains("remove it first"), "{link}");
            fs::remove_file(project.join(link)).unwrap();
        }
        let kept = files(&other, &[], 10).unwrap();
        assert_eq!(kept.len(), 2, "{kept:?}");
        replace(&project, "vendor/moss", &texts(&[("f.txt", "three")])).unwrap();
        assert!(project.join("vendor/moss/f.txt").exists());
    }

    #[test]
    fn a_scratch_directory_is_private_and_goes() {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = Scratch::new("moss-test-").unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("a"), "a").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop(scratch);
        assert!(!path.exists());
    }
}
