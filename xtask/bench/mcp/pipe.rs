//! Servers of the Model Context Protocol asked by hand, over their standard input and output: a line is written, a line
//! is read. What a server itself takes, without what a client does with its result.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// The revision that all servers know which are measured.
const REVISION: &str = "2025-06-18";

/// A server with both ends of its pipes; killed at the end.
struct PipedServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

/// Makes the calls of a plan that begin so, in turns; returns how long each took in nanoseconds, by its name.
pub(super) fn measure(plan: &Value, names: &[&str]) -> Result<BTreeMap<String, Vec<u64>>> {
    let number = |key: &str| plan[key].as_u64().with_context(|| format!("the plan has no {key}"));
    let (rounds, warm) = (number("rounds")?, number("warm")?);
    let calls = plan["calls"].as_array().context("the plan has no calls")?;
    let calls: Vec<&Value> =
        calls.iter().filter(|call| names.iter().any(|name| call["name"] == **name)).collect();
    let mut servers = BTreeMap::new();
    for call in &calls {
        let name = call["server"].as_str().context("a call without a server")?;
        if !servers.contains_key(name) {
            servers
                .insert(name, PipedServer::start(&plan["servers"][name]).context(name.to_owned())?);
        }
    }
    let mut times: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for round in 0..warm + rounds {
        for call in &calls {
            let name = call["name"].as_str().unwrap_or_default();
            let server = call["server"].as_str().and_then(|name| servers.get_mut(name));
            let taken =
                server.context("a call without a server")?.call(call).context(name.to_owned())?;
            if round >= warm {
                times.entry(name.to_owned()).or_default().push(u64::try_from(taken.as_nanos())?);
            }
        }
    }
    Ok(times)
}

// === impl PipedServer ===

impl PipedServer {
    /// Starts it and agrees on a revision.
    fn start(server: &Value) -> Result<Self> {
        let mut command = Command::new(server["command"].as_str().context("no command")?);
        command.args(server["args"].as_array().into_iter().flatten().filter_map(Value::as_str));
        for (name, value) in server["env"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap_or_default());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start it")?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let mut server = Self { child, input, output, last_id: 0 };
        let client = json!({ "name": "moss-bench", "version": "1" });
        let hello =
            json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": client });
        server.ask("initialize", &hello)?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        server.input.write_all(format!("{ready}\n").as_bytes())?;
        Ok(server)
    }

    /// Makes a call of a plan. Returns how long it took until the whole response was there.
    fn call(&mut self, call: &Value) -> Result<Duration> {
        let arguments = json!({ "name": call["tool"], "arguments": call["given"] });
        let (taken, response) = self.ask("tools/call", &arguments)?;
        let is_error = response["result"]["isError"].as_bool().unwrap_or(false);
        if response.get("error").is_some() || call["fails"] != is_error {
            bail!("{}", response.to_string().chars().take(500).collect::<String>());
        }
        Ok(taken)
    }

    /// Sends a request and waits for the line of its response.
    fn ask(&mut self, method: &str, parameters: &Value) -> Result<(Duration, Value)> {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        let (request, mut line) = (format!("{request}\n"), String::new());
        let started = Instant::now();
        self.input.write_all(request.as_bytes()).context("it takes no request")?;
        loop {
            line.clear();
            if self.output.read_line(&mut line).context("it cannot be read")? == 0 {
                bail!("it ended before it responded");
            }
            let taken = started.elapsed();
            let message: Value = serde_json::from_str(&line).context("it wrote what is no JSON")?;
            // Notifications may come in between.
            if message["id"] == id {
                return Ok((taken, message));
            }
        }
    }
}

impl Drop for PipedServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
