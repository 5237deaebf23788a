//! The system calls that a sandboxed command is refused: those that reach other processes, mounts,
//! namespaces and keys, or parts of the kernel that no build needs and attacks do.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use crate::command::NetworkMode;

/// Flags of `clone` and `unshare` that make namespaces.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];
/// Families of sockets that programs need: all others are refused.
const FAMILIES: &[libc::c_int] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// The same, where nothing else keeps a command from the network.
const FAMILIES_OFFLINE: &[libc::c_int] = &[libc::AF_UNIX];
/// Requests of `ioctl` that type into a terminal.
const TYPING: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];
/// Commands that are refused whatever their arguments.
const REFUSED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    // Whatever a ring of them does is not seen by this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Keys, programs in the kernel, watching it.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_syslog,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_reboot,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
];
/// Memory, semaphores and queues that all processes of a user share, by a number that anybody may guess or a name.
const SHARED: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];
/// Calls that set how the process runs that their first argument names.
const SCHEDULING: &[libc::c_long] = &[
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];
/// Calls that set priorities, and the first argument with which the second one names a process.
const PRIORITIES: &[(libc::c_long, u64)] =
    &[(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS)];
/// So `ioprio_set` is asked about a process.
const IOPRIO_WHO_PROCESS: u64 = 1;
/// Those that x86 alone has.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] =
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_lookup_dcookie];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];
/// Calls that set permission bits, and which of their arguments has them.
#[cfg(target_arch = "x86_64")]
const PERMISSIONS: &[(libc::c_long, u8)] = &[
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_creat, 1),
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];
#[cfg(not(target_arch = "x86_64"))]
const PERMISSIONS: &[(libc::c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_mknodat, 2),
];
/// Calls that set them only where they make a file, and which argument has its flags; the bits come
/// after it.
#[cfg(target_arch = "x86_64")]
const OPENING: &[(libc::c_long, u8)] = &[(libc::SYS_open, 1), (libc::SYS_openat, 2)];
#[cfg(not(target_arch = "x86_64"))]
const OPENING: &[(libc::c_long, u8)] = &[(libc::SYS_openat, 2)];
/// The flags with which they make a file.
const MAKING: &[libc::c_int] = &[libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];
/// System calls of the x32 ABI have this bit: the same calls by other numbers.
const X32: u32 = 0x4000_0000;

/// How many of the filters, from the first on, refuse nothing that a keeper does. The last one refuses what keepers open
/// files with.
const OF_KEEPERS: usize = 2;

/// A step that failed: its name, and why.
pub(super) type FailedStep = (&'static str, String);

/// SyscallRules by system call.
type SyscallRules = BTreeMap<i64, Vec<SeccompRule>>;

/// What a filter has to refuse in the stead of a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterScope {
    /// A command has namespaces of its own.
    Namespaces,
    /// It shares processes and memory with others.
    Shared,
    /// It shares the network, too, and is to have none.
    Offline,
}

/// The filters that were compiled, one set for each scope.
static COMPILED: [OnceLock<Result<Vec<BpfProgram>, String>>; 3] = [const { OnceLock::new() }; 3];

/// Compiles the filters: whoever is forked from here has them.
pub(super) fn prepare() {
    for scope in [FilterScope::Namespaces, FilterScope::Shared, FilterScope::Offline] {
        // Whoever needs them learns why there are none.
        let _ = programs(scope);
    }
}

/// The filters, in the order in which they are applied.
pub(super) fn programs(scope: FilterScope) -> Result<&'static [BpfProgram], String> {
    let compiled = COMPILED[scope as usize].get_or_init(|| compile(scope));
    compiled.as_deref().map_err(Clone::clone)
}

/// The same in two parts: those that bind keepers as well, and those that bind what they start alone.
pub(super) fn parts(
    scope: FilterScope,
) -> Result<(&'static [BpfProgram], &'static [BpfProgram]), String> {
    programs(scope).map(|all| all.split_at(OF_KEEPERS))
}

/// Has filters apply to this process and all that it starts.
pub(super) fn apply(filters: &[BpfProgram]) -> Result<(), FailedStep> {
    filters.iter().try_for_each(|filter| {
        seccompiler::apply_filter(filter).map_err(|error| ("seccomp", error.to_string()))
    })
}

fn compile(scope: FilterScope) -> Result<Vec<BpfProgram>, String> {
    // `clone3` has its flags in memory, which no filter sees: as an old kernel, so that libraries
    // use `clone`. `openat2` has its mode there.
    let unknown = [(libc::SYS_clone3, Vec::new()), (libc::SYS_openat2, Vec::new())];
    Ok(vec![
        other_numbers(),
        program(refused(scope)?, libc::EPERM)?,
        program(unknown.into(), libc::ENOSYS)?,
    ])
}

