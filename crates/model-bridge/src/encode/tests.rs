//! Wire text of replies.

mod client;
mod laws;

use serde_json::{Value, json};

use super::{
    CallForms, FailureKind, ReplyFailure, ReplyHead, ReplyStream, ReplyUsage, RetryAdvice,
    StreamOptions, error, estimate_tokens, whole,
};
use crate::api::Api;
use crate::call_form::NamespacedName;
use crate::event::{Finish, Reply, ReplyEvent};

const USAGE: ReplyUsage = ReplyUsage { input_tokens: 12, output_tokens: 34, elapsed_ns: 56 };

fn head() -> ReplyHead {
    ReplyHead {
        id: "1".to_owned(),
        model: "m".to_owned(),
        created_unix_s: 1_700_000_000,
        input_tokens: 12,
        ..ReplyHead::default()
    }
}

pub(super) fn text(text: &str) -> ReplyEvent {
    ReplyEvent::Text(text.to_owned())
}

fn start(index: usize, name: &str) -> ReplyEvent {
    ReplyEvent::CallStart { index, id: format!("call_{index}"), name: name.to_owned() }
}

pub(super) fn fragment(index: usize, fragment: &str) -> ReplyEvent {
    ReplyEvent::ArgumentFragment { index, fragment: fragment.to_owned() }
}

pub(super) fn end(index: usize, arguments: Value) -> ReplyEvent {
    let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
    ReplyEvent::CallEnd { index, arguments }
}

/// A reply with text and two calls, the second without arguments.
fn text_and_two_calls() -> Vec<ReplyEvent> {
    vec![
        ReplyEvent::Reasoning("hm".to_owned()),
        text("I'll "),
        text("look."),
        start(0, "read_file"),
        fragment(0, "{\"path\": "),
        fragment(0, "\"a\"}"),
        end(0, json!({ "path": "a" })),
        start(1, "run_tests"),
        fragment(1, "{}"),
        end(1, json!({})),
        ReplyEvent::Finish(Finish::Stop),
    ]
}

/// A call that was shown and is none, between others.
fn abandoned() -> Vec<ReplyEvent> {
    vec![
        start(0, "read_file"),
        fragment(0, "{\"path\":\"a\"}"),
        end(0, json!({ "path": "a" })),
        start(1, "delete_file"),
        fragment(1, "{\"path\":\"b\"}"),
        ReplyEvent::CallAbandoned { index: 1, text: "{\"path\":\"b\"}".to_owned() },
        text("after"),
        ReplyEvent::Finish(Finish::Stop),
    ]
}

fn streamed(api: Api, events: &[ReplyEvent]) -> String {
    let mut stream = ReplyStream::new(api, head(), StreamOptions { include_usage: true });
    let shown: String = events.iter().map(|event| stream.push(event)).collect();
    shown + &stream.finish(USAGE)
}

/// The JSON of every event or line.
fn payloads(wire: &str) -> Vec<Value> {
    wire.lines()
        .map(|line| line.strip_prefix("data: ").unwrap_or(line))
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The values at a pointer, of those payloads that have it.
fn at<'a>(payloads: &'a [Value], pointer: &str) -> Vec<&'a Value> {
    payloads.iter().filter_map(|payload| payload.pointer(pointer)).collect()
}

#[test]
fn a_streamed_reply_with_text_and_two_calls_has_exactly_this_text() {
    let texts = [
        (Api::OpenAiChat, include_str!("tests/openai_chat.txt")),
        (Api::OpenAiResponses, include_str!("tests/openai_responses.txt")),
        (Api::AnthropicMessages, include_str!("tests/anthropic_messages.txt")),
        (Api::Ollama, include_str!("tests/ollama.txt")),
    ];
    assert_eq!(texts.map(|(api, _)| api), Api::ALL);
    for (api, golden) in texts {
        assert_eq!(streamed(api, &text_and_two_calls()), golden, "{}", api.as_str());
    }
}

