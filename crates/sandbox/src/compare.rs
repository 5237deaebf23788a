//! Protected paths that nothing keeps from being changed while a command runs: what they held is
//! kept before, compared afterwards and restored. Nothing is lost: what a command made in their
//! stead is set aside under another name.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::content_before::ContentBefore;
use crate::kept_path::KeptPath;
use crate::other_worktrees::{LEADS_BACK, NoticedPaths, is_removed};
use crate::reached::{ReachedDirectory, real_of};
use crate::shares;
use crate::snapshot_plan::SnapshotPlan;
use crate::wire::{Decoder, Encoder};

/// Permissions by which the owner of a directory lists, enters and changes it.
const OWNER_MODE: u32 = 0o700;

/// What protected paths held before a command ran.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    kept: Vec<KeptPath>,
    /// The permissions of the directories above them, as far as commands write there.
    above: BTreeMap<PathBuf, u32>,
    /// What is not restored, whoever changes it.
    noticed: NoticedPaths,
    /// What else is known of it, while it runs.
    plan: Option<SnapshotPlan>,
}

/// What became of protected paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ComparedPaths {
    /// Those that were changed, and are as before.
    pub restored: Vec<PathBuf>,
    /// Those that were changed and could not be restored.
    pub changed: Vec<PathBuf>,
    /// Those that git rewrites in other worktrees and that were changed, by whomever: they are not restored.
    pub unattributed: Vec<PathBuf>,
}

// === impl Snapshot ===

impl Snapshot {
    /// Keeps what a command may not change.
    pub(crate) fn of(plan: SnapshotPlan) -> Self {
        let is_of_others = |path: &PathBuf| plan.of_others.contains(path);
        let compared = plan.compared.iter().cloned();
        let (of_others, compared): (Vec<_>, Vec<_>) = compared.partition(is_of_others);
        let noticed = NoticedPaths::look(of_others, &plan.written);
        let taken = Self::take(&compared, &plan.written);
        Self { plan: Some(plan), noticed, ..taken }
    }

    /// Keeps what the paths hold that lie where a command writes, whatever leads there. Of more than can be kept each
    /// place has its share, and the rest is only known.
    pub(crate) fn take(paths: &[PathBuf], written: &[PathBuf]) -> Self {
        let mut snapshot = Self::default();
        for path in paths {
            let real = real_of(path);
            // Another command may have put a link there since it was planned.
            let around = written.iter().filter(|root| real.starts_with(root));
            let Some(root) = around.min_by_key(|root| root.as_os_str().len()).cloned() else {
                continue;
            };
            snapshot.add_above(&real, &root);
            let before = ContentBefore::Unknown;
            snapshot.kept.push(KeptPath { path: path.clone(), real, root, before });
        }
        let paths = snapshot.kept.iter().map(|kept| (kept.real.as_path(), kept.root.as_path()));
        let before = shares::keep(&paths.collect::<Vec<_>>());
        for (kept, before) in snapshot.kept.iter_mut().zip(before) {
            kept.before = before;
        }
        snapshot
    }

    /// Keeps the permissions of the directories above a path.
    fn add_above(&mut self, real: &Path, root: &Path) {
        for around in real.ancestors().skip(1).take_while(|around| around.starts_with(root)) {
            if self.above.contains_key(around) {
                return;
            }
            let Ok((directory, name)) = ReachedDirectory::above(around) else { continue };
            if let Ok(found) = directory.stat(name)
                && found.kind == FileType::Directory
            {
                self.above.insert(around.to_owned(), found.mode);
            }
        }
    }

