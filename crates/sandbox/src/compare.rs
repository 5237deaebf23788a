//! Protected paths that nothing keeps from being changed while a command runs: what they held is
//! kept before, compared afterwards and restored. Nothing is lost: what a command made in their
//! stead is set aside under another name.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::reached::{ReachedDirectory, real_of};
use crate::wire::{Decoder, Encoder};

/// Longest file whose content is kept, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Most bytes that are kept for a command.
const BYTES_MAX: u64 = 16 << 20;
/// Most files and directories that are kept for a command.
const ENTRIES_MAX: usize = 2_000;
/// Deepest directory that is kept, and that is read of a record.
const DEPTH_MAX: usize = 256;
/// Longest name of a file, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// What is added to the name of what was set aside.
const ASIDE: &str = ".set-aside-by-moss";
/// Longest such number, in bytes.
const NUMBER_BYTES: usize = 3;
/// How often another number is tried behind that, where what was set aside before cannot be removed.
const ASIDE_TRIES: usize = 100;

/// What protected paths held before a command ran.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    kept: Vec<KeptPath>,
    bytes: u64,
    entries: usize,
}

/// A protected path, and what it held.
#[derive(Debug, PartialEq, Eq)]
struct KeptPath {
    path: PathBuf,
    /// The same without links before the last name: only there anything is restored.
    real: PathBuf,
    /// What commands write that it lies in: nothing around that is touched.
    root: PathBuf,
    before: ContentBefore,
}

/// What became of protected paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ComparedPaths {
    /// Those that were changed, and are as before.
    pub restored: Vec<PathBuf>,
    /// Those that were changed and could not be restored.
    pub changed: Vec<PathBuf>,
}

/// What a path held.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ContentBefore {
    Missing,
    /// Nobody could look at it.
    Unknown,
    Link(PathBuf),
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Directory {
        entries: BTreeMap<OsString, Self>,
        mode: u32,
    },
    /// Too large to be kept, or none of these: only that it changed is known.
    Known {
        inode: u64,
        length: u64,
        changed_ns: i128,
    },
}

// === impl Snapshot ===

impl Snapshot {
    /// Keeps what the paths hold that lie where a command writes, whatever leads there.
    pub(crate) fn take(paths: &[PathBuf], written: &[PathBuf]) -> Self {
        let mut snapshot = Self::default();
        for path in paths {
            let real = real_of(path);
            // Another command may have put a link there since it was planned.
            let around = written.iter().filter(|root| real.starts_with(root));
            let Some(root) = around.min_by_key(|root| root.as_os_str().len()).cloned() else {
                continue;
            };
            let before = snapshot.keep_at(&real);
            snapshot.kept.push(KeptPath { path: path.clone(), real, root, before });
        }
        snapshot
    }

    /// Compares, and restores what is not as it was. Other commands may run meanwhile: no link is followed that
    /// one of them makes.
    pub(crate) fn restore(&self) -> ComparedPaths {
        let mut compared = ComparedPaths::default();
        for kept in &self.kept {
            let mut now = Self::default();
            if now.keep_at(&kept.real) == kept.before && real_of(&kept.path) == kept.real {
                continue;
            }
            let list = match kept.restore() {
                true => &mut compared.restored,
                false => &mut compared.changed,
            };
            list.push(kept.path.clone());
        }
        compared
    }

