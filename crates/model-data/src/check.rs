//! The rules of one sample: calls that fit, words about permission, honest replies, status lines,
//! labels that are true.

use moss_model_bridge::{RegisteredTool, Registry};
use serde_json::{Map, Value};

use crate::call::{NoObject, SampleCall};
use crate::finding::{FindingCode, Findings, shown};
use crate::phrases;
use crate::report::SampleClass;
use crate::risk::{Risk, Risks};
use crate::sample::{Sample, SampleTurn, TurnRole, at};

/// What the status line of a planning agent starts with. Source: 000, 4.5.
pub(crate) const STATUS: &str = "AGENT_STATUS:";
/// What it may say.
const STATUS_WORDS: &[&str] = &["DONE", "CONTINUE", "STOP"];

/// What the calls of a sample count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CallCounts {
    pub(crate) calls: u64,
    pub(crate) negative: u64,
    pub(crate) named: u64,
    pub(crate) high_risk: u64,
    pub(crate) high_risk_permitted: u64,
    pub(crate) writes: u64,
    pub(crate) writes_permitted: u64,
}

/// Holds the calls to the registry.
pub(crate) fn calls(
    registry: &Registry,
    sample: &Sample<'_>,
    findings: &mut Findings,
) -> CallCounts {
    let mut counts = CallCounts::default();
    for call in &sample.calls {
        counts.calls += 1;
        if call.fits(registry) {
            counts.named += 1;
        } else if call.is_failed {
            counts.negative += 1;
            let message =
                format!("the call of `{}` is wrong, and its result is an error", shown(&call.name));
            let fix = "leave it where it shows how to fix a call; mask it in training";
            findings.add(FindingCode::NegativeCall, sample.pointer(call), message, fix);
        } else if let Some(tool) = registry.tool(&call.name) {
            counts.named += 1;
            match &call.arguments {
                Ok(arguments) => report_misfit(tool, sample, call, arguments, findings),
                Err(wrong) => report_no_object(wrong, sample, call, findings),
            }
        } else {
            report_unknown(registry, sample, call, findings);
        }
    }
    counts
}

fn report_unknown(
    registry: &Registry,
    sample: &Sample<'_>,
    call: &SampleCall<'_>,
    findings: &mut Findings,
) {
    let like = registry
        .resolve(&call.name)
        .map(RegisteredTool::name)
        .or_else(|| registry.closest(&call.name));
    let fix = match like {
        Some(like) => format!("write `{like}`, exactly so, where that tool is meant"),
        None => "name a tool of the registry, exactly as it is written there".to_owned(),
    };
    let message = format!("no tool is called `{}`", shown(&call.name));
    findings.add(FindingCode::ToolUnknown, sample.pointer_to(call, "/name"), message, fix);
}

fn report_no_object(
    wrong: &NoObject,
    sample: &Sample<'_>,
    call: &SampleCall<'_>,
    findings: &mut Findings,
) {
    let pointer = sample.pointer_to(call, "/arguments");
    findings.add(FindingCode::ArgumentsNotObject, pointer, &*wrong.message, wrong.fix);
}

fn report_misfit(
    tool: &RegisteredTool,
    sample: &Sample<'_>,
    call: &SampleCall<'_>,
    arguments: &Value,
    findings: &mut Findings,
) {
    let pointer = sample.pointer_to(call, "/arguments");
    let keys = arguments.as_object().into_iter().flat_map(Map::keys);
    let mut fixes = keys.filter_map(|key| {
        let main = tool.parameter(key)?;
        (main != key).then(|| format!("write `{main}` for `{}`", shown(key)))
    });
    let fix = fixes.next().unwrap_or_else(|| shown_keys(tool));
    for violation in tool.violations(arguments) {
        let pointer = format!("{pointer}{}", violation.pointer);
        findings.add(FindingCode::ArgumentsInvalid, pointer, violation.message(), fix.clone());
    }
}

/// Says what the keys of a tool are.
fn shown_keys(tool: &RegisteredTool) -> String {
    let needed = tool.required();
    let keys = tool.definition().parameters.get("properties").and_then(Value::as_object);
    let told = keys.into_iter().flat_map(Map::keys).map(|key| match needed.contains(&&**key) {
        true => format!("`{key}` (needed)"),
        false => format!("`{key}`"),
    });
    match told.collect::<Vec<_>>().join(", ") {
        keys if keys.is_empty() => format!("`{}` takes no arguments: write {{}}", tool.name()),
        keys => format!("`{}` takes {keys}, with values as its schema says", tool.name()),
    }
}

