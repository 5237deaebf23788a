//! `moss.v1.ConfirmationService`. Only approvers get here: see the table in `auth`.

use std::pin::Pin;
use std::sync::Arc;

use moss_dispatch::Reason;
use moss_proto::v1;
use moss_proto::v1::confirmation_service_server::ConfirmationService;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::from_proto::REASON_BYTES_MAX;
use super::methods::methods;
use super::{error, from_proto, pass, to_proto};
use moss_daemon::confirm::{ConfirmationDecision, ResolveError};
use moss_daemon::recorded_decision::settle;
use moss_daemon::state::Daemon;
use moss_journal::audit::uses::ApprovalUses;

/// Messages of a watch that wait for the transport.
const STREAM_QUEUE_MAX: usize = 16;
/// Largest list of confirmations that holds their diffs, drift, arguments and consents, in bytes.
const LIST_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug, Clone)]
pub(super) struct ConfirmationsRpc(pub(super) Arc<Daemon>);

type ConfirmationStream =
    Pin<Box<dyn Stream<Item = Result<v1::WatchConfirmationsResponse, Status>> + Send>>;

methods! {
    ConfirmationService for ConfirmationsRpc {
        type WatchConfirmationsStream = ConfirmationStream;
        fn list_confirmations(v1::ListConfirmationsRequest) -> v1::ListConfirmationsResponse;
        fn watch_confirmations(v1::WatchConfirmationsRequest) -> ConfirmationStream;
        fn show_confirmation(v1::ShowConfirmationRequest) -> v1::ShowConfirmationResponse;
        fn resolve_confirmation(v1::ResolveConfirmationRequest) -> v1::ResolveConfirmationResponse;
    }
}

impl ConfirmationsRpc {
    async fn list_confirmations(
        &self,
        request: Request<v1::ListConfirmationsRequest>,
    ) -> Result<Response<v1::ListConfirmationsResponse>, Status> {
        let request = request.into_inner();
        let scope = self.scope(&request.workspace)?;
        let mut confirmations: Vec<_> = self
            .0
            .confirmations
            .pending()
            .iter()
            .filter(|pending| scope.as_ref().is_none_or(|root| *root == pending.question.workspace))
            .filter(|pending| request.id.is_empty() || request.id == pending.id)
            .map(|pending| to_proto::confirmation(pending))
            .collect();
        if request.id.is_empty() {
            shorten(&mut confirmations);
        }
        Ok(Response::new(v1::ListConfirmationsResponse { confirmations }))
    }

