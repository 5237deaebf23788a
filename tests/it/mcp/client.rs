//! A client of `moss mcp` that writes lines as clients write them, and reads what comes back.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::harness::{BOUND, Site};

/// `moss mcp` as a child. Killed when dropped.
pub(crate) struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    next_id: u64,
}

// === impl McpClient ===

impl McpClient {
    /// Starts it in the workspace; nothing is said yet.
    pub(crate) fn start(site: &Site, arguments: &[&str]) -> Self {
        let mut command = site.command(["mcp"]);
        command.args(arguments);
        Self::spawn(command)
    }

    /// Starts a prepared command.
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("moss starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, next_id: 100 }
    }

    /// Starts it and agrees on a session as most clients do.
    pub(crate) fn connect(site: &Site, arguments: &[&str]) -> Self {
        let mut client = Self::start(site, arguments);
        client.initialize("2025-06-18", json!({}));
        client
    }

    /// Agrees on a session.
    pub(crate) fn initialize(&mut self, revision: &str, capabilities: Value) {
        let info = json!({ "name": "test", "version": "1" });
        let params = json!({
            "protocolVersion": revision, "capabilities": capabilities, "clientInfo": info,
        });
        let response = self.request("initialize", params);
        assert_eq!(response["result"]["protocolVersion"], revision, "{response}");
        self.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// Writes a line as it is.
    pub(crate) fn line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
        input.flush().unwrap();
    }

    /// Reads the next message.
    pub(crate) fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(BOUND).expect("moss mcp writes a message in time");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Writes a request; its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.line(&request.to_string());
        id
    }

    /// Reads messages up to a response.
    pub(crate) fn response(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Makes a request and returns the response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.response(id)
    }

    /// Calls a tool and returns the result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        response.get("result").unwrap_or_else(|| panic!("{response}")).clone()
    }

    /// The names of the visible tools.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let listed = self.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn child(&self) -> &Child {
        &self.child
    }

    /// Closes its input, and waits for its end.
    pub(crate) fn close(mut self) -> ExitStatus {
        drop(self.input.take());
        self.wait()
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + BOUND;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "moss mcp does not end");
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}