    /// The paths at which nothing was.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &Path> {
        let missing = self.kept.iter().filter(|kept| kept.before == ContentBefore::Missing);
        missing.map(|kept| kept.path.as_path())
    }

    pub(crate) fn encode(&self, message: &mut Encoder) {
        message.number(self.kept.len() as u64);
        for KeptPath { path, real, root, before } in &self.kept {
            message.text(path).text(real).text(root);
            before.encode(message);
        }
    }

    pub(crate) fn decode(message: &mut Decoder<'_>) -> io::Result<Self> {
        let count = message.number()?;
        let mut kept = || {
            let (path, real) = (message.text()?.into(), message.text()?.into());
            let root = message.text()?.into();
            Ok(KeptPath { path, real, root, before: ContentBefore::decode(message, 0)? })
        };
        let kept = (0..count).map(|_| kept()).collect::<io::Result<_>>()?;
        Ok(Self { kept, ..Self::default() })
    }

    fn keep_at(&mut self, real: &Path) -> ContentBefore {
        match ReachedDirectory::above(real) {
            Ok((directory, name)) => self.keep(&directory, name, DEPTH_MAX),
            Err(error) if error.kind() == io::ErrorKind::NotFound => ContentBefore::Missing,
            // A link that leads to nothing of this name.
            Err(_) if real_of(real).symlink_metadata().is_err_and(|error| is_missing(&error)) => {
                ContentBefore::Missing
            }
            Err(_) => ContentBefore::Unknown,
        }
    }

    fn keep(
        &mut self,
        directory: &ReachedDirectory,
        name: &OsStr,
        depth_left: usize,
    ) -> ContentBefore {
        let found = match directory.stat(name) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return ContentBefore::Missing,
            Err(_) => return ContentBefore::Unknown,
        };
        let known = || ContentBefore::Known {
            inode: found.inode,
            length: found.length,
            changed_ns: found.changed_ns,
        };
        self.entries += 1;
        if self.entries > ENTRIES_MAX {
            return known();
        }
        let mode = found.mode;
        match found.kind {
            FileType::Symlink => {
                directory.read_link(name).map_or_else(|_| known(), ContentBefore::Link)
            }
            FileType::Directory if depth_left > 0 => {
                let Ok(child) = directory.child(name) else { return known() };
                let Ok(names) = child.names() else { return known() };
                let kept = names.into_iter().map(|name| {
                    let content = self.keep(&child, &name, depth_left - 1);
                    (name, content)
                });
                ContentBefore::Directory { entries: kept.collect(), mode }
            }
            FileType::RegularFile
                if found.length <= FILE_BYTES_MAX && self.bytes + found.length <= BYTES_MAX =>
            {
                self.bytes += found.length;
                let mut bytes = Vec::new();
                let read = directory.open_file(name).and_then(|file| {
                    // It may grow meanwhile.
                    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)
                });
                read.map_or_else(|_| known(), |_| ContentBefore::File { bytes, mode })
            }
            _ => known(),
        }
    }
}

// === impl KeptPath ===

impl KeptPath {
    /// Restores it; `false` where that is not possible.
    fn restore(&self) -> bool {
        // A link above it is a command's: there was a directory.
        if !self.before.can_be_restored() || self.set_aside_links().is_err() {
            return false;
        }
        if set_aside(&self.real).is_err() {
            return false;
        }
        let written = self.write();
        if written.is_err() {
            // On a full disk: half of it would be taken for the whole.
            remove(&self.real);
        }
        // A link that had led here and leads elsewhere now is nobody's to guess.
        written.is_ok() && real_of(&self.path) == self.real
    }

    /// Moves away links, and whatever else is no directory, between what commands write and this. What lies around
    /// that is the person's: a link there is left, and nothing is restored behind it.
    fn set_aside_links(&self) -> io::Result<()> {
        let within = |path: &&Path| path.starts_with(&self.root) && *path != self.root;
        let mut above: Vec<&Path> = self.real.ancestors().skip(1).filter(within).collect();
        above.reverse();
        for around in above {
            let Ok((directory, name)) = ReachedDirectory::above(around) else { continue };
            if directory.stat(name).is_ok_and(|found| found.kind != FileType::Directory) {
                return set_aside_in(&directory, name);
            }
        }
        Ok(())
    }

    fn write(&self) -> io::Result<()> {
        if self.before == ContentBefore::Missing {
            return Ok(());
        }
        let (directory, name) = ReachedDirectory::made_above(&self.real)?;
        self.before.write(&directory, name)
    }
}

