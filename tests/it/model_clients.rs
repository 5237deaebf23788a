//! The official clients of the APIs of models read what the encoders of the bridge write.

mod cases;
mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use moss_model_bridge::{Api, Finish, Reply};
use serde_json::{Map, Value, json};

use self::cases::{Case, cases};
use self::server::{Server, USAGE};
use crate::harness::{Ended, Site};

/// Longest time for all exchanges of a language.
const BOUND: Duration = Duration::from_secs(180);

/// One request of a client.
struct Exchange<'a> {
    api: Api,
    case: &'a Case,
    chunks: &'static str,
    is_streamed: bool,
    /// Whether it says which tools there are: helpers of OpenAI's then raise an error where a reply
    /// was cut off.
    has_tools: bool,
}

/// All requests that a client makes.
fn exchanges(cases: &[Case]) -> Vec<Exchange<'_>> {
    let mut exchanges = Vec::new();
    for (case, api) in cases.iter().flat_map(|case| Api::ALL.map(|api| (case, api))) {
        let is_cut = case.name.starts_with("cut");
        // Nor do helpers know calls of free text.
        let has_tools = !is_cut && case.name != "forms";
        let mut add = |chunks, is_streamed, has_tools| {
            exchanges.push(Exchange { api, case, chunks, is_streamed, has_tools });
        };
        let is_refused = case.failure.is_some() && case.events.is_empty();
        if case.failure.is_none() || is_refused {
            add("whole", false, has_tools);
        }
        if !is_refused {
            add("whole", true, has_tools);
            add("odd", true, has_tools);
            if case.name != "large" {
                add("bytes", true, has_tools);
            }
            if is_cut && api == Api::OpenAiChat {
                add("whole", true, true);
            }
        }
    }
    exchanges
}

