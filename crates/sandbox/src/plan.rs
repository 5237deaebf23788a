//! Which files a command sees and may write, worked out for one command: a list of mounts for
//! bubblewrap, the rules of Landlock, and what can only be compared afterwards.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::bound_sockets::{BoundSockets, PendingSockets};
use crate::caches::{Cache, CacheBounds};
use crate::carve::Carving;
use crate::command::{NetworkMode, Profile, SandboxedCommand};
use crate::cover::{self, TooManyMounts};
use crate::environment::SelectedEnvironment;
use crate::error::SandboxError;
use crate::hindered::HinderingPaths;
use crate::listing::NameListing;
use crate::mount_index::MountIndex;
use crate::mounts::PlannedMount;
use crate::order::{CoverOrder, LandlockRules};
use crate::real_paths::RealPaths;
use crate::repository::{self, GitAccess};
use crate::running_snapshots::LooseFiles;
use crate::toolchains::{self, home, toolchains};
use crate::tracked_masks::{KnownIndexes, TrackedMasks};
use crate::visible;

/// Permissions by which the owner of a directory looks into it.
const OWNER_LOOKS: u32 = 0o500;

/// What is worked out.
#[derive(Debug, Default)]
pub(crate) struct FilePlan {
    pub(crate) mounts: Vec<PlannedMount>,
    pub(crate) landlock: LandlockRules,
    /// Protected paths that no mount protects: they are compared afterwards.
    pub(crate) compared: Vec<PathBuf>,
    /// Where a command writes: nothing elsewhere is compared or restored.
    pub(crate) written: Vec<PathBuf>,
    /// What is protected, by a mount or by none, what matters most first.
    pub(crate) ranked: Vec<PathBuf>,
    /// What is covered by mounts that have to stay.
    pub(crate) covers: CoverOrder,
    /// What git rewrites of other worktrees, and what decides about code in that.
    pub(crate) of_others: BTreeSet<PathBuf>,
    inner: BTreeSet<PathBuf>,
    /// What of that keeps files from being changed.
    pub(crate) hindering: HinderingPaths,
    /// The repositories of which something is protected.
    pub(crate) repositories: Vec<PathBuf>,
    /// The paths at which something hides what is there.
    pub(crate) kept_from: BTreeSet<PathBuf>,
    /// What of that git tracks.
    pub(crate) tracked: TrackedMasks,
}

/// Works out what a command sees, where there are these sockets, with at most so many mounts that cover something.
pub(crate) fn plan(
    command: &SandboxedCommand,
    environment: &SelectedEnvironment,
    sockets: PendingSockets,
    (loose, mounts_max): (&LooseFiles, usize),
) -> Result<FilePlan, SandboxError> {
    let (mut plan, real) = (FilePlan::default(), RealPaths::default());
    let home = home(environment);
    let roots = toolchains(environment, home.as_deref());
    let listing = home.as_deref().map(NameListing::of);
    // Nothing of them is hidden from who may do all that its user may.
    let shown = roots.iter().filter(|_| command.profile != Profile::DangerFull);
    let toolchains: Vec<_> = shown.map(|root| NameListing::of(root)).collect();
    let mut masked: BTreeSet<PathBuf> =
        real.reachable(toolchains::masked(command, listing.as_ref(), &toolchains)).collect();
    if command.profile == Profile::DangerFull {
        plan.mounts.push(PlannedMount::Everything);
        plan.cover(command, (masked, Vec::new()), &real, (loose, mounts_max))?;
        return Ok(plan);
    }
    let bounds = CacheBounds::new(&command.files, home.as_deref(), masked.iter().cloned());
    let caches = bounds.choose(command.files.writable.iter().cloned(), &real);
    plan.show_system(command.network, &real);
    if let Some(listing) = &listing {
        let found = listing.candidates(visible::HOME).filter_map(|path| {
            let is_directory = fs::metadata(&path).ok()?.is_dir();
            Some((path, is_directory))
        });
        let found: Vec<_> = found.collect();
        plan.show_home(listing.directory, found.iter().map(|(path, _)| path), (&caches, &real));
        let others =
            found.iter().filter(|(path, is_directory)| *is_directory && !roots.contains(path));
        let others = others.map(|(path, _)| NameListing::of(path));
        masked.extend(real.reachable(others.flat_map(|other| toolchains::secrets(&other))));
    }
    masked.extend(real.reachable(toolchains.iter().flat_map(toolchains::secrets)));
    let is_apart =
        |root: &&PathBuf| !root.starts_with(&command.files.workspace) && !is_within(root, &caches);
    for root in roots.iter().filter(is_apart) {
        plan.show(root, &real);
    }
    let repositories = repository::read_all(&command.files);
    plan.show_view(command, (&caches, &repositories), &real);
    plan.hide_others(command, sockets.wait()?, &mut masked, &real);
    plan.cover(command, (masked, repositories), &real, (loose, mounts_max))?;
    plan.landlock.sockets = command.files.sockets.clone();
    // A network namespace has a loopback interface of its own, which tests may use.
    plan.landlock.has_network = true;
    Ok(plan)
}

