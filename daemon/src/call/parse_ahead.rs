//! Parses a large file that a caller is shown, before it proposes a change of it: of what it then proposes
//! only what differs has to be parsed, while somebody waits.

use std::sync::Arc;

use moss_checks::{is_parsed, new_syntax_errors};
use moss_sdk::RelPath;
use moss_sdk::file::Content;
use moss_symbols::Outliner;

use super::read_access::ReadAccess;
use moss_dispatch::low_priority;

/// Smallest file that is parsed ahead, in bytes: a smaller one is parsed within a few milliseconds.
pub(super) const FILE_BYTES_MIN: u64 = 32 << 10;

// === impl ReadAccess ===

impl ReadAccess {
    /// Starts to parse a file of which the caller read a part. One file of a workspace at a time is parsed;
    /// what is asked for meanwhile is left to the proposal.
    pub(super) fn parse_ahead(self, path: &RelPath) {
        let trees = &self.workspace().recent_trees;
        if !is_parsed(path.as_str()) || trees.has(path.as_str()) {
            return;
        }
        let Ok(turn) = Arc::clone(&self.workspace().parse_ahead).try_acquire_owned() else {
            return;
        };
        let path = path.clone();
        let tasks = self.daemon().tasks.clone();
        tasks.spawn(async move {
            let parsed = low_priority::run("moss-parse", move || self.parse(&path)).await;
            if let Err(error) = parsed {
                tracing::debug!(%error, "a file is not parsed ahead");
            }
            drop(turn);
        });
    }

    /// What cannot be read, or passes a bound of the parser, is not needed. The call may have ended,
    /// which for most clients cancels what it left.
    fn parse(&self, path: &RelPath) {
        let read = self.read_unless(path, &|| false, |opened| opened.read());
        let Ok(file) = read else { return };
        let Content::Text(text) = file.content else { return };
        let trees = &self.workspace().recent_trees;
        let _ = new_syntax_errors(&mut Outliner::default(), trees, path.as_str(), None, &text.text);
    }
}
