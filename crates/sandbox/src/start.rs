//! How a command's keeper is started: as what the fork server makes a process, and which program that
//! becomes where it is not moss's own.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use crate::command::NetworkMode;
use crate::wire::{Decoder, Encoder};

/// What a new process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartKind {
    /// A keeper: see `keeper.rs`.
    Keeper,
    /// moss's own launcher, with the network of the machine or without: see `launcher.rs`.
    Launcher(NetworkMode),
    /// A program of the system, by which a keeper is started.
    Program,
}

/// What a fork server has given up for good, and with it all that it forks: no command waits until that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForkBounds {
    /// Nothing, as for what makes namespaces and for commands that nothing keeps in.
    Unbounded,
    /// What commands without namespaces do not have and their keepers do not need: system calls that reach others, with
    /// the network of the machine or without.
    Commands(NetworkMode),
}

/// The program that a process becomes, which inherits the descriptors that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramOrder {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
}

// === impl StartKind ===

impl StartKind {
    const ALL: [Self; 4] = [
        Self::Keeper,
        Self::Launcher(NetworkMode::Off),
        Self::Launcher(NetworkMode::On),
        Self::Program,
    ];

    /// How it is written.
    pub(crate) fn word(self) -> u8 {
        match self {
            Self::Keeper => b'K',
            Self::Launcher(NetworkMode::Off) => b'L',
            Self::Launcher(NetworkMode::On) => b'N',
            Self::Program => b'P',
        }
    }

    pub(crate) fn of(word: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

// === impl ForkBounds ===

impl ForkBounds {
    /// How many there are.
    pub(crate) const COUNT: usize = Self::ALL.len();
    const ALL: [Self; 3] =
        [Self::Unbounded, Self::Commands(NetworkMode::Off), Self::Commands(NetworkMode::On)];

    /// A number of its own, from 0 on.
    pub(crate) fn place(self) -> usize {
        match self {
            Self::Unbounded => 0,
            Self::Commands(NetworkMode::Off) => 1,
            Self::Commands(NetworkMode::On) => 2,
        }
    }

    /// The argument by which a server knows it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Unbounded => "unbounded",
            Self::Commands(NetworkMode::Off) => "offline",
            Self::Commands(NetworkMode::On) => "online",
        }
    }

    pub(crate) fn of(word: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|bounds| word == bounds.word())
    }
}

// === impl ProgramOrder ===

impl ProgramOrder {
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut message = Encoder::default();
        message.text(&self.program).list(&self.arguments);
        message.finish()
    }

    pub(crate) fn decode(message: &[u8]) -> io::Result<Self> {
        let mut message = Decoder::new(message);
        Ok(Self { program: message.text()?.into(), arguments: message.list()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were() {
        let order = ProgramOrder { program: "/p".into(), arguments: vec!["a".into(), "".into()] };
        let message = order.encode().unwrap().split_off(crate::wire::LENGTH_BYTES);
        assert_eq!(ProgramOrder::decode(&message).unwrap(), order);
    }

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in StartKind::ALL {
            assert_eq!(StartKind::of(kind.word()), Some(kind));
        }
        assert_eq!(StartKind::of(b'+'), None);
    }

    #[test]
    fn each_server_is_known_by_its_word_and_has_a_place_of_its_own() {
        for (place, bounds) in ForkBounds::ALL.into_iter().enumerate() {
            assert_eq!(
                (bounds.place(), ForkBounds::of(bounds.word().as_ref())),
                (place, Some(bounds))
            );
        }
        assert_eq!(ForkBounds::of("other".as_ref()), None);
    }
}
