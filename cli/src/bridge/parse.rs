//! `moss bridge parse`.

use std::fmt::Display;
use std::io::{self, Read as _};

use moss_model_bridge::{Finish, ParseOptions, Parser, Reply, ReplyEvent, forms, parse_message};
use serde_json::{Value, json};

use super::super::Session;
use super::super::error::CliError;
use super::registry::RegistryArgs;
use moss_dispatch::Outcome;

/// Most bytes of a reply.
const REPLY_BYTES_MAX: usize = 64 << 20;
/// How much is read at once, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// Parse a model's reply into text and tool calls
///
/// Reads the reply on standard input and prints `{"text", "calls": [{"name", "arguments"}],
/// "diagnostics": [CODE…], "details": [{"code", "message"}…]}`. Nothing is called.
#[derive(Debug, clap::Args)]
pub(crate) struct ParseArgs {
    #[command(flatten)]
    registry: RegistryArgs,

    /// How the model ended: by itself, or at its token limit
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ReplyEnd::Stop)]
    finish: ReplyEnd,

    /// Read an API message instead, with `tool_calls` or blocks of `content`
    #[arg(long)]
    message: bool,

    /// The prompt ended with `<think>`: the reply begins inside of a thought
    #[arg(long, conflicts_with = "message")]
    in_thought: bool,

    /// Read only the call formats that this model was trained on, if known
    #[arg(long, value_name = "NAME", conflicts_with = "message")]
    model: Option<String>,

    /// Print events as they come: one on each line, as JSON
    #[arg(long, conflicts_with = "message")]
    events: bool,
}

/// How a model ended its reply.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ReplyEnd {
    /// By itself, or at a stop sequence
    Stop,
    /// At its limit of tokens
    Length,
}

pub(super) fn run(args: &ParseArgs, session: &Session) -> Result<Outcome, CliError> {
    let registry = args.registry.catalog(session)?;
    let finish = match args.finish {
        ReplyEnd::Stop => Finish::Stop,
        ReplyEnd::Length => Finish::Length,
    };
    if args.message {
        let message = message()?;
        return print(parse_message(&registry, inner(&message)?, finish), session);
    }
    let options = ParseOptions {
        begins_in_thought: args.in_thought,
        forms: args.model.as_deref().map(forms).unwrap_or_default(),
        ..ParseOptions::default()
    };
    let mut parser = Parser::new(registry, options);
    let mut events = Vec::new();
    pieces(|piece| {
        let read = parser.feed(piece);
        if args.events {
            return print_events(&read, session);
        }
        events.extend(read);
        Ok(())
    })?;
    let last = parser.finish(finish);
    if args.events {
        print_events(&last, session)?;
        return Ok(Outcome::Ok);
    }
    events.extend(last);
    print(Reply::collect(events), session)
}

/// Reads JSON on standard input; a key that comes twice in it is refused.
fn message() -> Result<Value, CliError> {
    let mut bytes = Vec::new();
    pieces(|piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    let text = std::str::from_utf8(&bytes).map_err(|error| not_json(&error))?;
    moss_schema::json::read(text).map_err(|error| not_json(&error))
}

fn not_json(error: &dyn Display) -> CliError {
    let message = format!("standard input is no message in JSON: {error}");
    CliError::new(Outcome::Invalid, "message_invalid", message)
}

/// The message of a response: it may be the whole response of OpenAI's chat API or of Ollama.
fn inner(read: &Value) -> Result<&Value, CliError> {
    let message = read.pointer("/choices/0/message").or_else(|| read.get("message"));
    let message = message.unwrap_or(read);
    let keys = ["content", "tool_calls", "function_call"];
    match keys.iter().any(|key| message.get(key).is_some()) {
        true => Ok(message),
        false => {
            let message = "standard input is no message: it has neither `content` nor `tool_calls`";
            let error = CliError::new(Outcome::Invalid, "message_invalid", message);
            Err(error.hint("give the message of a response, such as its `choices[0].message`"))
        }
    }
}

/// Hands standard input to a function as it comes.
fn pieces(mut take: impl FnMut(&[u8]) -> Result<(), CliError>) -> Result<(), CliError> {
    let mut input = io::stdin().lock();
    let mut buffer = vec![0; PIECE_BYTES];
    let mut total = 0;
    loop {
        let read = input.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        total += read;
        if total > REPLY_BYTES_MAX {
            let message = format!("standard input has more than {REPLY_BYTES_MAX} bytes");
            return Err(CliError::new(Outcome::Invalid, "reply_too_large", message));
        }
        take(&buffer[..read])?;
    }
}

fn print_events(events: &[ReplyEvent], session: &Session) -> Result<(), CliError> {
    for event in events {
        session.ui.print_json_line(event)?;
    }
    Ok(())
}

fn print(reply: Reply, session: &Session) -> Result<Outcome, CliError> {
    let reply = reply.tidied();
    let codes: Vec<&str> = reply.diagnostics.iter().map(|one| one.code.as_str()).collect();
    let mut printed = json!({
        "text": reply.text,
        "calls": reply.calls,
        "diagnostics": codes,
        "details": reply.diagnostics,
    });
    if !reply.reasoning.is_empty() {
        printed["reasoning"] = json!(reply.reasoning);
    }
    session.ui.print_json(&printed)?;
    Ok(Outcome::Ok)
}
