//! Samples of corrected calls, out of recorded conversations in which a call failed and a later one
//! repaired it. Source: 000, 6.3.

use std::sync::Arc;

use moss_model_bridge::Registry;
use serde_json::{Value, json};

use crate::call::SampleCall;
use crate::outcome;
use crate::recorded::{self, Converted, SkipReason};
use crate::report::SampleClass;
use crate::sample::{Sample, TurnRole};

/// Makes samples of corrections out of a recorded conversation: a line of the form of samples,
/// whose labels do not matter. `redact` takes secrets out of messages.
///
/// A sample begins with what the user asked, and ends with the reply behind the call that works.
/// A call corrects a failed one where it comes later, works, and calls the same tool with other
/// arguments; or another tool, where the failed one does not exist.
pub fn corrections(
    registry: &Arc<Registry>,
    line: &str,
    redact: impl Fn(Value) -> Value,
) -> Converted {
    recorded::convert(registry, line, |sample, converted| {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for (place, failed) in sample.calls.iter().enumerate().filter(|(_, call)| call.is_failed) {
            let later = &sample.calls[place + 1..];
            let correction = later.iter().find(|call| corrects(registry, failed, call));
            let Some(correction) = correction else {
                converted.left_out.push(SkipReason::NotRepaired);
                continue;
            };
            let Some(end) = reply_after(sample, correction) else {
                converted.left_out.push(SkipReason::NotAnswered);
                continue;
            };
            let start = question_before(sample, failed);
            match spans.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => spans.push((start, end)),
            }
        }
        for (start, end) in spans {
            let line = recorded::redacted(line_of(sample, start, end), &redact);
            match recorded::checked(registry, &line) {
                Some(SampleClass::Correction) => converted.lines.push(line),
                _ => converted.left_out.push(SkipReason::NotValid),
            }
        }
    })
}

fn corrects(registry: &Registry, failed: &SampleCall<'_>, call: &SampleCall<'_>) -> bool {
    let works = call.result.is_some() && !call.is_failed && call.turn > failed.turn;
    let is_repaired = if registry.tool(&failed.name).is_none() {
        call.name != failed.name
    } else {
        let arguments = |call: &SampleCall<'_>| call.arguments.as_deref().ok().cloned();
        call.name == failed.name && arguments(call) != arguments(failed)
    };
    works && call.fits(registry) && is_repaired
}

fn reply_after(sample: &Sample<'_>, call: &SampleCall<'_>) -> Option<usize> {
    let result = call.result?;
    let turns = sample.turns.iter().enumerate().skip(result);
    let mut answers = turns.filter(|(_, turn)| {
        turn.role == TurnRole::Assistant && turn.calls.is_empty() && !turn.text.trim().is_empty()
    });
    answers.next().map(|(place, _)| place)
}

fn question_before(sample: &Sample<'_>, call: &SampleCall<'_>) -> usize {
    sample.turns[..call.turn].iter().rposition(|turn| turn.role == TurnRole::User).unwrap_or(0)
}

fn line_of(sample: &Sample<'_>, start: usize, end: usize) -> Value {
    let instructions = sample.turns[..start].iter().filter(|turn| turn.role == TurnRole::System);
    let turns = instructions.chain(&sample.turns[start..=end]);
    let messages: Vec<Value> = turns.map(|turn| recorded::message(sample, turn)).collect();
    let mut tags = vec!["correction".to_owned()];
    for turn in sample.turns[start..=end].iter().filter(|turn| turn.role == TurnRole::Tool) {
        let code = outcome::is_error(turn.fields).then(|| outcome::error_code(turn.fields));
        if let Some(code) = code.flatten().filter(|code| !tags.contains(code)) {
            tags.push(code);
        }
    }
    let quality = json!({ "schema_valid": true, "tools_from_registry": true });
    json!({ "messages": messages, "tags": tags, "quality": quality })
}
