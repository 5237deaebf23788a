//! What is kept of the files of workspaces, in numbers.

use moss_index::IndexState;
use moss_workspace::LiveState;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::state::WorkspaceState;

const BUILDING: &str = "building";
const READY: &str = "ready";
const OFF: &str = "off";
/// What is kept, and how each can be.
const PARTS: [&str; 2] = ["files", "texts"];
const STATES: [&str; 3] = [BUILDING, READY, OFF];

/// How what is kept of one workspace is doing at the moment.
#[derive(Debug, Default)]
pub struct IndexMoment {
    /// The states of what is known of files and of texts, in words.
    states: [&'static str; 2],
    entries: usize,
    texts: u64,
    texts_known: u64,
    memory_bytes: usize,
    text_memory_bytes: u64,
    disk_bytes: u64,
}

/// The numbers of all workspaces together.
#[derive(Debug, Default)]
pub(super) struct IndexNumbers {
    workspaces: Family<IndexLabels, Gauge>,
    entries: Gauge,
    texts: Gauge,
    texts_known: Gauge,
    memory_bytes: Gauge,
    text_memory_bytes: Gauge,
    disk_bytes: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct IndexLabels {
    part: &'static str,
    state: &'static str,
}

// === impl IndexMoment ===

impl IndexMoment {
    /// Looks at a workspace. May wait while it is brought up to date.
    pub(crate) fn of(workspace: &WorkspaceState, is_enabled: bool) -> Self {
        let Some(kept) = workspace.live.get() else {
            let state = if is_enabled { BUILDING } else { OFF };
            return Self { states: [state; 2], ..Self::default() };
        };
        let tree = kept.status();
        let files = match tree.state {
            LiveState::Building => BUILDING,
            LiveState::Live => READY,
            LiveState::Sweeping | LiveState::Off => OFF,
        };
        let mut moment = Self {
            states: [files, OFF],
            entries: tree.entries,
            memory_bytes: tree.memory_bytes,
            ..Self::default()
        };
        // Without the tree nobody reports to the index what changes; one without events does at each search.
        if let (true, Ok((texts, _))) = (tree.state != LiveState::Off, kept.text_status()) {
            moment.states[1] = match texts.state {
                IndexState::Building => BUILDING,
                IndexState::Ready => READY,
                IndexState::Off(_) => OFF,
            };
            moment.texts = texts.documents;
            moment.texts_known = texts.indexed;
            moment.text_memory_bytes = texts.memory_bytes;
            moment.disk_bytes = texts.disk_bytes;
        }
        moment
    }
}

// === impl IndexNumbers ===

impl IndexNumbers {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Workspaces, by what is known of their files and texts";
        registry.register("index_workspaces", help, self.workspaces.clone());
        let help = "Files and directories that are known";
        registry.register("index_entries", help, self.entries.clone());
        registry.register("index_texts", "Files whose text is to be known", self.texts.clone());
        let help = "Files whose text is known";
        registry.register("index_texts_known", help, self.texts_known.clone());
        let help = "Memory that what is known of files takes, roughly";
        registry.register("index_memory_bytes", help, self.memory_bytes.clone());
        let help = "Memory that what is known of texts takes, roughly";
        registry.register("index_text_memory_bytes", help, self.text_memory_bytes.clone());
        let help = "Size of what is stored of texts";
        registry.register("index_disk_bytes", help, self.disk_bytes.clone());
    }

    /// Sets all of them.
    pub(super) fn set(&self, workspaces: &[IndexMoment]) {
        for (at, part) in PARTS.into_iter().enumerate() {
            for state in STATES {
                let is_so = |one: &&IndexMoment| one.states[at] == state;
                let count = workspaces.iter().filter(is_so).count() as u64;
                set(&self.workspaces.get_or_create(&IndexLabels { part, state }), count);
            }
        }
        let sum = |of: fn(&IndexMoment) -> u64| workspaces.iter().map(of).sum();
        set(&self.entries, sum(|one| one.entries as u64));
        set(&self.texts, sum(|one| one.texts));
        set(&self.texts_known, sum(|one| one.texts_known));
        set(&self.memory_bytes, sum(|one| one.memory_bytes as u64));
        set(&self.text_memory_bytes, sum(|one| one.text_memory_bytes));
        set(&self.disk_bytes, sum(|one| one.disk_bytes));
    }
}

fn set(gauge: &Gauge, number: u64) {
    gauge.set(i64::try_from(number).unwrap_or(i64::MAX));
}