/// Moves away what is at a path, without a link being followed: to the same name with
/// `.set-aside-by-moss` behind it, in the place of what was there.
///
/// # Errors
///
/// Where it cannot be renamed.
pub fn set_aside(path: &Path) -> io::Result<()> {
    match ReachedDirectory::above(path) {
        Ok((directory, name)) => set_aside_in(&directory, name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn set_aside_in(directory: &ReachedDirectory, name: &OsStr) -> io::Result<()> {
    if directory.stat(name).is_err() {
        return Ok(());
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

/// Removes what was written of a path.
fn remove(path: &Path) {
    // What cannot be removed stays as what could not be restored.
    let _ = ReachedDirectory::above(path).and_then(|(directory, name)| directory.remove(name));
}

// === impl ContentBefore ===

impl ContentBefore {
    fn can_be_restored(&self) -> bool {
        match self {
            Self::Known { .. } | Self::Unknown => false,
            Self::Directory { entries, .. } => entries.values().all(Self::can_be_restored),
            Self::Missing | Self::Link(_) | Self::File { .. } => true,
        }
    }

    fn encode(&self, message: &mut Encoder) {
        match self {
            Self::Missing => {
                message.number(0);
            }
            Self::Unknown => {
                message.number(1);
            }
            Self::Link(target) => {
                message.number(2).text(target);
            }
            Self::File { bytes, mode } => {
                message.number(3).text(OsStr::from_bytes(bytes)).number((*mode).into());
            }
            Self::Directory { entries, mode } => {
                message.number(4).number((*mode).into()).number(entries.len() as u64);
                for (name, kept) in entries {
                    message.text(name);
                    kept.encode(message);
                }
            }
            Self::Known { inode, length, changed_ns } => {
                let changed = changed_ns.to_le_bytes();
                message.number(5).number(*inode).number(*length).text(OsStr::from_bytes(&changed));
            }
        }
    }

    fn decode(message: &mut Decoder<'_>, depth: usize) -> io::Result<Self> {
        let invalid = || io::Error::other("the record is of another version of moss");
        let mode = |number: u64| u32::try_from(number).map_err(|_| invalid());
        Ok(match message.number()? {
            0 => Self::Missing,
            1 => Self::Unknown,
            2 => Self::Link(message.text()?.into()),
            3 => {
                let bytes = message.text()?.into_vec();
                Self::File { bytes, mode: mode(message.number()?)? }
            }
            4 if depth < DEPTH_MAX => {
                let mode = mode(message.number()?)?;
                let count = message.number()?;
                let mut entry = || Ok((message.text()?, Self::decode(message, depth + 1)?));
                let entries = (0..count).map(|_| entry()).collect::<io::Result<_>>()?;
                Self::Directory { entries, mode }
            }
            5 => {
                let (inode, length) = (message.number()?, message.number()?);
                let changed = message.text()?.into_vec().try_into().map_err(|_| invalid())?;
                Self::Known { inode, length, changed_ns: i128::from_le_bytes(changed) }
            }
            _ => return Err(invalid()),
        })
    }

    fn write(&self, directory: &ReachedDirectory, name: &OsStr) -> io::Result<()> {
        match self {
            Self::Missing => Ok(()),
            Self::Link(target) => directory.make_link(target, name),
            Self::File { bytes, mode } => {
                let mut file = directory.create(name)?;
                file.write_all(bytes)?;
                file.set_permissions(std::fs::Permissions::from_mode(*mode))?;
                Ok(())
            }
            Self::Directory { entries, mode } => {
                let child = directory.make_child(name)?;
                for (name, kept) in entries {
                    kept.write(&child, name)?;
                }
                child.set_mode(*mode)
            }
            Self::Known { .. } | Self::Unknown => Err(io::Error::other("its content was not kept")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_changed_made_or_removed_is_restored_and_set_aside() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("hooks")).unwrap();
        fs::write(path("hooks/old"), "old").unwrap();
        fs::write(path("config"), "before").unwrap();
        fs::write(path("removed"), "there").unwrap();
        fs::write(path("same"), "same").unwrap();
        std::os::unix::fs::symlink("same", path("link")).unwrap();
        let names = ["hooks", "config", "removed", "same", "link", "missing"];
        let snapshot = Snapshot::take(&names.map(path), &[root.path().canonicalize().unwrap()]);
        let mut message = Encoder::default();
        snapshot.encode(&mut message);
        let written = message.into_bytes();
        let read = Snapshot::decode(&mut Decoder::new(&written)).unwrap();
        assert_eq!(read.kept, snapshot.kept);
        assert_eq!(read.missing().collect::<Vec<_>>(), [path("missing")]);

        fs::write(path("hooks/pre-commit"), "evil").unwrap();
        fs::write(path("config"), "evil").unwrap();
        fs::remove_file(path("removed")).unwrap();
        fs::remove_file(path("link")).unwrap();
        fs::write(path("link"), "no link").unwrap();
        fs::create_dir(path("missing")).unwrap();

        let compared = snapshot.restore();
        let changed = ["hooks", "config", "removed", "link", "missing"];
        assert_eq!(compared.restored, changed.map(path));
        assert!(compared.changed.is_empty());
        assert_eq!(fs::read_dir(path("hooks")).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(path("config")).unwrap(), "before");
        assert_eq!(fs::read_to_string(path("removed")).unwrap(), "there");
        assert_eq!(fs::read_link(path("link")).unwrap(), Path::new("same"));
        assert!(!path("missing").exists());
        assert_eq!(fs::read_to_string(path(&format!("config{ASIDE}"))).unwrap(), "evil");
        assert_eq!(snapshot.restore(), ComparedPaths::default());
    }

    #[test]
    fn nothing_is_done_where_a_link_of_a_command_leads() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let path = |name: &str| root.join(name);
        for directory in ["nested/.git/hooks", "away/.git/hooks"] {
            fs::create_dir_all(path(directory)).unwrap();
        }
        fs::write(path("nested/.git/config"), "before").unwrap();
        fs::write(path("away/.git/config"), "of the person").unwrap();
        fs::write(path("away/.git/hooks/own"), "of the person").unwrap();
        let paths = ["nested/.git/config", "nested/.git/hooks", "nested/.git/made"].map(path);
        let snapshot = Snapshot::take(&paths, std::slice::from_ref(&root));
        // As another command may do at any moment.
        fs::rename(path("nested"), path("moved")).unwrap();
        std::os::unix::fs::symlink("away", path("nested")).unwrap();
        fs::write(path("away/.git/made"), "of the person").unwrap();
        let compared = snapshot.restore();
        assert_eq!(compared.restored, paths[..2]);
        for name in ["config", "hooks/own", "made"] {
            let kept = fs::read_to_string(path("away/.git").join(name)).unwrap();
            assert_eq!(kept, "of the person", "{name}");
        }
        assert!(path(&format!("nested{ASIDE}")).is_symlink());
        assert_eq!(fs::read_to_string(path("nested/.git/config")).unwrap(), "before");
        fs::remove_dir_all(path("nested")).unwrap();
        std::os::unix::fs::symlink("away", path("nested")).unwrap();
        assert!(set_aside(&path("nested/.git/config")).is_err());
        assert!(path("away/.git/config").exists());
        let long = path(&"n".repeat(NAME_BYTES_MAX));
        fs::write(&long, "long").unwrap();
        set_aside(&long).unwrap();
        assert!(!long.exists());
        // What was set aside before is removed, however deep it is.
        fs::create_dir_all(path("conf.set-aside-by-moss").join("d/".repeat(300))).unwrap();
        fs::write(path("conf"), "new").unwrap();
        set_aside(&path("conf")).unwrap();
        assert!(!path("conf").exists());
        assert_eq!(fs::read_to_string(path("conf.set-aside-by-moss")).unwrap(), "new");
    }

    #[test]
    fn where_what_was_set_aside_before_cannot_be_removed_the_name_has_a_number() {
        let name = |taken: usize| aside_name(OsStr::new("conf"), |_, number| number > taken);
        assert_eq!(name(0).unwrap(), "conf.set-aside-by-moss");
        assert_eq!(name(1).unwrap(), "conf.set-aside-by-moss2");
        assert_eq!(name(99).unwrap(), "conf.set-aside-by-moss100");
        assert_eq!(name(100), None);
    }

    #[test]
    fn a_link_around_what_commands_write_is_the_persons() {
        let around = tempfile::tempdir().unwrap();
        let around = around.path().canonicalize().unwrap();
        let root = around.join("work");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/config"), "before").unwrap();
        let kept = Snapshot::take(&[root.join(".git/config")], std::slice::from_ref(&root));
        // As somebody may who moves the workspace, and comes back to it by its old name.
        fs::rename(&root, around.join("moved")).unwrap();
        std::os::unix::fs::symlink("moved", &root).unwrap();
        assert_eq!(kept.restore().changed, [root.join(".git/config")]);
        assert!(root.is_symlink());
        assert_eq!(fs::read_to_string(around.join("moved/.git/config")).unwrap(), "before");
        assert_eq!(fs::read_dir(&around).unwrap().count(), 2);
    }

    #[test]
    fn a_directory_deeper_than_a_record_may_be_is_known_and_no_more() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("hooks").join("d/".repeat(DEPTH_MAX + 40))).unwrap();
        let kept = Snapshot::take(&[root.join("hooks")], std::slice::from_ref(&root));
        let mut message = Encoder::default();
        kept.encode(&mut message);
        let written = message.into_bytes();
        assert_eq!(Snapshot::decode(&mut Decoder::new(&written)).unwrap().kept, kept.kept);
        assert_eq!(kept.restore(), ComparedPaths::default());
    }

    #[test]
    fn what_a_link_had_led_to_is_compared_there_and_a_link_led_elsewhere_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let path = |name: &str| root.join(name);
        for directory in ["one", "two"] {
            fs::create_dir(path(directory)).unwrap();
            fs::write(path(directory).join("config"), directory).unwrap();
        }
        std::os::unix::fs::symlink("one", path("link")).unwrap();
        let snapshot = Snapshot::take(&[path("link/config")], std::slice::from_ref(&root));
        assert_eq!(snapshot.restore(), ComparedPaths::default());
        fs::write(path("one/config"), "changed").unwrap();
        assert_eq!(snapshot.restore().restored, [path("link/config")]);
        assert_eq!(fs::read_to_string(path("one/config")).unwrap(), "one");
        fs::remove_file(path("link")).unwrap();
        std::os::unix::fs::symlink("two", path("link")).unwrap();
        assert_eq!(snapshot.restore().changed, [path("link/config")]);
        assert_eq!(fs::read_to_string(path("two/config")).unwrap(), "two");
        let elsewhere = Snapshot::take(&[path("link/config")], &[path("one")]);
        assert!(elsewhere.kept.is_empty(), "it leads out of what is written");
    }

    #[test]
    fn a_change_of_what_is_too_large_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("large");
        fs::File::create(&path).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        let snapshot = Snapshot::take(std::slice::from_ref(&path), &[root.path().into()]);
        fs::write(&path, "small").unwrap();
        assert_eq!(snapshot.restore().changed, [path]);
    }
}
