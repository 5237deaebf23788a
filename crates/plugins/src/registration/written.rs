//! A list that was written, until what it says is in effect.

use std::path::Path;

use moss_plugin_list::{ListEdit, PluginEntry, Sha256Digest};

use super::{ListWrite, Proposal};
use crate::list_file::read_list;
use crate::status::{PluginState, PluginStatus};

/// A list as it was written.
pub struct WrittenList {
    /// What it is called.
    listed_in: String,
    entries: Vec<PluginEntry>,
}

// === impl WrittenList ===

impl WrittenList {
    /// Reads the list anew; none where that cannot be.
    pub fn of(list: &Path) -> Option<Self> {
        let listed_in = list.display().to_string();
        let entries = read_list(list).ok()?.plugins;
        Some(Self { listed_in, entries })
    }

    /// Whether all that a change is about is known as the list says it.
    pub fn is_in_effect(&self, proposal: &Proposal, statuses: &[PluginStatus]) -> bool {
        let known = |name: &str| {
            statuses.iter().find(|status| status.name == name && status.listed_in == self.listed_in)
        };
        let is_as_listed = |name: &str| {
            let entry = self.entries.iter().find(|entry| entry.name == name);
            match (entry, known(name).and_then(|status| status.entry.as_ref())) {
                (Some(entry), Some(known)) => {
                    entry.grant == known.grant
                        && entry.limits == known.limits
                        && entry.config == known.config
                        && entry.sha256 == known.sha256
                }
                (None, None) => true,
                _ => false,
            }
        };
        let serves = |(name, digest): &(String, Sha256Digest)| {
            known(name).is_some_and(|status| {
                let ready = matches!(&status.state,
                    PluginState::Ready(plugin) if plugin.digest() == *digest);
                ready && status.notice.is_none()
            })
        };
        let is_settled = match &proposal.work {
            ListWrite::List(edits, _) => edits.iter().filter_map(ListEdit::name).all(is_as_listed),
            ListWrite::Trust(..) => true,
            ListWrite::Untrust => {
                let mut of_list = statuses.iter().filter(|s| s.listed_in == self.listed_in);
                !of_list.any(|status| matches!(status.state, PluginState::Ready(_)))
            }
        };
        is_settled && proposal.serves.iter().all(serves)
    }
}
