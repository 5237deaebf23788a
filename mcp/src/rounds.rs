//! A call that stands by itself and needs a person: its response is a form, and comes again with
//! what the person said. Nothing waits meanwhile.

use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitResult, InputRequest, InputRequests,
    InputRequiredResult, InputResponses,
};
use rmcp::service::{RequestContext, RoleServer};

use crate::backend::{ApprovedEffects, DeniedEffect};
use crate::fault::{CONFIRMATION_REQUIRED, CallFault, STATE_INVALID};
use crate::form::{ClientForm, FORM_CLOSED, FormOutcome, FormReply};
use crate::seal::{AskedEffects, BrokenSeal, StateSeal};

/// The name of the form that decides about an effect, the one of its result.
const DECISION: &str = "decision";
/// The name of the form with a question of a tool, the one of its result.
const ANSWER: &str = "answer";
/// Names the state of a question, which has no effect.
const NO_DIGEST: &str = "00";

/// What a call comes with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallRound {
    /// What the person approved; nothing in the first round.
    Approved(ApprovedEffects),
    /// The person said no to the last effect that was asked about.
    Denied(DeniedEffect),
    /// The person closed the form.
    Undecided,
}

/// What a call comes with that put a question of a tool to the person.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum QuestionRound {
    /// No question was put.
    Unasked,
    /// One was put, and no response to it can be read.
    Unread,
    /// What the person said; none for a form that was closed.
    Replied(Option<String>),
}

/// What a request comes with that an earlier response asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputBrought<'a> {
    pub(crate) state: Option<&'a str>,
    pub(crate) responses: Option<&'a InputResponses>,
}

/// What is made of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputTaken<T> {
    /// Nothing was asked for.
    Unasked,
    /// It is missing, or cannot be read: it is asked for anew, and the same state takes another response.
    Unread(AskedEffects),
    /// It was read, which used the state up.
    Read(AskedEffects, T),
}

// === impl InputBrought ===

impl<'a> InputBrought<'a> {
    fn by(request: &'a CallToolRequestParams) -> Self {
        let (state, responses) =
            (request.request_state.as_deref(), request.input_responses.as_ref());
        Self { state, responses }
    }

    /// Takes what comes along; `read` reads the responses. `call` names the request exactly.
    ///
    /// # Errors
    ///
    /// Where the state is not one that was made for it.
    pub(crate) fn take<T>(
        self,
        seal: &StateSeal,
        call: &[&str],
        read: impl FnOnce(&AskedEffects, &InputResponses) -> Option<T>,
    ) -> Result<InputTaken<T>, CallFault> {
        let Some(state) = self.state else { return Ok(InputTaken::Unasked) };
        let asked = seal.look(state, call).map_err(broken)?;
        let Some(taken) = self.responses.and_then(|responses| read(&asked, responses)) else {
            return Ok(InputTaken::Unread(asked));
        };
        seal.open(state, call).map_err(broken)?;
        Ok(InputTaken::Read(asked, taken))
    }
}

/// Makes the result that asks for something; `call` names the request exactly. None where its state cannot be sealed.
pub(crate) fn required(
    requests: InputRequests,
    asked: &AskedEffects,
    seal: &StateSeal,
    call: &[&str],
) -> Option<InputRequiredResult> {
    Some(InputRequiredResult::new(Some(requests), Some(seal.seal(asked, call)?)))
}