    async fn watch_confirmations(
        &self,
        request: Request<v1::WatchConfirmationsRequest>,
    ) -> Result<Response<ConfirmationStream>, Status> {
        let scope = self.scope(&request.into_inner().workspace)?;
        let mut watch = self.0.confirmations.watch(scope);
        let draining = self.0.draining.clone();
        let (sender, stream) = mpsc::channel(STREAM_QUEUE_MAX);
        self.0.tasks.spawn(async move {
            loop {
                let confirmation = tokio::select! {
                    () = draining.cancelled() => return,
                    () = sender.closed() => return,
                    confirmation = watch.next() => to_proto::confirmation(&confirmation),
                };
                let confirmation = Some(confirmation);
                let message = v1::WatchConfirmationsResponse { confirmation };
                if !pass(&sender, Ok(message), &draining).await {
                    return;
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }

    async fn show_confirmation(
        &self,
        request: Request<v1::ShowConfirmationRequest>,
    ) -> Result<Response<v1::ShowConfirmationResponse>, Status> {
        let v1::ShowConfirmationRequest { id, page_token, preview } = request.into_inner();
        let offset = match page_token.as_str() {
            "" => Ok(0),
            token => token.parse().map_err(|_| error::invalid_field("page_token", "not one")),
        };
        let page = self.0.confirmations.page(&id, offset?, preview);
        let page = page.map_err(|refusal| resolve_error(&refusal))?;
        let parts = page.parts.into_iter().map(|(change, text)| v1::ShownPart {
            change: u32::try_from(change).unwrap_or(u32::MAX),
            text,
        });
        Ok(Response::new(v1::ShowConfirmationResponse {
            parts: parts.collect(),
            next_page_token: page.next.map(|next| next.to_string()).unwrap_or_default(),
            bytes_total: page.total as u64,
        }))
    }

    async fn resolve_confirmation(
        &self,
        request: Request<v1::ResolveConfirmationRequest>,
    ) -> Result<Response<v1::ResolveConfirmationResponse>, Status> {
        let request = request.into_inner();
        if request.reason.len() > REASON_BYTES_MAX {
            let message = format!("longer than {REASON_BYTES_MAX} bytes");
            return Err(error::invalid_field("reason", &message));
        }
        let digest = from_proto::hash("digest", &request.digest)?;
        let verdict = match v1::Verdict::try_from(request.verdict) {
            Ok(v1::Verdict::Approve) if request.remember.is_empty() => match request.by_digest {
                true => ConfirmationDecision::ApproveByDigest,
                false => ConfirmationDecision::Approve,
            },
            Ok(v1::Verdict::Approve) => {
                ConfirmationDecision::Remember(from_proto::hash("remember", &request.remember)?)
            }
            Ok(v1::Verdict::Deny) if request.remember.is_empty() => {
                ConfirmationDecision::Deny(request.reason)
            }
            Ok(v1::Verdict::Deny) => {
                return Err(error::invalid_field("remember", "a denial cannot be stored"));
            }
            Ok(v1::Verdict::Unspecified) | Err(_) => {
                return Err(error::invalid_field("verdict", "expected APPROVE or DENY"));
            }
        };
        let taken = self
            .0
            .confirmations
            .take(&request.id, digest, verdict)
            .map_err(|refusal| resolve_error(&refusal))?;
        // On a task of its own: an approver that goes meanwhile has decided.
        let daemon = Arc::clone(&self.0);
        let settle = async move { settle(&daemon, taken).await };
        let settled = self
            .0
            .tasks
            .spawn(settle)
            .await
            .map_err(|_| error::internal("resolving the confirmation panicked"))?;
        let confirmation = Some(to_proto::confirmation(&settled.confirmation));
        let (approval, problem) = match settled.remembered {
            None => (None, String::new()),
            Some(Ok(listed)) => {
                (Some(to_proto::standing_approval(&listed, ApprovalUses::default())), String::new())
            }
            Some(Err(error)) => (None, error.to_string()),
        };
        Ok(Response::new(v1::ResolveConfirmationResponse {
            confirmation,
            approval,
            remember_problem: problem,
        }))
    }
}

/// Leaves out what makes a list of confirmations too large: diffs, drift, arguments, consents and commands.
fn shorten(confirmations: &mut [v1::Confirmation]) {
    if confirmations.iter().map(prost::Message::encoded_len).sum::<usize>() <= LIST_BYTES_MAX {
        return;
    }
    for confirmation in confirmations {
        confirmation.arguments_json.clear();
        confirmation.consent = None;
        confirmation.command = None;
        confirmation.offers.clear();
        for change in &mut confirmation.changes {
            change.diff_omitted_bytes += change.diff.len() as u64;
            change.diff.clear();
            change.drift_omitted += change.drift.len() as u64;
            change.drift.clear();
        }
    }
}

fn resolve_error(refusal: &ResolveError) -> Status {
    let reason = match refusal {
        ResolveError::Unknown(_) => Reason::ConfirmationUnknown,
        ResolveError::Over { .. } => Reason::ConfirmationOver,
        ResolveError::OtherDigest(_) => Reason::DigestChanged,
        ResolveError::NotOffered(_) => Reason::ApprovalNotOffered,
        ResolveError::NotShown(_) => Reason::ConfirmationNotShown,
        ResolveError::NoPage(_) => Reason::RequestInvalid,
    };
    error::status(reason, &refusal.to_string(), &[])
}

// === impl ConfirmationsRpc ===

impl ConfirmationsRpc {
    /// The workspace that a request names, by its canonical root; all where it names none.
    fn scope(&self, workspace: &str) -> Result<Option<String>, Status> {
        if workspace.is_empty() {
            return Ok(None);
        }
        from_proto::workspace(&self.0, workspace).map(|found| Some(found.name().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diffs_are_left_out_of_large_lists_alone() {
        let list = |count| {
            let diff = "+".repeat(LIST_BYTES_MAX / 4);
            let change = v1::FileChange { path: "a".into(), diff, ..Default::default() };
            let one = v1::Confirmation { changes: vec![change], ..Default::default() };
            let mut list = vec![one; count];
            shorten(&mut list);
            list
        };
        assert!(list(3).iter().all(|one| !one.changes[0].diff.is_empty()));
        assert!(list(4).iter().all(|one| one.changes[0].diff.is_empty()));
        assert!(list(4).iter().all(|one| one.changes[0].path == "a"));
    }
}
