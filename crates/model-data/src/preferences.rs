//! Pairs of turns for preference training: what was right, and a made-up turn in its place that is
//! wrong in a way that models are wrong. Source: 000, 6.2 and 9.
//!
//! Nothing is random: what is made up depends on the content of the pair alone.

use std::sync::Arc;

use moss_model_bridge::{Language, RegisteredTool, Registry};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::call::SampleCall;
use crate::recorded::{self, Converted, SkipReason};
use crate::sample::{Sample, SampleTurn, TurnRole};
use crate::{check, phrases};

/// Names that models make up, and that real tools elsewhere have.
const NAMES: &[&str] = &[
    "open_file",
    "search_code",
    "execute_command",
    "write_to_file",
    "find_in_files",
    "get_file_content",
    "run_shell",
    "modify_file",
    "list_files_in_folder",
    "code_analyzer",
];
/// Keys that models make up.
const KEYS: &[&str] = &["target", "options", "auto_detect", "force_mode", "context_hint"];

/// How the rejected turn is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// It calls a tool that there is not.
    MadeUpTool,
    /// Its arguments break the schema.
    MadeUpArguments,
    /// It reports success right after an error.
    IgnoredError,
}

/// Makes pairs out of a recorded conversation: `{"prompt", "chosen", "rejected", "tags"}`, lists of
/// messages all three. `redact` takes secrets out of messages.
///
/// A turn whose calls all fit and work gives a pair with a made-up tool and one with made-up
/// arguments; a turn that handles errors gives one in which they are ignored.
pub fn preferences(
    registry: &Arc<Registry>,
    line: &str,
    redact: impl Fn(Value) -> Value,
) -> Converted {
    recorded::convert(registry, line, |sample, converted| {
        for (place, turn) in sample.turns.iter().enumerate() {
            if turn.role != TurnRole::Assistant {
                continue;
            }
            let chosen = recorded::message(sample, turn);
            let flawed = flawed(registry, sample, place, &chosen);
            for (flaw, rejected) in flawed {
                let pair = pair(sample, place, &chosen, rejected, flaw);
                let pair = recorded::redacted(pair, &redact);
                // What was taken out of it may have been what it was about.
                if still_differ(registry, &pair, flaw) {
                    converted.lines.push(pair);
                } else {
                    converted.left_out.push(SkipReason::NotValid);
                }
            }
        }
    })
}

fn pair(sample: &Sample<'_>, place: usize, chosen: &Value, rejected: Value, flaw: Flaw) -> Value {
    let prompt = sample.turns[..place].iter().map(|turn| recorded::message(sample, turn));
    json!({
        "prompt": prompt.collect::<Vec<_>>(),
        "chosen": [chosen],
        "rejected": [rejected],
        "tags": ["preference", flaw],
    })
}

/// The turns that could stand in place of a right one and would be wrong.
fn flawed(
    registry: &Registry,
    sample: &Sample<'_>,
    place: usize,
    chosen: &Value,
) -> Vec<(Flaw, Value)> {
    let turn = &sample.turns[place];
    let seed = seed(&chosen.to_string());
    let mut all = Vec::new();
    if let Some(first) = right_calls(registry, sample, turn) {
        let name = made_up_name(registry, &first.name, seed);
        all.extend(name.map(|name| (Flaw::MadeUpTool, with_first(chosen, "name", json!(name)))));
        let arguments = made_up_arguments(registry.tool(&first.name), first, seed);
        all.extend(arguments.map(|arguments| {
            (Flaw::MadeUpArguments, with_first(chosen, "arguments", Value::Object(arguments)))
        }));
    }
    let takes_up = match right_calls(registry, sample, turn) {
        Some(_) => true,
        None => turn.calls.is_empty() && is_honest(&turn.text),
    };
    if takes_up && check::follows_errors(sample, place) {
        let asked = sample.turns[..place].iter().rfind(|turn| turn.role == TurnRole::User);
        let language = asked.map_or_else(Language::default, |turn| Language::of(&turn.text));
        let text = phrases::pretended(language, seed);
        all.push((Flaw::IgnoredError, json!({ "role": "assistant", "content": text })));
    }
    all
}

