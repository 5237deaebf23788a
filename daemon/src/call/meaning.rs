//! The vector of a question, for a call that searches code: where an endpoint is configured and may be asked, and in the
//! time that there is.

use std::sync::Arc;
use std::time::Duration;

use moss_sdk::ToolError;
use moss_sdk::code_search::{CodeSearch, CodeSearchGoal};

use super::host::CallHost;
use super::searching::QuestionMeaning;
use super::stop::EffectStop;
use moss_live_index::embeddings::AskedVector;

/// Most bytes of a question that are sent.
const QUESTION_BYTES_MAX: usize = 2_000;

// === impl CallHost ===

impl CallHost {
    /// Has the vector of a question made.
    pub(super) async fn meaning_of(
        &self,
        search: &CodeSearch,
    ) -> Result<QuestionMeaning, ToolError> {
        let config = self.scope.daemon.config().embeddings.clone();
        let (Some(endpoint), CodeSearchGoal::Question(question)) =
            (config.endpoint(), &search.goal)
        else {
            return Ok(QuestionMeaning::NotWanted);
        };
        // A process that ends with the call keeps no vectors.
        let (Ok(endpoint), true) = (endpoint, self.scope.daemon.jobs.is_open()) else {
            return Ok(QuestionMeaning::Unknown);
        };
        let permitted = self.effects.permit_embedding(&endpoint).await;
        let permitted = permitted.map_err(|error| self.effects.pass_on(EffectStop::Call(error)))?;
        let Some(_on_record) = permitted else { return Ok(QuestionMeaning::Unknown) };
        let (daemon, embeddings) = (&self.scope.daemon, &self.scope.workspace.embeddings);
        let end = question.floor_char_boundary(QUESTION_BYTES_MAX);
        let asked = AskedVector {
            endpoint: endpoint.id(),
            text: question[..end].to_owned(),
            wait: Duration::from_millis(config.query_ms),
            network: Arc::clone(&daemon.plugins.network),
            tasks: &daemon.tasks,
            draining: daemon.draining.clone(),
        };
        match embeddings.vector_of(asked).await {
            Some(vector) => Ok(QuestionMeaning::Known(vector)),
            None => {
                // Of a large workspace texts are read once somebody asks.
                embeddings.note_work();
                Ok(QuestionMeaning::Unknown)
            }
        }
    }
}
