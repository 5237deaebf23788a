//! A call that stands by itself and needs a person: its response is a form, and comes again with
//! what the person said. Nothing waits meanwhile.

use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitResult, InputRequest, InputRequests,
    InputRequiredResult,
};
use rmcp::service::{RequestContext, RoleServer};

use serde_json::Value;

use crate::backend::ApprovedEffects;
use crate::fault::CallFault;
use crate::form::{ClientForm, FormReply};
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
    /// The person said no, and why.
    Denied(String),
}

/// Whether the client of a request that stands by itself shows forms.
pub(crate) fn has_forms(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.meta.protocol_version().and(context.meta.client_capabilities());
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Reads what a call comes with. `call` names it exactly.
///
/// # Errors
///
/// Where its state is not one that was made for it.
pub(crate) fn read(
    request: &CallToolRequestParams,
    seal: &StateSeal,
    call: &[&str],
) -> Result<CallRound, CallFault> {
    let Some(state) = &request.request_state else {
        return Ok(CallRound::Approved(ApprovedEffects::default()));
    };
    let AskedEffects { digests, offers_session } =
        opened(state, seal, &[call, &[DECISION]].concat())?;
    let response = request.input_responses.as_ref().and_then(|all| all.get(DECISION));
    let form = ClientForm::Decision { text: String::new(), offers_session };
    let approved = |for_session| CallRound::Approved(ApprovedEffects { digests, for_session });
    match response.and_then(result).and_then(|result| form.answer(&result)) {
        Some(FormReply::AllowOnce) => Ok(approved(false)),
        Some(FormReply::AllowSession) => Ok(approved(true)),
        Some(FormReply::Deny(reason)) => Ok(CallRound::Denied(reason)),
        // Who closes the form has not decided.
        _ => Ok(CallRound::Denied("the form was closed without a decision".to_owned())),
    }
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
    let (text, offers_session) = (question.text.clone(), question.offers_session);
    let mut digests = approved.digests;
    digests.push(question.digest.clone());
    let asked = AskedEffects { digests, offers_session };
    let state = seal.seal(&asked, &[call, &[DECISION]].concat())?;
    with_form(DECISION, &ClientForm::Decision { text, offers_session }, state)
}

/// Makes the result that puts a question of a tool to the person.
pub(crate) fn put(
    question: &ClientForm,
    seal: &StateSeal,
    call: &[&str],
) -> Option<InputRequiredResult> {
    let none = AskedEffects { digests: vec![NO_DIGEST.to_owned()], offers_session: false };
    with_form(ANSWER, question, seal.seal(&none, &[call, &[ANSWER]].concat())?)
}

/// Reads what the person says to a question that was put; none where the call does not come with that.
///
/// # Errors
///
/// Where its state is not one that was made for it.
pub(crate) fn answer(
    request: &CallToolRequestParams,
    seal: &StateSeal,
    call: &[&str],
) -> Result<Option<Option<String>>, CallFault> {
    let response = request.input_responses.as_ref().and_then(|all| all.get(ANSWER));
    let (Some(response), Some(state)) = (response, &request.request_state) else { return Ok(None) };
    opened(state, seal, &[call, &[ANSWER]].concat())?;
    let question = ClientForm::Question { text: String::new(), choices: Vec::new() };
    Ok(Some(match result(response).and_then(|result| question.answer(&result)) {
        Some(FormReply::Said(said)) => Some(said),
        _ => None,
    }))
}

fn with_form(name: &str, form: &ClientForm, state: String) -> Option<InputRequiredResult> {
    let request = InputRequest::Elicitation(ElicitRequest::new(form.request()?));
    let requests = InputRequests::from([(name.to_owned(), request)]);
    Some(InputRequiredResult::new(Some(requests), Some(state)))
}

fn result(response: &Value) -> Option<ElicitResult> {
    serde_json::from_value(response.clone()).ok()
}

fn opened(state: &str, seal: &StateSeal, call: &[&str]) -> Result<AskedEffects, CallFault> {
    seal.open(state, call).map_err(|broken| match broken {
        BrokenSeal::Foreign => refused("is not one that was made for this call"),
        BrokenSeal::Spent => refused("is too old, or was used before"),
    })
}

fn refused(why: &str) -> CallFault {
    CallFault::new("request_state_invalid", format!("`requestState` {why}"))
        .hint("send the call without `requestState` and `inputResponses`: it asks anew")
}

/// The end of a call that the person said no to.
pub(crate) fn denied(reason: String) -> CallFault {
    let message = match reason.is_empty() {
        true => "the person denied it".to_owned(),
        false => format!("the person denied it: {reason}"),
    };
    CallFault::new("denied_by_person", message)
}
