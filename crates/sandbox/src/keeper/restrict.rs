//! What a command is bound by, applied in its own process just before it runs: no way leads
//! back. All that takes memory or opens files is prepared before.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, Scope,
};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::BpfProgram;

use super::filter::{self, FailedStep, FilterScope};
use super::tree;
use crate::command::NetworkMode;
use crate::order::{KeeperOrder, LandlockRules};
use crate::system;

/// The newest version of Landlock that is made use of; what a kernel does not know is left out.
pub(crate) const NEWEST: ABI = ABI::V9;
/// Between the signal that says that the CPU time is over and the one that ends the process.
const CPU_SECONDS_MORE: u64 = 1;

/// Limits, Landlock rules and filters, made ready: a failure is known before the command starts.
pub(super) struct Restrictions {
    limits: Vec<(Resource, u64, u64)>,
    /// Rules that others made, which apply as well.
    layer: Option<OwnedFd>,
    ruleset: Option<OwnedFd>,
    filters: &'static [BpfProgram],
    /// Whether no program could gain rights before they apply.
    is_bounded: bool,
}

/// What a process has given up that commands do not have and their keepers do not need; whatever is forked from it has
/// done so, too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenUp(FilterScope);

/// Opens what a rule is about; none where nothing is there, or a mount whose file system has ended, such as one of
/// `sshfs`: nobody reads that, and it must not keep all commands from being started.
pub(crate) fn opened_for_rule(path: &Path) -> Option<PathFd> {
    let opened = PathFd::new(path).ok()?;
    rustix::fs::fstat(&opened).is_ok().then_some(opened)
}

/// Makes rules of Landlock; none where the kernel has none.
fn ruleset(rules: &LandlockRules, terminal: Option<&OwnedFd>) -> Result<Option<OwnedFd>, String> {
    let text = |error: landlock::RulesetError| error.to_string();
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST) | AccessFs::IoctlDev;
    // Toolchains with sockets of others are mounted in what is the command's own; those that it makes itself it reaches
    // without a rule.
    let own = all & !BitFlags::from(AccessFs::ResolveUnix);
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    ruleset = ruleset.handle_access(all).map_err(text)?;
    if !rules.has_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST)).map_err(text)?;
    }
    ruleset = ruleset.scope(Scope::from_all(NEWEST)).map_err(text)?;
    let mut created = ruleset.create().map_err(text)?;
    let mut add = |paths: &[PathBuf], access: BitFlags<AccessFs>| -> Result<(), String> {
        for path in paths {
            let Some(beneath) = opened_for_rule(path) else { continue };
            // For a file the library leaves out what only directories have.
            (&mut created).add_rule(PathBeneath::new(beneath, access)).map_err(text)?;
        }
        Ok(())
    };
    add(&rules.readable, read)?;
    add(&rules.writable, own)?;
    add(&rules.sockets, AccessFs::from_file(NEWEST) & !BitFlags::from(AccessFs::Execute))?;
    if let Some(terminal) = terminal {
        // By its name, too, to which `/dev/stdin` leads.
        let access = AccessFs::from_file(NEWEST) & !BitFlags::from(AccessFs::Execute);
        (&mut created).add_rule(PathBeneath::new(terminal, access)).map_err(text)?;
    }
    for path in &rules.writable_real {
        // What another command replaced by a link since it was looked at has no rule.
        let Ok(beneath) = system::open_without_links(path) else { continue };
        (&mut created).add_rule(PathBeneath::new(beneath, all)).map_err(text)?;
    }
    Ok(created.into())
}

// === impl Restrictions ===