/// Whether a path lies in a cache: what a command made a link there may lead anywhere, and is not followed.
fn is_within(path: &Path, caches: &[Cache]) -> bool {
    caches.iter().any(|cache| path.starts_with(&cache.at) || path.starts_with(&cache.real))
}

// === impl FilePlan ===

impl FilePlan {
    /// Covers what a command may not read, and what it may not change.
    fn cover(
        &mut self,
        command: &SandboxedCommand,
        found: (BTreeSet<PathBuf>, Vec<(PathBuf, GitAccess)>),
        real: &RealPaths,
        bounds: (&LooseFiles, usize),
    ) -> Result<(), TooManyMounts> {
        let written = self.mounts.iter().filter(|mount| mount.is_writable());
        self.written = written.map(|mount| mount.at().to_owned()).collect();
        let mut covering = cover::cover(&self.mounts, command, found, real, bounds)?;
        let masks = covering.mounts.iter().filter(|mount| mount.is_mask());
        self.kept_from = masks.map(|mask| mask.at().to_owned()).collect();
        self.mounts.append(&mut covering.mounts);
        self.compared.append(&mut covering.compared);
        (self.ranked, self.covers) = (covering.ranked, covering.covers);
        (self.of_others, self.inner) = (covering.of_others, covering.inner);
        (self.repositories, self.hindering) = (covering.repositories, covering.hindering);
        Ok(())
    }

    /// Hides the sockets that nobody granted outside of the workspace, and what is hidden by each name that links give it.
    fn hide_others(
        &self,
        command: &SandboxedCommand,
        sockets: BoundSockets,
        masked: &mut BTreeSet<PathBuf>,
        real: &RealPaths,
    ) {
        let index = MountIndex::of(&self.mounts);
        let is_seen =
            |path: &Path| index.find(path).is_some_and(|place| self.mounts[place].shows_host());
        let links = self.links(real);
        let named = |path: &Path| {
            let by_link = |(real, at): &(PathBuf, PathBuf)| {
                path.strip_prefix(real).ok().map(|beneath| at.join(beneath))
            };
            links.iter().filter_map(by_link).collect::<Vec<_>>()
        };
        let granted: HashSet<PathBuf> = real.reachable(&command.files.sockets).collect();
        let matters = |path: &Path| {
            let is_shown = is_seen(path) || !named(path).is_empty();
            is_shown && !path.starts_with(&command.files.workspace) && !granted.contains(path)
        };
        masked.extend(sockets.present(matters));
        let by_links: Vec<_> = masked.iter().flat_map(|path| named(path)).collect();
        masked.extend(by_links);
    }

    /// What is shown by another name than its real path, with that.
    fn links(&self, real: &RealPaths) -> Vec<(PathBuf, PathBuf)> {
        let shown = self.mounts.iter().filter_map(|mount| Some((mount.source()?, mount.at())));
        let lead = |(source, at): (&Path, &Path)| real.of(source).map(|real| (real, at.to_owned()));
        shown.filter_map(lead).filter(|(real, at)| real != at).collect()
    }

