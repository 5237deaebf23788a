//! What reading replies of models costs, against `serde_json` on the same bytes, in turns.

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use moss_model_bridge::{Finish, ParseOptions, Parser, Registry, Reply, ToolDefinition};
use moss_xtask::rows::{Row, Spread};
use serde_json::{Value as Json, json};

/// Times that each is measured, and before that not measured.
const TIMES: usize = 60;
const WARM_UP: usize = 5;
/// Replies of one measurement, where a single one is too short for a clock.
const REPLIES: usize = 1000;
/// How large the large texts are, in bytes.
const LARGE_BYTES: usize = 10 << 20;
/// How large a text of braces is, in bytes.
const BRACES_BYTES: usize = 1 << 20;
/// How models are read: in pieces of about a word, and in those of a socket.
const WORD_BYTES: usize = 6;
const SOCKET_BYTES: usize = 64 << 10;

/// A text, how it is cut, how often it is read, and what is expected of it.
struct BridgeCase {
    name: &'static str,
    target: Option<&'static str>,
    text: String,
    /// What the baseline parses: the same bytes as JSON.
    json: String,
    piece_bytes: usize,
    times: usize,
    calls: usize,
}

/// Measures reading replies, against JSON of the same size.
pub(crate) fn measure() -> Result<Vec<Row>> {
    let specs = moss_builtin_tools::specs();
    let registry = Registry::new(specs.iter().map(|spec| ToolDefinition {
        name: spec.name.clone(),
        title: String::new(),
        description: String::new(),
        parameters: spec.parameters_strict.clone(),
        aliases: spec.aliases.clone(),
    }))?;
    let registry = Arc::new(registry);
    cases()?.iter().map(|case| case.measure(&registry)).collect()
}

fn cases() -> Result<Vec<BridgeCase>> {
    let prose = prose()?;
    let call = json!({ "tool": "replace_text", "parameters": {
        "path": "src/main.rs", "oldText": "fn main() {}", "newText": "fn main() {\n    run();\n}"
    }});
    let reply = format!("I put the call in.\n\n```json action\n{call}\n```\n");
    let content = "    let value = table.get(\"key\");\n".repeat(LARGE_BYTES / 40);
    let long =
        json!({ "tool": "create_file", "parameters": { "path": "a.rs", "content": content } });
    let quoted = |text: &str| serde_json::to_string(text).context("a string is JSON");
    let case = |name, target, text: &str, json: String, piece_bytes, times, calls| BridgeCase {
        name,
        target,
        text: text.to_owned(),
        json,
        piece_bytes,
        times,
        calls,
    };
    let braces = "{".repeat(BRACES_BYTES);
    let fenced = format!("```json action\n{braces}");
    Ok(vec![
        case("10 MiB of prose", Some("100 ms"), &prose, quoted(&prose)?, SOCKET_BYTES, 1, 0),
        case("10 MiB of prose, by words", None, &prose, quoted(&prose)?, WORD_BYTES, 1, 0),
        case(
            "1,000 replies with a call",
            Some("5 ms"),
            &reply,
            call.to_string(),
            SOCKET_BYTES,
            REPLIES,
            1,
        ),
        case(
            "1,000 replies with a call, by words",
            None,
            &reply,
            call.to_string(),
            WORD_BYTES,
            REPLIES,
            1,
        ),
        case(
            "a call that writes 8 MiB",
            None,
            &format!("```json action\n{long}\n```"),
            long.to_string(),
            SOCKET_BYTES,
            1,
            1,
        ),
        case("1 MiB of open braces", Some("20 ms"), &braces, quoted(&braces)?, SOCKET_BYTES, 1, 0),
        case(
            "1 MiB of open braces in a call",
            Some("20 ms"),
            &fenced,
            quoted(&fenced)?,
            SOCKET_BYTES,
            1,
            0,
        ),
    ])
}

/// Text as models write it, with characters in it that may begin a call.
fn prose() -> Result<String> {
    let mut prose = String::new();
    for number in 0.. {
        write!(
            prose,
            "{number}. It reads the file, and `main` calls it [twice]: once when a < b, "
        )?;
        prose.push_str("once after.\n所以它先读取文件，然后再写。\n\n");
        if prose.len() >= LARGE_BYTES {
            break;
        }
    }
    Ok(prose)
}

// === impl BridgeCase ===

impl BridgeCase {
    fn measure(&self, registry: &Arc<Registry>) -> Result<Row> {
        let reply = self.read(registry);
        if reply.calls.len() != self.calls {
            bail!("`{}` is not read as it should be: {} calls", self.name, reply.calls.len());
        }
        let (mut reads, mut bare) = (Vec::new(), Vec::new());
        for number in 0..WARM_UP + TIMES {
            let read = timed(|| (0..self.times).for_each(|_| drop(black_box(self.read(registry)))));
            let parse = timed(|| {
                (0..self.times).for_each(|_| {
                    drop(black_box(serde_json::from_str::<Json>(black_box(&self.json))));
                });
            });
            if number >= WARM_UP {
                reads.push(read);
                bare.push(parse);
            }
        }
        let row = Row::timed(self.name, reads).against(Spread::of(bare));
        Ok(match self.target {
            Some(target) => row.wanted(target),
            None => row,
        })
    }

    fn read(&self, registry: &Arc<Registry>) -> Reply {
        let mut parser = Parser::new(Arc::clone(registry), ParseOptions::default());
        let mut events = Vec::new();
        for piece in self.text.as_bytes().chunks(self.piece_bytes) {
            events.extend(parser.feed(black_box(piece)));
        }
        events.extend(parser.finish(Finish::Stop));
        Reply::collect(events)
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}
