//! The model bridge over gRPC: replies are read while they come, prompts name the tools there are,
//! and what cannot be used is said.

use moss_model_bridge::{Finish, Registry, Reply, ReplyEvent as Read};
use moss_proto::v1;
use moss_proto::v1::parse_request::Message;
use moss_proto::v1::reply_event::Event;
use moss_proto::v1::tool_choice::Choice;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::harness::guests::{install, zoo};
use crate::harness::{Client, Site, reason, until, within};

/// A reply with text in two languages, two calls, one of them in JSON that has to be repaired.
const REPLY: &str = "<think>先看文件</think>我来读取 “a.md” 😀.\n\n```json action\n{\"tool\": \"read_file\", \
    \"parameters\": {\"target_file\": \"a.md\",}}\n```\nand then\n```json action\n{\"tool\": \
    \"create_file\", \"parameters\": {\"path\": \"é.md\", \"content\": \"x\\ny\"}}\n```\ndone";

/// A reply that is being read.
struct Parse {
    sender: mpsc::Sender<v1::ParseRequest>,
    events: Streaming<v1::ParseResponse>,
}

fn chunk(bytes: &[u8]) -> Message {
    Message::Chunk(bytes.to_vec())
}

fn finish(finish: v1::ReplyFinish) -> Message {
    Message::Finish(finish.into())
}

pub(crate) fn own(tools: &Value) -> Option<v1::BridgeTools> {
    Some(v1::BridgeTools { tools_json: tools.to_string(), ..v1::BridgeTools::default() })
}

fn files() -> Value {
    let object = |required: &str| {
        json!({
            "type": "object",
            "properties": { required: { "type": "string" }, "content": { "type": "string" } },
            "required": [required],
        })
    };
    json!([
        { "name": "read_file", "parameters": object("target_file") },
        { "type": "function", "function": { "name": "create_file", "parameters": object("path") } },
    ])
}

/// Begins to read a reply.
async fn begin(client: &Client, start: v1::ParseStart) -> Result<Parse, Status> {
    open(client, Some(Message::Start(start))).await
}

async fn open(client: &Client, first: Option<Message>) -> Result<Parse, Status> {
    let (sender, requests) = mpsc::channel(4);
    sender.send(v1::ParseRequest { message: first }).await.unwrap();
    let response = within("a start", client.bridge().parse(ReceiverStream::new(requests))).await?;
    Ok(Parse { sender, events: response.into_inner() })
}

/// Reads a whole reply that comes in pieces, with tools of the caller's own.
async fn read(
    client: &Client,
    pieces: Vec<Vec<u8>>,
    end: v1::ReplyFinish,
) -> Result<Vec<Event>, Status> {
    read_with(client, own(&files()), pieces, end).await
}

pub(crate) async fn read_with(
    client: &Client,
    tools: Option<v1::BridgeTools>,
    pieces: Vec<Vec<u8>>,
    end: v1::ReplyFinish,
) -> Result<Vec<Event>, Status> {
    let start = v1::ParseStart { tools, ..v1::ParseStart::default() };
    let parse = begin(client, start).await?;
    let messages = pieces.into_iter().map(Message::Chunk).chain([finish(end)]).collect();
    parse.all(messages).await
}

/// The reply as the library has it, so that pieces of text do not matter.
fn reply(events: &[Event]) -> Reply {
    Reply::collect(in_library(events))
}

