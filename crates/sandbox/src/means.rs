//! Starts the keepers of commands: what a command asks for becomes a plan of what it sees, an order
//! for its keeper, and a process.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::bound_sockets::{PendingSockets, is_socket};
use crate::bubblewrap::Bubblewrap;
use crate::command::{NetworkMode, Profile, SandboxedCommand};
use crate::compare::Snapshot;
#[cfg(not(target_os = "linux"))]
use crate::elsewhere::{self as system, CommandGroups, ForkServer, KEEPER, SystemLayers};
use crate::ending::SandboxFacts;
use crate::ends::KeeperEnds;
use crate::environment::{self, SelectedEnvironment};
use crate::error::SandboxError;
use crate::git_outside::GitOutside;
use crate::identity::MountIdentity;
use crate::launch_order::LaunchOrder;
use crate::mount_index::MountIndex;
use crate::mounts::PlannedMount;
use crate::order::KeeperOrder;
use crate::plan::{self, FilePlan};
use crate::private::PrivateDirectory;
use crate::refusing::check;
use crate::running::{Kept, LaunchMessage, Preparation};
use crate::running_snapshots::{HeldSnapshot, LooseFiles, open_for, settle_watched};
use crate::snapshot_plan::SnapshotPlan;
use crate::start::{ForkBounds, ProgramOrder, StartKind};
use crate::tier::Tier;
use crate::tracked_masks::KnownIndexes;
#[cfg(target_os = "linux")]
use crate::{
    fork_server::ForkServer, groups::CommandGroups, keeper::KEEPER, system,
    system_layer::SystemLayers,
};

/// Most mounts that cover something; a command that needs more is refused.
const MOUNTS_MAX: usize = 4_096;
/// The same with bubblewrap, which reads all mounts again for each.
const BUBBLEWRAP_MOUNTS_MAX: usize = 800;
/// How often it is opened again what commands close that run.
const OPENED_MAX: usize = 10;
/// What is there wherever processes can be looked at.
const OWN_PROCESS: &str = "/proc/self/stat";

/// What commands are started with.
#[derive(Debug)]
pub(crate) struct Means {
    pub(crate) tier: Tier,
    pub(crate) program: PathBuf,
    pub(crate) fork_server: ForkServer,
    /// What makes namespaces, on the full tier.
    pub(crate) launcher: Option<Launcher>,
    pub(crate) has_landlock: bool,
    /// Whether its rules keep commands from abstract sockets.
    pub(crate) scopes_sockets: bool,
    /// Rules for the system, where there are no mounts.
    pub(crate) layers: SystemLayers,
    /// What is known of the indexes of repositories.
    pub(crate) indexes: KnownIndexes,
}

/// What makes the namespaces of commands.
#[derive(Debug)]
pub(crate) enum Launcher {
    Bubblewrap(Bubblewrap),
    Own,
}

/// How a keeper is started.
struct KeeperStart {
    launch: Option<LaunchMessage>,
    /// What the command knows as its temporary directory.
    temporary: PathBuf,
    /// That, where it is on the disk.
    private: Option<PrivateDirectory>,
    /// What is to be masked and can be read all the same.
    unmasked: Vec<PathBuf>,
    /// Rules for the system.
    layer: Option<OwnedFd>,
    /// What has to be seen where, as it is mounted by its name.
    identities: Vec<MountIdentity>,
}

fn flatten(environment: &SelectedEnvironment) -> Vec<OsString> {
    let pairs = environment.variables.iter();
    pairs.flat_map(|(name, value)| [name.clone(), value.clone()]).collect()
}

/// The error of a program that the sandbox itself needs.
fn not_run(program: &Path, error: &io::Error) -> io::Error {
    let why = if Path::new(OWN_PROCESS).exists() { "" } else { "; `/proc` is not mounted" };
    io::Error::new(error.kind(), format!("{} cannot be run: {error}{why}", program.display()))
}

// === impl Means ===

impl Means {
    /// Begins to look for the sockets that are hidden from a command.
    pub(crate) fn sockets(&self, command: &SandboxedCommand) -> PendingSockets {
        // Without mounts nothing hides them.
        PendingSockets::begin(self.launcher.is_some() && command.profile != Profile::DangerFull)
    }

