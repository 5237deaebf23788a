//! The tools that data is held to: those of a file, or the built-in ones.

use moss_catalog::{SchemaForm, definition};
use moss_model_bridge::{Registry, RegistryError};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_workspace::named;

use super::super::Session;
use super::super::error::CliError;
use super::training;
use moss_dispatch::Outcome;

/// Most bytes of a registry file.
const REGISTRY_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Which tools there are.
#[derive(Debug, clap::Args)]
pub(super) struct RegistryArgs {
    /// Check calls against the tools in FILE: a JSON array of {name, parameters}
    ///
    /// By default the built-in tools, as the daemon checks their arguments; for checking data also those
    /// of the ASI specification that this version does not have.
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
}

/// Reads a whole file, of at most so many bytes.
pub(super) fn read(file: &Path, bytes_max: u64) -> Result<String, CliError> {
    let opened = named::open(file).map_err(unreadable)?;
    let mut text = String::new();
    let failed = |why: String| {
        let message = format!("{}: {why}", file.display());
        CliError::new(Outcome::Invalid, "file_unusable", message)
    };
    let read = opened.take(bytes_max + 1).read_to_string(&mut text);
    let read = read.map_err(|error| failed(error.to_string()))?;
    if read as u64 > bytes_max {
        return Err(failed(format!("larger than {bytes_max} bytes")));
    }
    Ok(text)
}

/// A file that a person names and that cannot be used: a mistake in the command line.
pub(super) fn unreadable(error: moss_workspace::Error) -> CliError {
    CliError::new(Outcome::Invalid, "file_unusable", error.to_string())
}

// === impl RegistryArgs ===

impl RegistryArgs {
    pub(super) fn load(&self, session: &Session) -> Result<Arc<Registry>, CliError> {
        self.read(session).map(Arc::new)
    }

    /// The tools of the file, where one is named.
    pub(super) fn named(&self, session: &Session) -> Result<Option<Registry>, CliError> {
        self.registry.is_some().then(|| self.read(session)).transpose()
    }

    /// The tools that a reply may call: without a file those that there are.
    pub(super) fn catalog(&self, session: &Session) -> Result<Arc<Registry>, CliError> {
        match &self.registry {
            Some(_) => self.load(session),
            None => of_built_in_tools().map(Arc::new).map_err(|error| {
                CliError::new(Outcome::Failed, "registry_invalid", error.to_string())
            }),
        }
    }

    /// Reads the tools, and notes what was read as something else than what was written, and what was
    /// left out.
    fn read(&self, session: &Session) -> Result<Registry, CliError> {
        let broken = |outcome, error: moss_model_bridge::RegistryError| {
            CliError::new(outcome, "registry_invalid", error.to_string())
        };
        match &self.registry {
            Some(file) => {
                let text = read(file, REGISTRY_BYTES_MAX)?;
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                let registry = Registry::from_json(text).map_err(|error| {
                    let message = format!("{}: {error}", file.display());
                    CliError::new(Outcome::Invalid, "registry_invalid", message)
                })?;
                for warning in registry.warnings() {
                    let (code, message) = (warning.code.as_str(), &warning.message);
                    session.ui.note(&format!("warning: {}: {code}: {message}", file.display()));
                }
                Ok(registry)
            }
            None => training::training_registry().map_err(|error| broken(Outcome::Failed, error)),
        }
    }
}

/// The registry that replies of models are held to where none is named: the built-in tools.
///
/// # Errors
///
/// Where a schema cannot be compiled: a defect.
fn of_built_in_tools() -> Result<Registry, RegistryError> {
    let specs = moss_builtin_tools::specs();
    Registry::new(specs.iter().map(|spec| definition(spec, SchemaForm::Strict)))
}
