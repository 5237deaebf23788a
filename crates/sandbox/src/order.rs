//! What a command's keeper is asked to do, and what it reports: see `keeper.rs`.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::ending::{CommandLimit, CoverChange, Disturbance, LeftProcess};
use crate::identity::MountIdentity;
use crate::wire::{Decoder, Encoder};
use crate::worker::ProcessExit;

/// What moss writes to a keeper after its order: SIGTERM for all.
pub(crate) const TERMINATE: u8 = b'T';
/// The same where one of its processes has a terminal, and so may wait for what is typed there, with SIGKILL after a grace.
pub(crate) const TERMINATE_AT_TERMINAL: u8 = b'I';
/// What moss writes to a keeper after its order: SIGKILL for all.
pub(crate) const KILL: u8 = b'K';

/// The command, and how it is kept in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeeperOrder {
    pub(crate) arguments: Vec<OsString>,
    /// Names and values in turn.
    pub(crate) environment: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) cpu_seconds: u64,
    pub(crate) files_max: u64,
    pub(crate) file_bytes_max: u64,
    pub(crate) memory_bytes_max: u64,
    pub(crate) processes_max: u64,
    /// How long it has to end by itself once it is to end at its terminal, in milliseconds.
    pub(crate) grace_ms: u64,
    /// The descriptor that is the command's standard input, which the keeper inherited; none where
    /// that is empty.
    pub(crate) input: Option<u32>,
    /// Whether that is a terminal, and all of its standard streams.
    pub(crate) has_terminal: bool,
    /// Whether the keeper is the first process of a PID namespace.
    pub(crate) is_init: bool,
    /// Whether the filter refuses all that reaches a network, as there is no namespace for it.
    pub(crate) is_offline: bool,
    /// Whether system calls are filtered.
    pub(crate) is_filtered: bool,
    /// The rules of Landlock, where it is used.
    pub(crate) landlock: Option<LandlockRules>,
    /// Whether such rules apply besides, whose descriptor comes with the order: see `system_layer.rs`.
    pub(crate) has_layer: bool,
    /// The first of the descriptors of its control group, which the keeper inherited; none where it has none.
    pub(crate) group: Option<u32>,
    /// Its temporary directory, where that is on the disk: it may hold as much as memory.
    pub(crate) temporary: Option<PathBuf>,
    /// What has to be seen where, as it was mounted by its name.
    pub(crate) identities: Vec<MountIdentity>,
    /// What has to stay as it is while it runs.
    pub(crate) covers: CoverOrder,
}

/// What is kept from a command, as long as it stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CoverOrder {
    /// Files and directories over which something empty is mounted.
    pub(crate) masked: Vec<PathBuf>,
    /// Files and directories that are mounted read-only over themselves.
    pub(crate) protected: Vec<PathBuf>,
    /// What does not exist and may not come into being.
    pub(crate) missing: Vec<PathBuf>,
}

/// What Landlock lets through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LandlockRules {
    /// What can be read and run, with all beneath it.
    pub(crate) readable: Vec<PathBuf>,
    /// What can be written as well.
    pub(crate) writable: Vec<PathBuf>,
    /// The same, by names that are real paths: where a link leads to one, there is no rule for it.
    pub(crate) writable_real: Vec<PathBuf>,
    /// Sockets that can be connected to.
    pub(crate) sockets: Vec<PathBuf>,
    /// Whether TCP is let through.
    pub(crate) has_network: bool,
}

/// Rules of Landlock that are made already, and keep something of the system from commands.
#[derive(Debug)]
pub(crate) struct AppliedLayer {
    /// The directories of the system that hold it.
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) rules: OwnedFd,
}

/// What a keeper reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeeperReport {
    /// The command runs: what follows is its own.
    Started,
    /// The program cannot be run.
    NoProgram(String),
    /// The command could not be kept in, and was not run.
    Failed(String),
    /// What may not come into being is there.
    Made(PathBuf),
    /// The leader has ended, and what it left running was killed.
    Ended(KeptEnd),
}

/// How the leader ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptEnd {
    pub(crate) exit: ProcessExit,
    pub(crate) limit: Option<CommandLimit>,
    pub(crate) disturbance: Option<Disturbance>,
    pub(crate) left_running: Vec<LeftProcess>,
    pub(crate) left_running_count: usize,
    /// Whether nothing of the tree is left. Otherwise the kernel ends the rest with the keeper, if anything
    /// does.
    pub(crate) is_all_dead: bool,
}

fn invalid() -> io::Error {
    io::Error::other("the message is of another version of moss")
}

/// How the number of a descriptor is written, or that it is missing.
fn encode_descriptor(number: Option<u32>) -> u64 {
    number.map_or(0, |number| u64::from(number) + 1)
}

fn decode_descriptor(number: u64) -> io::Result<Option<u32>> {
    number.checked_sub(1).map(|number| u32::try_from(number).map_err(|_| invalid())).transpose()
}

