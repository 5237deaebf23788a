//! Why a plugin could not be loaded, and why a call of it failed.

use std::fmt;
use std::time::Duration;

use crate::imports::trouble::GuestRefusal;
use moss_sdk::{ErrorCode, ToolError};
use serde_json::Value;

use crate::limits::{COMPONENT_BYTES_MAX, LimitReached};
use moss_plugin_list::{PluginLimits, units};

/// Why a plugin could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is larger than [`COMPONENT_BYTES_MAX`].
    #[error("the file has {size}; at most {max} are loaded", size = units::size(*.0),
        max = units::size(COMPONENT_BYTES_MAX))]
    TooLarge(usize),
    /// Not the bytes that the list pins.
    #[error(
        "the file has the sha256 {actual}, but the list pins {pinned}; if the new file is \
        trusted, put its digest into the list"
    )]
    Digest {
        /// What the list says.
        pinned: String,
        /// What the file has.
        actual: String,
    },
    /// The file is something else than a component.
    #[error("{0}")]
    NotAComponent(String),
    /// A component that does not compile or is damaged.
    #[error("the component is not valid: {0}")]
    Invalid(String),
    /// Compiling took too long.
    #[error(
        "compiling the component takes longer than {limit}; to allow more, raise \
        compile_timeout_ms in [plugins] of config.toml", limit = units::duration(*.0)
    )]
    CompileTime(Duration),
    /// Compiling needs too much memory.
    #[error(
        "compiling the component needs more memory than {limit}; to allow more, raise \
        compile_memory_bytes in [plugins] of config.toml", limit = units::size(*.0)
    )]
    CompileMemory(usize),
    /// The compiler itself failed.
    #[error("the component was not compiled: {0}")]
    Compiler(String),
    /// It does not export what a plugin must export.
    #[error("{0}")]
    Export(String),
    /// It imports what is not served.
    #[error("the component imports what moss does not serve: {0}")]
    Import(String),
    /// `limits.memory` is above what the engine allows.
    #[error("limits.memory is above the {max} that this moss allows", max = units::size(*.0))]
    MemoryLimit(usize),
    /// `config` is not what the plugin takes.
    #[error("config is not what the plugin takes: {0}")]
    Settings(SettingsProblem),
    /// `tools` renames what it does not have, or gives two tools one name.
    #[error("`tools` of the entry in line {line} of its list: {why}")]
    Renaming {
        /// The line of the entry.
        line: usize,
        /// What is wrong with it, for the message.
        why: String,
    },
    /// It failed while it was asked to describe itself.
    #[error("the plugin failed while describing itself: {0}")]
    Describe(PluginCallError),
    /// It calls itself something else than the list does.
    #[error(
        "the plugin's description of itself is refused: it is called `{told}`, but the list calls \
        it `{listed}`; put its own name into the list"
    )]
    Name {
        /// What it calls itself.
        told: String,
        /// What the list calls it.
        listed: String,
    },
    /// It describes itself in a way that is refused.
    #[error("the plugin's description of itself is refused: {0}")]
    Description(String),
}

/// Why a call of a plugin failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PluginCallError {
    /// What the plugin itself says.
    #[error("{0}")]
    Failed(ToolError),
    /// A limit of the plugin was reached.
    #[error("{0}")]
    Limit(LimitReached),
    /// The time of the call was over before the plugin's.
    #[error("the call's deadline passed while the plugin ran")]
    Deadline,
    /// The call was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// What the plugin had was revoked.
    #[error("stopped while it ran: {0}")]
    Revoked(String),
    /// The plugin trapped, in its own code or at a limit of the engine.
    #[error("the plugin crashed: {0}")]
    Crashed(String),
    /// The plugin returned what is not a result.
    #[error("the plugin returned an invalid result: {0}")]
    Result(String),
    /// Too many calls at the same time.
    #[error("too many plugin calls are running")]
    Busy,
    /// It kept failing and is left alone for a while.
    #[error("the plugin is paused for another {seconds}s, because it kept failing; the last time: \
        {reason}", seconds = .0.seconds(), reason = .0.reason)]
    Paused(Paused),
    /// The plugin has no such tool.
    #[error("the plugin has no tool `{0}`")]
    UnknownTool(String),
}

/// A pause that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paused {
    /// How long it still lasts.
    pub remaining: Duration,
    /// The failure that made it.
    pub reason: String,
}

