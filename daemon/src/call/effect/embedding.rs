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
use crate::call::held_records::OnRecord;
use crate::call::record;

/// How long a call waits for a person: it can do without.
const ASK_MAX: Duration = Duration::from_secs(60);

// === impl Effects ===

impl Effects {
    /// Whether an endpoint may be asked for the caller now: then the call is on record. Asks a person where that is
    /// needed and possible.
    ///
    /// # Errors
    ///
    /// Where the call ends.
    pub(in crate::call) async fn permit_embedding(
        &self,
        endpoint: &EmbeddingEndpoint,
    ) -> Result<Option<OnRecord>, CallError> {
        // What a plugin has done for it is not sent, and a dry run sends nothing.
        if self.scope.behalf.is_some() || self.scope.call.dry_run {
            return Ok(None);
        }
        let policy = self.scope.workspace.policy.load_full();
        let decision = self.decide_embedding(&policy);
        let embeddings = &self.scope.workspace.embeddings;
        let (id, caller) = (endpoint.id(), self.scope.call.caller.name());
        match decision.verdict {
            Verdict::Deny => return Ok(None),
            Verdict::Ask if !embeddings.is_approved(id, caller) => {}
            Verdict::Allow | Verdict::Ask => {
                return record::release(&self.scope).await.map(Some);
            }
        }
        let arguments = arguments(endpoint);
        let digest = self.digest_of("embeddings", &arguments);
        if embeddings.is_refused(id, caller, &policy) || !self.can_ask(digest) {
            return Ok(None);
        }
        // One question is enough.
        let Ok(_turn) = embeddings.asking.try_lock() else { return Ok(None) };
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
        let on_record = match self.ask_within(ask, ASK_MAX).await {
            Ok(on_record) => on_record,
            // The question stays open: a later call learns what came of it.
            Err(CallError::Unconfirmed(_)) if self.scope.call.confirm == ConfirmMode::Leave => {
                return Ok(None);
            }
            Err(CallError::Denied { .. } | CallError::Unconfirmed(_)) => {
                embeddings.refuse(id, caller, policy);
                return Ok(None);
            }
            Err(CallError::TooManyConfirmations(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        // A decision to one question does not overrule a rule that came meanwhile.
        if self.decide_embedding(&self.scope.workspace.policy.load()).verdict == Verdict::Deny {
            return Ok(None);
        }
        embeddings.approve(id, caller);
        Ok(Some(on_record))
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
