//! Starts and events that cannot be, what is too large, and answers that nobody waits for.

use super::{
    Api, CallForms, ChatApi, Code, EncodeFailureKind, Event, Message, Part, Site, Status, Value,
    begin, by_library, call_end, call_start, encoded, estimate_tokens, event, fragment, in_library,
    json, open, payloads, reason, start, stop, text, usage, v1,
};
use crate::harness::until;

/// Holds a refusal to its code and reason, and returns its message.
fn refused(refusal: Result<impl std::fmt::Debug, Status>, expected: &str) -> String {
    let refusal = refusal.expect_err(expected);
    assert_eq!((refusal.code(), reason(&refusal)), (Code::InvalidArgument, expected.to_owned()));
    refusal.message().to_owned()
}

#[tokio::test]
async fn answers_begin_with_a_start_that_can_be_used() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let fine = || start(ChatApi::Ollama, true);
    for first in [None, Some(event(text("x"))), Some(usage())] {
        refused(open(&client, first).await.map(|_| ()), "REQUEST_INVALID");
    }
    let many: Vec<String> = (0..513).map(|n| n.to_string()).collect();
    let namespaced = |name: &String| (name.clone(), v1::NamespacedTool::default());
    for (field, start) in [
        ("start.api", v1::EncodeStart { api: 0, ..fine() }),
        ("start.api", v1::EncodeStart { api: 9, ..fine() }),
        ("start.id", v1::EncodeStart { id: "a-b".into(), ..fine() }),
        ("start.id", v1::EncodeStart { id: "é".into(), ..fine() }),
        ("start.id", v1::EncodeStart { id: "a".repeat(65), ..fine() }),
        ("start.model", v1::EncodeStart { model: "m".repeat(257), ..fine() }),
        ("start.free_form_tools", v1::EncodeStart { free_form_tools: many.clone(), ..fine() }),
        (
            "start.free_form_tools",
            v1::EncodeStart { free_form_tools: vec!["a".repeat(2 << 20)], ..fine() },
        ),
        (
            "start.namespaced_tools",
            v1::EncodeStart { namespaced_tools: many.iter().map(namespaced).collect(), ..fine() },
        ),
    ] {
        let message = refused(begin(&client, start).await.map(|_| ()), "REQUEST_INVALID");
        assert!(message.starts_with(&format!("{field}: ")), "{message}");
    }
    let nobody = daemon.connect(None).await;
    let refusal = begin(&nobody, fine()).await.err().unwrap();
    assert_eq!(refusal.code(), Code::Unauthenticated);
    daemon.stop();
}

#[tokio::test]
async fn what_cannot_be_said_is_refused_and_no_answer_ends_well() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let failure = |kind| Message::Failure(v1::EncodeFailure { kind, ..Default::default() });
    let free_text = |arguments: &str| {
        let start = v1::ReplyCallStart { index: 0, id: "c".into(), name: "apply_patch".into() };
        vec![event(Event::CallStart(start)), event(call_end(0, arguments))]
    };
    let object = "{\"path\":\"a\"}";
    let open = || vec![event(call_start(0)), event(fragment(0, object))];
    let after_open = |last| [open(), vec![last]].concat();
    for (messages, about) in [
        (vec![event(call_end(0, "{}"))], "event.call_end.index"),
        (vec![event(call_start(1))], "event.call_start.index"),
        (after_open(event(text("x"))), "event.text"),
        (after_open(event(call_start(1))), "event.call_start"),
        (after_open(event(call_end(0, "{}"))), "event.call_end.arguments_json"),
        (vec![event(call_start(0)), event(call_end(0, "[]"))], "event.call_end.arguments_json"),
        (free_text("{\"patch\":\"x\"}"), "event.call_end.arguments_json"),
        (after_open(event(stop())), "event.finish"),
        (after_open(usage()), "usage"),
        (vec![event(text("x")), usage()], "usage"),
        (vec![event(stop()), event(text("x"))], "event"),
        (vec![event(Event::Finish(9))], "event.finish"),
        (vec![Message::Event(v1::ReplyEvent { event: None })], "event"),
        (vec![failure(99)], "failure.kind"),
        (vec![Message::Start(start(ChatApi::Ollama, true))], "message"),
        (vec![event(text("x")), event(stop())], "message"),
        (vec![], "message"),
    ] {
        for streams in [false, true] {
            let told = format!("{messages:?} {streams}");
            let start = v1::EncodeStart {
                free_form_tools: vec!["apply_patch".into()],
                ..start(ChatApi::OpenaiChat, streams)
            };
            let mut encode = begin(&client, start).await.unwrap();
            let mut body = String::new();
            for message in messages.clone() {
                let _ = encode.sender.send(v1::EncodeRequest { message: Some(message) }).await;
            }
            encode.close();
            let refusal = loop {
                match encode.next().await {
                    Ok(Some(Part::Body(piece))) => body += std::str::from_utf8(&piece).unwrap(),
                    Ok(Some(Part::Head(_))) => {}
                    Ok(None) => panic!("{told} ended well"),
                    Err(refusal) => break refusal,
                }
            };
            let message = refused(Err::<(), _>(refusal), "REQUEST_INVALID");
            assert!(message.starts_with(&format!("{about}: ")), "{told}: {message}");
            // Nothing that came by then is an end, or a call that is whole.
            assert!(!body.contains("[DONE]") && !body.contains("\"finish_reason\":\"s"), "{body}");
            assert!(streams || body.is_empty(), "{body}");
            assert!(!body.contains("\\\"a\\\"}"), "{body}");
        }
    }
    // Free text is a form of OpenAI's: elsewhere its arguments are an object like any other.
    let start = v1::EncodeStart {
        free_form_tools: vec!["create_file".into()],
        ..start(ChatApi::AnthropicMessages, false)
    };
    let events = [call_start(0), call_end(0, object), stop()];
    let answer = encoded(&client, start, &events, usage()).await.unwrap();
    assert!(answer.body.contains(object), "{}", answer.body);
    daemon.stop();
}