// === impl CoverOrder ===

impl CoverOrder {
    /// The same, of what may not come into being only what is missing.
    pub(crate) fn where_missing(mut self, missing: &HashSet<PathBuf>) -> Self {
        self.missing.retain(|path| missing.contains(path));
        self
    }
}

// === impl KeeperOrder ===

impl KeeperOrder {
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut message = Encoder::default();
        message.list(&self.arguments).list(&self.environment).text(&self.directory);
        for number in [
            self.cpu_seconds,
            self.files_max,
            self.file_bytes_max,
            self.memory_bytes_max,
            self.processes_max,
            self.grace_ms,
            encode_descriptor(self.input),
            self.has_terminal.into(),
            self.is_init.into(),
            self.is_offline.into(),
            self.is_filtered.into(),
            self.has_layer.into(),
            encode_descriptor(self.group),
            self.landlock.is_some().into(),
        ] {
            message.number(number);
        }
        if let Some(rules) = &self.landlock {
            message.list(&rules.readable).list(&rules.writable).list(&rules.writable_real);
            message.list(&rules.sockets);
            message.number(rules.has_network.into());
        }
        message.list(&self.temporary);
        let CoverOrder { masked, protected, missing } = &self.covers;
        message.list(masked).list(protected).list(missing).number(self.identities.len() as u64);
        for identity in &self.identities {
            identity.encode(&mut message);
        }
        message.finish()
    }

    pub(crate) fn decode(message: &[u8]) -> io::Result<Self> {
        let mut message = Decoder::new(message);
        let mut order = Self {
            arguments: message.list()?,
            environment: message.list()?,
            directory: message.text()?.into(),
            cpu_seconds: message.number()?,
            files_max: message.number()?,
            file_bytes_max: message.number()?,
            memory_bytes_max: message.number()?,
            processes_max: message.number()?,
            grace_ms: message.number()?,
            input: decode_descriptor(message.number()?)?,
            has_terminal: message.number()? == 1,
            is_init: message.number()? == 1,
            is_offline: message.number()? == 1,
            is_filtered: message.number()? == 1,
            has_layer: message.number()? == 1,
            group: decode_descriptor(message.number()?)?,
            landlock: None,
            temporary: None,
            identities: Vec::new(),
            covers: CoverOrder::default(),
        };
        let paths = |list: Vec<OsString>| list.into_iter().map(PathBuf::from).collect();
        if message.number()? == 1 {
            order.landlock = Some(LandlockRules {
                readable: paths(message.list()?),
                writable: paths(message.list()?),
                writable_real: paths(message.list()?),
                sockets: paths(message.list()?),
                has_network: message.number()? == 1,
            });
        }
        order.temporary = message.list()?.pop().map(PathBuf::from);
        order.covers = CoverOrder {
            masked: paths(message.list()?),
            protected: paths(message.list()?),
            missing: paths(message.list()?),
        };
        let count = message.number()?;
        let identities = (0..count).map(|_| MountIdentity::decode(&mut message));
        order.identities = identities.collect::<io::Result<_>>()?;
        Ok(order)
    }
}

// === impl LandlockRules ===

impl LandlockRules {
    /// Whether a path lies in what can be written.
    pub(crate) fn is_written(&self, path: &Path) -> bool {
        self.writable.iter().chain(&self.writable_real).any(|root| path.starts_with(root))
    }
}

// === impl KeeperReport ===

impl KeeperReport {
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut message = Encoder::default();
        match self {
            Self::Started => {
                message.number(0);
            }
            Self::NoProgram(reason) => {
                message.number(1).text(reason);
            }
            Self::Failed(reason) => {
                message.number(2).text(reason);
            }
            Self::Made(path) => {
                message.number(4).text(path);
            }
            Self::Ended(end) => {
                message.number(3);
                end.encode(&mut message);
            }
        }
        message.finish()
    }

    pub(crate) fn decode(message: &[u8]) -> io::Result<Self> {
        let mut message = Decoder::new(message);
        let text = |message: &mut Decoder<'_>| -> io::Result<String> {
            Ok(message.text()?.to_string_lossy().into_owned())
        };
        Ok(match message.number()? {
            0 => Self::Started,
            1 => Self::NoProgram(text(&mut message)?),
            2 => Self::Failed(text(&mut message)?),
            3 => Self::Ended(KeptEnd::decode(&mut message)?),
            4 => Self::Made(message.text()?.into()),
            _ => return Err(invalid()),
        })
    }
}

// === impl KeptEnd ===

