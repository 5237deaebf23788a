//! A language server that is asked one thing after the other, over its standard streams.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// Longest wait for one response. The first one may wait for a whole project.
const RESPONSE_MAX: Duration = Duration::from_secs(120);
/// The protocol's word for a method that there is not.
const NO_METHOD: i64 = -32_601;
/// Requests of a server that are agreed to and have no effect here.
const AGREED_TO: [&str; 3] =
    ["client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create"];

/// A server that runs. Dropping it ends its process.
pub(crate) struct ServerPipe {
    child: Child,
    input: ChildStdin,
    /// Read by a thread of its own: a server that waits until its output is read does not read either.
    messages: Receiver<Result<Value>>,
    /// What it gets when it asks for its configuration.
    settings: Value,
    next_id: u64,
}

/// Reads one message; none at the end.
fn read_message(from: &mut impl BufRead) -> Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse()?);
        }
    }
    let mut bytes = vec![0; length.context("a message without a length")?];
    from.read_exact(&mut bytes)?;
    Ok(Some(serde_json::from_slice(&bytes)?))
}

/// What is said to a request of the server.
fn reply(method: &str, parameters: &Value, settings: &Value) -> Result<Value, Value> {
    match method {
        "workspace/configuration" => {
            let items = parameters["items"].as_array().map_or(&[][..], Vec::as_slice);
            let section = |item: &Value| match item["section"].as_str() {
                None | Some("") => settings.clone(),
                Some(path) => path.split('.').fold(settings, |value, key| &value[key]).clone(),
            };
            Ok(items.iter().map(section).collect())
        }
        method if AGREED_TO.contains(&method) => Ok(Value::Null),
        _ => Err(json!({ "code": NO_METHOD, "message": "there is no such method" })),
    }
}

// === impl ServerPipe ===

impl ServerPipe {
    /// Starts a server that is sent these settings when it asks for its configuration.
    pub(crate) fn start(mut command: Command, settings: Value) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        let input = child.stdin.take().context("the server reads nothing")?;
        let output = child.stdout.take().context("the server says nothing")?;
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read_message(&mut output).transpose() {
                let is_broken = message.is_err();
                if sender.send(message).is_err() || is_broken {
                    return;
                }
            }
        });
        Ok(Self { child, input, messages, settings, next_id: 1 })
    }

    /// Asks, and waits for the response.
    pub(crate) fn request(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        let end = Instant::now() + RESPONSE_MAX;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left);
            let message = message.with_context(|| format!("no response to {method}"))??;
            match (message["method"].as_str(), message.get("id")) {
                (Some(asked), Some(id)) => {
                    let (key, value) = match reply(asked, &message["params"], &self.settings) {
                        Ok(result) => ("result", result),
                        Err(error) => ("error", error),
                    };
                    self.send(&json!({ "jsonrpc": "2.0", "id": id, key: value }))?;
                }
                (None, Some(of)) if of.as_u64() == Some(id) => match message.get("error") {
                    Some(error) => bail!("{method} is refused: {error}"),
                    None => return Ok(message["result"].clone()),
                },
                _ => {}
            }
        }
    }

    /// Says something that has no response.
    pub(crate) fn notify(&mut self, method: &str, parameters: &Value) -> Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }))
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        self.input.flush().context("the server has ended")
    }
}

impl Drop for ServerPipe {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_by_their_length() {
        let mut from =
            &b"Content-Type: x\r\ncontent-length: 8\r\n\r\n{\"a\": 1}Content-Length: 2\r\n\r\n{}"[..];
        assert_eq!(read_message(&mut from).unwrap(), Some(json!({ "a": 1 })));
        assert_eq!(read_message(&mut from).unwrap(), Some(json!({})));
        assert_eq!(read_message(&mut from).unwrap(), None);
        for broken in
            ["A: b\r\n\r\n{}", "Content-Length: 9\r\n\r\n{}", "Content-Length: 1\r\n\r\n{"]
        {
            assert!(read_message(&mut broken.as_bytes()).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_server_gets_its_settings_and_what_it_registers_is_agreed_to() {
        let settings = json!({ "a": { "b": 1 } });
        let items = json!({ "items": [{ "section": "a.b" }, { "section": "c" }, {}] });
        let asked = reply("workspace/configuration", &items, &settings);
        assert_eq!(asked, Ok(json!([1, null, settings])));
        assert_eq!(reply("client/registerCapability", &json!({}), &settings), Ok(Value::Null));
        assert!(reply("workspace/applyEdit", &json!({}), &settings).is_err());
    }

    /// A server that asks before it responds, and responds to what nobody asked.
    const ASKING: &str = r#"
        say() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
        say '{"id":"x","method":"workspace/configuration","params":{"items":[{"section":"a"}]}}'
        say '{"method":"window/logMessage","params":{}}'
        say '{"id":7,"result":"of another"}'
        say '{"id":1,"result":"mine"}'
        say '{"id":2,"error":{"message":"no"}}'
        cat
    "#;

    #[test]
    fn a_response_is_found_among_all_that_a_server_says() {
        let mut command = Command::new("sh");
        command.args(["-c", ASKING]);
        let mut server = ServerPipe::start(command, json!({ "a": 5 })).unwrap();
        assert_eq!(server.request("first", &json!({})).unwrap(), "mine");
        let refused = server.request("second", &json!({})).unwrap_err().to_string();
        assert!(refused.contains("second is refused"), "{refused}");
        // It repeats what it reads.
        server.notify("third", &json!({})).unwrap();
        let said: Vec<Value> = server.messages.iter().take(4).map(Result::unwrap).collect();
        assert_eq!(said[0]["method"], "first");
        assert_eq!(said[1], json!({ "jsonrpc": "2.0", "id": "x", "result": [5] }));
        assert_eq!((&said[2]["method"], &said[3]["method"]), (&json!("second"), &json!("third")));
    }
}