#[test]
fn a_whole_reply_of_chat_completions_has_its_calls_as_text() {
    let reply = Reply::collect(text_and_two_calls());
    let body = whole(Api::OpenAiChat, &head(), &reply, USAGE);
    assert_eq!(
        body,
        json!({
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "m",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "I'll look.",
                    "refusal": null,
                    "tool_calls": [
                        {
                            "id": "call_0",
                            "type": "function",
                            "function": { "name": "read_file", "arguments": "{\"path\":\"a\"}" },
                        },
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": { "name": "run_tests", "arguments": "{}" },
                        },
                    ],
                },
                "logprobs": null,
                "finish_reason": "tool_calls",
            }],
            "usage": { "prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46 },
        })
    );
}

#[test]
fn a_whole_reply_of_messages_has_blocks() {
    let reply = Reply::collect(text_and_two_calls());
    assert_eq!(
        whole(Api::AnthropicMessages, &head(), &reply, USAGE),
        json!({
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [
                { "type": "text", "text": "I'll look." },
                { "type": "tool_use", "id": "call_0", "name": "read_file",
                  "input": { "path": "a" } },
                { "type": "tool_use", "id": "call_1", "name": "run_tests", "input": {} },
            ],
            "stop_reason": "tool_use",
            "stop_sequence": null,
            "usage": { "input_tokens": 12, "output_tokens": 34 },
        })
    );
}

#[test]
fn a_whole_reply_of_ollama_has_its_arguments_as_objects() {
    let reply = Reply::collect(text_and_two_calls());
    assert_eq!(
        whole(Api::Ollama, &head(), &reply, USAGE),
        json!({
            "model": "m",
            "created_at": "2023-11-14T22:13:20Z",
            "message": {
                "role": "assistant",
                "content": "I'll look.",
                "tool_calls": [
                    { "id": "call_0", "function":
                        { "index": 0, "name": "read_file", "arguments": { "path": "a" } } },
                    { "id": "call_1", "function":
                        { "index": 1, "name": "run_tests", "arguments": {} } },
                ],
            },
            "done": true,
            "done_reason": "stop",
            "total_duration": 56,
            "load_duration": 0,
            "prompt_eval_count": 12,
            "prompt_eval_duration": 0,
            "eval_count": 34,
            "eval_duration": 56,
        })
    );
}

#[test]
fn the_whole_response_is_what_its_stream_ends_with() {
    for finish in [Finish::Stop, Finish::Length, Finish::ContentFilter] {
        let mut replies = [text_and_two_calls(), vec![text("cut"), ReplyEvent::Finish(finish)]];
        *replies[0].last_mut().unwrap() = ReplyEvent::Finish(finish);
        for events in replies {
            let payloads = payloads(&streamed(Api::OpenAiResponses, &events));
            let last = payloads.last().unwrap()["response"].clone();
            let mut body =
                whole(Api::OpenAiResponses, &head(), &Reply::collect(events.clone()), USAGE);
            // The arguments of the stream are written as the model wrote them.
            let written = last.to_string().replace("{\\\"path\\\": ", "{\\\"path\\\":");
            assert_eq!(body.to_string(), written);
            assert_eq!(body["output"].as_array_mut().unwrap().pop().unwrap()["status"], {
                let is_cut = events.len() == 2 && finish != Finish::Stop;
                if is_cut { "incomplete" } else { "completed" }
            });
        }
    }
}

#[test]
fn each_api_names_the_end_of_a_reply_its_own_way() {
    let call = || vec![start(0, "t"), end(0, json!({}))];
    let plain = || vec![text("x")];
    let table = [
        (plain(), Finish::Stop, ["stop", "completed", "end_turn", "stop"]),
        (call(), Finish::Stop, ["tool_calls", "completed", "tool_use", "stop"]),
        (plain(), Finish::Length, ["length", "incomplete", "max_tokens", "length"]),
        (call(), Finish::Length, ["length", "incomplete", "max_tokens", "length"]),
        (
            plain(),
            Finish::ContentFilter,
            ["content_filter", "incomplete", "refusal", "content_filter"],
        ),
    ];
    let places = [
        ["/choices/0/finish_reason", "/choices/0/finish_reason"],
        ["/response/status", "/status"],
        ["/delta/stop_reason", "/stop_reason"],
        ["/done_reason", "/done_reason"],
    ];
    for (mut events, finish, ends) in table {
        events.push(ReplyEvent::Finish(finish));
        assert_eq!([ends.len(), places.len()], [Api::ALL.len(); 2]);
        for ((api, end), [in_stream, in_body]) in Api::ALL.into_iter().zip(ends).zip(places) {
            let payloads = payloads(&streamed(api, &events));
            assert_eq!(*at(&payloads, in_stream).last().unwrap(), end, "{api:?} {events:?}");
            let body = whole(api, &head(), &Reply::collect(events.clone()), USAGE);
            assert_eq!(body.pointer(in_body).unwrap(), end, "{api:?} {events:?}");
        }
    }
}