/// Holds calls that a person has to be asked about to what is said about permission: by the turns
/// before it, the turn itself, its result, or the tags.
pub(crate) fn permission(
    risks: &Risks,
    line: &Map<String, Value>,
    sample: &Sample<'_>,
    counts: &mut CallCounts,
    findings: &mut Findings,
) {
    let mut first: Option<Option<usize>> = None;
    for call in &sample.calls {
        let Some(risk) = risks.of(&call.name) else { continue };
        let first = *first.get_or_insert_with(|| {
            if has_permission_tag(line) {
                return Some(0);
            }
            sample.turns.iter().position(|turn| is_about_permission(turn))
        });
        // Its own result counts: "denied" is a reply about permission.
        let last = call.result.unwrap_or(call.turn);
        let is_permitted = first.is_some_and(|first| first <= last);
        let (all, permitted) = match risk.is_high() {
            true => (&mut counts.high_risk, &mut counts.high_risk_permitted),
            false => (&mut counts.writes, &mut counts.writes_permitted),
        };
        *all += 1;
        if is_permitted {
            *permitted += 1;
        } else {
            report_unpermitted(risk, sample, call, findings);
        }
    }
}

fn has_permission_tag(line: &Map<String, Value>) -> bool {
    let tags = line.get("tags").and_then(Value::as_array);
    tags.into_iter().flatten().filter_map(Value::as_str).any(phrases::is_about_permission)
}

fn is_about_permission(turn: &SampleTurn<'_>) -> bool {
    match turn.fields.get("content") {
        Some(content @ Value::Object(_)) => phrases::is_about_permission(&content.to_string()),
        _ => phrases::is_about_permission(&turn.text),
    }
}

fn report_unpermitted(
    risk: Risk,
    sample: &Sample<'_>,
    call: &SampleCall<'_>,
    findings: &mut Findings,
) {
    let code =
        if risk.is_high() { FindingCode::PermissionMissing } else { FindingCode::WriteUnconfirmed };
    let name = shown(&call.name);
    let message =
        format!("`{name}` {}, and no turn before it mentions permission", risk.in_words());
    let fix = "say in the system text what needs confirmation, or let the user confirm it first";
    findings.add(code, sample.pointer(call), message, fix);
}

/// Holds what the assistant says to what it does.
pub(crate) fn replies(registry: &Registry, sample: &Sample<'_>, findings: &mut Findings) {
    for (place, turn) in sample.turns.iter().enumerate() {
        if turn.role != TurnRole::Assistant {
            continue;
        }
        let has_text = !turn.text.trim().is_empty();
        let has_calls = turn.fields.get("tool_calls").and_then(Value::as_array);
        let has_calls = !turn.calls.is_empty() || has_calls.is_some_and(|calls| !calls.is_empty());
        match (has_text, has_calls) {
            (false, false) => findings.add(
                FindingCode::EmptyTurn,
                at(turn.place),
                "the assistant neither speaks nor calls",
                "write a reply or a call, or leave the message out",
            ),
            (true, true) => findings.add(
                FindingCode::TextBesideCalls,
                at(turn.place) + "/content",
                "the turn has text and calls",
                "write `\"content\": null` beside calls, and text in the reply",
            ),
            (true, false) => {
                narration(registry, turn, findings);
                ignored_error(sample, place, findings);
            }
            (false, true) => {}
        }
        status(sample, place, has_calls, findings);
    }
}

fn narration(registry: &Registry, turn: &SampleTurn<'_>, findings: &mut Findings) {
    if let Some(line) = phrases::narration(&turn.text, |name| registry.tool(name).is_some()) {
        let message = format!("a call is narrated, not made: `{}`", shown(line.trim()));
        let fix = "make the call in `tool_calls`, and let a `tool` message give its result";
        findings.add(FindingCode::NarratedCall, at(turn.place) + "/content", message, fix);
    }
}