    /// Starts the keeper of a command, from which these sockets are hidden as far as it sees them. What is loose is
    /// not covered.
    pub(crate) fn spawn(
        &self,
        command: &SandboxedCommand,
        (sockets, loose): (PendingSockets, &LooseFiles),
        groups: Option<&CommandGroups>,
    ) -> Result<(Kept, Preparation), SandboxError> {
        check(command)?;
        let mut ends = KeeperEnds::open(command)?;
        let group = groups.map(|groups| groups.make(&command.limits)).transpose()?;
        let first = group.as_ref().map(|group| ends.add_group(group)).transpose()?;
        let process = self.process(command);
        // What need not know what the command sees is set up while that is worked out.
        let is_early = process.0 != StartKind::Program;
        if is_early {
            self.fork(process, &mut ends)?;
        }
        if self.launcher.is_some() && command.profile == Profile::WorkspaceWrite {
            settle_watched(&command.files.workspace);
        }
        let mut preparation = self.prepare(command, (sockets, loose), &mut ends)?;
        (preparation.order.group, preparation.group) = (first, group);
        if !is_early {
            self.fork(process, &mut ends)?;
        }
        let kept = ends.keep(preparation.orders()?, preparation.layer.take())?;
        Ok((kept, preparation))
    }

    /// What the keeper of a command is forked as, and within which bounds.
    fn process(&self, command: &SandboxedCommand) -> (StartKind, ForkBounds) {
        match self.launcher {
            None if self.keeps_in(command) => {
                (StartKind::Keeper, ForkBounds::Commands(self.network(command)))
            }
            None => (StartKind::Keeper, ForkBounds::Unbounded),
            Some(Launcher::Own) => (StartKind::Launcher(command.network), ForkBounds::Unbounded),
            Some(Launcher::Bubblewrap(_)) => (StartKind::Program, ForkBounds::Unbounded),
        }
    }

    fn fork(&self, process: (StartKind, ForkBounds), ends: &mut KeeperEnds) -> io::Result<()> {
        let started = self.fork_server.start(process, &ends.take_theirs());
        started.map_err(|error| not_run(&self.program, &error))
    }

    /// Whether a command is kept in by more than its namespaces.
    fn keeps_in(&self, command: &SandboxedCommand) -> bool {
        command.profile != Profile::DangerFull && self.tier > Tier::None
    }

    fn mounts_max(&self) -> usize {
        match self.launcher {
            Some(Launcher::Bubblewrap(_)) => BUBBLEWRAP_MOUNTS_MAX,
            Some(Launcher::Own) => MOUNTS_MAX,
            None => usize::MAX,
        }
    }

    /// Nothing takes it from a command where there is no tier, nor from one that nothing keeps in but a namespace.
    fn network(&self, command: &SandboxedCommand) -> NetworkMode {
        let is_open = self.launcher.is_none() && command.profile == Profile::DangerFull;
        if self.tier == Tier::None || is_open { NetworkMode::On } else { command.network }
    }

    /// Whether commands could connect to abstract sockets of the machine.
    fn has_abstract_sockets(&self, network: NetworkMode, has_rules: bool) -> bool {
        // A network namespace has such sockets of its own.
        let is_apart = self.launcher.is_some() && network == NetworkMode::Off;
        let is_scoped = has_rules && self.scopes_sockets;
        !is_apart && !is_scoped
    }

