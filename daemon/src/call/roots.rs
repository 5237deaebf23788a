//! A search of several workspaces as one: a call in each, with the policy and the record of that workspace,
//! and one result.

use std::sync::Arc;

use moss_builtin_tools::roots::{RootOutput, RootSearch};
use moss_dispatch::{Call, CallError, CallOutcome, Events, Work};
use moss_schema::Violation;
use moss_schema::arguments::UnreadableArguments;
use moss_sdk::ToolError;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::begin;
use crate::state::Daemon;

/// Stands for every workspace that is served.
const EVERY: &str = "*";

/// Searches the workspace of a call and the further ones that it names.
pub(super) async fn search(
    daemon: Arc<Daemon>,
    call: Call,
    events: Events,
    cancel: CancellationToken,
) -> Result<CallOutcome, CallError> {
    let Some((search, arguments)) = joined_by(&call.work) else {
        return Err(CallError::Invalid(vec![Violation {
            pointer: String::new(),
            expected: "a tool that searches several workspaces as one".to_owned(),
            got: format!("`{}`", call.tool()),
            suggestion: None,
        }]));
    };
    if let Some(key) = RootSearch::parameter_of_one_root(&arguments) {
        return Err(CallError::Invalid(vec![Violation {
            pointer: format!("/{key}"),
            expected: format!("no `{key}` where several workspaces are searched as one"),
            got: arguments[key].to_string(),
            suggestion: None,
        }]));
    }
    let mut outputs = Vec::new();
    let mut first: Option<CallOutcome> = None;
    for root in roots(&daemon, &call)? {
        let one = Call { workspace: root.clone(), further_workspaces: Vec::new(), ..call.clone() };
        let run = begin(Arc::clone(&daemon), one, events.clone(), cancel.clone());
        let outcome = Box::pin(run).await?;
        let output = match &outcome.result {
            Ok(output) => serde_json::from_str(output).expect("a tool returns an object"),
            Err(error) => {
                let message = format!("{root}: {}", error.message);
                let error = ToolError { message, ..error.clone() };
                return Ok(CallOutcome { result: Err(error), ..outcome });
            }
        };
        outputs.push(RootOutput { root, output });
        first = Some(match first {
            None => outcome,
            Some(first) => CallOutcome { duration: first.duration + outcome.duration, ..first },
        });
    }
    let first = first.expect("there is at least the workspace of the call");
    Ok(CallOutcome { result: Ok(search.join(outputs, &arguments).to_string()), ..first })
}

/// How the outputs of a call become one, and its arguments; none where there is no one result.
fn joined_by(work: &Work) -> Option<(RootSearch, Map<String, Value>)> {
    let Work::Tool { name, arguments } = work else { return None };
    let arguments =
        arguments.as_ref().map_or_else(|_: &UnreadableArguments| Map::new(), Map::clone);
    Some((RootSearch::of_tool(name)?, arguments))
}

/// The workspaces that are searched, each once, that of the call first.
fn roots(daemon: &Daemon, call: &Call) -> Result<Vec<String>, CallError> {
    let mut roots = vec![daemon.workspace(&call.workspace)?.name().to_owned()];
    for further in &call.further_workspaces {
        let named = match further.as_str() {
            EVERY => daemon.workspaces().map(|workspace| workspace.name().to_owned()).collect(),
            root => vec![daemon.workspace(root)?.name().to_owned()],
        };
        for root in named {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
    }
    Ok(roots)
}