#[tokio::test]
async fn a_stream_that_began_reports_its_failure_in_it() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (wire, api) in super::APIS {
        let encode = begin(&client, start(wire, true)).await.unwrap();
        let failure = v1::EncodeFailure {
            kind: EncodeFailureKind::Overloaded.into(),
            message: "it is full".into(),
            ..v1::EncodeFailure::default()
        };
        let kept = Message::KeepAlive(v1::EncodeKeepAlive {});
        let answer = encode.all(vec![kept, Message::Failure(failure)]).await.unwrap();
        assert_eq!(answer.head.unwrap().http_status, 200, "{api:?}");
        let payloads = payloads(api, &answer.body);
        assert!(payloads.last().unwrap().to_string().contains("it is full"), "{api:?}");
    }
    daemon.stop();
}

#[tokio::test]
async fn what_nobody_says_is_made_up() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let mut ids = Vec::new();
    for streams in [false, true] {
        let start = v1::EncodeStart {
            id: String::new(),
            created_unix_s: 0,
            input_tokens: 5,
            ..start(ChatApi::OpenaiChat, streams)
        };
        let events = [
            Event::Reasoning("hm".into()),
            text("先看 a file"),
            call_start(0),
            fragment(0, "{\"path\":\"a\"}"),
            call_end(0, "{\"path\":\"a\"}"),
            stop(),
        ];
        let last = Message::Usage(v1::EncodeUsage::default());
        let answer = encoded(&client, start, &events, last).await.unwrap();
        let said: Value = match streams {
            true => payloads(Api::OpenAiChat, &answer.body).pop().unwrap(),
            false => serde_json::from_str(&answer.body).unwrap(),
        };
        let tokens = estimate_tokens("hm先看 a filecreate_file{\"path\":\"a\"}");
        assert_eq!(said["usage"]["completion_tokens"], tokens, "{said}");
        assert_eq!(said["usage"]["prompt_tokens"], 5, "{said}");
        assert!(said["created"].as_u64().unwrap() > 1_700_000_000, "{said}");
        let id = said["id"].as_str().unwrap().strip_prefix("chatcmpl-").unwrap();
        assert!(id.len() >= 16 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        ids.push(id.to_owned());
    }
    assert_ne!(ids[0], ids[1]);
    daemon.stop();
}