/// The events as the library has them; diagnostics are texts that say nothing.
pub(crate) fn in_library(events: &[Event]) -> Vec<Read> {
    let read = events.iter().map(|event| match event.clone() {
        Event::Text(text) => Read::Text(text),
        Event::Reasoning(text) => Read::Reasoning(text),
        Event::CallStart(call) => {
            Read::CallStart { index: call.index as usize, id: call.id, name: call.name }
        }
        Event::ArgumentFragment(more) => {
            Read::ArgumentFragment { index: more.index as usize, fragment: more.fragment }
        }
        Event::CallEnd(call) => Read::CallEnd {
            index: call.index as usize,
            arguments: serde_json::from_str(&call.arguments_json).unwrap(),
        },
        Event::CallAbandoned(call) => {
            Read::CallAbandoned { index: call.index as usize, text: call.text }
        }
        Event::Diagnostic(_) => Read::Text(String::new()),
        Event::Finish(finish) => Read::Finish(match v1::ReplyFinish::try_from(finish).unwrap() {
            v1::ReplyFinish::Unspecified => panic!("a reply ends in some way"),
            v1::ReplyFinish::Stop => Finish::Stop,
            v1::ReplyFinish::Length => Finish::Length,
            v1::ReplyFinish::ContentFilter => Finish::ContentFilter,
        }),
    });
    read.collect()
}

fn codes(events: &[Event]) -> Vec<&str> {
    let codes = events.iter().filter_map(|event| match event {
        Event::Diagnostic(told) => Some(told.code.as_str()),
        _ => None,
    });
    codes.collect()
}

/// What is known of each call must agree: its fragments, its end, its location.
fn hold_together(events: &[Event]) {
    let (mut index, mut written) = (0, String::new());
    for event in events {
        match event {
            Event::CallStart(call) => assert_eq!(call.index, index),
            Event::ArgumentFragment(more) => {
                assert_eq!(more.index, index);
                written.push_str(&more.fragment);
            }
            Event::CallEnd(call) => {
                assert_eq!((call.index, &call.arguments_json), (index, &written));
                index += 1;
                written.clear();
            }
            _ => {}
        }
    }
    assert!(matches!(events.last(), Some(Event::Finish(_))), "{events:?}");
}

#[tokio::test]
async fn where_a_reply_is_cut_does_not_matter() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let stop = v1::ReplyFinish::Stop;
    let whole = read(&client, vec![REPLY.into()], stop).await.unwrap();
    hold_together(&whole);
    let expected = reply(&whole);
    // The library says the same of it.
    let registry = std::sync::Arc::new(Registry::from_json(&files().to_string()).unwrap());
    let by_library = moss_model_bridge::parse(&registry, REPLY, Finish::Stop);
    assert_eq!((&expected.text, &expected.calls), (&by_library.text, &by_library.calls));
    assert_eq!(expected.reasoning, "先看文件");
    assert_eq!(expected.calls.len(), 2);
    assert_eq!(expected.calls[1].arguments["content"], "x\ny");
    assert_eq!(codes(&whole), ["json_repaired"]);

    let bytes = REPLY.as_bytes();
    let singly = bytes.iter().map(|byte| vec![*byte]).collect();
    let mut cuts = vec![singly];
    cuts.extend((1..bytes.len()).step_by(3).map(|at| {
        let (before, after) = bytes.split_at(at);
        vec![before.to_vec(), Vec::new(), after.to_vec()]
    }));
    for pieces in cuts {
        let at = pieces[0].len();
        let events = read(&client, pieces, stop).await.unwrap();
        hold_together(&events);
        assert_eq!(reply(&events), expected, "cut at {at}");
        assert_eq!(codes(&events), codes(&whole), "cut at {at}");
    }
    daemon.stop();
}

