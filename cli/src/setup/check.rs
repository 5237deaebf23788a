//! `moss setup CLIENT --check`: what the client is configured to start is started, as the client would,
//! and a tool is called.

use std::ffi::OsString;
use std::time::Duration;

use moss_client_settings::{ClientRow, ServerCommand};
use moss_dispatch::Outcome;
use moss_sandbox::Program;
use serde_json::{Value, json};

use super::configured::ConfiguredServer;
use crate::Session;
use crate::error::CliError;
use crate::text;

/// Most bytes that the server may write.
const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// How long it may take.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The tool that is called where it is listed: it changes nothing and needs nothing.
const TOOL: &str = "list_directory";
/// Variables that Codex passes on to what it starts; other clients pass on these as well.
const PASSED_ON: [&str; 10] =
    ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];
/// What the error of a server begins with that was started in no project.
const NO_PROJECT: &str = "workspace_unusable:";
/// What most clients open with.
const REVISION: &str = "2025-06-18";

/// What a server did that was started.
struct ServerCheck {
    /// How many tools it listed, if it did.
    tools: Option<usize>,
    /// The tool that was called; none where no listed one can be called without arguments.
    called: Option<String>,
    /// Why it could work on no project here, where that is so.
    no_project: Option<String>,
}

pub(super) async fn run(
    client: &ClientRow,
    configured: &ConfiguredServer,
    session: &Session,
) -> Result<Outcome, CliError> {
    let server = &configured.server;
    #[expect(
        clippy::disallowed_methods,
        reason = "a client starts its servers where it is started"
    )]
    let here = std::env::current_dir()?;
    let program = Program {
        program: server.command.clone().into(),
        arguments: server.args.iter().map(Into::into).collect(),
        directory: configured.directory.as_ref().map_or(here.clone(), |own| here.join(own)),
        environment: Some(environment(server)),
    };
    let started = format!("{} {}", server.command, server.args.join(" "));
    let failed = |why: String| {
        let message = format!("`{}` does not serve: {why}", text::line(&started));
        CliError::new(Outcome::Failed, "check_failed", message)
    };
    let found = super::super::interruptible(async { Ok(checked(&program).await) });
    let found = found.await?.map_err(&failed)?;
    session.ui.print_either(
        || json!({ "client": client.id, "command": started, "tools": found.tools, "called": found.called }),
        || found.report(client.title, &text::line(&started)),
    )?;
    if found.no_project.is_some() {
        session.ui.note(
            "the setup is right; check it again in the directory of a project to call a tool",
        );
    }
    Ok(Outcome::Ok)
}

/// Starts a server and calls a tool; where the usual one is not listed, it is started once more for another.
///
/// # Errors
///
/// Where it does not serve, with the reason.
async fn checked(program: &Program) -> Result<ServerCheck, String> {
    let responses = exchanged(program, TOOL).await?;
    let listed = result(&responses, 2).ok().and_then(|listed| listed["tools"].as_array());
    let Some(tools) = listed.filter(|tools| tools.iter().all(|tool| tool["name"] != TOOL)) else {
        return found(&responses, TOOL);
    };
    match tools.iter().find_map(needs_nothing) {
        Some(other) => found(&exchanged(program, other).await?, other),
        None => Ok(ServerCheck { tools: Some(tools.len()), called: None, no_project: None }),
    }
}

/// The name of a tool that changes nothing and can be called without arguments.
fn needs_nothing(tool: &Value) -> Option<&str> {
    let required = tool["inputSchema"]["required"].as_array();
    let is_free = required.is_none_or(Vec::is_empty) && tool["annotations"]["readOnlyHint"] == true;
    tool["name"].as_str().filter(|_| is_free)
}

