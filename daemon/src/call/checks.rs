//! The checks of a native tool: tests and linters of the project, and what the tool keeps for its next call.

use std::future::ready;
use std::sync::Arc;

use moss_builtin_tools::linters_of;
use moss_sdk::checks::Checks;
use moss_sdk::command::{CheckReport, CheckRequest, ConfiguredLinter, FollowedCheck};
use moss_sdk::context::{BoxFuture, Context};
use moss_sdk::edit::{Change, ChangeKind, ChangeSet};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::effect::{LintsOfChange, ProposedLint, ProposedLints};
use super::host::CallHost;
use crate::remembered::RememberedKey;

/// Most files of a change whose linters are found.
const LINTED_FILES_MAX: usize = 20;

fn denied<'a, T: Send + 'a>() -> BoxFuture<'a, Result<T, ToolError>> {
    let denied = ToolError::new(ErrorCode::Denied, "a plugin does not run commands");
    Box::pin(ready(Err(denied)))
}

/// Finds linters of these names that are for files.
async fn find_lints(
    cx: Context,
    names: Vec<String>,
    paths: Vec<RelPath>,
) -> Result<ProposedLints, ToolError> {
    let mut proposed = ProposedLints::default();
    for path in paths {
        let found = match linters_of(&cx, &path).await {
            Ok(found) => found,
            Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
            Err(error) => {
                let problem = format!("its linters, which were not found: {}", error.message);
                proposed.problems.push((path, problem));
                continue;
            }
        };
        for lint in found.into_iter().filter(|lint| names.contains(&lint.name)) {
            let same = proposed.lints.iter_mut().find(|known| known.lint.command == lint.command);
            match same {
                Some(known) => known.paths.push(path.clone()),
                None => proposed.lints.push(ProposedLint { lint, paths: vec![path.clone()] }),
            }
        }
    }
    Ok(proposed)
}

// === impl CallHost ===

impl CallHost {
    /// Finds the linters of the project that are to look at a change before anybody agrees to it: those that
    /// the configuration names. What a plugin changes is not for it to have looked at.
    pub(super) fn lints_of(&self, changes: &ChangeSet) -> LintsOfChange<'static> {
        let names = self.scope.daemon.config().checks.before_edit.clone();
        if names.is_empty() || self.scope.behalf.is_some() {
            return Box::pin(ready(Ok(ProposedLints::default())));
        }
        let stays = |change: &&Change| !matches!(change.kind, ChangeKind::Delete { .. });
        let paths = changes.changes.iter().filter(stays).map(|change| change.path.clone());
        let paths: Vec<RelPath> = paths.take(LINTED_FILES_MAX).collect();
        let host = Self::new(Arc::clone(&self.scope), Arc::clone(&self.effects));
        Box::pin(find_lints(Context::new(Arc::new(host)), names, paths))
    }

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