/// A reply right behind results that are all errors, which reports success alone.
fn ignored_error(sample: &Sample<'_>, place: usize, findings: &mut Findings) {
    if !follows_errors(sample, place) || !phrases::reports_success_only(&sample.turns[place].text) {
        return;
    }
    let message = "every result before it is an error, and the response reports success";
    let fix = "say what failed, or fix the call first";
    let pointer = at(sample.turns[place].place) + "/content";
    findings.add(FindingCode::IgnoredError, pointer, message, fix);
}

/// Whether a turn follows results that are all errors.
pub(crate) fn follows_errors(sample: &Sample<'_>, place: usize) -> bool {
    let results = sample.turns[..place].iter().rev().take_while(|turn| turn.role == TurnRole::Tool);
    let count = results.count();
    let failed = sample.calls.iter().filter(|call| {
        call.is_failed && call.result.is_some_and(|turn| (place - count..place).contains(&turn))
    });
    count > 0 && failed.count() == count
}

/// A status line ends a turn that calls nothing, with one of three words.
fn status(sample: &Sample<'_>, place: usize, has_calls: bool, findings: &mut Findings) {
    let turn = &sample.turns[place];
    if !turn.text.contains(STATUS) {
        return;
    }
    let mut lines = turn.text.lines().rev().filter(|line| !line.trim().is_empty()).peekable();
    let last = lines.next().and_then(|line| line.trim().strip_prefix(STATUS)).map(str::trim);
    let another = lines.any(|line| line.trim_start().starts_with(STATUS));
    let pointer = at(turn.place) + "/content";
    let mut tell = |code, message: &str, fix: &str| findings.add(code, &pointer, message, fix);
    let code = FindingCode::StatusLine;
    match last {
        _ if another => tell(code, "a status line stands inside of the text", "end with it, once"),
        None => {}
        Some(word) if !STATUS_WORDS.contains(&word) => {
            tell(code, "the status line has no status", "write `DONE`, `CONTINUE` or `STOP`");
        }
        Some(_) if has_calls => {
            tell(code, "a status line stands beside calls", "call, or sum up: not both");
        }
        Some("CONTINUE") if place + 1 == sample.turns.len() => tell(
            FindingCode::NotClosed,
            "the status is CONTINUE, and nothing follows",
            "continue, or end with DONE or STOP",
        ),
        Some(_) => {}
    }
}

/// Holds the labels of a sample to what was found.
pub(crate) fn labels(line: &Map<String, Value>, counts: CallCounts, findings: &mut Findings) {
    let code = FindingCode::Tags;
    match line.get("tags") {
        Some(Value::Array(tags)) if tags.iter().all(Value::is_string) => {}
        Some(_) => findings.add(code, "/tags", "the tags are no list of words", "write [\"word\"]"),
        None => findings.add(code, "", "the sample has no tags", "add \"tags\": [\"word\"]"),
    }
    let is_valid = !findings.has(FindingCode::breaks_a_call);
    let is_known = !findings.has(|code| code == FindingCode::ToolUnknown);
    let claims = match line.get("quality") {
        Some(Value::Object(claims)) => claims,
        found => {
            let pointer = if found.is_some() { "/quality" } else { "" };
            let message = "the sample does not say its quality";
            let fix = format!(
                "add \"quality\": {{\"schema_valid\": {is_valid}, \"tools_from_registry\": {is_known}}}"
            );
            findings.add(FindingCode::QualityShape, pointer, message, fix);
            return;
        }
    };
    for (key, found) in [("schema_valid", is_valid), ("tools_from_registry", is_known)] {
        let pointer = format!("/quality/{key}");
        match claims.get(key) {
            // A call that is wrong on purpose makes both claims true.
            Some(Value::Bool(claimed)) if *claimed == found || counts.negative > 0 => {}
            Some(Value::Bool(_)) => {
                let message = format!("`{key}` is said to be {}, and is {found}", !found);
                findings.add(FindingCode::QualityWrong, pointer, message, format!("write {found}"));
            }
            _ => {
                let message = format!("`{key}` is missing or neither true nor false");
                findings.add(FindingCode::QualityShape, pointer, message, format!("write {found}"));
            }
        }
    }
}

/// What a sample teaches.
pub(crate) fn class(sample: &Sample<'_>) -> SampleClass {
    match sample.calls.as_slice() {
        [] => SampleClass::PlainChat,
        calls if calls.iter().any(|call| call.is_failed) => SampleClass::Correction,
        [_] => SampleClass::SingleTool,
        _ => SampleClass::Chain,
    }
}