/// What is wrong with settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsProblem {
    /// The key of the settings where the first of it is; none where that is the whole.
    pub key: Option<String>,
    pub(crate) message: String,
    /// Settings that are as the schema says, as far as that can be determined without knowing what
    /// is meant.
    pub example: Value,
}

// === impl PluginCallError ===

impl PluginCallError {
    /// Adds what a guest may have failed over, for people: the guest may not have said it.
    pub(crate) fn with_trouble(self, GuestRefusal { what, why: trouble }: &GuestRefusal) -> Self {
        match self {
            // What the caller gave is wrong by itself.
            Self::Failed(ToolError {
                code: ErrorCode::InvalidArguments | ErrorCode::InvalidPath,
                ..
            }) => self,
            Self::Failed(mut error) => {
                let mut hint = match error.hint {
                    Some(hint) => format!("{hint}; {trouble}"),
                    None => trouble.clone(),
                };
                // To the guest, what it may not have is not there, or not permitted.
                let is_of_it = matches!(error.code, ErrorCode::NotFound | ErrorCode::Denied);
                if let Some(what) = what.as_ref().filter(|_| is_of_it) {
                    hint = format!("{hint}; the plugin said: {}", error.message);
                    error.message.clone_from(what);
                }
                error.hint = Some(hint);
                Self::Failed(error)
            }
            Self::Crashed(reason) => Self::Crashed(format!("{reason}; {trouble}")),
            other => other,
        }
    }

    /// Makes a tool's error of it: a plugin, named with its list, had these limits.
    pub(crate) fn into_tool_error(self, limits: &PluginLimits, listed: &str) -> ToolError {
        let message = self.to_string();
        let error = |code| ToolError::new(code, message);
        match self {
            Self::Failed(error) => error,
            Self::Limit(limit) => {
                let is_time = matches!(limit, LimitReached::Timeout(_));
                let code = if is_time { ErrorCode::Timeout } else { ErrorCode::LimitExceeded };
                error(code).hint(limit.hint(limits, listed))
            }
            Self::Deadline => {
                error(ErrorCode::Timeout).hint("retry with a later deadline, or ask for less")
            }
            Self::Cancelled => error(ErrorCode::Cancelled),
            Self::Revoked(_) => {
                error(ErrorCode::Denied).hint("`moss plugin list` says what it has")
            }
            Self::Busy => {
                error(ErrorCode::LimitExceeded).hint("retry when another call has finished")
            }
            Self::Crashed(_) | Self::Result(_) => error(ErrorCode::PluginFailed)
                .hint("this is a defect of the plugin; report it to its author"),
            Self::Paused(_) => error(ErrorCode::PluginFailed)
                .hint("retry after that; a call that succeeds ends it, and so does a new version"),
            Self::UnknownTool(_) => error(ErrorCode::Internal),
        }
    }
}

// === impl Paused ===

impl Paused {
    /// Returns how long it still lasts, in whole seconds.
    pub fn seconds(&self) -> u64 {
        self.remaining.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)
    }
}

// === impl SettingsProblem ===

impl SettingsProblem {
    /// Returns the option of commands that gives the settings of the example, as shells take it.
    pub fn option(&self) -> String {
        format!("--config '{}'", self.example.to_string().replace('\'', r"'\''"))
    }
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_explains_only_what_can_come_of_it() {
        let what = Some("p may not read a".to_owned());
        let refusal = GuestRefusal { what, why: "grant it".to_owned() };
        for (code, message, hint) in [
            (ErrorCode::NotFound, "p may not read a", Some("grant it; the plugin said: no")),
            (ErrorCode::PluginFailed, "no", Some("grant it")),
            (ErrorCode::InvalidPath, "no", None),
            (ErrorCode::InvalidArguments, "no", None),
        ] {
            let error = PluginCallError::Failed(ToolError::new(code, "no")).with_trouble(&refusal);
            let PluginCallError::Failed(error) = error else { panic!("{error:?}") };
            assert_eq!((error.message.as_str(), error.hint.as_deref()), (message, hint), "{code}");
        }
        let crash = PluginCallError::Crashed("trap".to_owned()).with_trouble(&refusal);
        assert_eq!(crash, PluginCallError::Crashed("trap; grant it".to_owned()));
    }
}