#[tokio::test]
async fn what_is_sure_comes_at_once() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let start =
        v1::ParseStart { tools: own(&files()), id_seed: "s1".into(), ..v1::ParseStart::default() };
    let mut parse = begin(&client, start).await.unwrap();
    parse.send(chunk("I read it, and nothing else is done meanwhile.\n".as_bytes())).await;
    assert!(matches!(parse.next().await.unwrap(), Some(Event::Text(text)) if text.len() > 10));
    let open = "```json action\n{\"tool\": \"create_file\", \"parameters\": {\"path\": \"a\", \
                \"content\": \"a long text";
    let open = format!("{open}{}", " that goes on and on".repeat(50));
    parse.send(chunk(open.as_bytes())).await;
    let mut written = String::new();
    while !written.contains("a long text") {
        match parse.next().await.unwrap().expect("the reply continues") {
            Event::CallStart(call) => {
                assert_eq!((call.name.as_str(), call.id.as_str()), ("create_file", "call_s1_0"));
            }
            Event::ArgumentFragment(more) => written.push_str(&more.fragment),
            Event::Text(_) => {}
            other => panic!("not sure yet: {other:?}"),
        }
    }
    let rest = parse.all(vec![finish(v1::ReplyFinish::Length)]).await.unwrap();
    assert!(rest.iter().any(|event| matches!(event, Event::CallAbandoned(_))), "{rest:?}");
    assert!(!rest.iter().any(|event| matches!(event, Event::CallEnd(_))), "{rest:?}");
    assert_eq!(codes(&rest), ["truncated_call"]);
    assert_eq!(rest.last(), Some(&Event::Finish(v1::ReplyFinish::Length.into())));
    daemon.stop();
}

