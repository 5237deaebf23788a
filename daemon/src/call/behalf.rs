//! In whose behalf a call is made, where a plugin makes it.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::held_records::OnRecord;
use moss_journal::CalledBy;

/// In whose behalf a call is made.
#[derive(Debug)]
pub(super) struct Behalf {
    /// The call that makes it.
    call_id: String,
    /// The plugins that call each other, the one that was called from outside first.
    plugins: Vec<String>,
    made: CallCount,
}

/// Counts the calls that one call from outside led to.
#[derive(Debug, Clone, Default)]
pub(super) struct CallCount(pub(super) Arc<AtomicUsize>);

// === impl Behalf ===

impl Behalf {
    /// In behalf of a call, whose record is there then, however it ends: records name it.
    pub(super) fn new(_: OnRecord, call_id: String, plugins: Vec<String>, made: CallCount) -> Self {
        Self { call_id, plugins, made }
    }

    /// The plugins that a call is made for.
    pub(super) fn plugins(&self) -> impl Iterator<Item = &str> {
        self.plugins.iter().map(String::as_str)
    }

    pub(super) fn made(&self) -> CallCount {
        self.made.clone()
    }

    pub(super) fn recorded(&self) -> CalledBy {
        let plugin = self.plugins.last().cloned().unwrap_or_default();
        CalledBy { call_id: self.call_id.clone(), plugin }
    }
}
