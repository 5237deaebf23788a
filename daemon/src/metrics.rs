//! What a daemon counts, for Prometheus. Counting is an addition to a number in memory; nothing is
//! exposed unless somebody asks at the endpoint, which is off by default.
//!
//! Labels take few values: names of tools that are in the catalog, and words of moss. No path, no
//! argument and no name that a caller makes up is among them.

mod index;

use std::sync::atomic::Ordering;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

pub use self::index::IndexMoment;
use self::index::IndexNumbers;
use moss_plugins::PluginState;

/// Bounds of the durations that are distinguished, in seconds: from a read to a wait for a person.
const SECONDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0, 600.0];

/// The numbers of a daemon.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    durations: Family<ToolLabel, Histogram, fn() -> Histogram>,
    confirmations: Family<DecisionLabel, Counter>,
    commits: Counter,
    syncs: Family<SyncLabel, Counter>,
    running: Gauge,
    queued: Gauge,
    pending: Gauge,
    connections: Family<TransportLabel, Gauge>,
    refused: Family<TransportLabel, Counter>,
    unknown_credentials: Counter,
    plugins: Family<StateLabel, Gauge>,
    tree_nodes: Gauge,
    index: IndexNumbers,
}

/// What is not counted but looked at when somebody asks.
#[derive(Debug, Default)]
pub struct Moment {
    /// Calls that have a slot.
    pub running: usize,
    /// Calls that wait for one.
    pub queued: usize,
    /// Questions that wait for a decision.
    pub pending: usize,
    /// The states of all plugins, in words.
    pub plugins: Vec<&'static str>,
    /// The nodes of the syntax trees that are kept of large files.
    pub tree_nodes: usize,
    /// What is kept of the files of each workspace.
    pub indexes: Vec<IndexMoment>,
    /// How often edits have waited for the disk.
    pub syncs: Syncs,
}

/// How often edits have waited for the disk since the daemon started.
#[derive(Debug, Default)]
pub struct Syncs {
    /// Until new versions of files and directories were on it.
    pub files: u64,
    /// Until the log of a history was, while files wait.
    pub history: u64,
    /// Until records of the audit journal were.
    pub audit: u64,
}

/// The connections of a socket: how many there are, and how many were turned away.
#[derive(Debug, Clone)]
pub struct ConnectionCount {
    open: Gauge,
    refused: Counter,
}

/// One open connection, counted while it lives.
#[derive(Debug)]
pub struct OpenConnection(Gauge);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ToolLabel {
    tool: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DecisionLabel {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SyncLabel {
    of: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TransportLabel {
    transport: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

// === impl Metrics ===

impl Default for Metrics {
    fn default() -> Self {
        let durations: fn() -> Histogram = || Histogram::new(SECONDS);
        let mut metrics = Self {
            registry: Registry::with_prefix("moss"),
            calls: Family::default(),
            durations: Family::new_with_constructor(durations),
            confirmations: Family::default(),
            commits: Counter::default(),
            syncs: Family::default(),
            running: Gauge::default(),
            queued: Gauge::default(),
            pending: Gauge::default(),
            connections: Family::default(),
            refused: Family::default(),
            unknown_credentials: Counter::default(),
            plugins: Family::default(),
            tree_nodes: Gauge::default(),
            index: IndexNumbers::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        let registry = &mut self.registry;
        registry.register("build", "The running version", build);
        registry.register("calls", "Finished calls, by outcome", self.calls.clone());
        let help = "Duration of calls in seconds, including the wait for people";
        registry.register("call_duration_seconds", help, self.durations.clone());
        registry.register("calls_running", "Calls with a slot", self.running.clone());
        registry.register("calls_queued", "Calls that wait for a slot", self.queued.clone());
        let help = "Pending confirmations";
        registry.register("confirmations_pending", help, self.pending.clone());
        let help = "Finished confirmations, by outcome";
        registry.register("confirmations", help, self.confirmations.clone());
        let help = "Committed change sets";
        registry.register("commits", help, self.commits.clone());
        let help =
            "Waits for the disk of edits; those of files and of the history are at the same time";
        registry.register("disk_syncs", help, self.syncs.clone());
        registry.register("connections", "Open connections", self.connections.clone());
        let help = "Connections refused because there were too many";
        registry.register("connections_refused", help, self.refused.clone());
        let help = "Requests without a valid credential";
        registry.register("unauthenticated_requests", help, self.unknown_credentials.clone());
        registry.register("plugins", "Plugins, by state", self.plugins.clone());
        let help = "Nodes of the syntax trees that are kept of large files";
        registry.register("syntax_tree_nodes", help, self.tree_nodes.clone());
        self.index.register(registry);
    }

    /// Counts a call that ended. The tool is one of the catalog, or [`moss_dispatch::operations::UNKNOWN_TOOL`].
    pub fn call_ended(&self, tool: &str, outcome: &'static str, duration: Duration) {
        let label = ToolLabel { tool: tool.to_owned() };
        self.durations.get_or_create(&label).observe(duration.as_secs_f64());
        self.calls.get_or_create(&CallLabels { tool: label.tool, outcome }).inc();
    }

    /// Counts a confirmation that is over.
    pub fn confirmation_ended(&self, outcome: &'static str) {
        self.confirmations.get_or_create(&DecisionLabel { outcome }).inc();
    }

    /// Counts a change set that was committed.
    pub fn committed(&self) {
        self.commits.inc();
    }

    /// Counts a request without a credential that is known.
    pub fn unauthenticated(&self) {
        self.unknown_credentials.inc();
    }

    /// Returns what counts the connections of a kind of socket.
    pub fn connections(&self, transport: &'static str) -> ConnectionCount {
        let label = TransportLabel { transport };
        ConnectionCount {
            open: self.connections.get_or_create_owned(&label),
            refused: self.refused.get_or_create_owned(&label),
        }
    }

    /// Writes every number, with those of the moment.
    pub fn text(&self, moment: &Moment) -> String {
        let set = |gauge: &Gauge, number: usize| {
            gauge.set(i64::try_from(number).unwrap_or(i64::MAX));
        };
        set(&self.running, moment.running);
        set(&self.queued, moment.queued);
        set(&self.pending, moment.pending);
        set(&self.tree_nodes, moment.tree_nodes);
        for state in PluginState::WORDS {
            let count = moment.plugins.iter().filter(|other| **other == state).count();
            set(&self.plugins.get_or_create(&StateLabel { state }), count);
        }
        self.index.set(&moment.indexes);
        let Syncs { files, history, audit } = moment.syncs;
        for (of, count) in [("files", files), ("history", history), ("audit", audit)] {
            // A later count is no smaller, but may be set first where two ask at once.
            let counter = self.syncs.get_or_create(&SyncLabel { of });
            counter.inner().fetch_max(count, Ordering::Relaxed);
        }
        let mut written = String::new();
        text::encode(&mut written, &self.registry).expect("a string takes everything");
        written
    }
}

// === impl ConnectionCount ===

impl ConnectionCount {
    /// Counts a connection as open until the value is dropped.
    pub fn open(&self) -> OpenConnection {
        self.open.inc();
        OpenConnection(self.open.clone())
    }

    /// Counts a connection that found no slot.
    pub fn refuse(&self) {
        self.refused.inc();
    }
}

// === impl OpenConnection ===

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
    }
}