impl KeptEnd {
    fn encode(&self, message: &mut Encoder) {
        let (kind, value) = match self.exit {
            ProcessExit::Exited(code) => (0, code),
            ProcessExit::Killed(signal) => (1, signal),
        };
        let (limit, most) = self.limit.map_or((0, 0), CommandLimit::code);
        message
            .number(kind)
            .number(value.cast_unsigned().into())
            .number(limit)
            .number(most)
            .number(self.left_running_count as u64)
            .number(self.is_all_dead.into())
            .number(self.left_running.len() as u64);
        for process in &self.left_running {
            message.number(process.pid.into()).text(&process.command);
        }
        let change = self.disturbance.as_ref().map(|disturbance| disturbance.change);
        let place =
            change.and_then(|change| CoverChange::ALL.iter().position(|&one| one == change));
        message.number(place.map_or(0, |place| place as u64 + 1));
        message.text(self.disturbance.as_ref().map_or("".as_ref(), |found| found.path.as_path()));
    }

    fn decode(message: &mut Decoder<'_>) -> io::Result<Self> {
        let kind = message.number()?;
        let value = u32::try_from(message.number()?).map_err(|_| invalid())?.cast_signed();
        let limit = CommandLimit::of_code(message.number()?, message.number()?);
        let left_running_count = usize::try_from(message.number()?).map_err(|_| invalid())?;
        let is_all_dead = message.number()? == 1;
        let listed = message.number()?;
        let mut process = || -> io::Result<LeftProcess> {
            let pid = u32::try_from(message.number()?).map_err(|_| invalid())?;
            Ok(LeftProcess { pid, command: message.text()?.to_string_lossy().into_owned() })
        };
        let left_running = (0..listed).map(|_| process()).collect::<io::Result<_>>()?;
        let change = usize::try_from(message.number()?).map_err(|_| invalid())?;
        let change = change.checked_sub(1).and_then(|place| CoverChange::ALL.get(place)).copied();
        let path = message.text()?.into();
        Ok(Self {
            disturbance: change.map(|change| Disturbance { path, change }),
            exit: if kind == 0 { ProcessExit::Exited(value) } else { ProcessExit::Killed(value) },
            limit,
            left_running,
            left_running_count,
            is_all_dead,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(encoded: io::Result<Vec<u8>>) -> Vec<u8> {
        encoded.unwrap().split_off(4)
    }

    #[test]
    fn orders_arrive_as_they_were() {
        let mut order = KeeperOrder {
            arguments: vec!["a".into(), "".into()],
            environment: vec!["PATH".into(), "/bin".into()],
            directory: "/w".into(),
            cpu_seconds: 1,
            files_max: 2,
            file_bytes_max: 3,
            memory_bytes_max: 4,
            processes_max: 5,
            grace_ms: 6,
            input: None,
            has_terminal: true,
            is_init: true,
            is_offline: true,
            is_filtered: false,
            has_layer: true,
            group: Some(5),
            landlock: None,
            temporary: None,
            identities: Vec::new(),
            covers: CoverOrder::default(),
        };
        assert_eq!(KeeperOrder::decode(&message(order.encode())).unwrap(), order);
        order.input = Some(0);
        order.temporary = Some("/tmp/x".into());
        let opened = std::fs::File::open("/").unwrap().into();
        order.identities.push(MountIdentity::of(Path::new("/"), &opened).unwrap());
        order.covers.masked = vec!["/w/.env".into()];
        order.covers.missing = vec!["/w/a".into(), "/w/b".into()];
        order.landlock = Some(LandlockRules {
            readable: vec!["/".into()],
            writable: Vec::new(),
            writable_real: vec!["/w".into()],
            sockets: vec!["/s".into()],
            has_network: true,
        });
        assert_eq!(KeeperOrder::decode(&message(order.encode())).unwrap(), order);
    }

    #[test]
    fn reports_arrive_as_they_were() {
        let ended = |exit, limit| {
            KeeperReport::Ended(KeptEnd {
                exit,
                limit,
                disturbance: Some(Disturbance { path: "/w/x".into(), change: CoverChange::Made }),
                left_running: vec![LeftProcess { pid: 7, command: "sleep 9".into() }],
                left_running_count: 2,
                is_all_dead: true,
            })
        };
        for report in [
            KeeperReport::Started,
            KeeperReport::NoProgram("x: not found".into()),
            KeeperReport::Failed("why".into()),
            KeeperReport::Made("/w/.git/commondir".into()),
            ended(ProcessExit::Exited(-1), None),
            ended(ProcessExit::Killed(9), Some(CommandLimit::Memory)),
            ended(ProcessExit::Killed(9), Some(CommandLimit::TemporaryBytes(7))),
            ended(ProcessExit::Killed(9), Some(CommandLimit::TemporaryFiles(8))),
            ended(ProcessExit::Killed(15), Some(CommandLimit::Input)),
        ] {
            assert_eq!(KeeperReport::decode(&message(report.encode())).unwrap(), report);
        }
        assert!(KeeperReport::decode(&[9; 8]).is_err());
    }
}
