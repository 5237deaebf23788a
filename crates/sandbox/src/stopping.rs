//! How a command that runs is stopped, from wherever that is wanted.

use tokio::sync::watch;

/// Stops a command from wherever it is held.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<WantedEnd>);

/// What is wanted of a command that runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WantedEnd {
    level: StopLevel,
    /// How often it was to end in case that it has a terminal.
    at_terminal: u64,
}

/// How a command is to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopLevel {
    Not,
    Terminate,
    Kill,
}

/// Waits until a higher level is wanted than was sent.
pub(crate) async fn next_level(
    stopped: &mut watch::Receiver<WantedEnd>,
    told: StopLevel,
) -> Result<StopLevel, watch::error::RecvError> {
    stopped.wait_for(|wanted| wanted.level > told).await.map(|wanted| wanted.level)
}

/// Waits until it was to end at its terminal once more than was sent.
pub(crate) async fn next_at_terminal(
    asked: &mut watch::Receiver<WantedEnd>,
    seen: u64,
) -> Result<u64, watch::error::RecvError> {
    asked.wait_for(|wanted| wanted.at_terminal > seen).await.map(|wanted| wanted.at_terminal)
}

// === impl Stopper ===

impl Stopper {
    /// Asks all processes to end, and kills them after the grace of its limits.
    pub fn terminate(&self) {
        self.raise(StopLevel::Terminate);
    }

    /// Asks all processes to end where one of them has a terminal, and kills them after the grace of its limits; else nothing
    /// can wait for a reply, as its standard input is empty, and the command goes on. The end is [`CommandLimit::Input`](crate::CommandLimit::Input) then. Not for
    /// a command that was given a terminal, or an input.
    pub fn terminate_at_terminal(&self) {
        self.0.send_modify(|wanted| wanted.at_terminal += 1);
    }

    /// Kills all processes at once, without a grace.
    pub fn kill(&self) {
        self.raise(StopLevel::Kill);
    }

    /// Makes one of nothing that is wanted yet, with what says what is wanted.
    pub(crate) fn new() -> (Self, watch::Receiver<WantedEnd>) {
        let (sender, wanted) = watch::channel(WantedEnd { level: StopLevel::Not, at_terminal: 0 });
        (Self(sender), wanted)
    }

    fn raise(&self, level: StopLevel) {
        self.0.send_if_modified(|held| {
            let is_more = level > held.level;
            held.level = level.max(held.level);
            is_more
        });
    }
}