#[tokio::test]
async fn tools_of_plugins_are_called_and_named_like_others() {
    let site = Site::new();
    install(&site, &[("zoo", &zoo("polite"), json!({}))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let listed = async || {
        client.tools().list_tools(v1::ListToolsRequest::default()).await.unwrap().into_inner()
    };
    until("the plugin serves", async || listed().await.tools.iter().any(|tool| tool.name == "act"))
        .await;
    let text = "```json action\n{\"tool\": \"act\", \"parameters\": {}}\n```\n\
                ```json action\n{\"tool\": \"list_directory\", \"parameters\": {\"path\": \".\"}}\n```";
    let messages = || vec![chunk(text.as_bytes()), finish(v1::ReplyFinish::Stop)];
    let called = async |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let tools = Some(v1::BridgeTools { names, ..v1::BridgeTools::default() });
        let parse = begin(&client, v1::ParseStart { tools, ..v1::ParseStart::default() }).await?;
        let reply = reply(&parse.all(messages()).await?);
        Ok::<_, Status>(reply.calls.into_iter().map(|call| call.name).collect::<Vec<_>>())
    };
    assert_eq!(called(&[]).await.unwrap(), ["act", "list_directory"]);
    assert_eq!(called(&["act"]).await.unwrap(), ["act"]);
    assert_eq!(called(&["read_file"]).await.unwrap(), [] as [&str; 0]);
    let unknown = called(&["akt"]).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
    assert!(unknown.message().contains("`act`"), "{}", unknown.message());

    let prompt = render(&client, v1::RenderPromptRequest::default()).await.unwrap();
    for tool in listed().await.tools {
        assert!(prompt.text.contains(&tool.name), "{}: {}", tool.name, prompt.text);
    }
    assert_eq!(prompt.catalog_digest, listed().await.catalog_digest);
    daemon.stop();
}

async fn render(
    client: &Client,
    request: v1::RenderPromptRequest,
) -> Result<v1::RenderPromptResponse, Status> {
    let rendered = within("a prompt", client.bridge().render_prompt(request)).await;
    rendered.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn prompts_say_what_is_asked_for_and_the_users_own_text() {
    let site = Site::new();
    std::fs::write(site.outside("config/moss/asi-user-prompt.md"), "Use tabs.\n").unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let plain = v1::RenderPromptRequest { tools: own(&files()), ..Default::default() };
    let short = render(&client, plain.clone()).await.unwrap();
    assert!(short.text.contains("read_file") && short.text.contains("Use tabs."), "{}", short.text);
    assert!(!short.text.contains("grep_search"), "{}", short.text);
    assert_eq!(short.catalog_digest, "");
    let told = moss_model_bridge::encode::estimate_tokens(&short.text);
    assert_eq!(short.tokens_estimated, told);
    let settings = short.settings.unwrap();
    assert_eq!(settings.temperature, Some(0.2));
    assert!(!settings.stop.is_empty() && settings.result_room_percent > 0, "{settings:?}");

    let choice = |choice| Some(v1::ToolChoice { choice: Some(choice) });
    let others = [
        v1::RenderPromptRequest { language: v1::Language::Zh.into(), ..plain.clone() },
        v1::RenderPromptRequest { form: v1::PromptForm::Long.into(), ..plain.clone() },
        v1::RenderPromptRequest { single_call: true, ..plain.clone() },
        v1::RenderPromptRequest { omit_user_prompt: true, ..plain.clone() },
        v1::RenderPromptRequest { step: v1::PromptStep::Summary.into(), ..plain.clone() },
        v1::RenderPromptRequest { choice: choice(Choice::Any(v1::ChoiceAny {})), ..plain.clone() },
        v1::RenderPromptRequest {
            choice: choice(Choice::Tool("create_file".into())),
            ..plain.clone()
        },
        v1::RenderPromptRequest {
            choice: choice(Choice::None(v1::ChoiceNone {})),
            ..plain.clone()
        },
    ];
    let mut texts = vec![short.text];
    for request in others {
        let omits = request.omit_user_prompt;
        let text = render(&client, request).await.unwrap().text;
        assert_eq!(text.contains("Use tabs."), !omits, "{text}");
        assert!(!texts.contains(&text), "it says nothing else: {text}");
        texts.push(text);
    }
    let reasoner = v1::RenderPromptRequest { model: "deepseek-reasoner".into(), ..plain.clone() };
    assert_eq!(render(&client, reasoner).await.unwrap().settings.unwrap().temperature, None);
    // The workspace's tools in Chinese are those that are listed so.
    let chinese = v1::RenderPromptRequest {
        language: v1::Language::Zh.into(),
        form: v1::PromptForm::Long.into(),
        ..Default::default()
    };
    let text = render(&client, chinese).await.unwrap().text;
    let request = v1::GetToolRequest {
        name: "read_file".into(),
        language: v1::Language::Zh.into(),
        ..v1::GetToolRequest::default()
    };
    let tool = client.tools().get_tool(request).await.unwrap().into_inner().tool.unwrap();
    let first = tool.description.lines().next().unwrap();
    assert!(text.contains(first), "{first} is not in {text}");
    daemon.stop();
}

#[tokio::test]
async fn what_cannot_be_used_is_said() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let tools = |tools: Value| own(&tools);
    let file = format!("file://{}", site.write("s.json", "{}").display());
    let beside = v1::BridgeTools { workspace: "/".into(), ..own(&files()).unwrap() };
    let many: Vec<_> = (0..513).map(|n| json!({ "name": format!("t{n}") })).collect();
    let large = v1::BridgeTools { tools_json: " ".repeat(1 << 21), ..Default::default() };
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = v1::BridgeTools { tools_json: deep, ..Default::default() };
    let unusable = [
        (tools(json!({})), "TOOLS_INVALID"),
        (tools(json!([{ "name": "" }])), "TOOLS_INVALID"),
        (tools(json!([{ "name": "a" }, { "name": "a" }])), "TOOLS_INVALID"),
        (tools(json!([{ "name": "a", "parameters": { "type": 7 } }])), "TOOLS_INVALID"),
        (tools(json!([{ "name": "a", "parameters": { "$ref": file } }])), "TOOLS_INVALID"),
        (tools(json!(many)), "TOOLS_INVALID"),
        (Some(deep), "TOOLS_INVALID"),
        (Some(large), "REQUEST_INVALID"),
        (Some(beside), "REQUEST_INVALID"),
    ];
    for (tools, expected) in unusable {
        let request = v1::RenderPromptRequest { tools: tools.clone(), ..Default::default() };
        let start = v1::ParseStart { tools, ..v1::ParseStart::default() };
        let refusals = [
            begin(&client, start).await.err().unwrap(),
            render(&client, request).await.unwrap_err(),
        ];
        for refusal in refusals {
            assert_eq!(refusal.code(), Code::InvalidArgument, "{refusal:?}");
            assert_eq!(reason(&refusal), expected, "{refusal:?}");
            assert!(refusal.message().starts_with("tools."), "{refusal:?}");
        }
    }
    let elsewhere = Some(v1::BridgeTools { workspace: "/nowhere".into(), ..Default::default() });
    let start = v1::ParseStart { tools: elsewhere, ..v1::ParseStart::default() };
    assert_eq!(begin(&client, start).await.err().unwrap().code(), Code::NotFound);
    for id_seed in ["a b".to_owned(), "é".to_owned(), "a".repeat(65)] {
        let start = v1::ParseStart { id_seed, ..v1::ParseStart::default() };
        assert_eq!(begin(&client, start).await.err().unwrap().code(), Code::InvalidArgument);
    }
    let of_none = Choice::Tool("nothing".into());
    for request in [
        v1::RenderPromptRequest { form: 9, ..Default::default() },
        v1::RenderPromptRequest { step: 9, ..Default::default() },
        v1::RenderPromptRequest { language: 9, ..Default::default() },
        v1::RenderPromptRequest { model: "m".repeat(257), ..Default::default() },
        v1::RenderPromptRequest { choice: Some(Default::default()), ..Default::default() },
        v1::RenderPromptRequest {
            choice: Some(v1::ToolChoice { choice: Some(of_none) }),
            ..Default::default()
        },
    ] {
        assert_eq!(render(&client, request).await.unwrap_err().code(), Code::InvalidArgument);
    }
    daemon.stop();
}

#[tokio::test]
async fn messages_come_in_their_order() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for first in [None, Some(chunk(b"x")), Some(finish(v1::ReplyFinish::Stop))] {
        let refusal = open(&client, first).await.err().unwrap();
        assert_eq!(reason(&refusal), "REQUEST_INVALID");
    }
    let start = v1::ParseStart { tools: own(&files()), ..v1::ParseStart::default() };
    for wrong in [None, Some(Message::Start(start.clone())), Some(Message::Finish(9))] {
        let mut parse = begin(&client, start.clone()).await.unwrap();
        parse.sender.send(v1::ParseRequest { message: wrong }).await.unwrap();
        let refusal = parse.next().await.unwrap_err();
        assert_eq!((refusal.code(), reason(&refusal)), {
            (Code::InvalidArgument, "REQUEST_INVALID".to_owned())
        });
    }
    // Whoever just stops has not said that the call is whole.
    let parse = begin(&client, start).await.unwrap();
    let open =
        "```json action\n{\"tool\": \"read_file\", \"parameters\": {\"target_file\": \"a\"}}";
    let refusal = parse.all(vec![chunk(open.as_bytes())]).await.unwrap_err();
    assert!(refusal.message().contains("finish"), "{refusal:?}");
    let nobody = daemon.connect(None).await;
    let refusal = open_without(&nobody).await;
    assert_eq!(refusal.code(), Code::Unauthenticated);
    daemon.stop();
}

