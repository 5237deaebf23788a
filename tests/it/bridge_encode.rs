//! Replies over gRPC in the words of each API: what was read is written as the library writes it, and
//! what cannot be is refused.

mod refusals;

use moss_model_bridge::encode::{
    self, CallForms, FailureKind, ReplyFailure, ReplyHead, ReplyStream, ReplyUsage, RetryAdvice,
    StreamOptions, estimate_tokens,
};
use moss_model_bridge::{Api, NamespacedName, Reply, ReplyEvent as Read};
use moss_proto::v1;
use moss_proto::v1::encode_failure::Again;
use moss_proto::v1::encode_request::Message;
use moss_proto::v1::encode_response::Part;
use moss_proto::v1::normalize_response::Result as Outcome;
use moss_proto::v1::reply_event::Event;
use moss_proto::v1::{ChatApi, EncodeFailureKind};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::bridge_service::{in_library, own, read_with};
use crate::harness::{Client, Site, reason, within};

const APIS: [(ChatApi, Api); 4] = [
    (ChatApi::OpenaiChat, Api::OpenAiChat),
    (ChatApi::OpenaiResponses, Api::OpenAiResponses),
    (ChatApi::AnthropicMessages, Api::AnthropicMessages),
    (ChatApi::Ollama, Api::Ollama),
];
const USAGE: ReplyUsage = ReplyUsage { input_tokens: 11, output_tokens: 22, elapsed_ns: 33 };

/// An answer that is being written.
struct Encode {
    sender: mpsc::Sender<v1::EncodeRequest>,
    parts: Streaming<v1::EncodeResponse>,
}

/// An answer as its client gets it.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    head: Option<v1::EncodeHead>,
    body: String,
}

fn start(api: ChatApi, stream: bool) -> v1::EncodeStart {
    v1::EncodeStart {
        api: api.into(),
        stream,
        stream_usage: true,
        model: "m".into(),
        id: "7f".into(),
        created_unix_s: 1_700_000_000,
        input_tokens: USAGE.input_tokens,
        ..v1::EncodeStart::default()
    }
}

fn head(forms: CallForms) -> ReplyHead {
    ReplyHead {
        id: "7f".into(),
        model: "m".into(),
        created_unix_s: 1_700_000_000,
        input_tokens: USAGE.input_tokens,
        forms,
    }
}

fn event(event: Event) -> Message {
    Message::Event(v1::ReplyEvent { event: Some(event) })
}

fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

fn call_start(index: u32) -> Event {
    let (id, name) = (format!("call_{index}"), "create_file".to_owned());
    Event::CallStart(v1::ReplyCallStart { index, id, name })
}

fn fragment(index: u32, fragment: &str) -> Event {
    Event::ArgumentFragment(v1::ReplyArgumentFragment { index, fragment: fragment.to_owned() })
}

fn call_end(index: u32, arguments_json: &str) -> Event {
    Event::CallEnd(v1::ReplyCallEnd { index, arguments_json: arguments_json.to_owned() })
}

fn stop() -> Event {
    Event::Finish(v1::ReplyFinish::Stop.into())
}

fn usage() -> Message {
    Message::Usage(v1::EncodeUsage {
        input_tokens: None,
        output_tokens: Some(USAGE.output_tokens),
        elapsed_ns: USAGE.elapsed_ns,
    })
}

fn tools() -> Value {
    json!([{ "name": "create_file", "parameters": { "type": "object",
        "properties": { "path": { "type": "string" }, "content": { "type": "string" } },
        "required": ["path"] } }])
}

/// What is read of a reply with text and two calls, one of them with a text that is so long that it
/// comes while the model writes it.
async fn real(client: &Client) -> Vec<Event> {
    let long = "é \\\"quoted\\\"\\n".repeat(200);
    let call = |arguments: &str| {
        format!("```json action\n{{\"tool\": \"create_file\", \"parameters\": {arguments}}}\n```\n")
    };
    let reply = format!(
        "<think>two files</think>我写两个文件 😀.\n\n{}{}Both are there.",
        call("{\"path\": \"a.md\",}"),
        call(&format!("{{\"path\": \"b.md\", \"content\": \"{long}\"}}"))
    );
    let pieces = reply.as_bytes().chunks(37).map(<[u8]>::to_vec).collect();
    let read = read_with(client, own(&tools()), pieces, v1::ReplyFinish::Stop).await.unwrap();
    let of_second =
        |event: &&Event| matches!(event, Event::ArgumentFragment(more) if more.index == 1);
    assert!(read.iter().filter(of_second).count() > 10, "{read:?}");
    read
}

