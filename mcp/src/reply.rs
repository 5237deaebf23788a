//! The end of a call as a result of the protocol: what a model reads, and what a program reads.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use moss_sdk::content::ContentPart;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use crate::backend::{ReplyChange, UseReply};
use crate::deceiving::shown;
use crate::excerpt::excerpt;
use crate::fault::CallFault;
use crate::result_line::{self, WrittenAsLine};
use crate::revisions;

/// Under which key of `_meta` a program finds what is no part of a tool's output.
const META_KEY: &str = "moss/call";

/// What a client can do with a result, and how it gets it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplyForm {
    /// Whether it knows links; otherwise they are texts.
    has_links: bool,
    /// Whether the response is written by [`result_line::written`].
    is_line: bool,
}

/// Makes the result of a call that ran.
pub(crate) fn of_reply(reply: UseReply, form: ReplyForm) -> CallToolResult {
    let UseReply { call_id, result, content, changes, digest, history } = reply;
    let (mut made, failure) = match result {
        Ok(output) => (of_output(output, form), None),
        Err(fault) => (of_fault(&fault), Some(fault)),
    };
    made.content.extend(content.into_iter().map(|part| block(part, form.has_links)));
    let mut facts = json!({ "id": call_id });
    if !changes.is_empty() {
        facts["changes"] = json!(changes);
    }
    if !digest.is_empty() {
        facts["digest"] = digest.into();
    }
    if history != 0 {
        facts["history"] = history.into();
    }
    if let Some(fault) = &failure {
        facts["error"] = error(fault);
        if let Some(text) = undone(&changes) {
            made.content.push(ContentBlock::text(text));
        }
    }
    made.meta = Some(meta(facts));
    made
}

/// Makes the result of a call that did not run, or whose tool failed.
pub(crate) fn of_fault(fault: &CallFault) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(fault.to_string())]);
    let mut facts = json!({ "error": error(fault) });
    if let Some(question) = &fault.question {
        facts["digest"] = question.digest.as_str().into();
    }
    result.meta = Some(meta(facts));
    result
}

/// Makes the result of a tool that returned this.
pub(crate) fn of_output(output: String, form: ReplyForm) -> CallToolResult {
    // The daemon has held it to the schema of the tool, which is one of an object.
    let as_it_is = if form.is_line { result_line::first_text(&output) } else { None };
    let structured = as_it_is.or_else(|| serde_json::from_str(&output).ok());
    let mut result = CallToolResult::success(vec![ContentBlock::text(output)]);
    result.structured_content = structured;
    result
}

/// A part beside the output as a block of content.
fn block(part: ContentPart, has_links: bool) -> ContentBlock {
    match part {
        ContentPart::Text(text) => ContentBlock::text(text),
        ContentPart::Json(value) => ContentBlock::text(value.to_string()),
        ContentPart::Image(image) => {
            let data = BASE64_STANDARD.encode(image.data());
            ContentBlock::image(data, image.kind().media_type())
        }
        ContentPart::Link(link) if has_links => {
            ContentBlock::resource_link(Resource::new(link.uri(), link.name()))
        }
        ContentPart::Link(link) => ContentBlock::text(format!("{}: {}", link.name(), link.uri())),
    }
}

fn error(fault: &CallFault) -> Value {
    let mut error = json!({ "code": fault.code, "message": fault.message });
    if !fault.hint.is_empty() {
        error["hint"] = fault.hint.as_str().into();
    }
    error
}

/// Shows the changes that did not happen, with the state of each.
fn undone(changes: &[ReplyChange]) -> Option<String> {
    let lines: Vec<String> = changes
        .iter()
        .map(|change| format!("{} ({})\n{}", change.path, change.status, change.diff))
        .collect();
    (!lines.is_empty()).then(|| shown(&excerpt(&lines.join("\n"))))
}

fn meta(facts: Value) -> MetaObject {
    let mut meta = serde_json::Map::new();
    meta.insert(META_KEY.to_owned(), facts);
    MetaObject(meta)
}

// === impl ReplyForm ===

impl ReplyForm {
    /// Of the client that a request is from.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let revision = context.protocol_version();
        Self {
            has_links: revision.is_some_and(|one| revisions::has_links(&one)),
            is_line: context.extensions.get::<WrittenAsLine>().is_some(),
        }
    }
}
