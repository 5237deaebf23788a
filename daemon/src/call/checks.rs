//! The checks of a native tool: tests and linters of the project, and what the tool keeps for its next call.

use std::future::ready;

use moss_sdk::checks::Checks;
use moss_sdk::command::{CheckReport, CheckRequest, ConfiguredLinter, FollowedCheck};
use moss_sdk::context::BoxFuture;
use moss_sdk::{ErrorCode, ToolError};

use super::host::CallHost;
use crate::remembered::RememberedKey;

fn denied<'a, T: Send + 'a>() -> BoxFuture<'a, Result<T, ToolError>> {
    let denied = ToolError::new(ErrorCode::Denied, "a plugin does not run commands");
    Box::pin(ready(Err(denied)))
}

// === impl CallHost ===

impl CallHost {
    fn remembered_key(&self, name: &str) -> RememberedKey {
        let call = &self.scope.call;
        RememberedKey {
            caller: call.caller.name().to_owned(),
            session: call.session_id.clone(),
            tool: call.tool().to_owned(),
            name: name.to_owned(),
        }
    }
}

impl Checks for CallHost {
    fn report_directory(&self) -> String {
        self.effects.reports().display().to_string()
    }

    fn run_check(&self, request: CheckRequest) -> BoxFuture<'_, Result<CheckReport, ToolError>> {
        match self.scope.behalf {
            Some(_) => denied(),
            None => Box::pin(self.effect(self.effects.run_check(request))),
        }
    }

    fn follow_check(&self, check: FollowedCheck) -> BoxFuture<'_, Result<CheckReport, ToolError>> {
        match self.scope.behalf {
            Some(_) => denied(),
            None => Box::pin(self.effect(self.effects.follow_check(check))),
        }
    }

    fn configured_linters(&self) -> Vec<ConfiguredLinter> {
        let config = self.scope.daemon.config();
        config.linters.iter().map(|(name, linter)| linter.configured(name)).collect()
    }

    fn remembered(&self, name: &str) -> Option<Vec<u8>> {
        self.scope.workspace.remembered.get(&self.remembered_key(name))
    }

    fn remember(&self, name: &str, value: Vec<u8>) -> Option<Vec<u8>> {
        let (remembered, key) = (&self.scope.workspace.remembered, self.remembered_key(name));
        match self.scope.call.dry_run {
            true => remembered.get(&key),
            false => remembered.replace(key, value),
        }
    }
}