#[test]
fn an_incomplete_response_says_why() {
    for (finish, reason) in
        [(Finish::Length, "max_output_tokens"), (Finish::ContentFilter, "content_filter")]
    {
        let payloads = payloads(&streamed(Api::OpenAiResponses, &[ReplyEvent::Finish(finish)]));
        let last = payloads.last().unwrap();
        assert_eq!(last["type"], "response.incomplete");
        assert_eq!(last["response"]["incomplete_details"], json!({ "reason": reason }));
    }
}

#[test]
fn an_abandoned_call_of_chat_completions_stays_incomplete_in_a_reply_that_is_cut_off() {
    let payloads = payloads(&streamed(Api::OpenAiChat, &abandoned()));
    let calls = at(&payloads, "/choices/0/delta/tool_calls/0");
    let second = calls.iter().filter(|call| call["index"] == 1);
    let sent: String = second.map(|call| call["function"]["arguments"].as_str().unwrap()).collect();
    assert_eq!(sent, "{\"path\":\"b\"");
    assert_eq!(*at(&payloads, "/choices/0/finish_reason").last().unwrap(), "length");
}

#[test]
fn an_abandoned_call_of_responses_never_gets_a_done_and_is_in_no_output() {
    let payloads = payloads(&streamed(Api::OpenAiResponses, &abandoned()));
    let of_it: Vec<_> = payloads
        .iter()
        .filter(|payload| payload["item_id"] == "fc_1_1" || payload["item"]["id"] == "fc_1_1")
        .map(|payload| payload["type"].as_str().unwrap())
        .collect();
    assert_eq!(of_it, ["response.output_item.added", "response.function_call_arguments.delta"]);
    let last = payloads.last().unwrap();
    assert_eq!(last["type"], "response.incomplete");
    let items: Vec<_> = last["response"]["output"].as_array().unwrap().iter().collect();
    assert_eq!(items.iter().map(|item| &item["id"]).collect::<Vec<_>>(), ["fc_1_0", "msg_1_2"]);
}