    fn prepare(
        &self,
        command: &SandboxedCommand,
        (sockets, loose): (PendingSockets, &LooseFiles),
        ends: &mut KeeperEnds,
    ) -> Result<Preparation, SandboxError> {
        let (network, limits) = (self.network(command), command.limits);
        let mut environment = environment::select(&command.environment, network);
        let mut plan = plan::plan(command, &environment, sockets, (loose, self.mounts_max()))?;
        let hidden_sockets = plan.hidden_sockets();
        let is_kept_in = self.keeps_in(command);
        let has_rules = is_kept_in && self.has_landlock;
        let KeeperStart { launch, temporary, private, unmasked, layer, identities } =
            self.keeper_start(command, &mut plan, has_rules, ends)?;
        environment.add(temporary, plan.tracked.git_settings());
        plan.compare_loose(command);
        let (snapshot, missing) = self.snapshot(command, &plan)?;
        let covers = self.launcher.as_ref().map(|_| plan.covers.where_missing(&missing));
        snapshot.watch(covers.iter().flat_map(|covers| covers.missing.iter().cloned()));
        let order = KeeperOrder {
            arguments: command.arguments.clone(),
            environment: flatten(&environment),
            directory: command.directory.clone(),
            cpu_seconds: limits.cpu_seconds,
            files_max: limits.files_max,
            file_bytes_max: limits.file_bytes_max,
            memory_bytes_max: limits.memory_bytes_max,
            processes_max: limits.processes_max,
            grace_ms: u64::try_from(limits.grace.as_millis()).unwrap_or(u64::MAX),
            input: ends.input(),
            has_terminal: command.has_terminal,
            is_init: self.launcher.is_some(),
            is_offline: self.launcher.is_none() && network == NetworkMode::Off,
            is_filtered: is_kept_in,
            landlock: has_rules.then_some(plan.landlock),
            has_layer: layer.is_some(),
            group: None,
            temporary: private.as_ref().map(|directory| directory.path().to_owned()),
            identities,
            covers: covers.unwrap_or_default(),
        };
        let facts = SandboxFacts {
            has_abstract_sockets: is_kept_in && self.has_abstract_sockets(network, has_rules),
            tier: self.tier,
            profile: command.profile,
            network,
            environment_removed: environment.removed,
            environment_granted: environment.granted,
            sockets: command.files.sockets.clone(),
            compared_afterwards: plan.compared.clone(),
            hindering: self.launcher.as_ref().map(|_| plan.hindering).unwrap_or_default(),
            unmasked,
            tracked_masks: plan.tracked.noticed,
            left_alone: plan.tracked.left_alone,
            git_outside: GitOutside::of(command, &plan.written, &plan.repositories),
        };
        Ok(Preparation {
            launch,
            order,
            layer,
            facts,
            snapshot: Some(snapshot),
            hidden_sockets,
            private,
            indexes: plan.tracked.indexes,
            group: None,
            timeout: limits.timeout,
            grace: limits.grace,
        })
    }

    /// Keeps what a command may not change, and says what of that is not there. A command that could change something of
    /// it unseen is refused.
    fn snapshot(
        &self,
        command: &SandboxedCommand,
        plan: &FilePlan,
    ) -> Result<(HeldSnapshot, HashSet<PathBuf>), SandboxError> {
        let workspace = &command.files.workspace;
        let check = |snapshot: &mut Snapshot| {
            let unknown: Vec<PathBuf> = snapshot.unknown().map(Path::to_owned).collect();
            // What is closed is covered with what lies in it, where there are mounts.
            if self.launcher.is_none() && !unknown.is_empty() {
                let loose = LooseFiles::of(workspace);
                if let Some(path) = unknown.iter().find(|path| !loose.has(path)) {
                    return Err(SandboxError::closed(path));
                }
            }
            snapshot.drop_unknown();
            Ok(snapshot.missing().map(Path::to_owned).collect())
        };
        // Who may do whatever its user may, may change what others had before.
        let is_kept_in = command.profile != Profile::DangerFull;
        let written = if is_kept_in { plan.written.clone() } else { Vec::new() };
        let snapshot_plan = SnapshotPlan {
            workspace: command.files.workspace.clone(),
            protected: plan.ranked.iter().chain(&plan.compared).cloned().collect(),
            masked: plan.kept_from.clone(),
            compared: plan.compared.clone(),
            of_others: plan.of_others.clone(),
            written,
            looked: command.files.looked.unwrap_or_else(Instant::now),
            moved: BTreeSet::new(),
        };
        let record = command.record.as_ref();
        let mut tries = 0..OPENED_MAX;
        loop {
            // A command that runs may have closed it.
            match HeldSnapshot::take(snapshot_plan.clone(), record, check) {
                Err(SandboxError::Closed { closed, .. })
                    if tries.next().is_some_and(|tried| open_for(workspace, &closed, tried)) => {}
                taken => return taken,
            }
        }
    }