/// What the library makes of events.
fn by_library(api: Api, streams: bool, forms: CallForms, events: &[Read]) -> String {
    if !streams {
        let reply = Reply::collect(events.to_vec());
        return encode::whole(api, &head(forms), &reply, USAGE).to_string();
    }
    let mut stream = ReplyStream::new(api, head(forms), StreamOptions { include_usage: true });
    let body: String = events.iter().map(|event| stream.push(event)).collect();
    body + &stream.finish(USAGE)
}

async fn begin(client: &Client, start: v1::EncodeStart) -> Result<Encode, Status> {
    open(client, Some(Message::Start(start))).await
}

async fn open(client: &Client, first: Option<Message>) -> Result<Encode, Status> {
    let (sender, requests) = mpsc::channel(4);
    sender.send(v1::EncodeRequest { message: first }).await.unwrap();
    let response = within("a start", client.bridge().encode(ReceiverStream::new(requests))).await?;
    Ok(Encode { sender, parts: response.into_inner() })
}

/// Writes an answer, with its last message.
async fn encoded(
    client: &Client,
    start: v1::EncodeStart,
    events: &[Event],
    last: Message,
) -> Result<Answer, Status> {
    let messages = events.iter().cloned().map(event).chain([last]).collect();
    begin(client, start).await?.all(messages).await
}

/// Every part of a streamed body as JSON; panics where one is none.
fn payloads(api: Api, body: &str) -> Vec<Value> {
    let parsed = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"));
    if api == Api::Ollama {
        assert!(body.ends_with('\n'));
        return body.lines().map(parsed).collect();
    }
    assert!(body.ends_with("\n\n"), "{body}");
    let frames = body.trim_end().split("\n\n").filter(|frame| !frame.starts_with(':'));
    let data = frames.map(|frame| {
        let (name, data) = frame.split_once("data: ").unwrap();
        assert!(!data.contains('\n'), "{frame}");
        (name, data)
    });
    let data = data.filter(|(_, data)| *data != "[DONE]");
    let check = |(name, data): (&str, &str)| {
        let value: Value = parsed(data);
        assert_eq!(name.strip_prefix("event: ").map_or(Value::Null, |name| name.trim().into()), {
            if api == Api::OpenAiChat { Value::Null } else { value["type"].clone() }
        });
        value
    };
    data.map(check).collect()
}

#[tokio::test]
async fn what_was_read_is_written_as_each_api_says_it() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let events = real(&client).await;
    let told = in_library(&events);
    for (wire, api) in APIS {
        for streams in [false, true] {
            let answer = encoded(&client, start(wire, streams), &events, usage()).await.unwrap();
            let head = answer.head.unwrap();
            assert_eq!((head.http_status, head.headers.len()), (200, 0), "{api:?}");
            assert_eq!(answer.body, by_library(api, streams, CallForms::default(), &told));
            if streams {
                let stream = ReplyStream::new(api, ReplyHead::default(), StreamOptions::default());
                assert_eq!(head.content_type, stream.content_type());
                let payloads = payloads(api, &answer.body);
                assert!(payloads.len() > if api == Api::Ollama { 3 } else { 10 }, "{api:?}");
            } else {
                assert_eq!(head.content_type, "application/json");
                let said: Value = serde_json::from_str(&answer.body).unwrap();
                assert!(said.to_string().contains("a.md"), "{said}");
            }
        }
    }
    daemon.stop();
}

#[tokio::test]
async fn what_is_written_comes_at_once_and_two_answers_do_not_mix() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let chat = start(ChatApi::OpenaiChat, true);
    let mut one = begin(&client, chat.clone()).await.unwrap();
    let mut two = begin(&client, v1::EncodeStart { id: "other".into(), ..chat }).await.unwrap();
    for (encode, said, id) in
        [(&mut one, "first", "chatcmpl-7f"), (&mut two, "second", "chatcmpl-other")]
    {
        encode.send(event(text(said))).await;
        let head = encode.next().await.unwrap();
        assert!(matches!(head, Some(Part::Head(_))), "{head:?}");
        let Some(Part::Body(body)) = encode.next().await.unwrap() else { panic!("no body") };
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains(said) && body.contains(id), "{body}");
    }
    // A head goes out before the first word where that is asked for; Ollama has nothing else.
    let mut silent = begin(&client, start(ChatApi::Ollama, true)).await.unwrap();
    silent.send(Message::KeepAlive(v1::EncodeKeepAlive {})).await;
    assert!(matches!(silent.next().await.unwrap(), Some(Part::Head(_))));
    one.send(Message::KeepAlive(v1::EncodeKeepAlive {})).await;
    assert_eq!(one.next().await.unwrap(), Some(Part::Body(b": keep-alive\n\n".to_vec())));
    for encode in [one, two, silent] {
        let rest = encode.all(vec![event(stop()), usage()]).await.unwrap();
        assert_eq!(rest.head, None);
        assert!(rest.body.contains("stop"), "{}", rest.body);
    }
    // A whole answer waits for its end.
    let whole = begin(&client, start(ChatApi::OpenaiChat, false)).await.unwrap();
    let messages = vec![Message::KeepAlive(v1::EncodeKeepAlive {}), event(stop()), usage()];
    let whole = whole.all(messages).await.unwrap();
    assert!(serde_json::from_str::<Value>(&whole.body).is_ok(), "{}", whole.body);
    daemon.stop();
}

