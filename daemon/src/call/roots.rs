//! A search of several workspaces as one: a call in each, with the policy and the record of that workspace,
//! and one result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_builtin_tools::roots::{RootOutput, RootSearch};
use moss_dispatch::{Call, CallError, CallOutcome, Events, Work};
use moss_schema::arguments::UnreadableArguments;
use moss_schema::{Violation, shown};
use moss_sdk::ToolError;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::begin_one;
use crate::state::Daemon;

/// How the outputs become one, the arguments, the workspaces.
type SearchPlan = (RootSearch, Map<String, Value>, Vec<String>);

/// Stands for every workspace that is served.
const EVERY: &str = "*";

/// Searches the workspace of a call and the further ones that it names.
pub(super) async fn search(
    daemon: Arc<Daemon>,
    call: Call,
    events: Events,
    cancel: CancellationToken,
) -> Result<CallOutcome, CallError> {
    let one =
        |root: String| Call { workspace: root, further_workspaces: Vec::new(), ..call.clone() };
    let (search, arguments, roots) = match planned(&daemon, &call) {
        Ok(planned) => planned,
        Err(refusal) => {
            let refused = one(call.workspace.clone());
            return Box::pin(begin_one(daemon, refused, Some(refusal), events, cancel)).await;
        }
    };
    // The time is that of the call, however many there are.
    let started = Instant::now();
    let latest = started + Duration::from_millis(daemon.config().calls.timeout_ms);
    let deadline = call.deadline.map_or(latest, |deadline| deadline.min(latest));
    let mut outputs = Vec::new();
    let mut first: Option<CallOutcome> = None;
    for root in roots {
        let one = Call { deadline: Some(deadline), ..one(root.clone()) };
        let run = begin_one(Arc::clone(&daemon), one, None, events.clone(), cancel.clone());
        let outcome = Box::pin(run).await.map_err(|error| match error {
            CallError::Timeout { stays, .. } => {
                CallError::Timeout { after: deadline - started, stays }
            }
            error => error.in_workspace(&root),
        })?;
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

/// How the outputs of a call become one, its arguments, and the workspaces that are searched.
fn planned(daemon: &Daemon, call: &Call) -> Result<SearchPlan, CallError> {
    let invalid = |pointer: String, expected: String, got: String| {
        CallError::Invalid(vec![Violation { pointer, expected, got, suggestion: None }])
    };
    let Some((search, arguments)) = joined_by(&call.work) else {
        let expected = "a tool that searches several workspaces as one".to_owned();
        return Err(invalid(String::new(), expected, format!("`{}`", call.tool())));
    };
    if let Some(key) = RootSearch::parameter_of_one_root(&arguments) {
        let expected = format!("no `{key}` where several workspaces are searched as one");
        return Err(invalid(format!("/{key}"), expected, shown(&arguments[key])));
    }
    Ok((search, arguments, roots(daemon, call)?))
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
