//! What a change breaks: whether the files in it parse afterwards.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_checks::{CheckDiagnostic, new_syntax_errors};
use moss_dispatch::change::{ChangeDiagnostic, FileChange};
use moss_sdk::ToolError;
use moss_symbols::Outliner;
use moss_workspace::Plan;

use super::Effects;

/// Most files of a change that are parsed.
const FILES_MAX: usize = 20;
/// No further file is parsed after that.
const TIME_MAX: Duration = Duration::from_secs(2);

// === impl Effects ===

impl Effects {
    /// Adds to each change what does not parse any more. It informs who decides; nothing depends on it.
    pub(super) async fn check_syntax(
        &self,
        plan: &Plan,
        changes: &mut [FileChange],
    ) -> Result<(), ToolError> {
        let texts: Vec<_> = plan
            .files()
            .iter()
            .enumerate()
            .filter_map(|(at, file)| {
                let (old, new) = file.texts()?;
                Some((at, file.path.to_string(), old.map(str::to_owned), new.to_owned()))
            })
            .take(FILES_MAX)
            .collect();
        if texts.is_empty() {
            return Ok(());
        }
        let workspace = Arc::clone(&self.scope.workspace);
        let parse = move || {
            let trees = &workspace.recent_trees;
            let (mut outliner, started) = (Outliner::default(), Instant::now());
            let in_time = texts.into_iter().take_while(|_| started.elapsed() < TIME_MAX);
            let found = in_time.filter_map(|(at, path, old, new)| {
                // What passes a bound of the parser is not checked.
                let found = new_syntax_errors(&mut outliner, trees, &path, old.as_deref(), &new);
                Some((at, found.ok()?))
            });
            found.collect::<Vec<_>>()
        };
        for (at, found) in self.scope.blocking(parse).await? {
            changes[at].diagnostics = found.into_iter().map(shown).collect();
        }
        Ok(())
    }
}

/// A diagnostic as it stands with a change.
pub(super) fn shown(found: CheckDiagnostic) -> ChangeDiagnostic {
    let CheckDiagnostic { line, column, message, source, severity, code, .. } = found;
    ChangeDiagnostic { line, column, message, source, severity: severity.as_str(), code }
}