#[tokio::test]
async fn failures_have_a_status_until_something_was_written() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let kinds = [
        (EncodeFailureKind::Unspecified, FailureKind::Upstream),
        (EncodeFailureKind::InvalidRequest, FailureKind::InvalidRequest),
        (EncodeFailureKind::ContextTooLong, FailureKind::ContextTooLong),
        (EncodeFailureKind::Unauthenticated, FailureKind::Unauthenticated),
        (EncodeFailureKind::Forbidden, FailureKind::Forbidden),
        (EncodeFailureKind::UnknownModel, FailureKind::UnknownModel),
        (EncodeFailureKind::TooLarge, FailureKind::TooLarge),
        (EncodeFailureKind::RateLimited, FailureKind::RateLimited),
        (EncodeFailureKind::Internal, FailureKind::Internal),
        (EncodeFailureKind::Upstream, FailureKind::Upstream),
        (EncodeFailureKind::UpstreamTimeout, FailureKind::UpstreamTimeout),
        (EncodeFailureKind::Overloaded, FailureKind::Overloaded),
    ];
    let told = |kind: EncodeFailureKind, again| {
        let (message, param) = ("it broke".into(), "messages[2]".into());
        Message::Failure(v1::EncodeFailure { kind: kind.into(), message, param, again })
    };
    let failure = |kind| ReplyFailure::new(kind, "it broke").param("messages[2]");
    for (wire, api) in APIS {
        for (kind, expected) in kinds {
            for streams in [false, true] {
                let answer = encoded(&client, start(wire, streams), &[], told(kind, None)).await;
                let (answer, error) = (answer.unwrap(), encode::error(api, &failure(expected)));
                let head = answer.head.unwrap();
                assert_eq!(head.http_status, u32::from(error.status), "{api:?} {kind:?}");
                assert_eq!(head.content_type, "application/json");
                assert_eq!(head.headers["x-should-retry"], error.headers[0].1);
                assert_eq!(answer.body, error.body.to_string());
            }
        }
        // In the middle of a call: nothing says that it is whole.
        let events = [text("so"), call_start(0), fragment(0, "{\"path\":\"a\"}")];
        let last = || told(EncodeFailureKind::Upstream, None);
        let answer = encoded(&client, start(wire, true), &events, last()).await.unwrap();
        let mut stream = ReplyStream::new(
            api,
            head(CallForms::default()),
            StreamOptions { include_usage: true },
        );
        let mut body: String = in_library(&events).iter().map(|event| stream.push(event)).collect();
        body += &stream.fail(&failure(FailureKind::Upstream));
        assert_eq!((answer.head.unwrap().http_status, answer.body), (200, body), "{api:?}");
        let answer = encoded(&client, start(wire, false), &events, last()).await.unwrap();
        assert_eq!(answer.head.unwrap().http_status, 502, "{api:?}");
    }
    for (again, retry) in [
        (Again::Retry(false), RetryAdvice::Never),
        (Again::Retry(true), RetryAdvice::Soon),
        (Again::RetryAfterS(7), RetryAdvice::After(7)),
    ] {
        let last = told(EncodeFailureKind::Overloaded, Some(again));
        let answer = encoded(&client, start(ChatApi::OpenaiChat, true), &[], last).await.unwrap();
        let error = encode::error(Api::OpenAiChat, &failure(FailureKind::Overloaded).retry(retry));
        let headers = answer.head.unwrap().headers.into_iter();
        let expected = error.headers.into_iter().map(|(name, value)| (name.to_owned(), value));
        assert_eq!(headers.collect::<std::collections::BTreeMap<_, _>>(), expected.collect());
    }
    daemon.stop();
}