/// Makes the requests and checks what the client reports of each.
fn replayed(site: &Site, server: &Server, mut client: Command) {
    let cases = cases();
    let exchanges = exchanges(&cases);
    let asked: Vec<Value> = exchanges
        .iter()
        .map(|exchange| {
            json!({
                "api": exchange.api.as_str(),
                "url": format!("{}/{}/{}", server.url, exchange.case.name, exchange.chunks),
                "stream": exchange.is_streamed,
                "tools": exchange.has_tools,
            })
        })
        .collect();
    let file = site.outside("exchanges.json");
    std::fs::write(&file, Value::from(asked).to_string()).unwrap();
    client.arg(file).env("NO_PROXY", "*").env("no_proxy", "*");
    client.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = Ended::of_slow(&mut client, BOUND);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let reports: Vec<Value> = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(reports.len(), exchanges.len());
    let wrong: Vec<String> = exchanges
        .iter()
        .zip(&reports)
        .filter_map(|(exchange, report)| {
            let Exchange { api, case, chunks, is_streamed, .. } = exchange;
            let what = wrong(exchange, report)?;
            let report: String = report.to_string().chars().take(600).collect();
            let api = api.as_str();
            Some(format!("{api} {} {chunks} streamed={is_streamed}: {what}: {report}", case.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), reports.len(), wrong.join("\n"));
    for api in ["v1/chat/completions", "v1/responses", "v1/messages"] {
        let asked = |name: &str| server.asked(&format!("/{name}/whole/{api}"));
        let counts = ["overloaded", "full", "upstream", "wrong", "unknown"].map(asked);
        assert_eq!(counts, [2, 1, 1, 1, 1], "{api}");
    }
}

/// What of a report is not as it should be.
fn wrong(exchange: &Exchange<'_>, report: &Value) -> Option<String> {
    let Exchange { api, case, .. } = exchange;
    if let Some(failure) = &case.failure {
        let message = report["message"].as_str().unwrap_or_default();
        let is_told = report["raised"].is_string() && message.contains(&failure.message);
        let is_kept = report["text"] == Reply::collect(case.events.clone()).text.as_str();
        let status = if case.events.is_empty() {
            moss_model_bridge::encode::error(*api, failure).status.into()
        } else {
            Value::Null
        };
        // In the middle of a stream, some clients give its own status, or -1.
        let is_status = report["status"] == status
            || !case.events.is_empty() && matches!(report["status"].as_i64(), Some(200 | -1));
        return (!is_told || !is_kept || !is_status).then(|| format!("{status} {failure:?}"));
    }
    if exchange.has_tools && case.name.starts_with("cut") {
        let error = match case.name {
            "cut_by_filter" => "ContentFilterFinishReasonError",
            _ => "LengthFinishReasonError",
        };
        return (report["raised"] != error).then(|| format!("raises {error}"));
    }
    let expected = expected(exchange);
    let fields = expected.iter().find(|(name, value)| report[name.as_str()] != **value);
    if let Some((name, value)) = fields {
        let value: String = value.to_string().chars().take(300).collect();
        return Some(format!("{name} should be {value}"));
    }
    let deltas = report["deltas"].as_u64().unwrap_or_default();
    if exchange.is_streamed && case.name == "large" && *api != Api::Ollama {
        return (!(100..1000).contains(&deltas)).then(|| "another number of pieces".to_owned());
    }
    None
}

/// What a client should report.
fn expected(exchange: &Exchange<'_>) -> Map<String, Value> {
    let Exchange { api, case, is_streamed, .. } = exchange;
    let reply = Reply::collect(case.events.clone());
    let calls = reply.calls.iter().map(|call| {
        let mut shown = json!({ "name": call.name, "arguments": call.arguments });
        if *api != Api::Ollama {
            shown["id"] = call.id.as_str().into();
        }
        shown
    });
    let mut calls: Vec<Value> = calls.collect();
    let mut text = reply.text.clone();
    if *is_streamed {
        // White space alone between calls is not shown.
        let between = match case.name {
            "text_between" => "\n ",
            "written" => "\n\n",
            _ => "",
        };
        text = text.replacen(between, "", 1);
    }
    if case.name == "cut_call" && *is_streamed {
        // What was shown of it cannot be withdrawn, and is never whole.
        let cut = |arguments: Value| json!({ "id": "call_1x", "name": "delete_file", "arguments": arguments });
        match api {
            Api::OpenAiChat => calls.push(cut(json!({ "unparsed": "{\"path\": \"b\"" }))),
            Api::AnthropicMessages => calls.push(cut(json!({ "path": "b" }))),
            Api::OpenAiResponses | Api::Ollama => {}
        }
        if *api != Api::Ollama {
            text.clear();
        }
    }
    let end = end(*api, reply.finish, !reply.calls.is_empty());
    let mut expected = Map::new();
    expected.insert("text".to_owned(), text.into());
    expected.insert("calls".to_owned(), calls.into());
    expected.insert("end".to_owned(), end.into());
    let tokens = json!([USAGE.input_tokens, USAGE.output_tokens]);
    expected.insert("tokens".to_owned(), tokens);
    expected
}

fn end(api: Api, finish: Finish, has_calls: bool) -> &'static str {
    match (api, finish) {
        (Api::OpenAiChat, Finish::Stop) if has_calls => "tool_calls",
        (Api::OpenAiChat | Api::Ollama, Finish::Stop) => "stop",
        (Api::OpenAiResponses, Finish::Stop) => "completed",
        (Api::AnthropicMessages, Finish::Stop) if has_calls => "tool_use",
        (Api::AnthropicMessages, Finish::Stop) => "end_turn",
        (Api::OpenAiChat | Api::Ollama, Finish::Length) => "length",
        (Api::OpenAiResponses, Finish::Length) => "max_output_tokens",
        (Api::AnthropicMessages, Finish::Length) => "max_tokens",
        (Api::AnthropicMessages, Finish::ContentFilter) => "refusal",
        (_, Finish::ContentFilter) => "content_filter",
    }
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/models")
}

/// The server answers while the client is waited for.
#[tokio::test(flavor = "multi_thread")]
async fn clients_in_python_read_every_reply() {
    let python = std::env::var_os("MOSS_TEST_PYTHON").expect(
        "MOSS_TEST_PYTHON is not set: it names a Python with tests/clients/requirements.txt; run \
         `cargo xtask test`",
    );
    let (site, server) = (Site::new(), Server::start().await);
    let mut client = Command::new(python);
    client.arg("-B").arg(scripts().join("models.py"));
    replayed(&site, &server, client);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_in_typescript_read_every_reply() {
    let modules = std::env::var_os("MOSS_TEST_NODE_MODULES").expect(
        "MOSS_TEST_NODE_MODULES is not set: it names the packages of tests/clients/typescript; run \
         `cargo xtask test`",
    );
    let (site, server) = (Site::new(), Server::start().await);
    let directory = site.outside("typescript");
    std::fs::create_dir(&directory).unwrap();
    for file in ["models.ts", "tsconfig.json"] {
        std::fs::copy(scripts().join(file), directory.join(file)).unwrap();
    }
    std::os::unix::fs::symlink(&modules, directory.join("node_modules")).unwrap();
    let mut compiler = Command::new("node");
    compiler.arg(Path::new(&modules).join("typescript/bin/tsc")).arg("--project").arg(&directory);
    compiler.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let compiled = Ended::of_slow(&mut compiler, BOUND);
    assert_eq!(compiled.code, Some(0), "{}{}", compiled.stdout, compiled.stderr);
    let mut client = Command::new("node");
    client.arg(directory.join("models.js"));
    replayed(&site, &server, client);
}
