//! What a command may not read of the system, where nothing but Landlock keeps it in, as rules that are made once
//! and not for each command: in a directory that holds a secret, every other entry needs a rule of its own.
//!
//! What several sets of rules apply to, each of them has to let through. So this one lets through
//! whatever is no secret of the system, and leaves it to those of the command what that may do there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use landlock::{
    Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _,
};

use crate::carve::Carving;
use crate::keeper::{NEWEST, opened_for_rule};
use crate::order::AppliedLayer;
use crate::visible;

/// For so long rules are kept whatever is seen of the system: a mount comes and leaves no trace in the directory
/// around it.
const KEPT_MAX: Duration = Duration::from_secs(60);
/// A directory that changed so short a time ago may change once more without another time of change.
const SETTLED_MIN: Duration = Duration::from_secs(2);

/// The rules that were made last.
#[derive(Debug, Default)]
pub(crate) struct SystemLayers(Mutex<Option<SystemLayer>>);

/// Rules that let through all but secrets of the system.
#[derive(Debug)]
struct SystemLayer {
    masked: Vec<PathBuf>,
    /// The directories of the system that hold them.
    directories: Vec<PathBuf>,
    /// What every entry was looked at of, as it was then.
    listed: Vec<(PathBuf, Option<DirectoryStamp>)>,
    made: Instant,
    rules: OwnedFd,
}

/// What changes when an entry of a directory comes, goes or is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DirectoryStamp {
    identity: (u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
}

// === impl SystemLayers ===

impl SystemLayers {
    /// Rules that keep from a command what is masked of the system; none where nothing is.
    pub(crate) fn keep_from(&self, masked: &[PathBuf]) -> io::Result<Option<AppliedLayer>> {
        let of_system = |path: &&PathBuf| visible::SYSTEM.iter().any(|root| path.starts_with(root));
        let masked: Vec<_> = masked.iter().filter(of_system).cloned().collect();
        if masked.is_empty() {
            return Ok(None);
        }
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let layer = match last.take().filter(|layer| layer.masked == masked && layer.is_fresh()) {
            Some(layer) => layer,
            None => SystemLayer::make(masked)?,
        };
        let rules = layer.rules.try_clone()?;
        let applied = AppliedLayer { directories: layer.directories.clone(), rules };
        if layer.is_settled() {
            *last = Some(layer);
        }
        Ok(Some(applied))
    }
}

// === impl SystemLayer ===

impl SystemLayer {
    fn make(masked: Vec<PathBuf>) -> io::Result<Self> {
        let holds = |root: &&Path| masked.iter().any(|mask| mask.starts_with(root));
        let directories = visible::SYSTEM.iter().map(Path::new).filter(holds);
        let directories: Vec<PathBuf> = directories.map(Path::to_owned).collect();
        let root = Path::new("/");
        let made = Instant::now();
        // Looked at before what is in them: what changes meanwhile is seen next time.
        let around: BTreeSet<&Path> =
            masked.iter().flat_map(|mask| mask.ancestors().skip(1)).collect();
        let listed = around.into_iter().map(|path| (path.to_owned(), DirectoryStamp::of(path)));
        let listed = listed.collect();
        let mut carving = Carving::default();
        carving.add(root, &masked);
        let rules = rules(&carving.0).map_err(io::Error::other)?;
        Ok(Self { masked, directories, listed, made, rules })
    }

    fn is_fresh(&self) -> bool {
        let mut listed = self.listed.iter();
        self.made.elapsed() < KEPT_MAX
            && listed.all(|(path, stamp)| DirectoryStamp::of(path) == *stamp)
    }

    fn is_settled(&self) -> bool {
        self.listed.iter().all(|(_, stamp)| stamp.is_some_and(|stamp| stamp.is_settled()))
    }
}

/// Lets through everything in these.
fn rules(granted: &[PathBuf]) -> Result<OwnedFd, String> {
    let text = |error: landlock::RulesetError| error.to_string();
    let all = AccessFs::from_all(NEWEST);
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let mut created = ruleset.handle_access(all).map_err(text)?.create().map_err(text)?;
    for path in granted {
        let Some(beneath) = opened_for_rule(path) else { continue };
        // For a file the library leaves out what only directories have.
        created = created.add_rule(PathBeneath::new(beneath, all)).map_err(text)?;
    }
    Option::<OwnedFd>::from(created).ok_or_else(|| "the kernel has no Landlock".to_owned())
}

// === impl DirectoryStamp ===

impl DirectoryStamp {
    /// None where it cannot be looked at.
    fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Self {
            identity: (found.dev(), found.ino()),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// Whether another change would have another time.
    fn is_settled(self) -> bool {
        let changed = u64::try_from(self.changed.0).map(Duration::from_secs).unwrap_or_default();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        now.checked_sub(changed).is_some_and(|since| since >= SETTLED_MIN)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd as _;

    use super::*;
    use crate::system;

    #[test]
    fn what_is_masked_of_the_system_is_not_read_and_all_else_is() {
        let layers = SystemLayers::default();
        let of_workspace = PathBuf::from("/srv/project/.env");
        assert!(layers.keep_from(std::slice::from_ref(&of_workspace)).unwrap().is_none());
        let masked = [PathBuf::from("/etc/passwd"), of_workspace];
        let applied = layers.keep_from(&masked).unwrap().unwrap();
        assert_eq!(applied.directories, [Path::new("/etc")]);
        let folder = tempfile::tempdir().unwrap();
        // Rules are those of a thread: the others of this process go on without.
        let bound = std::thread::spawn(move || {
            rustix::thread::set_no_new_privs(true).unwrap();
            system::restrict_self(applied.rules.as_fd()).unwrap();
            let denied = File::open("/etc/passwd").unwrap_err().kind();
            fs::write(folder.path().join("new"), "x").unwrap();
            (denied, fs::read_dir("/usr").is_ok(), File::open("/etc/group").is_ok())
        });
        assert_eq!(bound.join().unwrap(), (io::ErrorKind::PermissionDenied, true, true));
        assert!(File::open("/etc/passwd").is_ok());
    }

    #[test]
    fn rules_are_kept_until_a_directory_changes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("shadow"), "x").unwrap();
        let layer = SystemLayer::make(vec![root.join("shadow")]).unwrap();
        let known =
            |path: &Path| layer.listed.iter().find(|(at, _)| at == path).unwrap().1.unwrap();
        assert_eq!(known(Path::new("/")), DirectoryStamp::of(Path::new("/")).unwrap());
        assert_eq!(known(&root), DirectoryStamp::of(&root).unwrap());
        assert!(!known(&root).is_settled(), "another change would have the same time");
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        File::open(&root).unwrap().set_modified(long_ago).unwrap();
        assert_ne!(known(&root), DirectoryStamp::of(&root).unwrap());
        assert!(!layer.is_fresh());
    }

    #[test]
    fn rules_are_made_once_for_the_same_secrets() {
        let layers = SystemLayers::default();
        let made =
            |layers: &SystemLayers| layers.0.lock().unwrap().as_ref().map(|layer| layer.made);
        let masked = [PathBuf::from("/usr/bin/env")];
        layers.keep_from(&masked).unwrap();
        // Where something has just been installed they are not kept.
        let Some(first) = made(&layers) else {
            assert!(!SystemLayer::make(masked.to_vec()).unwrap().is_settled());
            return;
        };
        layers.keep_from(&masked).unwrap();
        assert_eq!(made(&layers), Some(first));
        layers.keep_from(&[PathBuf::from("/usr/bin/sh")]).unwrap();
        assert_ne!(made(&layers), Some(first));
    }
}
