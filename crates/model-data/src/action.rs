//! Calls that the text of a turn makes, as models without native calls write them. Source: 000, 4.4.

use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use moss_model_bridge::{Finish, Registry, Reply, ToolCall, parse};
use serde_json::Value;

use crate::call::SampleCall;
use crate::finding::{FindingCode, Findings};

/// What every form of a call in text has one of.
const MARKS: &[&str] = &["```", "[TOOL", "<file-edit", "<tool_call", "\"name\"", "\"tool\""];

static FINDERS: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| MARKS.iter().map(|mark| Finder::new(mark.as_bytes())).collect());

/// Whether a text can hold a call: a cheap look at most texts, which hold none.
pub(crate) fn may_be_in(text: &str) -> bool {
    FINDERS.iter().any(|mark| mark.find(text.as_bytes()).is_some())
}

/// Reads the calls in a text. Reports where they are not written as they should be, and where a
/// turn makes others beside them.
pub(crate) fn read(
    registry: &Arc<Registry>,
    text: &str,
    made: &[SampleCall<'_>],
    place: usize,
    findings: &mut Findings,
) -> Reply {
    let reply = parse(registry, text, Finish::Stop);
    let pointer = format!("/messages/{place}/content");
    for diagnostic in &reply.diagnostics {
        if diagnostic.code.is_remark() {
            continue;
        }
        let (code, why) = (diagnostic.code.as_str(), &diagnostic.message);
        let message = format!("a call in the text cannot be taken as it is written: {code}: {why}");
        let fix =
            "write the call so that it can be read without repair, or make it in `tool_calls`";
        findings.add(FindingCode::ActionText, &*pointer, message, fix);
    }
    let is_same = |(call, written): (&SampleCall<'_>, &ToolCall)| {
        let arguments = call.arguments.as_deref().ok().and_then(Value::as_object);
        call.name == written.name && arguments == Some(&written.arguments)
    };
    let is_other = made.len() != reply.calls.len() || !made.iter().zip(&reply.calls).all(is_same);
    if !made.is_empty() && !reply.calls.is_empty() && is_other {
        let message = "the text makes other calls than `tool_calls`";
        let fix = "leave the calls out of the text, or write the same ones";
        findings.add(FindingCode::ActionText, pointer, message, fix);
    }
    reply
}
