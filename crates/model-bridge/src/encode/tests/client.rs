//! A strict client of each API: what it reads of a stream, and a panic where an official client
//! would fail or could be misled.

use serde_json::Value;

use crate::api::Api;

/// What a client has when a stream is over.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Seen {
    pub(super) text: String,
    /// The ids, names and arguments of calls, those that are no JSON as a string.
    pub(super) calls: Vec<(String, String, Value)>,
    /// `stop`, `calls`, `length` or `filter`.
    pub(super) end: &'static str,
}

/// An event by its name, where it has one.
type Named<'a> = (Option<&'a str>, Value);

pub(super) fn read(api: Api, wire: &str) -> Seen {
    match api {
        Api::OpenAiChat => {
            let wire = wire.strip_suffix("data: [DONE]\n\n").expect("a good end");
            chat(&events(wire))
        }
        Api::OpenAiResponses => responses(&events(wire)),
        Api::AnthropicMessages => messages(&events(wire)),
        Api::Ollama => ollama(wire),
    }
}

fn events(wire: &str) -> Vec<Named<'_>> {
    let frames = wire.strip_suffix("\n\n").expect("the last event is whole").split("\n\n");
    frames
        .map(|frame| {
            let (name, data) = match frame.strip_prefix("event: ") {
                Some(rest) => {
                    let (name, data) = rest.split_once('\n').expect("a name and data");
                    (Some(name), data)
                }
                None => (None, frame),
            };
            let data = data.strip_prefix("data: ").expect("data on a line");
            (name, serde_json::from_str(data).expect("data is JSON"))
        })
        .collect()
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} of {value}"))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn end(name: &str) -> &'static str {
    match name {
        "stop" | "end_turn" => "stop",
        "tool_calls" | "tool_use" => "calls",
        "length" | "max_tokens" | "max_output_tokens" => "length",
        "content_filter" | "refusal" => "filter",
        other => panic!("{other} is no end"),
    }
}

fn chat(events: &[Named<'_>]) -> Seen {
    let mut seen = Seen::default();
    let mut written: Vec<(String, String, String)> = Vec::new();
    let (head, rest) = events.split_first().expect("a chunk");
    assert_eq!(text(&head.1, "/choices/0/delta/role"), "assistant");
    let (usage, rest) = rest.split_last().expect("counts");
    assert_eq!(usage.1["choices"], Value::Array(Vec::new()));
    assert!(usage.1["usage"]["total_tokens"].is_u64());
    for (_, chunk) in rest {
        assert_eq!(["id", "created", "model"].map(|key| &chunk[key]), {
            ["id", "created", "model"].map(|key| &head.1[key])
        });
        assert_eq!(seen.end, "", "nothing comes after the end");
        let (delta, finish) =
            (&chunk["choices"][0]["delta"], &chunk["choices"][0]["finish_reason"]);
        assert!(delta["role"].is_null(), "the role comes once");
        seen.text += delta["content"].as_str().unwrap_or_default();
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().expect("a number")).unwrap();
            let arguments = text(call, "/function/arguments");
            if index == written.len() {
                let (id, name) = (text(call, "/id"), text(call, "/function/name"));
                assert_eq!(text(call, "/type"), "function");
                written.push((id.to_owned(), name.to_owned(), arguments.to_owned()));
            } else {
                assert_eq!(index + 1, written.len(), "only the last call continues");
                assert!(call["id"].is_null() && call["function"]["name"].is_null());
                written[index].2 += arguments;
            }
        }
        seen.end = finish.as_str().map_or("", end);
    }
    let calls = written.into_iter();
    seen.calls = calls.map(|(id, name, arguments)| (id, name, parsed(&arguments))).collect();
    seen
}