impl Restrictions {
    /// Prepares them; where it fails nothing applies.
    pub(super) fn prepare(
        order: &KeeperOrder,
        (terminal, layer): (Option<&OwnedFd>, Option<OwnedFd>),
        given_up: Option<GivenUp>,
    ) -> Result<Self, String> {
        let mut limits = vec![
            (Resource::Core, 0, 0),
            (Resource::Cpu, order.cpu_seconds, order.cpu_seconds.saturating_add(CPU_SECONDS_MORE)),
            (Resource::Nofile, order.files_max, order.files_max),
            (Resource::Fsize, order.file_bytes_max, order.file_bytes_max),
        ];
        // Kernels that have Landlock count them for each user namespace; elsewhere all that the user runs counts, which
        // is no more than all there is.
        let has_own_count = system::landlock_version().is_some();
        let others = if has_own_count { Some(0) } else { tree::machine_tasks() };
        if let Some(others) = others.filter(|_| order.is_init) {
            let most = order.processes_max.saturating_add(others);
            limits.push((Resource::Nproc, most, most));
        }
        let scope = match (order.is_init, order.is_offline) {
            (true, _) => FilterScope::Namespaces,
            (false, false) => FilterScope::Shared,
            (false, true) => FilterScope::Offline,
        };
        // What applies already need not be applied anew, which takes the kernel a while.
        let filters: &'static [BpfProgram] = match given_up {
            _ if !order.is_filtered => &[],
            Some(GivenUp(already)) if already == scope => filter::parts(scope)?.1,
            _ => filter::programs(scope)?,
        };
        let ruleset = order.landlock.as_ref().map(|rules| ruleset(rules, terminal));
        let ruleset = ruleset.transpose()?.flatten();
        Ok(Self { limits, layer, ruleset, filters, is_bounded: given_up.is_some() })
    }

    /// Applies them to this process and all that it starts.
    pub(super) fn enter(&self) -> Result<(), FailedStep> {
        for &(resource, soft, hard) in &self.limits {
            bound(resource, soft, hard).map_err(|error| ("a limit", error.to_string()))?;
        }
        let failed = |step| move |error: rustix::io::Errno| (step, error.to_string());
        let dropped = if self.is_bounded { drop_held() } else { drop_rights() };
        dropped.map_err(failed("capabilities"))?;
        rustix::thread::set_no_new_privs(true).map_err(failed("no new privileges"))?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(failed("the end with its keeper"))?;
        // The longer of both last: each that applies is copied into what applies after it.
        for rules in [&self.ruleset, &self.layer].into_iter().flatten() {
            system::restrict_self(rules.as_fd())
                .map_err(|error| ("Landlock", error.to_string()))?;
        }
        filter::apply(self.filters)
    }
}

/// Keeps signals of this process, and of all that it starts, among these. Returns whether that holds: only then "all
/// processes" may be signalled, of which there are those of others otherwise.
pub(super) fn enclose_signals() -> bool {
    // Somebody who could be signalled before and cannot be now is the proof.
    let Some(other) = rustix::process::getppid() else { return false };
    let signal = || rustix::process::test_kill_process(other);
    let is_same = || rustix::process::getppid() == Some(other);
    signal().is_ok() && restrict_signals().is_ok() && signal() == Err(Errno::PERM) && is_same()
}

fn restrict_signals() -> Result<(), String> {
    let text = |error: landlock::RulesetError| error.to_string();
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    // Any set of rules refuses to move files between directories, unless it says otherwise.
    let moving = AccessFs::Refer;
    let ruleset =
        ruleset.handle_access(moving).map_err(text)?.scope(Scope::Signal).map_err(text)?;
    let root = PathFd::new("/").map_err(|error| error.to_string())?;
    let created = ruleset.create().map_err(text)?;
    let created = created.add_rule(PathBeneath::new(root, moving)).map_err(text)?;
    // "All processes" are those of others as well, and each that is refused would be a line of the audit log.
    let created = created.set_compatibility(CompatLevel::BestEffort);
    let quiet = created.log_same_exec(false).map_err(text)?;
    quiet.restrict_self().map_err(text).map(drop)
}

/// Sets a limit, or a lower one where the process has no right to so much.
fn bound(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let had = rustix::process::getrlimit(resource).maximum;
    let at_most = |wanted: u64| Some(had.map_or(wanted, |had| had.min(wanted)));
    Ok(setrlimit(resource, Rlimit { current: at_most(soft), maximum: at_most(hard) })?)
}

/// Gives up for good, in this process and in all that it starts, what every command without namespaces is to be without
/// and its keeper can do without: the capabilities that a program could get, and the system calls that reach others.
pub(super) fn give_up(network: NetworkMode) -> Result<GivenUp, FailedStep> {
    let failed = |step| move |error: Errno| (step, error.to_string());
    let scope = FilterScope::without_namespaces(network);
    let (filters, _) = filter::parts(scope).map_err(|why| ("seccomp", why))?;
    drop_gained().map_err(failed("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(failed("no new privileges"))?;
    filter::apply(filters)?;
    Ok(GivenUp(scope))
}

/// Gives up every capability, and with them those that a program could get.
pub(crate) fn drop_rights() -> Result<(), Errno> {
    drop_gained()?;
    drop_held()
}

/// Gives up the capabilities that a program could get, and keeps those that there are.
fn drop_gained() -> Result<(), Errno> {
    let held = rustix::thread::capabilities(None)?;
    if !held.effective.contains(CapabilitySet::SETPCAP) {
        return Ok(());
    }
    for bit in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        // They are numbered without gaps: behind the last one there are no more.
        if rustix::thread::remove_capability_from_bounding_set(capability) == Err(Errno::INVAL) {
            break;
        }
    }
    Ok(())
}

fn drop_held() -> Result<(), Errno> {
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::clear_ambient_capability_set()?;
    rustix::thread::set_capabilities(None, none)
}