    /// Compares, and restores what is not as it was. Other commands may run meanwhile: no link is followed that
    /// one of them makes.
    pub(crate) fn restore(&self) -> ComparedPaths {
        let restored = self.open_again();
        let unattributed = self.noticed.changed();
        let mut compared = ComparedPaths { restored, changed: Vec::new(), unattributed };
        let removed = self.removed(&compared.unattributed);
        let is_removed = |kept: &&KeptPath| removed.iter().any(|one| kept.real.starts_with(one));
        for kept in self.kept.iter().filter(|kept| !is_removed(kept)) {
            if kept.before.is_at(&kept.real) && real_of(&kept.path) == kept.real {
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

    /// The directories among those of other worktrees that somebody has removed with their worktrees.
    fn removed(&self, of_others: &[PathBuf]) -> Vec<PathBuf> {
        let is_gone = |directory: &&PathBuf| {
            let leads = self.kept.iter().find(|kept| kept.path == directory.join(LEADS_BACK));
            leads.is_some_and(|kept| is_removed(directory, &kept.before, |at| self.writes(at)))
        };
        of_others.iter().filter(is_gone).cloned().collect()
    }

    /// Gives back what a command took of its own user's permissions above what is compared: closed, nobody could
    /// look at that or restore it. What is not the user's stays.
    pub(crate) fn open_again(&self) -> Vec<PathBuf> {
        // From the outside in.
        let opened = self.above.iter().filter(|(path, mode)| {
            let Ok((directory, name)) = ReachedDirectory::above(path) else { return false };
            let found = directory.stat(name).ok();
            let found = found.filter(|found| found.kind == FileType::Directory);
            let is_less = found.is_some_and(|found| !found.mode & **mode & OWNER_MODE != 0);
            is_less && directory.set_mode_of(name, **mode).is_ok()
        });
        opened.map(|(path, _)| path.clone()).collect()
    }

    /// Whether its command writes in a directory that was open to it when it began.
    pub(crate) fn found_open(&self, directory: &Path) -> bool {
        let above = self.above.get(directory).is_some_and(|mode| mode & OWNER_MODE == OWNER_MODE);
        let is_open =
            |kept: &KeptPath| kept.real == directory && kept.before != ContentBefore::Unknown;
        above || self.kept.iter().any(is_open)
    }

    /// Takes what another command held that began before this one, and has ended: what it changed meanwhile is not
    /// what was before. `compared` is what became of that. Returns whether anything is other than it was held to be.
    pub(crate) fn learn(&mut self, earlier: &Self, compared: &ComparedPaths) -> bool {
        let mut has_opened = false;
        for (path, mode) in &mut self.above {
            let before = *mode;
            *mode |= earlier.above.get(path).unwrap_or(&0) & OWNER_MODE;
            has_opened |= before != *mode;
        }
        let held = earlier.kept.iter().map(|kept| {
            // What nobody could restore is no more what was before than what is there.
            let is_lost = compared.changed.contains(&kept.path);
            (kept.real.as_path(), if is_lost { &ContentBefore::Unknown } else { &kept.before })
        });
        let held = held.collect();
        let is_same = |own: &SnapshotPlan| {
            earlier.plan.as_ref().is_some_and(|other| own.workspace == other.workspace)
        };
        let own = self.plan.take_if(|own| is_same(own));
        let Some((mut own, other)) = own.zip(earlier.plan.as_ref()) else {
            return self.replace(&held, |_| false) | has_opened;
        };
        // What it knew nothing of was not there when it began: gone, it is as before.
        let has_changed = self.replace(&held, |kept| {
            kept.before != ContentBefore::Missing
                && !other.has(&kept.path)
                && other.written.iter().any(|root| kept.real.starts_with(root))
                && ContentBefore::known_at(&kept.real) == ContentBefore::Missing
        });
        let removed = earlier.removed(&compared.unattributed);
        // What was there when this one began is left to its own rules.
        let is_missed = |kept: &&KeptPath| {
            own.written.contains(&kept.root)
                && own.moved.contains(&kept.path)
                && !own.has(&kept.path)
                && !other.is_masked(&kept.path)
                && !compared.changed.contains(&kept.path)
                && !removed.iter().any(|gone| kept.path.starts_with(gone))
        };
        let missed: Vec<_> = earlier.kept.iter().filter(is_missed).cloned().collect();
        for kept in &missed {
            self.add_above(&kept.real, &kept.root);
        }
        let has_missed = !missed.is_empty();
        // What it takes of it is written down no more than that was.
        own.masked.extend(other.masked.iter().cloned());
        self.kept.extend(missed);
        self.plan = Some(own);
        has_changed || has_missed || has_opened
    }

    /// Which of the paths it has are gone, as far as another plan has them not.
    pub(crate) fn gone<'a>(&'a self, plan: &'a SnapshotPlan) -> impl Iterator<Item = &'a Path> {
        let is_same = self.plan.as_ref().is_some_and(|own| own.workspace == plan.workspace);
        let unknown = self.kept.iter().filter(move |kept| is_same && !plan.has(&kept.path));
        let gone = unknown.filter(|kept| kept.real.symlink_metadata().is_err());
        gone.map(|kept| kept.path.as_path())
    }

    /// Takes note that something may not be there and was moved away. Returns whether that is other than it was held
    /// to be.
    pub(crate) fn forget(&mut self, path: &Path) -> bool {
        let real = real_of(path);
        self.replace(&BTreeMap::from([(real.as_path(), &ContentBefore::Missing)]), |_| false)
    }

    /// Replaces what is held at paths, above and beneath them; and by nothing what lies apart and is gone.
    fn replace(
        &mut self,
        held: &BTreeMap<&Path, &ContentBefore>,
        is_gone: impl Fn(&KeptPath) -> bool,
    ) -> bool {
        let mut has_changed = false;
        for kept in &mut self.kept {
            let real = kept.real.as_path();
            let around = real.ancestors().find_map(|above| Some((above, held.get(above)?)));
            let inner = held.range::<Path, _>((Bound::Excluded(real), Bound::Unbounded));
            let mut inner = inner.take_while(|(path, _)| path.starts_with(real)).peekable();
            let before = if let Some((above, content)) = around {
                content.beneath(real.strip_prefix(above).unwrap_or(real)).clone()
            } else if inner.peek().is_some() {
                let mut before = kept.before.clone();
                for (path, content) in inner {
                    before.put(path.strip_prefix(real).unwrap_or(path), content);
                }
                before
            } else if is_gone(kept) {
                ContentBefore::Missing
            } else {
                continue;
            };
            has_changed |= before != kept.before;
            kept.before = before;
        }
        has_changed
    }

    /// Whether its command writes where a path is.
    pub(crate) fn writes(&self, path: &Path) -> bool {
        let written = self.plan.iter().flat_map(|plan| &plan.written);
        written.into_iter().any(|root| path.starts_with(root))
    }

    /// Whether its command writes anywhere in a directory.
    pub(crate) fn writes_in(&self, directory: &Path) -> bool {
        let mut written = self.plan.iter().flat_map(|plan| &plan.written);
        written.any(|root| root.starts_with(directory)) || self.writes(directory)
    }

    /// Whether its command may write a path, which was neither protected nor masked when it began.
    pub(crate) fn leaves(&self, path: &Path) -> bool {
        let protects = |around: &Path| {
            let has = |plan: &SnapshotPlan| {
                plan.protected.contains(around) || plan.masked.contains(around)
            };
            self.plan.as_ref().is_some_and(has)
        };
        self.writes(path) && !path.ancestors().any(protects)
    }

    /// The directories in which it has something: of what commands write, those around it.
    pub(crate) fn roots(&self) -> impl Iterator<Item = PathBuf> {
        let roots: BTreeSet<&PathBuf> = self.kept.iter().map(|kept| &kept.root).collect();
        roots.into_iter().cloned()
    }

    /// What else is known of its command.
    pub(crate) fn into_plan(self) -> Option<SnapshotPlan> {
        self.plan
    }

    /// The paths at which nothing was.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &Path> {
        self.paths_of(&ContentBefore::Missing)
    }

    /// The paths at which nobody can look.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &Path> {
        self.paths_of(&ContentBefore::Unknown)
    }

    /// Leaves out what nobody can look at.
    pub(crate) fn drop_unknown(&mut self) {
        self.kept.retain(|kept| kept.before != ContentBefore::Unknown);
    }

    fn paths_of(&self, before: &ContentBefore) -> impl Iterator<Item = &Path> {
        let kept = self.kept.iter().filter(move |kept| kept.before == *before);
        kept.map(|kept| kept.path.as_path())
    }

    pub(crate) fn encode(&self, message: &mut Encoder) {
        // What is kept from commands is not written down.
        let is_secret = |kept: &&KeptPath| {
            let is_masked =
                |plan: &SnapshotPlan| plan.is_masked(&kept.path) || plan.is_masked(&kept.real);
            self.plan.as_ref().is_some_and(is_masked) && kept.before != ContentBefore::Missing
        };
        let masked = self.plan.as_ref().map(|plan| &plan.masked);
        let kept: Vec<_> = self.kept.iter().filter(|kept| !is_secret(kept)).collect();
        message.number(kept.len() as u64);
        for KeptPath { path, real, root, before } in kept {
            message.text(path).text(real).text(root);
            use ContentBefore::{Missing, Unknown};
            let mut before = before.clone();
            let above = (Bound::Excluded(real.as_path()), Bound::Unbounded);
            let inner = masked.into_iter().flat_map(|masked| masked.range::<Path, _>(above));
            for inner in inner.map_while(|inner| inner.strip_prefix(real).ok()) {
                let is_kept = !matches!(before.beneath(inner), Missing | Unknown);
                if is_kept {
                    before.put(inner, &ContentBefore::Unknown);
                }
            }
            before.encode(message);
        }
        message.number(self.above.len() as u64);
        for (path, mode) in &self.above {
            message.text(path).number((*mode).into());
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
        // A record of an older version has no more.
        let count = message.number().unwrap_or(0);
        let mut above = || {
            let path = message.text()?.into();
            Ok((path, u32::try_from(message.number()?).map_err(io::Error::other)?))
        };
        let above = (0..count).map(|_| above()).collect::<io::Result<_>>()?;
        Ok(Self { kept, above, ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;
    use crate::aside::{ASIDE, NAME_BYTES_MAX, move_aside};
    use crate::content_before::{DEPTH_MAX, FILE_BYTES_MAX};

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
        assert!(move_aside(&path("nested/.git/config")).is_err());
        assert!(path("away/.git/config").exists());
        let long = path(&"n".repeat(NAME_BYTES_MAX));
        fs::write(&long, "long").unwrap();
        move_aside(&long).unwrap();
        assert!(!long.exists());
        // What was set aside before is removed where that takes no time.
        fs::create_dir_all(path("conf.set-aside-by-moss").join("d/".repeat(30))).unwrap();
        fs::write(path("conf"), "new").unwrap();
        move_aside(&path("conf")).unwrap();
        assert!(!path("conf").exists());
        assert_eq!(fs::read_to_string(path("conf.set-aside-by-moss")).unwrap(), "new");
    }

    #[test]
    fn what_is_masked_is_not_written_down() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir(root.join("tool")).unwrap();
        for name in ["secret", "tool/key"] {
            fs::write(root.join(name), "canary").unwrap();
        }
        fs::write(root.join("tool/hook"), "before").unwrap();
        let plan = |names: &[&str], masked: &[&str], moved: &[&str]| SnapshotPlan {
            workspace: root.clone(),
            protected: BTreeSet::new(),
            masked: masked.iter().map(|name| root.join(name)).collect(),
            compared: names.iter().map(|name| root.join(name)).collect(),
            of_others: BTreeSet::new(),
            written: vec![root.clone()],
            looked: Instant::now(),
            moved: moved.iter().map(|name| root.join(name)).collect(),
        };
        let earlier = Snapshot::of(plan(&["secret", "tool"], &["secret", "tool/key"], &[]));
        // To the later one they were not there.
        let mut later = Snapshot::of(plan(&[], &[], &["secret", "tool"]));
        assert!(later.learn(&earlier, &ComparedPaths::default()));
        assert_eq!(
            later.kept.iter().map(|kept| &kept.path).collect::<Vec<_>>(),
            [&root.join("tool")]
        );
        for snapshot in [earlier, later] {
            let mut message = Encoder::default();
            snapshot.encode(&mut message);
            let written = String::from_utf8_lossy(&message.finish().unwrap()).into_owned();
            assert!(!written.contains("canary") && written.contains("before"), "{written}");
        }
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
