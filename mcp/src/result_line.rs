//! Responses as lines. What a tool returned is JSON text already, and stands twice in its result: as text and
//! as `structuredContent`. The second is written as it came, and neither read into values nor written out of
//! them again.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ContentBlock, JsonRpcMessage, JsonRpcVersion2_0, MetaObject, RequestId,
    ResultType, ServerResult,
};
use rmcp::service::TxJsonRpcMessage;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Stands for `structuredContent` that is the first text of its result. No name of a tool's output has a zero
/// byte.
const FIRST_TEXT: &str = "\0first text";
/// What a line has besides the texts of a result, about.
const FRAME_BYTES: usize = 512;

/// Marks a call whose response becomes a line here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenAsLine;

/// A response with the result of a tool, as [`CallToolResult`] has it.
#[derive(Serialize)]
struct ResultLine<'a> {
    jsonrpc: &'a JsonRpcVersion2_0,
    id: &'a RequestId,
    result: WrittenResult<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'a ResultType>,
    content: &'a [ContentBlock],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a MetaObject>,
}

/// What stands for `structuredContent` until [`written`]; none where the text cannot be written as it is.
pub(crate) fn first_text(output: &str) -> Option<Value> {
    // Texts on several lines are not how the daemon writes them.
    let is_line =
        output.starts_with('{') && memchr::memchr2(b'\n', b'\r', output.as_bytes()).is_none();
    is_line.then(|| Value::Object(Map::from_iter([(FIRST_TEXT.to_owned(), Value::Null)])))
}

/// Writes a message as a line, without its end.
///
/// # Errors
///
/// Where it is no JSON, which is a defect.
pub(crate) fn written(message: &TxJsonRpcMessage<RoleServer>) -> serde_json::Result<String> {
    let JsonRpcMessage::Response(response) = message else {
        return serde_json::to_string(message);
    };
    let ServerResult::CallToolResult(result) = &response.result else {
        return serde_json::to_string(message);
    };
    let Some(text) = as_first_text(result) else { return serde_json::to_string(message) };
    let line = ResultLine {
        jsonrpc: &response.jsonrpc,
        id: &response.id,
        result: WrittenResult {
            result_type: result.result_type.as_ref(),
            content: &result.content,
            structured_content: serde_json::from_str(text).ok(),
            is_error: result.is_error,
            meta: result.meta.as_ref(),
        },
    };
    // Both copies, and an eighth of one for what is escaped in it.
    let mut written = Vec::with_capacity(text.len() * 2 + text.len() / 8 + FRAME_BYTES);
    serde_json::to_writer(&mut written, &line)?;
    String::from_utf8(written).map_err(serde::ser::Error::custom)
}

/// The text that is the structured content as well, where that is said of it.
fn as_first_text(result: &CallToolResult) -> Option<&str> {
    let Some(Value::Object(fields)) = &result.structured_content else { return None };
    match result.content.first() {
        Some(ContentBlock::Text(text)) if fields.contains_key(FIRST_TEXT) => Some(&text.text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A response with all that a result may have.
    fn response(output: &str, structured: Option<Value>) -> TxJsonRpcMessage<RoleServer> {
        let more = ContentBlock::text("more");
        let mut result = CallToolResult::success(vec![ContentBlock::text(output), more]);
        result.structured_content = structured;
        result.meta = Some(MetaObject(Map::from_iter([("a".to_owned(), json!(1))])));
        let id = RequestId::String("x".into());
        JsonRpcMessage::response(ServerResult::CallToolResult(result), id)
    }

    #[test]
    fn a_result_is_the_line_that_its_values_would_be() {
        for output in [
            r#"{}"#,
            r#"{"b":1,"a":[true,null,-1.5e3,"\u00e4\n\"ü"],"c":{"d":{}}}"#,
            r#"{"text":"line\nline\tüß\u0000"}"#,
        ] {
            let plain = response(output, serde_json::from_str(output).ok());
            let marked = response(output, first_text(output));
            let line = written(&marked).unwrap();
            let values = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(values(&line), values(&serde_json::to_string(&plain).unwrap()));
            assert!(line.contains(&format!("\"structuredContent\":{output}")), "{line}");
            assert!(!line.contains('\n'));
            assert_eq!(written(&plain).unwrap(), serde_json::to_string(&plain).unwrap());
        }
    }

    #[test]
    fn what_is_no_object_on_one_line_is_not_written_as_it_is() {
        for output in ["", "[]", "null", "\"a\"", "{\n}", "{\"a\":\r1}"] {
            assert_eq!(first_text(output), None, "{output:?}");
        }
        // Who says that it is an object may be wrong.
        let broken = response("{\"a\":", first_text("{\"a\":"));
        let line = written(&broken).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&line).unwrap()["result"].get("structuredContent"),
            None
        );
    }
}
