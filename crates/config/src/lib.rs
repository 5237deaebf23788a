//! The configuration: limits, out of one compiled-in file of defaults, the user's file and the
//! admin's upper bounds. Resolved at start and again when a file changes: see [`Config::renewed`], [`watch`].

mod embeddings;
mod excluded;
mod file;
mod language_servers;
mod linters;
mod lists;
mod named;
mod sections;
mod tool_sets;
pub mod watch;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use self::excluded::ExcludedPaths;
pub use self::language_servers::AddedServerConfig;
pub use self::linters::LinterConfig;
use self::sections::LiveKeys;
pub use self::sections::{
    AnswersConfig, CallsConfig, ChecksConfig, Config, ConfirmationsConfig, EditorsConfig,
    EmbeddingsConfig, FilesConfig, GrpcConfig, HistoryConfig, IndexConfig, JournalConfig,
    LanguageServersConfig, NetworkConfig, PluginMaximumConfig, PluginsConfig, SessionsConfig,
    ShutdownConfig, UserPromptConfig,
};
use moss_network::RequestBounds;
use moss_plugins::{Maximum, Settings};
use toml::{Table, Value};

/// How many calls deep tools call tools, on one slot; the call that came from outside does not count.
pub const DEPTH_MAX: usize = 4;

const DEFAULT: &str = include_str!("../default.toml");

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("{}: {message}", file.display())]
    Invalid {
        /// The path of the file.
        file: PathBuf,
        /// Why it cannot be read.
        message: String,
    },
    /// It is not TOML, or something in it is unknown or does not fit.
    #[error("{}:{line}:{column}: {message}", file.display())]
    Wrong {
        /// The path of the file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What is wrong there, and what is expected.
        message: String,
    },
}

/// A configuration file as it was read.
#[derive(Debug, Clone, Copy)]
pub struct ConfigSource<'a> {
    /// Its name, for errors.
    pub file: &'a Path,
    /// The text of the whole file, for messages that quote a line.
    pub text: &'a str,
}

// === impl NetworkConfig ===

impl NetworkConfig {
    /// How long a request of moss's own may take and how much it may carry.
    pub fn bounds(&self) -> RequestBounds {
        RequestBounds {
            connect: Duration::from_millis(self.connect_ms),
            head: Duration::from_millis(self.head_ms),
            read_timeout: Duration::from_millis(self.read_timeout_ms),
            request_bytes_max: self.request_bytes_max,
            response_bytes_max: self.response_bytes_max,
        }
    }
}

// === impl Config ===

impl Config {
    /// What it says of plugins.
    pub fn plugin_settings(&self) -> Settings {
        let PluginsConfig {
            component_bytes_max,
            plugins_max,
            unpinned,
            remote_unsigned,
            ref signers,
            compile_timeout_ms,
            compile_memory_bytes,
            cache_bytes_max,
        } = self.plugins;
        Settings {
            plugins_max,
            component_bytes_max,
            unpinned,
            remote_unsigned,
            signers: signers.clone(),
            compile_timeout: Duration::from_millis(compile_timeout_ms),
            compile_memory_bytes,
            cache_bytes_max,
            maximum: Maximum {
                grant: self.plugin_maximum.grant(),
                timeout: Duration::from_millis(self.plugin_maximum.timeout_ms),
                memory_bytes: self.plugin_maximum.memory_bytes,
                output_bytes: self.plugin_maximum.output_bytes,
            },
            // One chain of plugins that call each other comes to its end even where there is one
            // slot.
            calls_max: self.calls.running_max.saturating_add(DEPTH_MAX),
            bounds: self.network.bounds(),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        toml::from_str(DEFAULT).expect("a test reads the compiled-in file")
    }
}

impl Config {
    /// Resolves defaults, the user's values and the admin's upper bounds.
    ///
    /// # Errors
    ///
    /// Where a file is not TOML, or has a key or a type that there is not, with line and column.
    pub fn resolve(
        user: Option<ConfigSource<'_>>,
        admin: Option<ConfigSource<'_>>,
    ) -> Result<Self, ConfigError> {
        let mut table: Table = DEFAULT.parse().expect("a test reads the compiled-in file");
        for (source, take) in [(user, Override::Replace), (admin, Override::Bound)] {
            if let Some(source) = source {
                file::merge(&mut table, source, take)?;
            }
        }
        Ok(table.try_into().expect("merge keeps keys and types"))
    }
}

/// What a file's value does to the one that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Override {
    /// It replaces the previous value.
    Replace,
    /// It is an upper bound; of switches, `false` is the lower; of lists, what both have.
    Bound,
}

