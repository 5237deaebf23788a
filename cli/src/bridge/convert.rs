//! `moss bridge to-corrections` and `moss bridge to-preferences`: recorded conversations become
//! data to train with. Lines go to standard output, the count to standard error.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use moss_journal::redact;
use moss_model_bridge::Registry;
use moss_model_data::{Converted, SkipReason, corrections, preferences};
use serde_json::{Value, json};

use super::super::Session;
use super::super::error::CliError;
use super::super::ui::dim;
use super::lines::LineReader;
use super::registry::RegistryArgs;
use moss_dispatch::Outcome;

/// Print samples of corrected calls from recorded conversations
///
/// FILE is JSONL: a conversation on each line, `{"messages": […]}`. If a call failed with an error
/// and a later one corrected it, a sample is printed, from the user's question to the final reply.
/// Secrets are taken out of it.
#[derive(Debug, clap::Args)]
pub(crate) struct ToCorrectionsArgs {
    #[command(flatten)]
    recorded: Recorded,
}

/// Print chosen and rejected turns from recorded conversations
///
/// FILE is JSONL: a conversation on each line, `{"messages": […]}`. The chosen turn is the recorded
/// one; the rejected one calls a missing tool, has arguments that violate the schema, or
/// ignores an error. The same FILE always gives the same pairs. Secrets are removed from them.
#[derive(Debug, clap::Args)]
pub(crate) struct ToPreferencesArgs {
    #[command(flatten)]
    recorded: Recorded,
}

#[derive(Debug, clap::Args)]
struct Recorded {
    /// The file of recorded conversations
    file: PathBuf,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(super) fn to_corrections(
    args: &ToCorrectionsArgs,
    session: &Session,
) -> Result<Outcome, CliError> {
    convert(&args.recorded, session, |registry, line| {
        corrections(registry, line, redact::without_secrets)
    })
}

pub(super) fn to_preferences(
    args: &ToPreferencesArgs,
    session: &Session,
) -> Result<Outcome, CliError> {
    convert(&args.recorded, session, |registry, line| {
        preferences(registry, line, redact::without_secrets)
    })
}

fn convert(
    args: &Recorded,
    session: &Session,
    make: impl Fn(&Arc<Registry>, &str) -> Converted,
) -> Result<Outcome, CliError> {
    let registry = args.registry.load(session)?;
    let mut written: u64 = 0;
    let mut left_out: BTreeMap<SkipReason, u64> = BTreeMap::new();
    LineReader::open(&args.file, &session.ui)?.each(|line| {
        let line = line.map(|line| line.trim_start_matches('\u{feff}').trim());
        let converted = match line {
            Ok("") => return Ok(()),
            Ok(line) => make(&registry, line),
            Err(_) => {
                Converted { left_out: vec![SkipReason::NoConversation], ..Converted::default() }
            }
        };
        for line in &converted.lines {
            session.ui.print_json_line(line)?;
            written += 1;
        }
        for reason in converted.left_out {
            *left_out.entry(reason).or_default() += 1;
        }
        Ok(())
    })?;
    session.ui.note(&dim(counted(written, &left_out)));
    Ok(Outcome::Ok)
}

fn counted(written: u64, left_out: &BTreeMap<SkipReason, u64>) -> String {
    let mut words = vec![format!("{written} written")];
    words.extend(left_out.iter().map(|(reason, count)| {
        let reason: Value = json!(reason);
        format!("{count} left out: {}", reason.as_str().unwrap_or_default())
    }));
    words.join(", ")
}