fn refused(scope: FilterScope) -> Result<SyscallRules, String> {
    let shared = if scope == FilterScope::Namespaces { &[] } else { SHARED };
    let refused = REFUSED.iter().chain(REFUSED_HERE).chain(shared);
    let mut rules: SyscallRules = refused.map(|&call| (call, Vec::new())).collect();
    let has = |argument, bits: u64| rule(&[(argument, SeccompCmpOp::MaskedEq(bits), bits)]);
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        let flags = NAMESPACES.iter().map(|&flag| has(0, flag.cast_unsigned().into()));
        rules.insert(call, flags.collect::<Result<_, _>>()?);
    }
    let families = if scope == FilterScope::Offline { FAMILIES_OFFLINE } else { FAMILIES };
    let others: Vec<_> = families
        .iter()
        .map(|&family| (0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned())))
        .collect();
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        rules.insert(call, vec![rule(&others)?]);
    }
    let typing = TYPING.iter().map(|&request| rule(&[(1, SeccompCmpOp::Eq, request)]));
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
    // Limits of others, moss's and the keeper's among them. A process names itself by 0.
    rules.insert(libc::SYS_prlimit64, vec![rule(&[(0, SeccompCmpOp::Ne, 0)])?]);
    if scope != FilterScope::Namespaces {
        rules.extend(of_others()?);
    }
    // A program that runs as its owner would outlive the sandbox.
    for &(call, argument) in PERMISSIONS {
        rules.insert(call, vec![has(argument, libc::S_ISUID.into())?]);
    }
    for &(call, argument) in OPENING {
        let bits = |bits: u64| (SeccompCmpOp::MaskedEq(bits), bits);
        let (is_own, own) = bits(libc::S_ISUID.into());
        let making = MAKING.iter().map(|flag| {
            let (is_making, making) = bits(flag.cast_unsigned().into());
            rule(&[(argument, is_making, making), (argument + 1, is_own.clone(), own)])
        });
        rules.insert(call, making.collect::<Result<_, _>>()?);
    }
    Ok(rules)
}

/// Refuses what names other processes to set how they run, where a command sees those of others. A thread names itself
/// by 0; which other numbers are threads of the command no filter knows.
fn of_others() -> Result<SyscallRules, String> {
    let other_than = |argument, value| rule(&[(argument, SeccompCmpOp::Ne, value)]);
    let mut rules = SyscallRules::new();
    for &call in SCHEDULING {
        rules.insert(call, vec![other_than(0, 0)?]);
    }
    for &(call, process) in PRIORITIES {
        rules.insert(call, vec![other_than(0, process)?, other_than(1, 0)?]);
    }
    Ok(rules)
}

/// One rule, whose conditions are on the lower half of an argument.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, String> {
    let condition = |(argument, operator, value): &(u8, SeccompCmpOp, u64)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
    };
    let conditions = conditions.iter().map(condition).collect::<Result<_, _>>();
    conditions.and_then(SeccompRule::new).map_err(|error| error.to_string())
}

fn program(rules: SyscallRules, errno: libc::c_int) -> Result<BpfProgram, String> {
    let architecture =
        std::env::consts::ARCH.try_into().map_err(|_| "this architecture has no filter")?;
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)
        .map_err(|error| error.to_string())?;
    BpfProgram::try_from(filter).map_err(|error| error.to_string())
}

/// Refuses the same calls by other numbers. Filters of the library know only the architecture, and
/// that is the same for them.
fn other_numbers() -> BpfProgram {
    let statement = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let enosys = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let class = |class: u32| class as u16;
    vec![
        // The number is the first word of what a filter sees.
        statement(class(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS), 0, 0, 0),
        statement(class(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K), 0, 1, X32),
        statement(class(libc::BPF_RET | libc::BPF_K), 0, 0, enosys),
        statement(class(libc::BPF_RET | libc::BPF_K), 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

// === impl FilterScope ===

impl FilterScope {
    /// What is refused where there are no namespaces.
    pub(super) fn without_namespaces(network: NetworkMode) -> Self {
        match network {
            NetworkMode::Off => Self::Offline,
            NetworkMode::On => Self::Shared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_compiles_and_is_within_the_bound_of_the_kernel() {
        for scope in [FilterScope::Namespaces, FilterScope::Shared, FilterScope::Offline] {
            let programs = programs(scope).unwrap();
            assert_eq!(programs.len(), 3);
            for program in programs {
                assert!(!program.is_empty() && program.len() < 4096, "{}", program.len());
            }
        }
    }

    #[test]
    fn what_keepers_open_files_with_is_refused_to_their_commands_alone() {
        let compares = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        let has = |programs: &[BpfProgram], call: libc::c_long| {
            let mut all = programs.iter().flatten();
            all.any(|one| one.code == compares && i64::from(one.k) == call)
        };
        for scope in [FilterScope::Namespaces, FilterScope::Shared, FilterScope::Offline] {
            let (of_keepers, others) = parts(scope).unwrap();
            let where_is = |call| [of_keepers, others].map(|programs| has(programs, call));
            assert_eq!(where_is(libc::SYS_openat2), [false, true], "{scope:?}");
            assert_eq!(where_is(libc::SYS_clone3), [false, true], "{scope:?}");
            assert_eq!(where_is(libc::SYS_ptrace), [true, false], "{scope:?}");
        }
    }
}
