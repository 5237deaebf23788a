//! Commands whose moss was killed while they ran: what they changed of protected files, and made under protected
//! names, is settled when a workspace is opened and before the next command.

use std::path::Path;

use moss_sandbox::LeftCommand;

use crate::call::{CommandRules, set_aside_new};
use crate::state::WorkspaceState;

// === impl WorkspaceState ===

impl WorkspaceState {
    /// Restores what commands changed whose moss lives no more, and moves aside what they made under protected
    /// names. Waits for the disk.
    pub(crate) fn settle_left_commands(&self) {
        if let Err(error) = self.left_commands.clear_marks() {
            tracing::error!(%error, "git leaves files alone for a command that has ended");
        }
        match self.left_commands.find() {
            Ok(found) => {
                let mut is_settled = true;
                for left in found {
                    is_settled &= self.settle(&left);
                    // One that began earlier has what was before: it goes last.
                    if is_settled {
                        left.settled();
                    }
                }
            }
            Err(error) => tracing::error!(%error, "records of commands cannot be read"),
        }
    }

    /// Settles one of them. Returns whether nothing of it is left.
    fn settle(&self, left: &LeftCommand) -> bool {
        let compared = left.restore();
        for path in &compared.restored {
            let path = path.display();
            tracing::warn!(%path, "restored what a command changed with which moss was killed");
        }
        for path in &compared.changed {
            let path = path.display();
            tracing::error!(%path, "changed by a command with which moss was killed; look at it");
        }
        if let Some(known) = &left.known {
            let (policy, rules) = (self.policy.load_full(), CommandRules(self));
            let kind = |relative: &Path| rules.kind(&policy, relative);
            // What somebody made before it started was not found by it, either.
            let is_new = |path: &Path| !known.contains(path) && left.may_have_made(path);
            let made = set_aside_new(&self.files, &kind, &is_new, None);
            if !made.set_aside.is_empty() {
                let paths = &made.set_aside;
                tracing::warn!(%paths, "made by a command with which moss was killed: moved aside");
            }
            if made.has_unseen {
                tracing::error!(
                    "a command with which moss was killed made too much to be looked at: what of it has protected \
                     names is still there"
                );
            }
            if !made.left.is_empty() {
                let paths = &made.left;
                tracing::error!(%paths, "made by a command with which moss was killed: cannot be moved aside");
            }
            // The next time it may go.
            return made.left.is_empty();
        }
        true
    }
}