fn messages(events: &[Named<'_>]) -> Seen {
    let mut seen = Seen::default();
    let mut blocks: Vec<(Value, String)> = Vec::new();
    let mut is_open = false;
    for (place, (name, event)) in events.iter().enumerate() {
        assert_eq!(name.expect("a name"), text(event, "/type"));
        assert_eq!(event["type"] == "message_start", place == 0);
        assert_eq!(event["type"] == "message_stop", place + 1 == events.len());
        let index = event["index"].as_u64().map(|index| usize::try_from(index).unwrap());
        match text(event, "/type") {
            "content_block_start" => {
                assert_eq!((is_open, index), (false, Some(blocks.len())));
                is_open = true;
                blocks.push((event["content_block"].clone(), String::new()));
            }
            "content_block_delta" => {
                assert_eq!((is_open, index), (true, Some(blocks.len() - 1)));
                let (block, written) = blocks.last_mut().unwrap();
                let is_text = block["type"] == "text";
                assert_eq!(text(event, "/delta/type"), {
                    if is_text { "text_delta" } else { "input_json_delta" }
                });
                let place = if is_text { "/delta/text" } else { "/delta/partial_json" };
                written.push_str(text(event, place));
            }
            "content_block_stop" => {
                assert_eq!((is_open, index), (true, Some(blocks.len() - 1)));
                is_open = false;
            }
            "message_delta" => {
                assert!(event["usage"]["output_tokens"].is_u64());
                seen.end = end(text(event, "/delta/stop_reason"));
                assert!(!is_open || seen.end != "calls");
            }
            "message_start" => assert_eq!(event["message"]["content"], Value::Array(Vec::new())),
            "message_stop" | "ping" => {}
            other => panic!("{other} is no event"),
        }
    }
    for (block, written) in blocks {
        if block["type"] == "text" {
            assert!(
                !written.trim().is_empty(),
                "a block of white space is refused when it returns"
            );
            seen.text += &written;
        } else {
            let (id, name) = (text(&block, "/id"), text(&block, "/name"));
            seen.calls.push((id.to_owned(), name.to_owned(), parsed(&written)));
        }
    }
    seen
}

fn responses(events: &[Named<'_>]) -> Seen {
    let mut seen = Seen::default();
    let mut done: Vec<Value> = Vec::new();
    // The position of the open item, the item as it began, its text.
    let mut open: Option<(u64, Value, String)> = None;
    let mut begun = 0;
    for ((name, event), number) in events.iter().zip(0_u64..) {
        let kind = text(event, "/type");
        assert_eq!(
            (name.expect("a name"), event["sequence_number"].as_u64()),
            (kind, Some(number))
        );
        let place = event["output_index"].as_u64();
        if let (Some((at, item, _)), true) = (&open, event["item_id"].is_string()) {
            assert_eq!((place, &event["item_id"]), (Some(*at), &item["id"]));
        }
        match kind {
            "response.created" => assert_eq!(number, 0),
            "response.in_progress" => assert_eq!(number, 1),
            "response.output_item.added" => {
                // One that is not done was abandoned, and is a call.
                assert!(open.take().is_none_or(|(_, item, _)| item["type"] == "function_call"));
                assert_eq!(place, Some(begun));
                begun += 1;
                open = Some((begun - 1, event["item"].clone(), String::new()));
            }
            "response.output_text.delta" | "response.function_call_arguments.delta" => {
                open.as_mut().expect("an item").2.push_str(text(event, "/delta"));
            }
            "response.output_text.done" => {
                assert_eq!(text(event, "/text"), open.as_ref().unwrap().2);
            }
            "response.function_call_arguments.done" => {
                assert_eq!(text(event, "/arguments"), open.as_ref().unwrap().2);
            }
            "response.output_item.done" => {
                let (at, item, written) = open.take().expect("an item");
                assert_eq!((place, &event["item"]["id"]), (Some(at), &item["id"]));
                let item = &event["item"];
                if item["type"] == "message" {
                    assert_eq!(text(item, "/content/0/text"), written);
                    seen.text += &written;
                } else {
                    assert_eq!(text(item, "/arguments"), written);
                    let (id, name) = (text(item, "/call_id"), text(item, "/name"));
                    seen.calls.push((id.to_owned(), name.to_owned(), parsed(&written)));
                }
                done.push(item.clone());
            }
            "response.completed" | "response.incomplete" => {
                assert_eq!(number + 1, events.len() as u64);
                assert_eq!(event["response"]["output"], Value::Array(done.clone()));
                let reason = event.pointer("/response/incomplete_details/reason");
                assert_eq!(reason.is_some(), kind == "response.incomplete");
                let is_call = |item: &Value| item["type"] == "function_call";
                let whole = if done.iter().any(is_call) { "calls" } else { "stop" };
                seen.end = reason.map_or(whole, |reason| end(reason.as_str().unwrap()));
            }
            "response.content_part.added" | "response.content_part.done" => {}
            other => panic!("{other} is no event"),
        }
    }
    seen
}

fn ollama(wire: &str) -> Seen {
    let mut seen = Seen::default();
    for line in wire.strip_suffix('\n').expect("the last line is whole").split('\n') {
        assert_eq!(seen.end, "", "nothing comes after the end");
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        seen.text += text(&line, "/message/content");
        for call in line["message"]["tool_calls"].as_array().into_iter().flatten() {
            assert!(call["function"]["arguments"].is_object(), "{call}");
            let (id, name) = (text(call, "/id"), text(call, "/function/name"));
            let arguments = call["function"]["arguments"].clone();
            seen.calls.push((id.to_owned(), name.to_owned(), arguments));
        }
        if line["done"] == true {
            let name = end(text(&line, "/done_reason"));
            seen.end = if name == "stop" && !seen.calls.is_empty() { "calls" } else { name };
        }
    }
    assert_ne!(seen.end, "", "the end comes");
    seen
}
