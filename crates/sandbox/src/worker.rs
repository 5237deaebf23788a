//! A program of moss's own as a function: bytes on its standard input, bytes back on its standard
//! output. It has nothing of this process's environment, and a process group of its own.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use std::{fmt, io};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};

/// How much of what a worker says on its standard error is kept, in bytes.
const SAID_BYTES_MAX: usize = 16 << 10;
/// How much room for the output there is at first, in bytes.
const OUTPUT_BYTES_FIRST: usize = 64 << 10;

/// A program and how it is run.
#[derive(Debug, Clone)]
pub struct Worker {
    /// An absolute path: it runs in `/`.
    pub program: PathBuf,
    /// Without its name, which comes first by itself.
    pub arguments: Vec<OsString>,
    /// All variables that it has: it inherits none.
    pub environment: Vec<(OsString, OsString)>,
    /// Most bytes of its output.
    pub output_bytes_max: usize,
    /// Longest run, in wall-clock time.
    pub timeout: Duration,
}

/// Why a worker has no output.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It could not be started, or talked to.
    #[error("the process cannot be run: {0}")]
    Io(#[from] io::Error),
    /// It ran too long.
    #[error("the process ran longer than {} ms", .0.as_millis())]
    Timeout(Duration),
    /// It wrote too much.
    #[error("the process wrote more than {0} bytes")]
    Output(usize),
    /// It failed by itself.
    #[error("the process {ending}: {said}")]
    Failed {
        /// Its exit code or the signal that ended it.
        ending: ProcessExit,
        /// What it said on its standard error, cut to a bound.
        said: String,
    },
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessExit {
    /// By itself, with a status.
    Exited(i32),
    /// Ended by this signal.
    Killed(i32),
}

/// A child that does not outlive this value, nor do those that it started.
pub(crate) struct Owned(pub(crate) Child);

// === impl Worker ===

impl Worker {
    /// Runs the program on an input, whose parts follow each other. Dropping the future ends it.
    ///
    /// # Errors
    ///
    /// Where it cannot be started, fails, takes too long or writes too much. It has ended then.
    pub async fn run(&self, input: &[&[u8]]) -> Result<Vec<u8>, WorkerError> {
        let mut owned = Owned(self.command().spawn()?);
        let run = self.talk(&mut owned.0, input);
        let ended = tokio::time::timeout(self.timeout, run).await;
        ended.unwrap_or(Err(WorkerError::Timeout(self.timeout)))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }

    async fn talk(&self, child: &mut Child, input: &[&[u8]]) -> Result<Vec<u8>, WorkerError> {
        let missing = || io::Error::other("a pipe is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let output = async {
            let bytes = read_bounded(stdout, self.output_bytes_max).await?;
            bytes.ok_or(WorkerError::Output(self.output_bytes_max))
        };
        let said = async { Ok(read_first(stderr, SAID_BYTES_MAX).await?) };
        let ((), output, said) = tokio::try_join!(write_all(stdin, input), output, said)?;
        let status = child.wait().await?;
        if status.success() {
            return Ok(output);
        }
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        Err(WorkerError::Failed { ending: ProcessExit::of(status), said })
    }
}

/// Writes all parts. A worker that ends before it has read everything says itself why.
async fn write_all(mut stdin: ChildStdin, input: &[&[u8]]) -> Result<(), WorkerError> {
    for part in input {
        match stdin.write_all(part).await {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
    Ok(())
}

/// Reads to the end; none where there are more bytes than that.
pub(crate) async fn read_bounded(
    from: impl AsyncRead + Unpin,
    bytes_max: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(OUTPUT_BYTES_FIRST.min(bytes_max));
    from.take(bytes_max as u64 + 1).read_to_end(&mut bytes).await?;
    Ok((bytes.len() <= bytes_max).then_some(bytes))
}

/// Reads to the end and keeps the beginning.
async fn read_first(mut from: impl AsyncRead + Unpin, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (&mut from).take(bytes_max as u64).read_to_end(&mut bytes).await?;
    tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    Ok(bytes)
}

// === impl ProcessExit ===

impl ProcessExit {
    pub(crate) fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, signal) => Self::Killed(signal.unwrap_or_default()),
        }
    }

    /// Whether it ended by itself with code 0.
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
    }

    /// Whether its CPU time was over.
    pub fn is_out_of_cpu(self) -> bool {
        self == Self::Killed(Signal::XCPU.as_raw())
    }
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ended with status {code}"),
            Self::Killed(signal) => write!(f, "was ended by signal {signal}"),
        }
    }
}

// === impl Owned ===

impl Drop for Owned {
    fn drop(&mut self) {
        // An id that is still there was not waited for: it is no other process's yet.
        let id = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(id) = id {
            // Where it fails the group is gone already.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Worker {
        Worker {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: Vec::new(),
            output_bytes_max: 1 << 10,
            timeout: Duration::from_secs(30),
        }
    }

    #[tokio::test]
    async fn bytes_go_in_and_come_out() {
        let output = shell("cat").run(&[b"a\0", b"b"]).await.unwrap();
        assert_eq!(output, b"a\0b");
    }

    #[tokio::test]
    async fn a_worker_has_only_the_environment_that_it_was_given() {
        let mut worker = shell("test -z \"$HOME$CARGO_MANIFEST_DIR\" && echo $GIVEN && pwd");
        worker.environment = vec![("GIVEN".into(), "this".into())];
        assert_eq!(worker.run(&[]).await.unwrap(), b"this\n/\n");
    }

    #[tokio::test]
    async fn a_failure_comes_with_its_status_and_what_was_said() {
        let error = shell("echo because >&2; exit 3").run(&[b"unread"]).await.unwrap_err();
        assert_eq!(error.to_string(), "the process ended with status 3: because");
        let error = shell("kill -XCPU $$").run(&[]).await.unwrap_err();
        let WorkerError::Failed { ending, .. } = error else { panic!("{error}") };
        assert!(ending.is_out_of_cpu());
        let mut missing = shell("");
        missing.program = "/nowhere/at/all".into();
        assert!(matches!(missing.run(&[]).await, Err(WorkerError::Io(_))));
    }

    #[tokio::test]
    async fn output_and_time_are_bounded() {
        let input = vec![b'x'; 100 << 10];
        let error = shell("cat").run(&[&input]).await.unwrap_err();
        assert!(matches!(error, WorkerError::Output(1024)), "{error}");
        let mut slow = shell("cat >/dev/null; sleep 1000");
        slow.timeout = Duration::from_millis(20);
        let error = slow.run(&[]).await.unwrap_err();
        assert!(matches!(error, WorkerError::Timeout(_)), "{error}");
    }

    #[tokio::test]
    async fn nothing_that_a_worker_started_outlives_it() {
        // The pipe is at its end when nobody holds its other end any more.
        let (reader, writer) = io::pipe().unwrap();
        let mut owned = {
            let mut command = shell("sleep 1000 & sleep 1000").command();
            command.stdout(writer);
            Owned(command.spawn().unwrap())
        };
        assert!(owned.0.try_wait().unwrap().is_none());
        drop(owned);
        let read = tokio::task::spawn_blocking(move || io::read_to_string(reader));
        let read = tokio::time::timeout(Duration::from_secs(30), read).await;
        assert_eq!(read.unwrap().unwrap().unwrap(), "");
    }
}