/// Starts a server and returns its responses to what a client says that calls a tool.
async fn exchanged(program: &Program, tool: &str) -> Result<Vec<Value>, String> {
    let messages = messages(tool);
    let exchange = program.exchange(messages.as_bytes(), OUTPUT_BYTES_MAX);
    let (_, output) = tokio::time::timeout(WAIT_MAX, exchange)
        .await
        .map_err(|_| format!("no end within {} s", WAIT_MAX.as_secs()))?
        .map_err(|error| error.to_string())?;
    let output = String::from_utf8_lossy(&output);
    Ok(output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// What the command is started with: no more than the most sparing client passes on, and what its entry names.
fn environment(server: &ServerCommand) -> Vec<(OsString, OsString)> {
    let passed = PASSED_ON.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let named = server.environment.iter().map(|(name, value)| (name.into(), value.into()));
    passed.chain(named).collect()
}

/// What a client says: it opens a session, lists the tools, calls one.
fn messages(tool: &str) -> String {
    let info = json!({ "name": "moss setup", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": info });
    [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} }),
        json!({
            "jsonrpc": "2.0", "id": 3, "method": "tools/call",
            "params": { "name": tool, "arguments": if tool == TOOL { json!({ "path": "." }) } else { json!({}) } },
        }),
    ]
    .iter()
    .map(|message| format!("{message}\n"))
    .collect()
}

/// Reads the responses of a server.
///
/// # Errors
///
/// Where it does not serve, with the reason.
fn found(responses: &[Value], tool: &str) -> Result<ServerCheck, String> {
    let listed = result(responses, 2);
    let tools = |listed: &Value| listed["tools"].as_array().map_or(0, Vec::len);
    let called = result(responses, 3);
    let problem = match &called {
        Ok(called) if called["isError"] == true => called["content"][0]["text"].as_str(),
        _ => None,
    };
    let refusals = [listed.as_ref().err(), called.as_ref().err()].into_iter().flatten();
    let no_project = refusals.map(String::as_str).chain(problem).find_map(|said| {
        let why = said.strip_prefix(NO_PROJECT)?;
        Some(why.lines().next().unwrap_or_default().trim().to_owned())
    });
    if let Some(why) = no_project {
        let tools = listed.ok().map(tools);
        return Ok(ServerCheck { tools, called: None, no_project: Some(why) });
    }
    let tools = Some(tools(listed.map_err(|why| text::line(&why))?));
    let called = called.map_err(|why| text::line(&why))?;
    match (called["isError"] == true).then(|| problem.unwrap_or_default()) {
        Some(why) => Err(format!("{tool}: {}", text::indented(why))),
        None => Ok(ServerCheck { tools, called: Some(tool.to_owned()), no_project: None }),
    }
}

/// The result of a request, or what is said in its place.
fn result(responses: &[Value], id: u64) -> Result<&Value, String> {
    let response = responses.iter().find(|response| response["id"] == id);
    let response = response.ok_or("no response: its messages on standard error may say why")?;
    response.get("result").ok_or_else(|| {
        let message = response["error"]["message"].as_str();
        message.unwrap_or("an error without a message").to_owned()
    })
}

// === impl ServerCheck ===

impl ServerCheck {
    fn report(&self, title: &str, started: &str) -> String {
        let tools = self.tools.map_or_else(String::new, |tools| format!(" {tools} tools"));
        let what = match (&self.no_project, &self.called) {
            (Some(why), _) => format!(", but there is no project here: {}", text::line(why)),
            (None, Some(tool)) => format!("; {} works", text::line(tool)),
            (None, None) => {
                "; none was called: each needs arguments or may change something".to_owned()
            }
        };
        format!("{title}: `{started}` serves{tools}{what}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_a_project_is_told_apart_from_a_server_that_does_not_serve() {
        let listed = json!({ "id": 2, "result": { "tools": [{}, {}] } });
        let refused = |id: u64, message: &str| json!({ "id": id, "error": { "message": message } });
        let called = |is_error: bool, text: &str| {
            let content = [json!({ "type": "text", "text": text })];
            json!({ "id": 3, "result": { "isError": is_error, "content": content } })
        };
        let home = "workspace_unusable: `~` is a home directory\nhint: open a project";
        let at_home = Some("`~` is a home directory");
        for (responses, expected) in [
            (vec![listed.clone(), called(false, "")], Ok((Some(2), None))),
            (vec![listed.clone(), called(true, home)], Ok((Some(2), at_home))),
            (vec![refused(2, home), called(true, home)], Ok((None, at_home))),
            (vec![refused(2, home), refused(3, "x")], Ok((None, at_home))),
            (vec![listed.clone(), called(true, "io: broken")], Err("list_directory: io: broken")),
            (vec![listed.clone(), refused(3, "x")], Err("x")),
            (vec![refused(2, "x"), called(false, "")], Err("x")),
            (vec![listed], Err("no response")),
            (vec![], Err("no response")),
        ] {
            match (found(&responses, TOOL), expected) {
                (Ok(found), Ok((tools, why))) => {
                    assert_eq!((found.tools, found.no_project.as_deref()), (tools, why));
                }
                (Err(said), Err(part)) => assert!(said.contains(part), "{said}"),
                (found, _) => panic!("{responses:?}: {:?}", found.map(|found| found.no_project)),
            }
        }
    }
}