#[test]
fn an_abandoned_block_of_messages_ends_only_where_something_follows() {
    let payloads_of = |events: &[ReplyEvent]| payloads(&streamed(Api::AnthropicMessages, events));
    let stops = |payloads: &[Value]| {
        let stops = payloads.iter().filter(|payload| payload["type"] == "content_block_stop");
        stops.map(|stop| stop["index"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let followed = payloads_of(&abandoned());
    assert_eq!(stops(&followed), [0, 1, 2]);
    assert_eq!(*at(&followed, "/delta/stop_reason").last().unwrap(), "max_tokens");
    let mut events = abandoned();
    events.remove(6);
    let last = payloads_of(&events);
    assert_eq!(stops(&last), [0]);
    assert_eq!(*at(&last, "/delta/stop_reason").last().unwrap(), "max_tokens");
}

#[test]
fn an_abandoned_call_of_ollama_is_text() {
    let payloads = payloads(&streamed(Api::Ollama, &abandoned()));
    let said: String =
        at(&payloads, "/message/content").iter().map(|text| text.as_str().unwrap()).collect();
    assert_eq!(said, "{\"path\":\"b\"}after");
    assert_eq!(at(&payloads, "/message/tool_calls").len(), 1);
    assert_eq!(payloads.last().unwrap()["done_reason"], "stop");
}

#[test]
fn an_empty_reply_ends_well() {
    let empty = [ReplyEvent::Finish(Finish::Stop)];
    let chat = payloads(&streamed(Api::OpenAiChat, &empty));
    assert_eq!(chat[0]["choices"][0]["delta"], json!({ "role": "assistant", "content": "" }));
    assert_eq!(chat[1]["choices"][0]["finish_reason"], "stop");
    let types = |api| -> Vec<String> {
        let payloads = payloads(&streamed(api, &empty));
        at(&payloads, "/type").iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types(Api::AnthropicMessages), ["message_start", "message_delta", "message_stop"]);
    assert_eq!(
        types(Api::OpenAiResponses),
        ["response.created", "response.in_progress", "response.completed"]
    );
    assert_eq!(payloads(&streamed(Api::Ollama, &empty)).len(), 1);
    let body = whole(Api::OpenAiChat, &head(), &Reply::default(), USAGE);
    assert_eq!(body["choices"][0]["message"]["content"], "");
    let body = whole(Api::AnthropicMessages, &head(), &Reply::default(), USAGE);
    assert_eq!(body["content"], json!([]));
}

#[test]
fn a_call_alone_has_no_text_beside_it() {
    let events = [text("\n"), start(0, "t"), end(0, json!({})), ReplyEvent::Finish(Finish::Stop)];
    let chat = payloads(&streamed(Api::OpenAiChat, &events));
    assert_eq!(chat[0]["choices"][0]["delta"], json!({ "role": "assistant", "content": null }));
    let reply = Reply::collect(events);
    let body = whole(Api::OpenAiChat, &head(), &reply, USAGE);
    assert_eq!(body["choices"][0]["message"]["content"], Value::Null);
    let body = whole(Api::AnthropicMessages, &head(), &reply, USAGE);
    assert_eq!(body["content"].as_array().unwrap().len(), 1);
}

#[test]
fn counts_are_streamed_only_to_a_client_of_chat_completions_that_asks() {
    let mut stream = ReplyStream::new(Api::OpenAiChat, head(), StreamOptions::default());
    let wire = stream.push(&text("x")) + &stream.finish(USAGE);
    assert!(!wire.contains("usage"), "{wire}");
    let asked = payloads(&streamed(Api::OpenAiChat, &[text("x")]));
    let counts = at(&asked, "/usage");
    let total = json!({ "prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46 });
    let (last, before) = counts.split_last().unwrap();
    assert_eq!(before, vec![&Value::Null; asked.len() - 1]);
    assert_eq!(**last, total);
    assert_eq!(asked.last().unwrap()["choices"], json!([]));
}

#[test]
fn text_that_looks_like_the_end_of_a_line_is_escaped() {
    let odd = "a\u{2028}b\u{2029}c\u{85}d\r\ne\u{1c}";
    for api in Api::ALL {
        let wire = streamed(api, &[text(odd), ReplyEvent::Finish(Finish::Stop)]);
        assert!(!wire.contains(['\u{2028}', '\u{2029}', '\u{85}', '\r', '\u{1c}']), "{wire}");
        let is_there = payloads(&wire).iter().any(|payload| {
            let places = ["/choices/0/delta/content", "/delta", "/delta/text", "/message/content"];
            places.iter().any(|place| payload.pointer(place).is_some_and(|text| text == odd))
        });
        assert!(is_there, "{wire}");
    }
}

#[test]
fn a_failure_in_a_stream_is_its_last_event() {
    let failure = ReplyFailure::new(FailureKind::Overloaded, "try later");
    let ends = Api::ALL.map(|api| {
        let mut stream = ReplyStream::new(api, head(), StreamOptions::default());
        stream.push(&text("x"));
        stream.fail(&failure)
    });
    assert_eq!(
        ends[0],
        "data: {\"error\":{\"message\":\"try later\",\"type\":\"server_error\",\"param\":null,\
         \"code\":\"server_is_overloaded\"}}\n\n"
    );
    let failed = &payloads(&ends[1])[0];
    assert!(ends[1].starts_with("event: response.failed\n"), "{}", ends[1]);
    assert_eq!(failed["response"]["status"], "failed");
    let error = json!({ "code": "server_is_overloaded", "message": "try later" });
    assert_eq!(failed["response"]["error"], error);
    assert_eq!(
        ends[2],
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
         \"message\":\"try later\"}}\n\n"
    );
    assert_eq!(ends[3], "{\"error\":\"try later\"}\n");
}

#[test]
fn what_keeps_a_connection_alive_changes_nothing() {
    for api in Api::ALL {
        let mut stream = ReplyStream::new(api, head(), StreamOptions { include_usage: true });
        let mut wire = stream.keep_alive();
        for event in text_and_two_calls() {
            wire += &stream.push(&event);
            wire += &stream.keep_alive();
        }
        wire += &stream.finish(USAGE);
        let without = |wire: &str| -> Vec<Value> {
            payloads(wire).into_iter().filter(|payload| payload["type"] != "ping").collect()
        };
        assert_eq!(without(&wire), without(&streamed(api, &text_and_two_calls())), "{api:?}");
    }
}

#[test]
fn failures_have_the_status_and_the_names_of_each_api() {
    let table = [
        (FailureKind::InvalidRequest, 400, "invalid_request_error", "invalid_request_error"),
        (FailureKind::ContextTooLong, 400, "invalid_request_error", "invalid_request_error"),
        (FailureKind::Unauthenticated, 401, "invalid_request_error", "authentication_error"),
        (FailureKind::Forbidden, 403, "permission_error", "permission_error"),
        (FailureKind::UnknownModel, 404, "invalid_request_error", "not_found_error"),
        (FailureKind::TooLarge, 413, "invalid_request_error", "request_too_large"),
        (FailureKind::RateLimited, 429, "rate_limit_error", "rate_limit_error"),
        (FailureKind::Internal, 500, "server_error", "api_error"),
        (FailureKind::Upstream, 502, "server_error", "api_error"),
        (FailureKind::UpstreamTimeout, 504, "server_error", "timeout_error"),
        (FailureKind::Overloaded, 503, "server_error", "overloaded_error"),
    ];
    for (kind, status, openai, anthropic) in table {
        let failure = ReplyFailure::new(kind, "why").param("messages");
        for api in [Api::OpenAiChat, Api::OpenAiResponses] {
            let response = error(api, &failure);
            assert_eq!(response.status, status, "{kind:?}");
            let body = &response.body["error"];
            assert_eq!((&body["message"], &body["type"]), (&json!("why"), &json!(openai)));
            assert_eq!(body["param"], "messages");
        }
        let response = error(Api::AnthropicMessages, &failure);
        let own = if kind == FailureKind::Overloaded { 529 } else { status };
        assert_eq!(response.status, own, "{kind:?}");
        let body = json!({ "type": "error", "error": { "type": anthropic, "message": "why" } });
        assert_eq!(response.body, body);
        let response = error(Api::Ollama, &failure);
        assert_eq!((response.status, response.body), (status, json!({ "error": "why" })));
    }
}

#[test]
fn only_what_was_not_begun_may_be_sent_again() {
    let headers = |failure: &ReplyFailure| error(Api::OpenAiChat, failure).headers;
    let says = |failure: &ReplyFailure, retry: &str| {
        assert_eq!(headers(failure), [("x-should-retry", retry.to_owned())], "{failure:?}");
    };
    says(&ReplyFailure::new(FailureKind::Upstream, "x"), "false");
    says(&ReplyFailure::new(FailureKind::Internal, "x"), "false");
    says(&ReplyFailure::new(FailureKind::Overloaded, "x"), "true");
    says(&ReplyFailure::new(FailureKind::RateLimited, "x").retry(RetryAdvice::Never), "false");
    let later = ReplyFailure::new(FailureKind::RateLimited, "x").retry(RetryAdvice::After(7));
    assert_eq!(
        headers(&later),
        [("x-should-retry", "true".to_owned()), ("retry-after", "7".to_owned())]
    );
}

#[test]
fn estimates_count_letters_by_their_kind() {
    for (text, tokens) in
        [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("读取文件", 4), ("привет", 3), ("ab 读", 2)]
    {
        assert_eq!(estimate_tokens(text), tokens, "{text}");
    }
}

#[test]
fn times_without_a_form_are_the_beginning_of_time() {
    let head = ReplyHead { created_unix_s: u64::MAX, ..head() };
    let body = whole(Api::Ollama, &head, &Reply::default(), USAGE);
    assert_eq!(body["created_at"], "1970-01-01T00:00:00Z");
}

#[test]
fn more_calls_than_a_client_takes_end_the_reply_as_cut_off() {
    let calls = |count| -> Vec<ReplyEvent> {
        let calls = (0..count).flat_map(|index| [start(index, "t"), end(index, json!({}))]);
        calls.chain([text("after"), ReplyEvent::Finish(Finish::Stop)]).collect()
    };
    for (count, shown, ended) in [(128, 128, "calls"), (129, 128, "length")] {
        let seen = client::read(Api::OpenAiChat, &streamed(Api::OpenAiChat, &calls(count)));
        assert_eq!((seen.calls.len(), seen.end, seen.text.as_str()), (shown, ended, "after"));
    }
    let seen = client::read(Api::OpenAiResponses, &streamed(Api::OpenAiResponses, &calls(129)));
    assert_eq!((seen.calls.len(), seen.end), (129, "calls"));
}

/// A call of a tool that takes free text, and one of a tool in a namespace.
fn formed() -> (ReplyHead, Vec<ReplyEvent>) {
    let both = NamespacedName { namespace: "mcp__web".to_owned(), name: "search".to_owned() };
    let forms = CallForms {
        free_form: ["apply_patch".to_owned()].into(),
        namespaced: [(both.flat(), both)].into(),
    };
    let events = vec![
        start(0, "apply_patch"),
        fragment(0, "{\"input\":\"*** a\\n"),
        fragment(0, "b\"}"),
        end(0, json!({ "input": "*** a\nb" })),
        start(1, "mcp__web__search"),
        fragment(1, "{}"),
        end(1, json!({})),
        ReplyEvent::Finish(Finish::Stop),
    ];
    (ReplyHead { forms, ..head() }, events)
}

#[test]
fn calls_of_free_text_and_of_namespaces_have_their_own_forms() {
    let (head, events) = formed();
    let reply = Reply::collect(events.clone());
    let response = whole(Api::OpenAiResponses, &head, &reply, USAGE);
    assert_eq!(
        response["output"],
        json!([
            { "id": "ctc_1_0", "type": "custom_tool_call", "status": "completed",
              "call_id": "call_0", "name": "apply_patch", "input": "*** a\nb" },
            { "id": "fc_1_1", "type": "function_call", "status": "completed",
              "call_id": "call_1", "name": "search", "arguments": "{}",
              "namespace": "mcp__web" },
        ])
    );
    let mut stream = ReplyStream::new(Api::OpenAiResponses, head.clone(), StreamOptions::default());
    let wire: String = events.iter().map(|event| stream.push(event)).collect();
    let payloads = payloads(&(wire + &stream.finish(USAGE)));
    let types: Vec<&str> =
        at(&payloads[2..6], "/type").iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "response.output_item.added",
            "response.custom_tool_call_input.delta",
            "response.custom_tool_call_input.done",
            "response.output_item.done",
        ]
    );
    assert_eq!(payloads[3]["delta"], "*** a\nb");
    assert_eq!(payloads.last().unwrap()["response"]["output"], response["output"]);

    let chat = whole(Api::OpenAiChat, &head, &reply, USAGE);
    let calls = &chat["choices"][0]["message"]["tool_calls"];
    let custom = json!({ "name": "apply_patch", "input": "*** a\nb" });
    assert_eq!(calls[0], json!({ "id": "call_0", "type": "custom", "custom": custom }));
    assert_eq!(calls[1]["function"]["name"], "mcp__web__search");
}

#[test]
fn a_request_that_cannot_be_read_is_refused_with_the_field() {
    let error = crate::normalize(Api::OpenAiChat, json!({ "messages": 1 })).unwrap_err();
    let response = super::error(Api::OpenAiChat, &ReplyFailure::from(&error));
    assert_eq!((response.status, &response.body["error"]["param"]), (400, &json!(error.param)));
    assert_eq!(response.body["error"]["message"], error.message);
}