async fn open_without(client: &Client) -> Status {
    begin(client, v1::ParseStart::default()).await.err().expect("it has no credential")
}

#[tokio::test]
async fn large_replies_are_read_and_larger_ones_refused() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    // Bytes that are no UTF-8 become three each.
    let piece = vec![0xff; 1 << 20];
    let events = read(&client, vec![piece.clone(); 2], v1::ReplyFinish::Stop).await.unwrap();
    assert_eq!(reply(&events).text.chars().count(), 2 << 20);
    let braces = "{".repeat(1 << 20);
    let events = read(&client, vec![braces.clone().into()], v1::ReplyFinish::Stop).await.unwrap();
    assert_eq!(reply(&events).text, braces);
    let calls: String = (0..500)
        .map(|n| {
            format!(
                "```json action\n{{\"tool\": \"read_file\", \"parameters\": {{\"target_file\": \
                 \"{n}\"}}}}\n```\n"
            )
        })
        .collect();
    let events = read(&client, vec![calls.into()], v1::ReplyFinish::Stop).await.unwrap();
    hold_together(&events);
    assert_eq!(reply(&events).calls.len(), 500);

    let prose = vec![b'a'; 1 << 20];
    let refusal = read(&client, vec![prose; 17], v1::ReplyFinish::Stop).await.unwrap_err();
    assert_eq!(reason(&refusal), "REPLY_TOO_LARGE");
    let start = v1::ParseStart { tools: own(&files()), ..v1::ParseStart::default() };
    let parse = begin(&client, start).await.unwrap();
    let refusal = parse.all(vec![chunk(&vec![b'a'; 17 << 20])]).await.unwrap_err();
    assert_eq!(refusal.code(), Code::OutOfRange, "{refusal:?}");
    daemon.stop();
}

