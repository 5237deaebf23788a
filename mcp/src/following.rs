//! One call while it runs: its progress goes to the client, its forms to the person there.

use std::time::Duration;

use moss_sdk::context::BoxFuture;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{ElicitationMode, Peer, RequestContext, RoleServer, ServiceError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::backend::{CallNote, ToolBackend, ToolUse, UseReply};
use crate::clarify;
use crate::fault::CallFault;
use crate::form::{ClientForm, FormOutcome, FormReply};
use crate::shown_form::ShownForm;

/// Notes of a call that wait for a slow client.
const NOTES_MAX: usize = 64;
/// How often a form is shown whose client returns nothing that it offers.
const SHOWN_MAX: usize = 3;

/// How long the forms of a connection stay open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormLife<'a> {
    pub(crate) wait: Duration,
    /// Cancelled where nobody is left to reply.
    pub(crate) gone: &'a CancellationToken,
}

/// Whether the client of a request shows forms when it is asked to.
pub(crate) fn has_forms(context: &RequestContext<RoleServer>) -> bool {
    // A request that stands by itself has nobody to ask back.
    context.meta.protocol_version().is_none()
        && context.peer.supported_elicitation_modes().contains(&ElicitationMode::Form)
}

/// Makes a call and follows it to its end, or until the client cancels it.
pub(crate) async fn follow(
    backend: &dyn ToolBackend,
    request: ToolUse,
    context: &RequestContext<RoleServer>,
    forms: FormLife<'_>,
) -> Result<UseReply, CallFault> {
    let asked_of = request.has_forms.then(|| request.clone());
    let (sender, mut notes) = mpsc::channel(NOTES_MAX);
    let token = context.meta.get_progress_token();
    let mut progress = token.map(|token| ProgressSender::new(token, context.peer.clone()));
    let mut call = backend.call(request, sender);
    let mut shown: Option<BoxFuture<'_, ()>> = None;
    let ended = loop {
        let note = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(cancelled()),
            () = closed(&mut shown) => {
                shown = None;
                continue;
            }
            // One form at a time: further notes wait for it.
            Some(note) = notes.recv(), if shown.is_none() => note,
            ended = &mut call => break ended,
        };
        match note {
            CallNote::Form { form, answer } => {
                shown = Some(Box::pin(pass_on(&context.peer, form, forms, answer)));
            }
            CallNote::Progress { message, done, total } => {
                if let Some(progress) = &mut progress {
                    tokio::select! {
                        () = progress.send(message, done, total) => {}
                        () = context.ct.cancelled() => return Err(cancelled()),
                    }
                }
            }
        }
    };
    // Nobody waits for what it shows.
    drop(shown);
    // What it reported last comes before its end.
    while let (Some(progress), Ok(note)) = (&mut progress, notes.try_recv()) {
        if let CallNote::Progress { message, done, total } = note {
            progress.send(message, done, total).await;
        }
    }
    let mut reply = ended?;
    if let Some(form) = asked_of.and_then(|call| clarify::open_question(&call, &reply)) {
        let said = tokio::select! {
            said = show(&context.peer, &form, forms) => said,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        if let Some(FormReply::Said(said)) = said {
            reply.result = Ok(clarify::output(Some(&said)));
        }
    }
    Ok(reply)
}

fn cancelled() -> CallFault {
    CallFault::new("call_cancelled", "the call was cancelled")
}

/// Waits until the form that is shown has its reply; for ever, where none is.
async fn closed(shown: &mut Option<BoxFuture<'_, ()>>) {
    match shown {
        Some(form) => form.await,
        None => std::future::pending().await,
    }
}

/// Shows a form and passes the reply on, as long as somebody waits for it. Without a reply, the sender is dropped.
async fn pass_on(
    peer: &Peer<RoleServer>,
    form: ClientForm,
    forms: FormLife<'_>,
    mut answer: oneshot::Sender<FormReply>,
) {
    let said = tokio::select! {
        said = show(peer, &form, forms) => said,
        () = answer.closed() => None,
    };
    if let Some(said) = said {
        // A call that ended meanwhile wants no response.
        let _ = answer.send(said);
    }
}

/// Shows a form, anew where nothing comes back that it offers; none where nobody replies in time, or is
/// left to.
async fn show(
    peer: &Peer<RoleServer>,
    form: &ClientForm,
    forms: FormLife<'_>,
) -> Option<FormReply> {
    let begun = Instant::now();
    for _ in 0..SHOWN_MAX {
        let wait = forms.wait.saturating_sub(begun.elapsed());
        let shown = tokio::select! {
            shown = ShownForm::result(peer, form.request()?) => shown,
            () = forms.gone.cancelled() => return None,
            () = tokio::time::sleep(wait) => return None,
        };
        let outcome = match shown {
            Ok(result) => form.outcome(&result),
            // A result of another form.
            Err(ServiceError::UnexpectedResponse) => FormOutcome::Unread,
            Err(error) => {
                tracing::warn!(%error, "the client did not show a form");
                return None;
            }
        };
        match outcome {
            FormOutcome::Replied(reply) => return Some(reply),
            FormOutcome::Closed => return None,
            FormOutcome::Unread => {
                tracing::warn!("the client returned nothing that its form offers");
            }
        }
    }
    None
}

/// Sends the progress of one call: numbers that only grow, as the protocol wants them.
struct ProgressSender {
    token: ProgressToken,
    peer: Peer<RoleServer>,
    last: Option<u64>,
}

// === impl ProgressSender ===

impl ProgressSender {
    fn new(token: ProgressToken, peer: Peer<RoleServer>) -> Self {
        Self { token, peer, last: None }
    }

    async fn send(&mut self, message: String, done: u64, total: Option<u64>) {
        if self.last.is_some_and(|last| done <= last) {
            return;
        }
        self.last = Some(done);
        #[expect(clippy::cast_precision_loss, reason = "progress is shown, not counted with")]
        let mut params = ProgressNotificationParam::new(self.token.clone(), done as f64);
        #[expect(clippy::cast_precision_loss, reason = "progress is shown, not counted with")]
        {
            params.total = total.map(|total| total as f64);
        }
        params.message = Some(message).filter(|message| !message.is_empty());
        // A client that is gone is noticed by its transport.
        let _ = self.peer.notify_progress(params).await;
    }
}
