//! What moss's own launcher is asked to set up before it becomes a command's keeper: see `launcher.rs`.

use std::io;
use std::path::PathBuf;

use crate::mounts::PlannedMount;
use crate::wire::{Decoder, Encoder};

/// What a command sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaunchOrder {
    /// In their order: later ones lie in earlier ones, or hide part of them.
    pub(crate) mounts: Vec<PlannedMount>,
    /// Bounds each private directory.
    pub(crate) scratch_bytes: u64,
}

// === impl LaunchOrder ===

impl LaunchOrder {
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut message = Encoder::default();
        message.number(self.scratch_bytes).number(self.mounts.len() as u64);
        for mount in &self.mounts {
            let kind = match mount {
                PlannedMount::Link { .. } => 0,
                PlannedMount::Readable(_) => 1,
                PlannedMount::Writable(_) => 2,
                PlannedMount::Scratch(_) => 3,
                PlannedMount::Everything => 4,
                PlannedMount::MaskedFile(_) => 5,
                PlannedMount::MaskedDirectory(_) => 6,
                PlannedMount::Cache { is_writable: false, .. } => 7,
                PlannedMount::Cache { is_writable: true, .. } => 8,
                PlannedMount::MaskedSocket(_) => 9,
                PlannedMount::Copy { .. } => 10,
            };
            message.number(kind).text(mount.at());
            if let PlannedMount::Link { target: other, .. }
            | PlannedMount::Cache { real: other, .. }
            | PlannedMount::Copy { from: other, .. } = mount
            {
                message.text(other);
            }
        }
        message.finish()
    }

    pub(crate) fn decode(message: &[u8]) -> io::Result<Self> {
        let mut message = Decoder::new(message);
        let scratch_bytes = message.number()?;
        let count = message.number()?;
        let mounts = (0..count).map(|_| decode_mount(&mut message)).collect::<io::Result<_>>()?;
        Ok(Self { mounts, scratch_bytes })
    }
}

fn decode_mount(message: &mut Decoder<'_>) -> io::Result<PlannedMount> {
    let kind = message.number()?;
    let mut path = || -> io::Result<PathBuf> { Ok(message.text()?.into()) };
    let at = path()?;
    Ok(match kind {
        0 => PlannedMount::Link { at, target: path()? },
        1 => PlannedMount::Readable(at),
        2 => PlannedMount::Writable(at),
        3 => PlannedMount::Scratch(at),
        4 => PlannedMount::Everything,
        5 => PlannedMount::MaskedFile(at),
        6 => PlannedMount::MaskedDirectory(at),
        7 | 8 => PlannedMount::Cache { at, real: path()?, is_writable: kind == 8 },
        9 => PlannedMount::MaskedSocket(at),
        10 => PlannedMount::Copy { at, from: path()? },
        _ => return Err(io::Error::other("the message is of another version of moss")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were() {
        let mounts = vec![
            PlannedMount::Link { target: "usr/bin".into(), at: "/bin".into() },
            PlannedMount::Readable("/usr".into()),
            PlannedMount::Writable("/w".into()),
            PlannedMount::Scratch("/tmp".into()),
            PlannedMount::Everything,
            PlannedMount::MaskedFile("/w/.env".into()),
            PlannedMount::MaskedSocket("/usr/s".into()),
            PlannedMount::Copy { from: "/t/index".into(), at: "/w/.git/index".into() },
            PlannedMount::MaskedDirectory("/w/keys".into()),
            PlannedMount::Cache { real: "/v/c".into(), at: "/c".into(), is_writable: true },
            PlannedMount::Cache { real: "/d".into(), at: "/d".into(), is_writable: false },
        ];
        let order = LaunchOrder { mounts, scratch_bytes: 7 };
        let message = order.encode().unwrap().split_off(crate::wire::LENGTH_BYTES);
        assert_eq!(LaunchOrder::decode(&message).unwrap(), order);
    }
}
