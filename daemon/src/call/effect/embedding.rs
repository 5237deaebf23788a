//! Deciding whether texts and questions may be sent to an endpoint of embeddings: a network effect of `embeddings`,
//! whichever tool asks. A person is asked once for each workspace, endpoint and caller; a call goes on without where nobody
//! allows it.

use std::sync::Arc;
use std::time::Duration;

use moss_dispatch::embedding::EmbeddingQuestion;
use moss_dispatch::{CallError, ConfirmMode};
use moss_embeddings::EmbeddingEndpoint;
use moss_policy::{Decision, Policy, Verdict};
use serde_json::json;

use super::Effects;
use super::ask::Ask;
use super::by_rules::EmbeddingRules;
use crate::call::record;

/// How long a call waits for a person: it can do without.
const ASK_MAX: Duration = Duration::from_secs(60);

// === impl Effects ===

impl Effects {
    /// Whether an endpoint may be asked for the caller now; asks where that is needed and possible.
    ///
    /// # Errors
    ///
    /// Where the call ends.
    pub(in crate::call) async fn permit_embedding(
        &self,
        endpoint: &EmbeddingEndpoint,
    ) -> Result<bool, CallError> {
        // What a plugin has done for it is not sent, and a dry run sends nothing.
        if self.scope.behalf.is_some() || self.scope.call.dry_run {
            return Ok(false);
        }
        let policy = self.scope.workspace.policy.load_full();
        let decision = self.decide_embedding(&policy);
        let embeddings = &self.scope.workspace.embeddings;
        let (id, caller) = (endpoint.id(), self.scope.call.caller.name());
        match decision.verdict {
            Verdict::Deny => return Ok(false),
            Verdict::Ask if !embeddings.is_approved(id, caller) => {}
            Verdict::Allow | Verdict::Ask => {
                // A call that sends something is recorded, however it ends.
                record::release(&self.scope).await?;
                return Ok(true);
            }
        }
        let arguments = arguments(endpoint);
        let digest = self.digest_of("embeddings", &arguments);
        if embeddings.is_refused(id, caller, &policy) || !self.can_ask(digest) {
            return Ok(false);
        }
        // One question is enough.
        let Ok(_turn) = embeddings.asking.try_lock() else { return Ok(false) };
        record::requested(&self.scope, endpoint.host(), &decision).await?;
        let ask = Ask {
            arguments: Some(arguments),
            embedding: Some(Arc::new(EmbeddingQuestion {
                url: endpoint.url().to_owned(),
                model: endpoint.model().to_owned(),
                is_this_machine: endpoint.is_this_machine(),
            })),
            ..Ask::of(digest, &decision)
        };
        match tokio::time::timeout(ASK_MAX, self.ask(ask)).await {
            Ok(Ok(())) => {}
            // The question stays open: a later call learns what came of it.
            Ok(Err(CallError::Unconfirmed(_))) if self.scope.call.confirm == ConfirmMode::Leave => {
                return Ok(false);
            }
            Ok(Err(CallError::Denied { .. } | CallError::Unconfirmed(_))) | Err(_) => {
                embeddings.refuse(id, caller, policy);
                return Ok(false);
            }
            Ok(Err(CallError::TooManyConfirmations(_))) => return Ok(false),
            Ok(Err(error)) => return Err(error),
        }
        // A decision to one question does not overrule a rule that came meanwhile.
        if self.decide_embedding(&self.scope.workspace.policy.load()).verdict == Verdict::Deny {
            return Ok(false);
        }
        embeddings.approve(id, caller);
        Ok(true)
    }

    fn decide_embedding(&self, policy: &Policy) -> Decision {
        EmbeddingRules(&self.scope.workspace).decide(policy, self.scope.call.caller.name())
    }
}

/// What a decision is bound to, as JSON.
fn arguments(endpoint: &EmbeddingEndpoint) -> String {
    json!({
        "send": "texts of the workspace that every caller may read, and questions over them",
        "to": endpoint.url(),
        "model": endpoint.model(),
    })
    .to_string()
}
