//! What bash itself reads in a text, compared with what moss read in it.
//!
//! The reader of `moss_commands` may have a defect that nobody knows: then a part that it did not see would run with
//! what the others are allowed. So a text that is not plain runs unasked only where bash, which writes it down without
//! running it, has the same commands in it.

use moss_policy::CommandPart;
use moss_sandbox::Sandbox;
use tokio::runtime::Handle;

/// How bash is asked: on a thread that may wait.
#[derive(Debug)]
pub struct SecondReader {
    sandbox: Sandbox,
    runtime: Handle,
}

// === impl SecondReader ===

impl SecondReader {
    /// Makes one for a thread beside those of the runtime.
    pub(crate) fn new(sandbox: Sandbox, runtime: Handle) -> Self {
        Self { sandbox, runtime }
    }

    /// Marks the parts of a text in which bash may see others. Where one of them asks in any case, bash is not asked.
    pub(crate) fn confirmed(&self, command: &str, parts: Vec<CommandPart>) -> Vec<CommandPart> {
        if moss_commands::is_plain(command) || parts.iter().any(CommandPart::always_asks) {
            return parts;
        }
        let printed = self.runtime.block_on(self.sandbox.printed(command));
        match printed.is_some_and(|printed| moss_commands::reads_alike(command, &printed)) {
            true => parts,
            false => parts.into_iter().map(CommandPart::read_otherwise).collect(),
        }
    }
}
