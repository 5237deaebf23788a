//! The processes that are measured: started, watched, stopped.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::bare::ResponseSize;
use crate::caller::BenchClient;
use crate::testbed::Testbed;

/// Longest wait for a server to serve, or to stop.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// How often a condition is looked at.
const POLL: Duration = Duration::from_micros(200);

/// A server in a process of its own; killed where it is not stopped.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    /// From its start to its first answer.
    pub(crate) start: Duration,
}

// === impl ServerProcess ===

impl ServerProcess {
    /// Starts the daemon and waits for its first answer.
    pub(crate) async fn daemon(place: &Testbed) -> Result<(Self, BenchClient)> {
        Self::start(place.serve(), &place.daemon_socket(), || place.caller_token()).await
    }

    /// Starts this program as the bare server, with answers as long as the daemon's.
    pub(crate) async fn bare(
        place: &Testbed,
        answers: &[ResponseSize],
    ) -> Result<(Self, BenchClient)> {
        // Left behind by the one before.
        let _ = std::fs::remove_file(place.bare_socket());
        let mut bare = Command::new(crate::this_program()?);
        bare.arg("bare").arg(place.bare_socket()).arg(place.bare_workspace()).arg(&place.component);
        bare.args(answers.iter().map(ToString::to_string));
        Self::start(bare, &place.bare_socket(), || Ok("none".to_owned())).await
    }

    async fn start(
        mut command: Command,
        socket: &Path,
        token: impl Fn() -> Result<String>,
    ) -> Result<(Self, BenchClient)> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let started = Instant::now();
        let child = command.spawn().context("cannot start a server")?;
        let mut server = Self { child, start: Duration::ZERO };
        let caller = loop {
            if let Ok(caller) = BenchClient::connect(socket, &token).await {
                break caller;
            }
            server.check_alive()?;
            if started.elapsed() > WAIT_MAX {
                bail!("no answer on {} after {WAIT_MAX:?}", socket.display());
            }
            tokio::time::sleep(POLL).await;
        };
        server.start = started.elapsed();
        // What it logs is not wanted, and must not fill the pipe.
        if let Some(mut stderr) = server.child.stderr.take() {
            std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        }
        Ok((server, caller))
    }

    fn check_alive(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            let mut said = String::new();
            if let Some(mut stderr) = self.child.stderr.take() {
                std::io::Read::read_to_string(&mut stderr, &mut said)?;
            }
            bail!("a server ended before it served ({status}):\n{said}");
        }
        Ok(())
    }

    /// The memory that it holds, in bytes.
    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        let file = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(&file)
            .context("memory is measured on Linux only: there is no /proc")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kibibytes: u64 = kibibytes.with_context(|| format!("no VmRSS in {file}"))?.parse()?;
        Ok(kibibytes * 1024)
    }

    /// Asks it to stop, and waits.
    pub(crate) async fn stop(mut self) -> Result<()> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().context("cannot start `kill`")?;
        let asked = Instant::now();
        while self.child.try_wait()?.is_none() {
            if asked.elapsed() > WAIT_MAX {
                bail!("a server does not stop after {WAIT_MAX:?}");
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Ended already, or wanted no more: either way it must not outlive the measuring.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
