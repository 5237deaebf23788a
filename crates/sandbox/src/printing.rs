//! How bash reads a script: it writes it down again, and runs nothing of it.

use std::ffi::OsString;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::command::{Profile, SandboxedCommand};
use crate::ending::EndCause;
use crate::output::OutputStream;
use crate::sandbox::Sandbox;
use crate::tier::Tier;
use crate::worker::ProcessExit;

/// Longest time that bash has for it.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Longest script as bash writes it down, in bytes: with blanks of its own it may be a few times as long.
const PRINTED_BYTES_MAX: usize = 8 << 20;
/// Memory that it may use.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// The status with which it ends where it refuses a script: 2 is for an option that it does not know.
const REFUSED: i32 = 1;
/// Chunks of it that are held.
const CHUNKS_MAX: usize = 16;
/// The directory in which bash runs: nothing in it is looked at.
const DIRECTORY: &str = "/usr";

/// Why a script was not written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotPrinted {
    /// Bash refuses the script as it stands.
    Refused,
    /// Bash is not here, cannot write scripts down, or did not come to an end: what of it.
    Unknown(String),
}

// === impl Sandbox ===

impl Sandbox {
    /// Returns a script as bash has read it.
    ///
    /// # Errors
    ///
    /// Where bash refuses it or is not here, or it cannot be found out.
    pub async fn printed(&self, script: &str) -> Result<String, NotPrinted> {
        let unknown = |why: &dyn ToString| NotPrinted::Unknown(why.to_string());
        let mut command = SandboxedCommand::shell(DIRECTORY, "");
        let program = command.arguments.first().filter(|program| *program != "/bin/sh").cloned();
        let program = program.ok_or_else(|| unknown(&"there is no bash"))?;
        // As text of `-c` it would run.
        command.arguments = vec![program];
        command.arguments.extend(["--norc", "--noprofile", "--pretty-print"].map(OsString::from));
        command.profile = Profile::ReadOnly;
        command.tier_min = Tier::None;
        command.has_input = true;
        command.limits.timeout = Some(TIMEOUT);
        command.limits.cpu_seconds = TIMEOUT.as_secs();
        command.limits.memory_bytes_max = MEMORY_BYTES_MAX;
        let (sender, mut chunks) = mpsc::channel(CHUNKS_MAX);
        let mut running = self.start(command, sender).await.map_err(|error| unknown(&error))?;
        let input = running.take_input().ok_or_else(|| unknown(&"it has no input"))?;
        let give = async move {
            let mut left = script.as_bytes();
            while !left.is_empty() && input.write_some(&mut left).await.is_ok() {}
        };
        let listen = async {
            let mut printed = Vec::new();
            while let Some(chunk) = chunks.recv().await {
                if chunk.stream == OutputStream::Stdout && printed.len() <= PRINTED_BYTES_MAX {
                    printed.extend_from_slice(&chunk.bytes);
                }
            }
            printed
        };
        let ((), printed, end) = tokio::join!(give, listen, running.wait());
        let end = end.map_err(|error| unknown(&error))?;
        match (end.cause, end.exit) {
            (EndCause::Ended, ProcessExit::Exited(0)) => {}
            (EndCause::Ended, ProcessExit::Exited(REFUSED)) => return Err(NotPrinted::Refused),
            (EndCause::Ended, exit) => return Err(unknown(&format!("it ended with {exit:?}"))),
            (EndCause::Timeout, _) => {
                return Err(unknown(&format!("it took longer than {} seconds", TIMEOUT.as_secs())));
            }
            (cause, _) => return Err(unknown(&format!("it was ended: {cause:?}"))),
        }
        if end.is_output_cut || printed.len() > PRINTED_BYTES_MAX {
            return Err(unknown(&"what it writes is too long"));
        }
        String::from_utf8(printed).map_err(|_| unknown(&"what it writes is no text"))
    }
}
