//! `moss setup CLIENT --check`: what the client is configured to start is started, as the client would,
//! and a tool is called.

use std::ffi::OsString;
use std::time::Duration;

use moss_dispatch::Outcome;
use moss_sandbox::Program;
use serde_json::{Value, json};

use super::clients::{ClientRow, ServerCommand};
use crate::Session;
use crate::error::CliError;
use crate::text;

/// Most bytes that the server may write.
const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// How long it may take.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The tool that is called: it changes nothing and needs nothing.
const TOOL: &str = "list_directory";
/// Variables that Codex passes on to what it starts; other clients pass on these as well.
const PASSED_ON: [&str; 10] =
    ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];
/// What most clients open with.
const REVISION: &str = "2025-06-18";

pub(super) async fn run(
    client: &ClientRow,
    server: &ServerCommand,
    session: &Session,
) -> Result<Outcome, CliError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a client starts its servers where it is started"
    )]
    let directory = std::env::current_dir()?;
    let program = Program {
        program: server.command.clone().into(),
        arguments: server.args.iter().map(Into::into).collect(),
        directory,
        environment: Some(environment(server)),
    };
    let started = format!("{} {}", server.command, server.args.join(" "));
    let failed = |why: String| {
        let message = format!("`{}` does not serve: {why}", text::line(&started));
        CliError::new(Outcome::Failed, "check_failed", message)
    };
    let messages = messages();
    let exchanged = super::super::interruptible(async {
        let exchange = program.exchange(messages.as_bytes(), OUTPUT_BYTES_MAX);
        Ok(tokio::time::timeout(WAIT_MAX, exchange).await)
    });
    let output = match exchanged.await? {
        Err(_) => return Err(failed(format!("no end within {} s", WAIT_MAX.as_secs()))),
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Ok(Ok((_, output))) => output,
    };
    let responses: Vec<Value> = String::from_utf8_lossy(&output)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let tools = result(&responses, 2).map_err(&failed)?;
    let tools = tools["tools"].as_array().map_or(0, Vec::len);
    let called = result(&responses, 3).map_err(&failed)?;
    if called["isError"] == true {
        let why = called["content"][0]["text"].as_str().unwrap_or_default();
        return Err(failed(format!("{TOOL}: {}", text::indented(why))));
    }
    session.ui.print_either(
        || json!({ "client": client.id, "command": started, "tools": tools, "called": TOOL }),
        || {
            let started = text::line(&started);
            format!("{}: `{started}` serves {tools} tools; {TOOL} works", client.title)
        },
    )?;
    Ok(Outcome::Ok)
}

/// What the command is started with: no more than the most sparing client passes on, and what its entry names.
fn environment(server: &ServerCommand) -> Vec<(OsString, OsString)> {
    let passed = PASSED_ON.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let named = server.environment.iter().map(|(name, value)| (name.into(), value.into()));
    passed.chain(named).collect()
}

/// What a client says: it opens a session, lists the tools, calls one.
fn messages() -> String {
    let info = json!({ "name": "moss setup", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": info });
    [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} }),
        json!({
            "jsonrpc": "2.0", "id": 3, "method": "tools/call",
            "params": { "name": TOOL, "arguments": { "path": "." } },
        }),
    ]
    .iter()
    .map(|message| format!("{message}\n"))
    .collect()
}

/// The result of a request, or what is said in its place.
fn result(responses: &[Value], id: u64) -> Result<&Value, String> {
    let response = responses.iter().find(|response| response["id"] == id);
    let response = response.ok_or("no response: its messages on standard error may say why")?;
    response.get("result").ok_or_else(|| {
        let message = response["error"]["message"].as_str().unwrap_or("an error without a message");
        text::line(message)
    })
}