#[tokio::test]
async fn large_answers_come_in_pieces_and_larger_ones_are_refused() {
    let site = Site::new();
    site.config("[grpc]\nrequest_bytes_max = 8_388_608\nresponse_bytes_max = 65_536\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    // More than a message takes: said by its fragments alone.
    let content = "é\n".repeat(3 << 20);
    let arguments = json!({ "content": content }).to_string();
    assert!(arguments.len() > 8 << 20);
    let mut events = vec![call_start(0)];
    let mut rest = arguments.as_str();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(1 << 20));
        events.push(fragment(0, piece));
        rest = after;
    }
    events.extend([call_end(0, ""), stop()]);
    let mut told = in_library(&events[..events.len() - 2]);
    told.push(super::Read::CallEnd {
        index: 0,
        arguments: serde_json::from_str(&arguments).unwrap(),
    });
    told.push(super::Read::Finish(moss_model_bridge::Finish::Stop));
    for streams in [false, true] {
        let start = start(ChatApi::AnthropicMessages, streams);
        let answer = encoded(&client, start, &events, usage()).await.unwrap();
        let expected = by_library(Api::AnthropicMessages, streams, CallForms::default(), &told);
        assert!(answer.body == expected, "{streams}: {} bytes", answer.body.len());
    }
    let text = text(&"a".repeat(1 << 20));
    for streams in [false, true] {
        let start = start(ChatApi::Ollama, streams);
        let answer = encoded(&client, start, &vec![text.clone(); 17], usage()).await;
        let message = refused(answer, "REPLY_TOO_LARGE");
        assert!(message.starts_with("event.text: "), "{message}");
        let events = [call_start(0), fragment(0, "{\"a\":\"")];
        let events: Vec<Event> =
            events.into_iter().chain(vec![fragment(0, &"a".repeat(4 << 20)); 4]).collect();
        refused(encoded(&client, start_again(streams), &events, usage()).await, "REPLY_TOO_LARGE");
    }
    let large = fragment(0, &"a".repeat(9 << 20));
    let refusal = encoded(&client, start_again(true), &[call_start(0), large], usage()).await;
    assert_eq!(refusal.unwrap_err().code(), Code::OutOfRange);
    daemon.stop();
}

#[tokio::test]
async fn replies_that_are_written_hold_a_bounded_part_of_the_memory() {
    let site = Site::new();
    site.config(
        "[grpc]\nconnection_encoding_bytes_max = 2_500_000\nencoding_bytes_max = 4_500_000\n",
    );
    let daemon = site.serve();
    let told = event(text(&"a".repeat(200_000)));
    let mut written = Vec::new();
    let (first, second) = (daemon.caller().await, daemon.caller().await);
    for client in [&first, &first, &second, &second] {
        let mut encode = begin(client, start_again(true)).await.unwrap();
        encode.send(told.clone()).await;
        assert!(encode.next().await.unwrap().is_some());
        written.push(encode);
    }
    let (third, approver) = (daemon.caller().await, daemon.approver().await);
    for (client, limit) in
        [(&first, "grpc.connection_encoding_bytes_max"), (&third, "grpc.encoding_bytes_max")]
    {
        let large = [text(&"a".repeat(200_000))];
        let refusal = encoded(client, start_again(true), &large, usage()).await;
        let status = refusal.unwrap_err();
        let found = (status.code(), reason(&status));
        assert_eq!(found, (Code::ResourceExhausted, "REPLIES_FULL".to_owned()));
        assert!(status.message().contains(limit), "{}", status.message());
        // A small one is taken, and so is one that keeps nothing.
        encoded(client, start_again(true), &[text("a"), stop()], usage()).await.unwrap();
    }
    let events = [text(&"a".repeat(200_000)), stop()];
    encoded(&approver, start_again(true), &events, usage()).await.unwrap();
    let streamed = start(ChatApi::AnthropicMessages, true);
    encoded(&second, streamed, &events, usage()).await.unwrap();
    drop(written);
    until("there is room again", async || {
        encoded(&third, start_again(true), &events, usage()).await.is_ok()
    })
    .await;
}

fn start_again(streams: bool) -> v1::EncodeStart {
    start(ChatApi::OpenaiResponses, streams)
}

#[tokio::test]
async fn answers_that_nobody_waits_for_leave_nothing_behind() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    // More than run at once on a connection: each gives its slot back.
    for _ in 0..100 {
        let mut encode = begin(&client, start(ChatApi::OpenaiChat, true)).await.unwrap();
        encode.send(event(text("x"))).await;
        assert!(encode.next().await.unwrap().is_some());
        drop(encode);
    }
    let mut waiting = begin(&client, start(ChatApi::OpenaiChat, false)).await.unwrap();
    waiting.send(event(text("x"))).await;
    // One that waits for its model does not hold the daemon up.
    daemon.terminate();
    let refusal = waiting.next().await.unwrap_err();
    assert_eq!(refusal.code(), Code::Unavailable, "{refusal:?}");
    assert_eq!(daemon.wait().code(), Some(0));
}