    /// How the keeper of a command is started.
    fn keeper_start(
        &self,
        command: &SandboxedCommand,
        plan: &mut FilePlan,
        has_rules: bool,
        ends: &mut KeeperEnds,
    ) -> io::Result<KeeperStart> {
        let temporary = "/tmp".into();
        plan.show_tracked(command, (&self.indexes, self.launcher.is_some()));
        let none = KeeperStart {
            launch: None,
            temporary,
            private: None,
            unmasked: Vec::new(),
            layer: None,
            identities: Vec::new(),
        };
        Ok(match &self.launcher {
            Some(Launcher::Bubblewrap(bubblewrap)) => {
                let (order, identities) = self.wrapped(bubblewrap, command, plan, ends)?;
                KeeperStart { launch: Some(LaunchMessage::Program(order)), identities, ..none }
            }
            Some(Launcher::Own) => {
                let launch = LaunchOrder {
                    mounts: std::mem::take(&mut plan.mounts),
                    scratch_bytes: command.limits.memory_bytes_max,
                };
                KeeperStart { launch: Some(LaunchMessage::Own(launch)), ..none }
            }
            None => {
                let directory = PrivateDirectory::new()?;
                let temporary = directory.path().to_owned();
                let applied =
                    if has_rules { self.layers.keep_from(&plan.masked_to_read())? } else { None };
                let (carved, layer) = match applied {
                    None => (Vec::new(), None),
                    Some(applied) => (applied.directories, Some(applied.rules)),
                };
                let masked: Vec<_> = plan.masked().collect();
                let readable = plan.narrow(&temporary, command.network, &carved);
                // A job runs for long, and a person may write them meanwhile.
                if command.limits.timeout.is_some() {
                    plan.compare_unmasked(&readable);
                }
                let unmasked = if has_rules { readable } else { masked };
                KeeperStart { temporary, private: Some(directory), unmasked, layer, ..none }
            }
        })
    }

    /// The keeper within bubblewrap. It is reached by a descriptor, as its path may not be visible.
    fn wrapped(
        &self,
        bubblewrap: &Bubblewrap,
        command: &SandboxedCommand,
        plan: &FilePlan,
        ends: &mut KeeperEnds,
    ) -> io::Result<(ProgramOrder, Vec<MountIdentity>)> {
        let program = File::open(&self.program).map_err(|error| not_run(&self.program, &error))?;
        let program = ends.add(program.into())?;
        let path = Path::new("/proc/self/fd").join(program.to_string());
        let bytes = command.limits.memory_bytes_max;
        let mut mounts: Vec<PlannedMount> = Vec::new();
        let (mut opened, mut identities) = (Vec::new(), Vec::new());
        for mount in &plan.mounts {
            let found = match mount.source().filter(|_| mount.may_be_replaced(&mounts)) {
                Some(path) => system::open_without_links(path).map(Some),
                None => Ok(None),
            };
            // A link took its name since it was chosen.
            let is_other = mount.is_cache() && found.is_err();
            let is_gone = matches!(mount, PlannedMount::MaskedSocket(path) if !is_socket(path));
            if is_other || is_gone {
                continue;
            }
            let found = found?;
            if let Some(found) = found.as_ref().filter(|_| !bubblewrap.has_descriptors) {
                identities.push((mounts.len(), MountIdentity::of(mount.at(), found)?));
            }
            let found = found.filter(|_| bubblewrap.has_descriptors);
            opened.push(found.map(|found| ends.add(found)).transpose()?);
            mounts.push(mount.clone());
        }
        // What a later mount hides is not seen.
        let index = MountIndex::of(&mounts);
        identities.retain(|(place, identity)| index.find(&identity.at) == Some(*place));
        let identities = identities.into_iter().map(|(_, identity)| identity).collect();
        let mut arguments = bubblewrap.arguments(&mounts, &opened, command.network, bytes);
        arguments.extend([path.into(), KEEPER.into()]);
        Ok((ProgramOrder { program: bubblewrap.path.clone(), arguments }, identities))
    }
}
