//! What tools change of the user's configuration, in memory: the prompt and the plugins. Commands, which
//! are not run.

use super::MemoryHostState;
use crate::command::{CommandReport, CommandRequest, ReportedSandbox};
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

    pub(super) fn run_command(&mut self, request: CommandRequest) -> CommandReport {
        self.commands.push(request);
        let ran = !self.dry_run;
        CommandReport {
            ran,
            job: None,
            exit_code: Some(0).filter(|_| ran),
            signal: None,
            duration_ms: 0,
            stdout: String::new(),
            stderr: String::new(),
            truncated: false,
            artifact: None,
            left_running: Vec::new(),
            sandbox: ReportedSandbox {
                tier: "none".to_owned(),
                profile: "read-only".to_owned(),
                ..ReportedSandbox::default()
            },
            changed: Vec::new(),
            notes: Vec::new(),
        }
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
