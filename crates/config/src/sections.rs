//! The sections of the configuration and their values, each once: what there is, of which type, and whether its
//! change applies at once.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AddedServerConfig, LinterConfig};

/// Which values of a section change while the daemon runs. The others are read at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LiveKeys {
    /// All of them: its keys are names that people choose.
    Open,
    /// Those with these keys.
    Named(&'static [&'static str]),
}

/// A section, as far as its type says it.
trait ConfigSection {
    const LIVE: LiveKeys;
}

/// Defines a section: first the values that wait for the next start, then those that apply at once.
macro_rules! section {
    (
        $name:ident { $($field:ident: $kind:ty),* $(,)? }
        $(live { $($live:ident: $live_kind:ty),* $(,)? })?
    ) => {
        #[doc = concat!("Section `", stringify!($name), "` of the configuration.")]
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(missing_docs, reason = "default.toml is the documentation of every value")]
        pub struct $name { $(pub $field: $kind,)* $($(pub $live: $live_kind,)*)? }

        impl ConfigSection for $name {
            const LIVE: LiveKeys = LiveKeys::Named(&[$($(stringify!($live)),*)?]);
        }
    };
}

/// Defines the configuration: its sections by their names.
macro_rules! config {
    ($name:ident { $($section:ident: $kind:ty),* $(,)? }) => {
        /// Every limit of the daemon. `crates/config/default.toml` documents each value.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(missing_docs, reason = "default.toml is the documentation of every value")]
        pub struct $name { $(pub $section: $kind),* }

        /// The sections by name, each with what applies at once.
        const SECTIONS: &[(&str, LiveKeys)] =
            &[$((stringify!($section), <$kind as ConfigSection>::LIVE)),*];
    };
}

config!(Config {
    calls: CallsConfig,
    confirmations: ConfirmationsConfig,
    approvals: AnswersConfig,
    sessions: SessionsConfig,
    editors: EditorsConfig,
    files: FilesConfig,
    index: IndexConfig,
    history: HistoryConfig,
    journal: JournalConfig,
    plugins: PluginsConfig,
    plugin_maximum: PluginMaximumConfig,
    network: NetworkConfig,
    user_prompt: UserPromptConfig,
    tool_sets: BTreeMap<String, Vec<String>>,
    linters: BTreeMap<String, LinterConfig>,
    checks: ChecksConfig,
    language_servers: LanguageServersConfig,
    added_language_servers: BTreeMap<String, AddedServerConfig>,
    embeddings: EmbeddingsConfig,
    grpc: GrpcConfig,
    shutdown: ShutdownConfig,
});

section!(CallsConfig {
    running_max: usize,
    queued_max: usize,
} live {
    caller_bytes_max: usize,
    timeout_ms: u64,
    output_bytes_max: usize,
    diff_bytes_max: usize,
    events_max: usize,
});
section!(ConfirmationsConfig {
    expiry_ms: u64,
    pending_max: usize,
    caller_pending_max: usize,
    session_pending_max: usize,
    bytes_max: usize,
    caller_bytes_max: usize,
});
section!(AnswersConfig {} live {
    session: bool,
    always: bool,
    session_hours: u64,
    always_days: u64,
    approvals_max: usize,
});
section!(IndexConfig {
    enabled: bool,
    entries_max: usize,
    disk_bytes_max: u64,
    exclude: Vec<String>,
});
section!(ChecksConfig {} live { before_edit: Vec<String>, before_edit_ms: u64 });
section!(LanguageServersConfig {} live {
    enabled: bool,
    disabled: Vec<String>,
    running_max: usize,
    memory_bytes: u64,
    ready_ms: u64,
    response_ms: u64,
    idle_ms: u64,
});
section!(SessionsConfig { sessions_max: usize, files_max: usize, bytes_max: usize });
section!(EditorsConfig {
    attached_max: usize,
    buffers_max: usize,
    unsaved_bytes_max: usize,
    diagnostics_max: usize,
    questions_max: usize,
} live {
    response_ms: u64,
    clarify_ms: u64,
});
section!(FilesConfig { edit_bytes_max: u64, read_bytes_max: u64, search_bytes_max: u64 });
section!(HistoryConfig { bytes_max: u64, days_max: u64 });
section!(JournalConfig {
    bytes_max: u64,
    days_max: u64,
    refusals_burst: u32,
    refusals_per_second: u32,
    refusals_folded_ms: u64,
});
section!(PluginsConfig {} live {
    component_bytes_max: u64,
    plugins_max: usize,
    unpinned: bool,
    remote_unsigned: bool,
    signers: Vec<String>,
    compile_timeout_ms: u64,
    compile_memory_bytes: u64,
    cache_bytes_max: u64,
});
section!(PluginMaximumConfig {} live {
    files: Vec<String>,
    http: Vec<String>,
    env: Vec<String>,
    tools: Vec<String>,
    editor: bool,
    index: bool,
    commands: Vec<String>,
    store_bytes: u64,
    timeout_ms: u64,
    memory_bytes: usize,
    output_bytes: usize,
});
section!(NetworkConfig {} live {
    connect_ms: u64,
    head_ms: u64,
    read_timeout_ms: u64,
    request_bytes_max: u64,
    response_bytes_max: u64,
});
section!(UserPromptConfig {} live { bytes_max: usize });
section!(GrpcConfig {
    request_bytes_max: usize,
    request_idle_ms: u64,
    request_total_ms: u64,
    arriving_bytes_max: usize,
    connection_arriving_bytes_max: usize,
    response_bytes_max: usize,
    connections_max: usize,
    streams_max: u32,
    keepalive_interval_ms: u64,
    keepalive_timeout_ms: u64,
    header_bytes_max: u32,
} live {
    encoding_bytes_max: usize,
    connection_encoding_bytes_max: usize,
    replies_bytes_max: usize,
    connection_replies_bytes_max: usize,
});
section!(ShutdownConfig {} live { grace_ms: u64 });
section!(EmbeddingsConfig {} live {
    enabled: bool,
    url: String,
    api: String,
    model: String,
    dimensions: usize,
    token_file: String,
    token_env: String,
    query_ms: u64,
    request_ms: u64,
    chunks_max: usize,
    chunks_per_minute: u32,
    cache_bytes_max: u64,
});

// === impl LiveKeys ===

impl LiveKeys {
    /// Returns those of a section; of none where there is no such section.
    pub(super) fn of(section: &str) -> Self {
        let known = SECTIONS.iter().find(|(name, _)| *name == section);
        known.map_or(Self::Named(&[]), |(_, live)| *live)
    }
}

impl<T> ConfigSection for BTreeMap<String, T> {
    const LIVE: LiveKeys = LiveKeys::Open;
}
