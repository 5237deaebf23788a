//! `moss stop`: ends the daemon in order, as SIGTERM does, and waits until it has ended.
//!
//! The daemon says which process it is, and the kernel says which one opened its socket. Nothing is signalled
//! unless both name the same one: what a supervisor listens for is started again, and the numbers of a container
//! are those of other processes here.

use std::io;
use std::path::Path;
use std::time::Duration;

use moss_dispatch::{Outcome, Reason};
use moss_grpc::address::Address;
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use serde_json::json;
#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;
use tokio::net::UnixStream;

use super::error::CliError;
use super::ui::Ui;
use super::{Session, call};
use crate::client::Client;

/// Stop the daemon in order, and wait until it has ended
///
/// Running calls get time to end (`shutdown.grace_ms`), and questions that wait are withdrawn. It is the daemon on
/// the default socket, or the one of `--server unix:PATH`. One that systemd listens for is stopped there.
#[derive(Debug, clap::Args)]
pub(super) struct StopArgs {
    /// How long to wait for its end, for example 30s or 5m
    #[arg(long, value_name = "DURATION", value_parser = call::duration, default_value = "60s")]
    timeout: Duration,
}

/// The process of a daemon; on Linux no other one that gets its number later.
struct DaemonProcess(
    #[cfg(target_os = "linux")] AsyncFd<std::os::fd::OwnedFd>,
    #[cfg(not(target_os = "linux"))] Pid,
);

pub(super) async fn run(args: StopArgs, session: &Session) -> Result<Outcome, CliError> {
    let socket = match &session.global.remote.server {
        Some(Address::Unix(socket)) => socket.clone(),
        Some(Address::Tcp(_)) => {
            let message = "a daemon at a port cannot be stopped from here";
            return Err(CliError::invalid(message).hint("run `moss stop` on its machine"));
        }
        None => session.dirs()?.socket(),
    };
    let ui = &session.ui;
    let stopped = session
        .with_daemon(async |client| stop(client, &socket, args.timeout, ui).await)
        .await
        .map_err(|error| {
            let is_absent = error.error.code == Reason::NoDaemon.code();
            // Elsewhere the hint is to start one.
            match is_absent && error.error.hint.is_none() {
                true => error.hint("one on another socket is named with `--server unix:PATH`"),
                false => error,
            }
        });
    let pid = stopped?;
    ui.print_either(
        || json!({ "outcome": Outcome::Ok, "pid": pid }),
        || format!("stopped pid {pid}"),
    )?;
    Ok(Outcome::Ok)
}

async fn stop(client: &Client, socket: &Path, timeout: Duration, ui: &Ui) -> Result<u32, CliError> {
    let pid = client.status().await?.pid;
    let opener = UnixStream::connect(socket).await?.peer_cred()?.pid();
    let number = i32::try_from(pid).ok().filter(|pid| opener == Some(*pid));
    let Some(number) = number.and_then(Pid::from_raw) else { return Err(elsewhere(pid, socket)) };
    let process = match DaemonProcess::of(number) {
        Err(error) if has_ended(&error) => return Ok(pid),
        process => process?,
    };
    // On the same connection: what was opened is the daemon, and not what got its number meanwhile.
    let running = client.status().await?.calls_running;
    if running > 0 && !ui.json() {
        ui.note(&format!("pid {pid} gets time to end its running calls ({running})"));
    }
    match process.terminate() {
        Err(error) if has_ended(&error) => return Ok(pid),
        ended => ended?,
    }
    match tokio::time::timeout(timeout, process.ended()).await {
        Ok(ended) => ended?,
        Err(_) => {
            let message = format!("pid {pid} is to end and still runs after {timeout:?}");
            return Err(CliError::new(Outcome::Timeout, Reason::CallTimeout.code(), message));
        }
    }
    Ok(pid)
}

/// Whether there is no such process any more: somebody else has stopped it as well.
fn has_ended(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

fn elsewhere(pid: u32, socket: &Path) -> CliError {
    let message = format!(
        "another process than the daemon (pid {pid}) opened {}: a supervisor such as systemd, or it runs in a container",
        socket.display()
    );
    CliError::new(Outcome::Failed, "socket_inherited", message)
        .hint("stop it where it was started, such as with `systemctl --user stop moss.socket moss`")
}

// === impl DaemonProcess ===

#[cfg(target_os = "linux")]
impl DaemonProcess {
    fn of(pid: Pid) -> io::Result<Self> {
        let process = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?;
        #[expect(
            deprecated,
            reason = "it is sound for what owns one descriptor as long as it lives"
        )]
        let process = AsyncFd::with_interest(process, tokio::io::Interest::READABLE)?;
        Ok(Self(process))
    }

    fn terminate(&self) -> io::Result<()> {
        rustix::process::pidfd_send_signal(self.0.get_ref(), Signal::TERM)?;
        Ok(())
    }

    /// Is ready when it has ended.
    async fn ended(&self) -> io::Result<()> {
        self.0.readable().await.map(drop)
    }
}

#[cfg(not(target_os = "linux"))]
impl DaemonProcess {
    fn of(pid: Pid) -> io::Result<Self> {
        Ok(Self(pid))
    }

    fn terminate(&self) -> io::Result<()> {
        rustix::process::kill_process(self.0, Signal::TERM)?;
        Ok(())
    }

    /// Is ready when it has ended.
    async fn ended(&self) -> io::Result<()> {
        const LOOK_EVERY: Duration = Duration::from_millis(20);
        while rustix::process::test_kill_process(self.0) != Err(Errno::SRCH) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }
}