#[tokio::test]
async fn calls_of_responses_arrive_in_the_forms_that_their_client_asked_for() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let body = json!({
        "model": "m", "input": "go", "stream": true,
        "tools": [
            { "type": "custom", "name": "apply_patch", "description": "Patches." },
            { "type": "namespace", "name": "mcp__web", "description": "The web.", "tools": [
                { "type": "function", "name": "search", "parameters": { "type": "object",
                    "properties": { "q": { "type": "string" } } } }] },
        ],
    });
    let request = v1::NormalizeRequest {
        api: ChatApi::OpenaiResponses.into(),
        body_json: body.to_string(),
        ..v1::NormalizeRequest::default()
    };
    let outcome = client.bridge().normalize(request).await.unwrap().into_inner().result;
    let Some(Outcome::Normalized(asked)) = outcome else { panic!("{outcome:?}") };
    let namespaced = asked.namespaced_tools.keys().next().unwrap().clone();
    let reply = format!(
        "```json action\n{{\"tool\": \"apply_patch\", \"parameters\": {{\"input\": \"*** é\"}}}}\n```\n\
         ```json action\n{{\"tool\": \"{namespaced}\", \"parameters\": {{\"q\": \"moss\"}}}}\n```\n"
    );
    let tools: Value = serde_json::from_str(&asked.tools_json).unwrap();
    let pieces = vec![reply.into_bytes()];
    let events = read_with(&client, own(&tools), pieces, v1::ReplyFinish::Stop).await.unwrap();
    let both = |own: &v1::NamespacedTool| NamespacedName {
        namespace: own.namespace.clone(),
        name: own.name.clone(),
    };
    let forms = CallForms {
        free_form: asked.free_form_tools.iter().cloned().collect(),
        namespaced: asked
            .namespaced_tools
            .iter()
            .map(|(name, own)| (name.clone(), both(own)))
            .collect(),
    };
    for streams in [false, true] {
        let start = v1::EncodeStart {
            free_form_tools: asked.free_form_tools.clone(),
            namespaced_tools: asked.namespaced_tools.clone(),
            ..start(ChatApi::OpenaiResponses, streams)
        };
        let answer = encoded(&client, start, &events, usage()).await.unwrap();
        let told = in_library(&events);
        assert_eq!(answer.body, by_library(Api::OpenAiResponses, streams, forms.clone(), &told));
        let response: Value = match streams {
            true => {
                payloads(Api::OpenAiResponses, &answer.body).last().unwrap()["response"].clone()
            }
            false => serde_json::from_str(&answer.body).unwrap(),
        };
        let [patch, search] = response["output"].as_array().unwrap().as_slice() else {
            panic!("{response}")
        };
        let patch = [&patch["type"], &patch["input"]];
        assert_eq!(patch, ["custom_tool_call", "*** é"]);
        let search = [&search["namespace"], &search["name"], &search["arguments"]];
        assert_eq!(search, ["mcp__web", "search", "{\"q\":\"moss\"}"]);
    }
    daemon.stop();
}

// === impl Encode ===

impl Encode {
    async fn send(&self, message: Message) {
        let message = Some(message);
        within("room for a message", self.sender.send(v1::EncodeRequest { message }))
            .await
            .expect("the daemon reads on");
    }

    /// Ends the request, and leaves the response to be read.
    fn close(&mut self) {
        let (closed, _) = mpsc::channel(1);
        self.sender = closed;
    }

    /// Returns the next part; none at the end of the stream.
    async fn next(&mut self) -> Result<Option<Part>, Status> {
        let message = within("a part", self.parts.message()).await?;
        Ok(message.map(|message| message.part.expect("it is one")))
    }

    /// Sends messages and the end of the request while it takes the rest of the answer.
    async fn all(mut self, messages: Vec<Message>) -> Result<Answer, Status> {
        let sender = self.sender.clone();
        self.close();
        let sending = tokio::spawn(async move {
            for message in messages {
                // A daemon that ended the stream takes no more.
                if sender.send(v1::EncodeRequest { message: Some(message) }).await.is_err() {
                    return;
                }
            }
        });
        let (mut head, mut body) = (None, Vec::new());
        while let Some(part) = self.next().await? {
            match part {
                Part::Head(told) => {
                    assert!(head.is_none() && body.is_empty(), "a head comes first, once");
                    head = Some(told);
                }
                Part::Body(piece) => {
                    assert!(!piece.is_empty() && piece.len() <= 256 << 10);
                    body.extend(piece);
                }
            }
        }
        sending.await.unwrap();
        Ok(Answer { head, body: String::from_utf8(body).unwrap() })
    }
}
