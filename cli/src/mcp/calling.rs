//! One call for a client of another protocol, with its questions: forms of the client where the person
//! enabled them, approvers everywhere else.

use moss_dispatch::Reason;
use moss_mcp::{
    ApprovedEffects, CallNote, ClientForm, DeniedEffect, FORM_BYTES_MAX, FORM_CLOSED, FormReply,
    ToolUse,
};
use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event;
use tokio::sync::{mpsc, oneshot};

use crate::client::{Calling, Client, OneTimeDecision, RequestFailure};
use crate::wording::EN;
use crate::{effect, text};

/// How a call goes on after a question.
enum AfterQuestion {
    /// Something happened to it.
    Event(Box<Event>),
    /// The question is resolved.
    Resolved,
    /// The person said no, whether or not that could be recorded.
    Denied(Result<(), RequestFailure>),
    /// Nobody resolved it: the client has shown no form, or the person closed it.
    Undecided,
}

/// What comes of a call whose questions are forms.
enum FormsEnd {
    /// It has a result.
    Result(Box<v1::CallResult>),
    /// It asks what no form may decide.
    ForApprovers,
    /// The person closed a form about what the call can do without: not now.
    Without,
}

/// What is known of the no of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denial {
    /// It is recorded: only how the call ended may not be known.
    Recorded,
    /// It could not be recorded.
    Unrecorded,
    /// The connection was lost before the daemon said whether it recorded it.
    Unknown,
}

/// Why a call has no result.
#[derive(Debug)]
pub(super) struct FailedCall {
    pub(super) failure: RequestFailure,
    /// The no to it, where the person said no.
    pub(super) denial: Option<Denial>,
}

// === impl Denial ===

impl Denial {
    /// What is known of a no where the daemon did not say that it took it.
    pub(super) fn after(failure: &RequestFailure) -> Self {
        match failure.is(Reason::DaemonUnreachable) {
            true => Self::Unknown,
            false => Self::Unrecorded,
        }
    }
}

// === impl FailedCall ===

impl From<RequestFailure> for FailedCall {
    fn from(failure: RequestFailure) -> Self {
        Self { failure, denial: None }
    }
}

/// Shows a confirmation in plain text. The name of the question is left out: whoever approves sees it
/// elsewhere.
pub(super) fn shown(asked: &v1::Confirmation) -> String {
    let nameless = v1::Confirmation { id: String::new(), ..asked.clone() };
    let shown = effect::confirmation(&EN, &nameless);
    text::lines(&anstream::adapter::strip_str(&shown).to_string())
}

/// Makes a call and follows it to its end.
pub(super) async fn follow(
    client: &Client,
    request: ToolUse,
    notes: &mpsc::Sender<CallNote>,
) -> Result<v1::CallResult, FailedCall> {
    if request.decides_by_form && client.has_approver() {
        let calling = begin(client, &request, v1::ConfirmMode::Wait, true).await?;
        match with_forms(client, calling, notes).await? {
            FormsEnd::Result(result) => return Ok(*result),
            // The call is made again, and does without what it would have asked about.
            FormsEnd::Without => {
                let calling = begin(client, &request, v1::ConfirmMode::Refuse, false).await?;
                return Ok(to_end(calling, notes).await?);
            }
            // What no form decides about waits for an approver: nothing has happened yet.
            FormsEnd::ForApprovers => {}
        }
    }
    if let Some(approved) = request.in_rounds.as_ref().filter(|_| client.has_approver()) {
        match in_round(client, &request, approved, notes).await {
            // What no form decides about waits for an approver, too.
            Err(failure) if is_for_approvers(&failure) => {}
            ended => return Ok(ended?),
        }
    }
    // Nobody else reaches a daemon of this process.
    let mode = match client.is_alone() {
        true => v1::ConfirmMode::Refuse,
        false => v1::ConfirmMode::Leave,
    };
    let calling = begin(client, &request, mode, false).await?;
    Ok(to_end(calling, notes).await?)
}

/// Records that the person said no to an effect of a call, and returns how that ends. The call is not carried out.
pub(super) async fn deny(
    client: &Client,
    request: &ToolUse,
    denied: DeniedEffect,
) -> RequestFailure {
    let DeniedEffect { digest, reason } = denied;
    let call = v1::Call {
        denial: Some(v1::EffectDenial { digest, reason }),
        // A daemon that does not know denials does nothing either.
        dry_run: true,
        ..of_use(request, v1::ConfirmMode::Refuse)
    };
    let made = client.call_of(call, None, true, request.trace_parent.as_deref()).await;
    let mut calling = match made {
        Ok(calling) => calling,
        Err(failure) => return failure,
    };
    loop {
        match calling.next().await {
            Ok(Event::Result(_)) => {
                let message = "the person denied it; nothing was changed, and it is not recorded";
                return RequestFailure::new(Reason::DeniedByPerson, message.to_owned());
            }
            Ok(_) => {}
            Err(failure) => return failure,
        }
    }
}

