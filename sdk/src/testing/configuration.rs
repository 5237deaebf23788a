//! What tools change of the user's configuration, in memory: the prompt and the plugins.

use super::MemoryHostState;
use crate::error::{ErrorCode, ToolError};
use crate::plugin::{PluginRegistered, PluginRequest};
use crate::prompt::{PromptApplied, PromptChange};

// === impl MemoryHostState ===

impl MemoryHostState {
    pub(super) fn register_plugin(
        &mut self,
        request: PluginRequest,
    ) -> Result<PluginRegistered, ToolError> {
        if self.plugins.iter().any(|known| known.name == request.name) {
            let message = format!("a plugin named `{}` is listed already", request.name);
            return Err(ToolError::new(ErrorCode::AlreadyExists, message));
        }
        let applied = !self.dry_run;
        let registered = PluginRegistered {
            version: "1.0.0".to_owned(),
            sha256: request.sha256.clone().unwrap_or_else(|| "0".repeat(64)),
            tools: vec![format!("{}_tool", request.name)],
            may: Vec::new(),
            may_not: Vec::new(),
            list: "moss-tools.json".to_owned(),
            applied,
            loaded: applied,
        };
        if applied {
            self.plugins.push(request);
        }
        Ok(registered)
    }

    pub(super) fn change_user_prompt(&mut self, change: &PromptChange) -> PromptApplied {
        let prompt = change.applied_to(&self.user_prompt);
        let bytes = prompt.len() as u64;
        if self.dry_run {
            return PromptApplied { version: None, bytes };
        }
        self.user_prompt = prompt;
        self.history += 1;
        PromptApplied { version: Some(self.history), bytes }
    }
}