#[tokio::test]
async fn an_event_that_no_message_holds_is_said_not_cut() {
    let site = Site::new();
    site.config("[grpc]\nresponse_bytes_max = 1_048_576\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let content = "a".repeat(2 << 20);
    let json = json!({ "tool": "create_file", "parameters": { "path": "a", "content": content } });
    let text = format!("```json action\n{json}\n```\n");
    let refusal = read(&client, vec![text.into()], v1::ReplyFinish::Stop).await.unwrap_err();
    assert_eq!(refusal.code(), Code::OutOfRange, "{refusal:?}");
    assert_eq!(reason(&refusal), "RESPONSE_TOO_LARGE");
    // As much text comes in pieces.
    let events = read(&client, vec![content.clone().into()], v1::ReplyFinish::Stop).await.unwrap();
    assert!(reply(&events).text == content);
    daemon.stop();
}

#[tokio::test]
async fn replies_that_nobody_reads_any_more_leave_nothing_behind() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    // More than run at once on a connection: each gives its slot back.
    for _ in 0..100 {
        let start = v1::ParseStart { tools: own(&files()), ..v1::ParseStart::default() };
        let mut parse = begin(&client, start).await.unwrap();
        parse.send(chunk(REPLY.as_bytes())).await;
        assert!(parse.next().await.unwrap().is_some());
        drop(parse);
    }
    let start = v1::ParseStart { tools: own(&files()), ..v1::ParseStart::default() };
    let mut waiting = begin(&client, start).await.unwrap();
    // One that waits for its model does not hold the daemon up.
    daemon.terminate();
    let refusal = waiting.next().await.unwrap_err();
    assert_eq!(refusal.code(), Code::Unavailable, "{refusal:?}");
    assert_eq!(daemon.wait().code(), Some(0));
}

// === impl Parse ===

impl Parse {
    async fn send(&self, message: Message) {
        let message = Some(message);
        within("room for a message", self.sender.send(v1::ParseRequest { message }))
            .await
            .expect("the daemon reads on");
    }

    /// Returns the next event; none at the end of the stream.
    async fn next(&mut self) -> Result<Option<Event>, Status> {
        let message = within("an event", self.events.message()).await?;
        Ok(message.map(|message| message.event.and_then(|event| event.event).expect("it is one")))
    }

    /// Sends messages and the end of the request while it takes all events.
    async fn all(mut self, messages: Vec<Message>) -> Result<Vec<Event>, Status> {
        let sender = self.sender.clone();
        let sending = tokio::spawn(async move {
            for message in messages {
                // A daemon that ended the stream takes no more.
                if sender.send(v1::ParseRequest { message: Some(message) }).await.is_err() {
                    return;
                }
            }
        });
        let Self { sender, events } = &mut self;
        let (closed, _) = mpsc::channel(1);
        drop(std::mem::replace(sender, closed));
        let mut all = Vec::new();
        while let Some(message) = within("an event", events.message()).await? {
            all.push(message.event.and_then(|event| event.event).expect("it is one"));
        }
        sending.await.unwrap();
        Ok(all)
    }
}