/// Follows a call that nobody is asked about here.
async fn to_end(
    mut calling: Calling,
    notes: &mpsc::Sender<CallNote>,
) -> Result<v1::CallResult, RequestFailure> {
    let mut asked = None;
    loop {
        match next(&mut calling, notes).await {
            Ok(Event::ConfirmationNeeded(confirmation)) => asked = Some(Box::new(confirmation)),
            Ok(Event::Result(result)) => return Ok(result),
            Ok(_) => {}
            Err(failure) => return Err(with_question(failure, asked)),
        }
    }
}

/// Makes a call with the effects that the person approved so far. Its next question is its end.
async fn in_round(
    client: &Client,
    request: &ToolUse,
    approved: &ApprovedEffects,
    notes: &mpsc::Sender<CallNote>,
) -> Result<v1::CallResult, RequestFailure> {
    if approved.digests.is_empty() {
        let calling = begin(client, request, v1::ConfirmMode::Refuse, true).await?;
        return to_end(calling, notes).await;
    }
    let mut calling = begin(client, request, v1::ConfirmMode::Wait, true).await?;
    loop {
        match next(&mut calling, notes).await? {
            Event::ConfirmationNeeded(asked) if approved.digests.contains(&asked.digest) => {
                let for_session =
                    approved.for_session && approved.digests.last() == Some(&asked.digest);
                allow(client, &asked, for_session).await?;
            }
            // Dropping the call withdraws its question.
            Event::ConfirmationNeeded(asked) => {
                let message = "another effect of the call needs a decision, too".to_owned();
                let failure = RequestFailure::new(Reason::ConfirmationRequired, message);
                return Err(with_question(failure, Some(Box::new(asked))));
            }
            Event::Result(result) => return Ok(result),
            _ => {}
        }
    }
}

/// Whether a call needs a decision that no form makes.
fn is_for_approvers(failure: &RequestFailure) -> bool {
    let asked = failure.confirmation.as_ref();
    failure.is(Reason::ConfirmationRequired) && asked.is_none_or(|asked| form(asked).is_none())
}

/// Whether a call goes on without the effect that a question is about.
fn is_optional(asked: &v1::Confirmation) -> bool {
    asked.embedding.is_some() || asked.command.as_ref().is_some_and(|command| command.optional)
}

/// Whether a form may decide about a question.
pub(super) fn is_for_forms(asked: &v1::Confirmation) -> bool {
    form(asked).is_some()
}

async fn begin(
    client: &Client,
    request: &ToolUse,
    mode: v1::ConfirmMode,
    is_attended: bool,
) -> Result<Calling, RequestFailure> {
    let call = of_use(request, mode);
    client.call_of(call, None, is_attended, request.trace_parent.as_deref()).await
}

fn of_use(request: &ToolUse, mode: v1::ConfirmMode) -> v1::Call {
    v1::Call {
        tool: request.name.clone(),
        arguments_json: request.arguments_json.clone(),
        session_id: request.session_id.clone(),
        confirm: mode.into(),
        ..v1::Call::default()
    }
}

/// A status has no room for a long diff: the question that was sent before it has.
fn with_question(failure: RequestFailure, asked: Option<Box<v1::Confirmation>>) -> RequestFailure {
    match asked {
        Some(asked) if failure.is(Reason::ConfirmationRequired) => {
            RequestFailure { confirmation: Some(asked), ..failure }
        }
        _ => failure,
    }
}

/// Follows a call whose questions forms decide about.
async fn with_forms(
    client: &Client,
    mut calling: Calling,
    notes: &mpsc::Sender<CallNote>,
) -> Result<FormsEnd, FailedCall> {
    let mut event = next(&mut calling, notes).await?;
    loop {
        let asked = match event {
            Event::Result(result) => return Ok(FormsEnd::Result(Box::new(result))),
            Event::ConfirmationNeeded(asked) if !asked.id.is_empty() => asked,
            _ => {
                event = next(&mut calling, notes).await?;
                continue;
            }
        };
        let Some(form) = form(&asked) else { return Ok(FormsEnd::ForApprovers) };
        event = match decided(client, &asked, form, &mut calling, notes).await? {
            AfterQuestion::Event(event) => *event,
            AfterQuestion::Resolved => next(&mut calling, notes).await?,
            // The call goes on without it.
            AfterQuestion::Denied(recorded) if is_optional(&asked) => {
                recorded?;
                next(&mut calling, notes).await?
            }
            // However it ends, nobody is to send it again.
            AfterQuestion::Denied(recorded) => {
                let (ended, denial) = match recorded {
                    Ok(()) => (next(&mut calling, notes).await, Denial::Recorded),
                    Err(failure) => {
                        let denial = Denial::after(&failure);
                        (Err(failure), denial)
                    }
                };
                ended.map_err(|failure| FailedCall { failure, denial: Some(denial) })?
            }
            // Dropping the call withdraws its question.
            AfterQuestion::Undecided if is_optional(&asked) => return Ok(FormsEnd::Without),
            AfterQuestion::Undecided => {
                let failure = RequestFailure::new(Reason::ConfirmationRequired, FORM_CLOSED);
                return Err(with_question(failure, Some(Box::new(asked))).into());
            }
        };
    }
}