fn is_honest(text: &str) -> bool {
    !text.trim().is_empty() && !phrases::reports_success_only(text)
}

/// The first call of a turn whose calls, all in `tool_calls`, fit and did not fail.
fn right_calls<'s, 'v>(
    registry: &Registry,
    sample: &'s Sample<'v>,
    turn: &SampleTurn<'v>,
) -> Option<&'s SampleCall<'v>> {
    let calls = &sample.calls[turn.calls.clone()];
    let is_right =
        |call: &SampleCall<'_>| call.entry.is_some() && call.fits(registry) && !call.is_failed;
    calls.first().filter(|_| calls.iter().all(is_right))
}

fn with_first(turn: &Value, key: &str, value: Value) -> Value {
    let mut turn = turn.clone();
    if let Some(call) = turn.pointer_mut("/tool_calls/0") {
        call[key] = value;
    }
    turn
}

/// A name that no tool has, nor one that would be taken for a tool's.
fn made_up_name(registry: &Registry, name: &str, seed: u64) -> Option<String> {
    let own = [format!("{name}_v2"), format!("get_{name}"), format!("auto_{name}")];
    let candidates: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).chain(own).collect();
    from_seed(&candidates, seed).find(|name| registry.resolve(name).is_none()).cloned()
}

/// Arguments that the tool refuses.
fn made_up_arguments(
    tool: Option<&RegisteredTool>,
    call: &SampleCall<'_>,
    seed: u64,
) -> Option<Map<String, Value>> {
    let tool = tool?;
    let right = call.arguments.as_ref().ok()?.as_object()?;
    let key = *from_seed(KEYS, seed).find(|key| tool.parameter(key).is_none())?;
    let mut candidates = Vec::new();
    let mut more = right.clone();
    more.insert(key.to_owned(), Value::Bool(true));
    candidates.push(more);
    for name in tool.required() {
        let mut renamed = Map::new();
        for (own, value) in right {
            let own = if own == name { key } else { own };
            renamed.insert(own.to_owned(), value.clone());
        }
        candidates.push(renamed);
    }
    // The whole intention in one text.
    let text = Value::Object(right.clone()).to_string();
    candidates.push(Map::from_iter([("input".to_owned(), Value::String(text))]));
    for (name, value) in right {
        let mut other = right.clone();
        let wrong = if value.is_string() { json!({ "value": value }) } else { json!("auto") };
        other.insert(name.clone(), wrong);
        candidates.push(other);
    }
    let is_wrong =
        |arguments: &&Map<String, Value>| !tool.fits(&Value::Object((*arguments).clone()));
    from_seed(&candidates, seed).find(is_wrong).cloned()
}

/// All candidates, from the one that a seed chooses on.
fn from_seed<T>(candidates: &[T], seed: u64) -> impl Iterator<Item = &T> {
    let start = (seed % candidates.len().max(1) as u64) as usize;
    candidates.iter().cycle().skip(start).take(candidates.len())
}

/// FNV-1a: the same for the same text, on every machine and in every version.
fn seed(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Whether the chosen turn is right and the rejected one wrong, as they will be read.
fn still_differ(registry: &Registry, pair: &Value, flaw: Flaw) -> bool {
    let fits = |side: &str| {
        let calls = pair.pointer(&format!("/{side}/0/tool_calls")).and_then(Value::as_array);
        calls.into_iter().flatten().all(|call| {
            let tool = call["name"].as_str().and_then(|name| registry.tool(name));
            tool.is_some_and(|tool| tool.fits(&call["arguments"]))
        })
    };
    fits("chosen") && (flaw == Flaw::IgnoredError || !fits("rejected"))
}