/// Whether the client of a request that stands by itself shows forms.
pub(crate) fn has_forms(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.meta.protocol_version().and(context.meta.client_capabilities());
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Reads what a call comes with. `call` names it exactly. Where no response to the form can be read, the
/// question is asked anew, as the protocol has it: only a response uses the state up.
///
/// # Errors
///
/// Where its state is not one that was made for it.
pub(crate) fn read(
    request: &CallToolRequestParams,
    seal: &StateSeal,
    call: &[&str],
) -> Result<CallRound, CallFault> {
    let call = [call, &[DECISION]].concat();
    let read = |asked: &AskedEffects, responses: &InputResponses| {
        let session_rule = asked.offers_session.then(String::new);
        let form = ClientForm::Decision { text: String::new(), session_rule };
        outcome(responses, DECISION, &form)
    };
    let approved =
        |digests, for_session| CallRound::Approved(ApprovedEffects { digests, for_session });
    Ok(match InputBrought::by(request).take(seal, &call, read)? {
        InputTaken::Unasked => approved(Vec::new(), false),
        InputTaken::Unread(AskedEffects { mut digests, .. }) => {
            digests.pop();
            approved(digests, false)
        }
        InputTaken::Read(AskedEffects { mut digests, .. }, outcome) => match outcome {
            FormOutcome::Replied(FormReply::AllowOnce) => approved(digests, false),
            FormOutcome::Replied(FormReply::AllowSession) => approved(digests, true),
            FormOutcome::Replied(FormReply::Deny(reason)) => {
                let digest = digests.pop().unwrap_or_default();
                CallRound::Denied(DeniedEffect { digest, reason })
            }
            FormOutcome::Replied(FormReply::Said(_))
            | FormOutcome::Closed
            | FormOutcome::Unread => CallRound::Undecided,
        },
    })
}

/// Makes the result that asks about the effect of a call, where a form may decide about it. `approved`
/// were before it in the same call.
pub(crate) fn ask(
    fault: &CallFault,
    approved: ApprovedEffects,
    seal: &StateSeal,
    call: &[&str],
) -> Option<InputRequiredResult> {
    let question = fault.question.as_ref().filter(|question| question.is_for_forms)?;
    let (text, session_rule) = (question.text.clone(), question.session_rule.clone());
    let mut digests = approved.digests;
    digests.push(question.digest.clone());
    let asked = AskedEffects { digests, offers_session: session_rule.is_some() };
    let form = only(DECISION, &ClientForm::Decision { text, session_rule })?;
    required(form, &asked, seal, &[call, &[DECISION]].concat())
}

/// Makes the result that puts a question of a tool to the person.
pub(crate) fn put(
    question: &ClientForm,
    seal: &StateSeal,
    call: &[&str],
) -> Option<InputRequiredResult> {
    let none = AskedEffects { digests: vec![NO_DIGEST.to_owned()], offers_session: false };
    required(only(ANSWER, question)?, &none, seal, &[call, &[ANSWER]].concat())
}

/// Reads what the person says to the question of a call, where it was put. Only a response uses the state up.
///
/// # Errors
///
/// Where its state is not one that was made for it.
pub(crate) fn answer(
    request: &CallToolRequestParams,
    question: &ClientForm,
    seal: &StateSeal,
    call: &[&str],
) -> Result<QuestionRound, CallFault> {
    let (call, brought) = ([call, &[ANSWER]].concat(), InputBrought::by(request));
    let read = |responses: &InputResponses| outcome(responses, ANSWER, question);
    match brought.take(seal, &call, |_, responses| read(responses)) {
        Ok(InputTaken::Unasked) => Ok(QuestionRound::Unasked),
        Ok(InputTaken::Unread(_)) => Ok(QuestionRound::Unread),
        Ok(InputTaken::Read(_, FormOutcome::Replied(FormReply::Said(said)))) => {
            Ok(QuestionRound::Replied(Some(said)))
        }
        Ok(InputTaken::Read(..)) => Ok(QuestionRound::Replied(None)),
        // Another form of the same call may have been shown.
        Err(fault) if fault.code == STATE_INVALID && brought.responses.and_then(read).is_none() => {
            Ok(QuestionRound::Unasked)
        }
        Err(fault) => Err(fault),
    }
}

/// A form as all that is asked for.
fn only(name: &str, form: &ClientForm) -> Option<InputRequests> {
    let request = InputRequest::Elicitation(ElicitRequest::new(form.request()?));
    Some(InputRequests::from([(name.to_owned(), request)]))
}

/// What came back from a form; none where it is missing, or nothing that the form offers.
fn outcome(responses: &InputResponses, name: &str, form: &ClientForm) -> Option<FormOutcome> {
    let result: ElicitResult = serde_json::from_value(responses.get(name)?.clone()).ok()?;
    Some(form.outcome(&result)).filter(|outcome| *outcome != FormOutcome::Unread)
}

/// A state that is not ours is no matter of the model: the client is refused with an error of the protocol. One that
/// came too late is, as the call can be made anew.
fn broken(seal: BrokenSeal) -> CallFault {
    let (code, why) = match seal {
        BrokenSeal::Foreign => (STATE_INVALID, "is not one that was made for this call"),
        BrokenSeal::Spent => ("request_state_expired", "is too old, or was used before"),
    };
    CallFault::new(code, format!("`requestState` {why}"))
        .hint("send the call without `requestState` and `inputResponses`: it asks anew")
}

/// The end of a call whose form the person closed.
pub(crate) fn undecided() -> CallFault {
    CallFault::new(CONFIRMATION_REQUIRED, FORM_CLOSED)
        .hint("ask the person, then send the same call again: it shows the form anew")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const CALL: [&str; 1] = ["create_file"];

    fn call(state: &str, responses: &Value) -> CallToolRequestParams {
        let call = json!({
            "name": "create_file", "requestState": state, "inputResponses": responses,
        });
        serde_json::from_value(call).unwrap()
    }

    /// Asks about the second of two effects.
    fn asked(seal: &StateSeal) -> String {
        let digests = vec!["0a".to_owned(), "0b".to_owned()];
        let asked = AskedEffects { digests, offers_session: false };
        seal.seal(&asked, &[&CALL[..], &[DECISION]].concat()).unwrap()
    }

    #[test]
    fn a_response_that_cannot_be_read_is_asked_for_anew_and_uses_nothing_up() {
        let seal = StateSeal::new().unwrap();
        let state = asked(&seal);
        let accepted = json!({ "action": "accept", "content": { "decision": "allow_once" } });
        for unread in [
            Value::Null,
            json!({}),
            json!({ "Decision": accepted }),
            json!({ "decision": 5 }),
            json!({ "decision": { "action": "yes" } }),
            json!({ "decision": { "content": { "decision": "allow_once" } } }),
            json!({ "decision": { "action": "accept" } }),
            json!({ "decision": { "action": "accept", "content": {} } }),
            json!({ "decision": { "action": "accept", "content": { "decision": "zz" } } }),
            // Nobody offered that.
            json!({ "decision": { "action": "accept", "content": { "decision": "allow_session" } } }),
        ] {
            let before = ApprovedEffects { digests: vec!["0a".to_owned()], for_session: false };
            let round = read(&call(&state, &unread), &seal, &CALL);
            assert_eq!(round, Ok(CallRound::Approved(before)), "{unread}");
        }
        let both = vec!["0a".to_owned(), "0b".to_owned()];
        let approved = ApprovedEffects { digests: both, for_session: false };
        let repaired = call(&state, &json!({ "decision": accepted }));
        assert_eq!(read(&repaired, &seal, &CALL), Ok(CallRound::Approved(approved)));
        let spent = read(&call(&state, &Value::Null), &seal, &CALL).unwrap_err();
        assert!(spent.message.contains("used before"), "{spent:?}");
    }

    #[test]
    fn who_closes_a_form_has_denied_nothing() {
        let seal = StateSeal::new().unwrap();
        let closed = call(&asked(&seal), &json!({ "decision": { "action": "cancel" } }));
        assert_eq!(read(&closed, &seal, &CALL), Ok(CallRound::Undecided));
        assert!(read(&closed, &seal, &CALL).is_err(), "a response counts once");
        let denied = call(&asked(&seal), &json!({ "decision": { "action": "decline" } }));
        let effect = DeniedEffect { digest: "0b".to_owned(), reason: String::new() };
        assert_eq!(read(&denied, &seal, &CALL), Ok(CallRound::Denied(effect)));
    }

    #[test]
    fn a_reply_that_is_no_text_is_asked_for_anew_and_uses_nothing_up() {
        let seal = StateSeal::new().unwrap();
        let question = ClientForm::Question { text: "Tabs?".to_owned(), choices: Vec::new() };
        let put = put(&question, &seal, &CALL).unwrap().request_state.unwrap();
        let answer = |responses: Value| answer(&call(&put, &responses), &question, &seal, &CALL);
        for unread in [
            json!({}),
            json!({ "answer": { "action": "accept" } }),
            json!({ "answer": { "action": "accept", "content": { "answer": 5 } } }),
        ] {
            assert_eq!(answer(unread.clone()), Ok(QuestionRound::Unread), "{unread}");
        }
        let said = json!({ "answer": { "action": "accept", "content": { "answer": "no" } } });
        assert_eq!(answer(said.clone()), Ok(QuestionRound::Replied(Some("no".to_owned()))));
        assert!(answer(said).is_err(), "a response counts once");
        // One that comes too late says so, whether or not it can be read.
        let late = answer(json!({})).unwrap_err();
        assert!(late.code == "request_state_expired" && !late.is_of_protocol(), "{late:?}");
    }

    #[test]
    fn a_state_of_another_form_of_the_call_puts_no_question() {
        let seal = StateSeal::new().unwrap();
        let question = ClientForm::Question { text: "Tabs?".to_owned(), choices: Vec::new() };
        let accepted = json!({ "action": "accept", "content": { "decision": "allow_once" } });
        let other = call(&asked(&seal), &json!({ "decision": accepted }));
        assert_eq!(answer(&other, &question, &seal, &CALL), Ok(QuestionRound::Unasked));
    }
}