/// The form for a question; none where it is for an approver alone.
fn form(asked: &v1::Confirmation) -> Option<ClientForm> {
    let is_ordinary =
        !(asked.protected || asked.for_person || asked.drift || asked.registers || asked.truncated);
    let (text, session_rule) = (shown(asked), session_rule(asked));
    let length = text.len() + session_rule.as_ref().map_or(0, String::len);
    (is_ordinary && length <= FORM_BYTES_MAX).then_some(ClientForm::Decision { text, session_rule })
}

/// The rule that is offered for the rest of the session.
pub(super) fn session_rule(asked: &v1::Confirmation) -> Option<String> {
    Some(text::lines(&session_offer(asked)?.rule_toml))
}

fn session_offer(asked: &v1::Confirmation) -> Option<&v1::OfferedApproval> {
    asked.offers.iter().find(|offer| offer.scope() == v1::ApprovalScope::Session)
}

/// Allows an effect, where that is offered for the rest of the session. Somebody else may be faster: the call
/// says what came of it.
async fn allow(
    client: &Client,
    asked: &v1::Confirmation,
    for_session: bool,
) -> Result<(), RequestFailure> {
    let allowed = match session_offer(asked).filter(|_| for_session) {
        Some(offer) => client.remember(asked, offer).await.map(drop),
        None => client.resolve(asked, OneTimeDecision::Yes).await.map(drop),
    };
    match allowed {
        Err(failure) if failure.is(Reason::ConfirmationOver) => Ok(()),
        allowed => allowed,
    }
}

/// Puts a question to the person, and does what the person says. Somebody else may be faster.
async fn decided(
    client: &Client,
    asked: &v1::Confirmation,
    form: ClientForm,
    calling: &mut Calling,
    notes: &mpsc::Sender<CallNote>,
) -> Result<AfterQuestion, RequestFailure> {
    let (answer, answered) = oneshot::channel();
    if notes.send(CallNote::Form { form, answer }).await.is_err() {
        return Ok(AfterQuestion::Undecided);
    }
    let said = tokio::select! {
        said = answered => said,
        event = calling.next() => return Ok(AfterQuestion::Event(Box::new(event?))),
    };
    match said {
        Ok(FormReply::AllowOnce) => allow(client, asked, false).await?,
        Ok(FormReply::AllowSession) => allow(client, asked, true).await?,
        Ok(FormReply::Deny(reason)) => {
            return Ok(match client.resolve(asked, OneTimeDecision::No(reason)).await {
                // Somebody was faster: the call says what came of it.
                Err(failure) if failure.is(Reason::ConfirmationOver) => AfterQuestion::Resolved,
                recorded => AfterQuestion::Denied(recorded.map(drop)),
            });
        }
        Ok(FormReply::Said(_)) | Err(_) => return Ok(AfterQuestion::Undecided),
    }
    Ok(AfterQuestion::Resolved)
}

/// Returns the next event that is more than progress, which goes to the client.
async fn next(
    calling: &mut Calling,
    notes: &mpsc::Sender<CallNote>,
) -> Result<Event, RequestFailure> {
    loop {
        match calling.next().await? {
            Event::Progress(v1::CallProgress { message, done, total }) => {
                // A slow client misses some of it.
                let _ = notes.try_send(CallNote::Progress { message, done, total });
            }
            event => return Ok(event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_for_an_approver_alone_has_no_form() {
        let asked = v1::Confirmation { tool: "create_file".to_owned(), ..Default::default() };
        assert!(form(&asked).is_some());
        for change in [
            |asked: &mut v1::Confirmation| asked.protected = true,
            |asked: &mut v1::Confirmation| asked.for_person = true,
            |asked: &mut v1::Confirmation| asked.drift = true,
            |asked: &mut v1::Confirmation| asked.registers = true,
            |asked: &mut v1::Confirmation| asked.truncated = true,
        ] {
            let mut asked = asked.clone();
            change(&mut asked);
            assert!(form(&asked).is_none(), "{asked:?}");
        }
    }
}