impl Config {
    /// Takes over what may change while the daemon runs. Returns the result, and the values that wait
    /// for the next start.
    pub fn renewed(&self, read: &Self) -> (Self, Vec<String>) {
        let as_table = |config: &Self| Table::try_from(config).expect("every value is plain");
        let (mut table, read) = (as_table(self), as_table(read));
        let mut waiting = Vec::new();
        for (section, values) in read {
            let (Value::Table(values), Some(Value::Table(known))) =
                (values, table.get_mut(&section))
            else {
                continue;
            };
            let live = match LiveKeys::of(&section) {
                LiveKeys::Open => {
                    *known = values;
                    continue;
                }
                LiveKeys::Named(live) => live,
            };
            for (key, value) in values {
                if live.contains(&key.as_str()) {
                    known.insert(key, value);
                } else if known.get(&key) != Some(&value) {
                    waiting.push(format!("{section}.{key}"));
                }
            }
        }
        (table.try_into().expect("keys and types are the same"), waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Option<ConfigSource<'_>> {
        Some(ConfigSource { file: Path::new("config.toml"), text })
    }

    #[test]
    fn compiled_in_defaults_are_complete() {
        assert_eq!(Config::resolve(None, None).unwrap(), Config::default());
    }

    #[test]
    fn user_overrides_and_admin_bounds() {
        let user = source("[calls]\nrunning_max = 100\nqueued_max = 7");
        let admin = source("[calls]\nrunning_max = 80\nqueued_max = 9");
        let config = Config::resolve(user, admin).unwrap();
        assert_eq!((config.calls.running_max, config.calls.queued_max), (80, 7));
    }

    #[test]
    fn an_admin_forbids_what_a_user_allows() {
        let resolve = |user: &str, admin: &str| {
            let config = Config::resolve(source(user), source(admin)).unwrap();
            (config.approvals.session, config.approvals.always)
        };
        assert_eq!(resolve("", ""), (true, true));
        let forbids = "[approvals]\nalways = false";
        assert_eq!(resolve("[approvals]\nalways = true", forbids), (true, false));
        assert_eq!(resolve("[approvals]\nsession = false", forbids), (false, false));
        assert_eq!(resolve(forbids, "[approvals]\nalways = true"), (true, false));
    }

    #[test]
    fn names_of_an_older_version_are_accepted() {
        let older = "[answers]\nsession = false\nanswers_max = 7\n\
                     [editors]\nanswer_ms = 8\n[network]\nsilence_ms = 9";
        let config = Config::resolve(source(older), None).unwrap();
        assert_eq!((config.approvals.session, config.approvals.approvals_max), (false, 7));
        assert_eq!((config.editors.response_ms, config.network.read_timeout_ms), (8, 9));
    }

    #[test]
    fn what_cannot_change_in_a_running_daemon_waits() {
        let before = Config::default();
        let text = "[calls]\ntimeout_ms = 5\nrunning_max = 3\n[grpc]\nstreams_max = 2";
        let read = Config::resolve(source(text), None).unwrap();
        let (after, waiting) = before.renewed(&read);
        assert_eq!(
            (after.calls.timeout_ms, after.calls.running_max),
            (5, before.calls.running_max)
        );
        assert_eq!(waiting, ["calls.running_max", "grpc.streams_max"]);
        assert_eq!(before.renewed(&before), (before.clone(), Vec::new()));
    }

    #[test]
    fn what_is_no_toml_is_said_in_one_line() {
        let error = Config::resolve(source("[plugin_maximum\n"), None).unwrap_err().to_string();
        assert!(error.starts_with("config.toml:1:16: "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn unknown_and_mistyped_values_are_refused() {
        for (text, message) in [
            ("[call]\n", "1:2: no section [call]; did you mean `calls`?"),
            (
                "[calls]\nruning_max = 1",
                "2:1: no key `runing_max` in [calls]; did you mean `running_max`?",
            ),
            (
                "[calls]\nrunning_max = \"many\"",
                "2:15: `running_max` in [calls]: expected an integer from 1 to 4294967295, got \"many\"",
            ),
            (
                "[approvals]\nalways = 1",
                "2:10: `always` in [approvals]: expected true or false, got 1",
            ),
            (
                "[approvals]\nalways_days = 366",
                "2:15: `always_days` in [approvals]: expected an integer from 1 to 365, got 366",
            ),
            (
                "[calls]\nrunning_max = true",
                "2:15: `running_max` in [calls]: expected an integer from 1 to 4294967295, got true",
            ),
            (
                "[plugin_maximum]\nstore_bytes = -1",
                "2:15: `store_bytes` in [plugin_maximum]: expected an integer from 0 to 4294967295, \
                 got -1",
            ),
            (
                "[plugin_maximum]\neditor = []",
                "2:10: `editor` in [plugin_maximum]: expected true or false, got a list",
            ),
            ("calls = 1", "1:1: `calls` is not a section: write [calls]"),
        ] {
            let error = Config::resolve(source(text), None).unwrap_err().to_string();
            assert_eq!(error, format!("config.toml:{message}"));
        }
    }
}
