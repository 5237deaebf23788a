//! The judge of replies, measured on cases: what people say is the measure of its tables.
//!
//! `refusals-tuning.json` is what the tables may be tuned to: phrases come, change and go by it.
//! `refusals-holdout.json` is what the gate is measured on, and nothing is tuned to it: no phrase
//! and no rule is written for one of its cases, and a case that fails there is not looked at to make
//! it pass.
//!
//! How independent the hold-out is: its cases `own-…` are one half of those that the tables were
//! tuned on before there were two files, so what they show of phrases that stem from that time is
//! flattering. They are independent only of what changed since. Its cases `fresh-…` were written
//! before the judge was run on them; at that first look it had precision 0.95 and recall 0.94 on
//! them (English 0.97 and 1.00, Chinese 0.94 and 0.88). The halves were drawn by language and
//! class, every second case in the order of the SHA-256 of its id; six replies are in both, to other
//! requests.
//!
//! Twice its figures, and none of its cases, were seen before a choice. Dropping every phrase that
//! others make redundant failed the gate, so only those were dropped that no case of the tuning half
//! has. And the speaker may still be named in another clause than the one that denies: to forbid it
//! gained nothing on the tuning half and lost replies on both.

use serde::Deserialize;

use super::super::*;

/// The least precision and recall, and the least share of classes.
const GATE: f64 = 0.95;
/// The least share of classes on the hold-out: several kinds of excuse are asked again alike.
const HOLDOUT_CLASSES: f64 = 0.9;

#[derive(Deserialize)]
struct Case {
    id: String,
    lang: Language,
    context: Context,
    text: String,
    expect: Expect,
}

#[derive(Deserialize)]
struct Context {
    user: String,
    last_role: LastRole,
    tool_choice: String,
    tools_available: bool,
}

#[derive(Deserialize)]
struct Expect {
    class: ReplyClass,
    retry: bool,
}

#[derive(Deserialize)]
struct Shared {
    refusal_cases: Vec<Case>,
}

/// What a set of cases gives.
struct Measure {
    precision: f64,
    recall: f64,
    /// The share of cases whose class and retry are as expected.
    classes: f64,
    /// What is not as expected.
    wrong: Vec<String>,
}

fn shared() -> Vec<Case> {
    let text = include_str!("../../../testdata/toolcalls.json");
    serde_json::from_str::<Shared>(text).unwrap().refusal_cases
}

fn tuning() -> Vec<Case> {
    serde_json::from_str(include_str!("../../../testdata/refusals-tuning.json")).unwrap()
}

fn holdout() -> Vec<Case> {
    serde_json::from_str(include_str!("../../../testdata/refusals-holdout.json")).unwrap()
}

fn verdict(case: &Case) -> RefusalVerdict {
    let choice = match case.context.tool_choice.as_str() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "any" => ToolChoice::Any,
        name => ToolChoice::Tool(name.to_owned()),
    };
    let context = RefusalContext {
        request: case.context.user.as_str().into(),
        last_role: case.context.last_role,
        choice: &choice,
        tools_available: case.context.tools_available,
        result_failed: None,
        has_results: false,
    };
    classify(&context, &case.text)
}

fn measure<'c>(cases: impl IntoIterator<Item = &'c Case>) -> Measure {
    let (mut hits, mut false_alarms, mut misses, mut judged) = (0.0, 0.0, 0.0, 0.0);
    let mut wrong = Vec::new();
    for case in cases {
        let found = verdict(case);
        judged += 1.0;
        match (found.retry, case.expect.retry) {
            (true, true) => hits += 1.0,
            (true, false) => false_alarms += 1.0,
            (false, true) => misses += 1.0,
            (false, false) => {}
        }
        if (found.class, found.retry) != (case.expect.class, case.expect.retry) {
            wrong.push(format!(
                "{}: {} {} by {:?}, not {} {}: {:?} to {:?}",
                case.id,
                found.class.as_str(),
                found.retry,
                found.phrase,
                case.expect.class.as_str(),
                case.expect.retry,
                case.text,
                case.context.user,
            ));
        }
    }
    Measure {
        precision: hits / (hits + false_alarms),
        recall: hits / (hits + misses),
        classes: 1.0 - wrong.len() as f64 / judged,
        wrong,
    }
}

#[test]
fn every_shared_case_is_what_it_is_said_to_be() {
    let wrong = measure(&shared()).wrong;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_tuning_half_is_as_people_say_in_both_languages() {
    for language in [Language::En, Language::Zh] {
        let cases: Vec<Case> =
            tuning().into_iter().chain(shared()).filter(|case| case.lang == language).collect();
        let Measure { precision, recall, classes, wrong } = measure(&cases);
        assert!(
            precision >= GATE && recall >= GATE && classes >= GATE,
            "{language:?}: precision {precision}, recall {recall}, classes {classes}\n{}",
            wrong.join("\n")
        );
    }
}

/// Shows figures and no cases: whoever reads which ones fail tunes to them.
#[test]
fn the_gate_is_passed_on_the_holdout_in_both_languages() {
    for language in [Language::En, Language::Zh] {
        let cases: Vec<Case> = holdout().into_iter().filter(|case| case.lang == language).collect();
        let Measure { precision, recall, classes, .. } = measure(&cases);
        assert!(
            precision >= GATE && recall >= GATE && classes >= HOLDOUT_CLASSES,
            "{language:?}: precision {precision}, recall {recall}, classes {classes}"
        );
    }
}

#[test]
fn no_case_is_in_both_halves() {
    let tuning = tuning();
    let ids: std::collections::HashSet<&str> = tuning.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), tuning.len());
    for case in holdout() {
        assert!(!ids.contains(case.id.as_str()), "{}", case.id);
        let is_same =
            |other: &Case| other.text == case.text && other.context.user == case.context.user;
        assert!(!tuning.iter().any(is_same), "{}", case.id);
    }
}

#[test]
fn every_phrase_is_one_that_the_tuning_half_has() {
    let cases: Vec<Case> = tuning().into_iter().chain(shared()).collect();
    let requests: Vec<String> =
        cases.iter().map(|case| sentences::flat(&case.context.user).0).collect();
    let mut texts = Vec::new();
    for sentence in cases.iter().flat_map(|case| sentences::sentences(&case.text)) {
        let words = phrases::REPLY.views.removed_from(&sentence.text);
        texts.extend(judge::clauses(&words).map(str::to_owned));
        texts.extend([words, sentence.text]);
    }
    let idle = phrases::idle(&requests, &texts);
    assert!(idle.is_empty(), "no case has these:\n{}", idle.join("\n"));
}

fn all() -> Vec<Case> {
    tuning().into_iter().chain(holdout()).collect()
}

#[test]
fn nobody_is_asked_again_who_has_nothing_to_call() {
    for mut case in all() {
        case.context.tools_available = false;
        assert!(!verdict(&case).retry, "{}", case.id);
        case.context.tools_available = true;
        case.context.tool_choice = "none".to_owned();
        assert!(!verdict(&case).retry, "{}", case.id);
    }
}

#[test]
fn whoever_must_call_is_asked_again_unless_it_does_harm() {
    for mut case in all() {
        case.context.tools_available = true;
        case.context.tool_choice = "any".to_owned();
        let found = verdict(&case);
        assert_eq!(found.retry, found.class != ReplyClass::SafetyRefusal, "{}", case.id);
    }
}