    fn show_system(&mut self, network: NetworkMode, real: &RealPaths) {
        for path in visible::SYSTEM.iter().map(Path::new) {
            match fs::read_link(path) {
                Ok(target) => self.mounts.push(PlannedMount::Link { target, at: path.to_owned() }),
                // It is there, and no link.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    self.show_there(path, real);
                }
                Err(_) => {}
            }
        }
        let scratch = visible::SCRATCH.iter().chain(&["/run"]).map(PathBuf::from);
        self.mounts.extend(scratch.map(PlannedMount::Scratch));
        let names = if network == NetworkMode::On { visible::NAMES_RUN } else { &[] };
        for path in visible::SYSTEM_RUN.iter().chain(names) {
            self.show(Path::new(path), real);
        }
        self.landlock.readable.push("/".into());
        let scratch = visible::SCRATCH.iter().chain(&["/dev"]).map(PathBuf::from);
        self.landlock.writable.extend(scratch);
    }

    /// Shows a home directory with what is there of it.
    fn show_home<'a>(
        &mut self,
        home: &Path,
        there: impl Iterator<Item = &'a PathBuf>,
        (caches, real): (&[Cache], &RealPaths),
    ) {
        self.mounts.push(PlannedMount::Scratch(home.to_owned()));
        self.landlock.writable.push(home.to_owned());
        for path in there.filter(|path| !is_within(path, caches)) {
            self.show_there(path, real);
        }
    }

    /// Shows what the command names, the workspace last: it may lie in what is only read.
    fn show_view(
        &mut self,
        command: &SandboxedCommand,
        (caches, repositories): (&[Cache], &[(PathBuf, GitAccess)]),
        real: &RealPaths,
    ) {
        let (files, writes) = (&command.files, command.profile == Profile::WorkspaceWrite);
        let mut readable = files.readable.clone();
        let mut writable = vec![files.workspace.clone()];
        for (_, access) in repositories {
            readable.extend(access.readable.iter().cloned());
            writable.extend(access.writable.iter().cloned());
        }
        let within = |path: &Path| path.starts_with(&files.workspace);
        for path in readable.iter().chain(&files.sockets).filter(|path| !within(path)) {
            self.show(path, real);
        }
        self.show_caches(caches, writes);
        // From the outside in: what lies in another comes after it.
        writable.sort();
        writable.dedup();
        for path in writable {
            if within(&path) && path != files.workspace || !path.exists() {
                continue;
            }
            if writes {
                self.mounts.push(PlannedMount::Writable(path.clone()));
                self.landlock.writable_real.push(path);
            } else {
                self.mounts.push(PlannedMount::Readable(path));
            }
        }
    }

    /// Shows caches, before all that may lie in one.
    fn show_caches(&mut self, caches: &[Cache], is_writable: bool) {
        for Cache { real, at } in caches.iter().cloned() {
            if is_writable {
                self.landlock.writable_real.push(at.clone());
            }
            self.mounts.push(PlannedMount::Cache { real, at, is_writable });
        }
    }

    fn show(&mut self, path: &Path, real: &RealPaths) {
        if path.exists() {
            self.show_there(path, real);
        }
    }

    /// Shows what is there.
    fn show_there(&mut self, path: &Path, real: &RealPaths) {
        if !self.is_shown(path, real) {
            self.mounts.push(PlannedMount::Readable(path.to_owned()));
        }
    }

    /// Whether a path is read already, by way of a directory that it lies in.
    fn is_shown(&self, path: &Path, real: &RealPaths) -> bool {
        match self.mount_of(path) {
            Some(PlannedMount::Readable(root)) => {
                real.of(path).is_some_and(|real| real.starts_with(root))
            }
            _ => false,
        }
    }

    /// The mount by which a path is seen.
    fn mount_of(&self, path: &Path) -> Option<&PlannedMount> {
        self.mounts.iter().rev().find(|mount| path.starts_with(mount.at()))
    }

    /// Compares what other commands that run may write: mounts on what is theirs end no command when they are
    /// gone. So is a repository that one of them made or moved while this one was planned.
    pub(crate) fn compare_loose(&mut self, command: &SandboxedCommand) {
        if command.profile != Profile::WorkspaceWrite {
            return;
        }
        let files = &command.files;
        let others = LooseFiles::of(&files.workspace);
        let is_loose = |path: &mut PathBuf| others.has(path);
        let loose: Vec<_> = self.covers.protected.extract_if(.., is_loose).collect();
        let is_new = |path: &PathBuf| !self.repositories.contains(path);
        let made = repository::all(files).into_iter().filter(is_new);
        let made = made.flat_map(|made| repository::read(&made, &files.workspace).protected);
        let known: HashSet<&PathBuf> = self.compared.iter().collect();
        let new = loose.into_iter().chain(made).filter(|path| !known.contains(path));
        let new: BTreeSet<PathBuf> = new.collect();
        self.compared.extend(new);
    }

    /// Keeps git from taking for changed what mounts hide, and from committing what is hidden.
    pub(crate) fn show_tracked(&mut self, of: &SandboxedCommand, known: (&KnownIndexes, bool)) {
        self.tracked = TrackedMasks::show(of, known, &self.kept_from, &mut self.mounts);
    }

    /// Compares what a command can write although it is masked. Of directories nobody knows how much that is.
    pub(crate) fn compare_unmasked(&mut self, unmasked: &[PathBuf]) {
        self.compared.extend(unmasked.iter().filter(|path| is_no_directory(path)).cloned());
    }

    /// What is masked where nothing is written.
    pub(crate) fn masked_to_read(&self) -> Vec<PathBuf> {
        let is_writable = |path: &PathBuf| {
            let mut roots = self.mounts.iter().filter(|mount| mount.is_writable());
            roots.any(|root| path.starts_with(root.at()))
        };
        self.masked().filter(|path| !is_writable(path)).collect()
    }

    /// Sockets that are hidden where nothing is written.
    pub(crate) fn hidden_sockets(&self) -> Vec<PathBuf> {
        let is_socket = |mount: &&PlannedMount| matches!(mount, PlannedMount::MaskedSocket(_));
        self.mounts.iter().filter(is_socket).map(|mask| mask.at().to_owned()).collect()
    }

    pub(crate) fn masked(&self) -> impl Iterator<Item = PathBuf> {
        self.mounts.iter().filter(|mount| mount.is_mask()).map(|mask| mask.at().to_owned())
    }

    /// Makes of it what Landlock can do without mounts, with a private temporary directory. What is masked in
    /// `carved` is kept from the command by other rules. Returns what is to be masked and can be read all the
    /// same.
    pub(crate) fn narrow(
        &mut self,
        private: &Path,
        network: NetworkMode,
        carved: &[PathBuf],
    ) -> Vec<PathBuf> {
        let masked: Vec<PathBuf> = self.masked().collect();
        let mut carving = Carving::default();
        let mut rules = LandlockRules {
            has_network: network == NetworkMode::On,
            sockets: std::mem::take(&mut self.landlock.sockets),
            readable: vec!["/proc".into()],
            writable: visible::DEVICES.iter().map(PathBuf::from).chain([private.into()]).collect(),
            writable_real: Vec::new(),
        };
        let mut compared = std::mem::take(&mut self.compared);
        for mount in std::mem::take(&mut self.mounts) {
            match mount {
                // A directory above what is protected, in one that is written to.
                PlannedMount::Writable(path) if rules.is_written(&path) => {}
                PlannedMount::Writable(path)
                | PlannedMount::Cache { real: path, is_writable: true, .. } => {
                    rules.writable_real.push(path);
                }
                PlannedMount::Readable(path) if rules.is_written(&path) => compared.push(path),
                PlannedMount::Cache { real, .. } => carving.add(&real, &masked),
                PlannedMount::Readable(path) if carved.contains(&path) => rules.readable.push(path),
                PlannedMount::Readable(path) => carving.add(&path, &masked),
                _ => {}
            }
        }
        rules.readable.append(&mut carving.0);
        // Without a mount on what lies around it.
        compared.extend(std::mem::take(&mut self.inner));
        // Not all that is compared can be restored: what matters most can.
        let ranks = self.ranked.iter().enumerate().rev().map(|(rank, path)| (path, rank));
        let ranks = ranks.collect::<HashMap<_, _>>();
        compared.sort_by_key(|path| ranks.get(path).copied().unwrap_or(usize::MAX));
        self.compared = compared;
        let unmasked: Vec<_> = masked.into_iter().filter(|path| rules.is_written(path)).collect();
        // What moss cannot look into a command of the same user opens and closes again.
        self.compared.extend(unmasked.iter().filter(|path| is_closed_by_owner(path)).cloned());
        self.landlock = rules;
        unmasked
    }
}

/// Whether a directory is of this user, and closed to it.
fn is_closed_by_owner(path: &Path) -> bool {
    let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir);
    found.is_some_and(|found| {
        let is_own = found.uid() == rustix::process::geteuid().as_raw();
        is_own && found.mode() & OWNER_LOOKS != OWNER_LOOKS
    })
}

/// Whether something is there by a name of its own, and can be compared as a whole.
fn is_no_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_dir())
}
