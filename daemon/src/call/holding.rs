//! Holding arguments and results to the schemas of a tool: at once where that is little work,
//! otherwise on threads of which there are few, so that the daemon continues meanwhile.

use std::sync::Arc;

use moss_sdk::{ErrorCode, ToolError};
use serde_json::{Map, Value};

use super::{CallScope, result_text};
use moss_catalog::{CatalogEntry, Runner};
use moss_dispatch::CallError;
use moss_schema::ValidationOutcome;

/// Holds arguments to their schema, elsewhere where that takes its time.
///
/// # Errors
///
/// `Invalid` with what does not fit; `Internal` where that breaks.
pub(super) async fn bind(
    scope: &CallScope,
    entry: &Arc<CatalogEntry>,
    arguments: Map<String, Value>,
) -> Result<Value, CallError> {
    if entry.arguments.is_light(&arguments) {
        return entry.arguments.bind(arguments).map_err(CallError::Invalid);
    }
    let of = Arc::clone(entry);
    let bound = scope.heavy(move || of.arguments.bind(arguments)).await?;
    bound.map_err(CallError::Invalid)
}

/// Holds a tool to its declared output and to the bound on its size, and writes it as text.
///
/// # Errors
///
/// What is wrong with the output.
pub(super) async fn check_output(
    scope: &CallScope,
    entry: &Arc<CatalogEntry>,
    output: Value,
    bytes_max: usize,
) -> Result<String, ToolError> {
    let shown_bytes = scope.content.size_bytes();
    if output.as_object().is_none_or(|fields| entry.output.is_light(fields)) {
        return check(entry, &output, shown_bytes, bytes_max);
    }
    let entry = Arc::clone(entry);
    scope.heavy(move || check(&entry, &output, shown_bytes, bytes_max)).await?
}

/// Who is to blame for a result that breaks its schema.
fn broken_output_code(runner: &Runner) -> ErrorCode {
    match runner {
        Runner::Native(_) => ErrorCode::Internal,
        Runner::Plugin(_) => ErrorCode::PluginFailed,
    }
}

fn check(
    entry: &CatalogEntry,
    output: &Value,
    shown_bytes: usize,
    bytes_max: usize,
) -> Result<String, ToolError> {
    let broken = |message| ToolError::new(broken_output_code(&entry.runner), message);
    match entry.output.hold(output) {
        ValidationOutcome::Fits => {}
        ValidationOutcome::TooManyParts => {
            let message =
                "the result has too many parts to be validated against the declared schema";
            return Err(ToolError::new(ErrorCode::TooLarge, message)
                .hint("ask for less at once; the tool could declare a simpler schema"));
        }
        ValidationOutcome::BreaksSomewhere => {
            return Err(broken("the result violates the declared schema".to_owned()));
        }
        ValidationOutcome::Breaks(mut problems) => {
            if let Some(error) = problems.next() {
                let at = error.instance_path().as_str();
                let message = format!("the result violates the declared schema at `{at}`: {error}");
                return Err(broken(message));
            }
        }
    }
    let text = result_text::of(output);
    // What is shown beside it counts as well.
    let size = text.len().saturating_add(shown_bytes);
    if size > bytes_max {
        return Err(ToolError::new(
            ErrorCode::TooLarge,
            format!(
                "the result has {size} bytes; the limit is {bytes_max} (calls.output_bytes_max)"
            ),
        )
        .hint("ask for less at once"));
    }
    Ok(text)
}
