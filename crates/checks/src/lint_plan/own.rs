//! Linters that the user configured.

use super::{LintTarget, OwnLinter, PlannedLint, relative};
use crate::bash_word::quoted;
use crate::project::{ProjectFiles, is_in};
use crate::run::CheckCommand;

// === impl OwnLinter ===

impl OwnLinter {
    pub(super) fn plans(&self, files: &ProjectFiles, target: &LintTarget) -> Vec<PlannedLint> {
        let (around, mut beneath): (Vec<_>, Vec<_>) = self
            .found(files, target)
            .into_iter()
            .partition(|(directory, _)| is_in(&target.path, directory));
        // What runs around the target and is given its path checks all of it.
        let nearest = around.into_iter().next();
        if nearest.is_some() && self.command.contains("{path}") {
            beneath.clear();
        }
        beneath.sort();
        let chosen = nearest.into_iter().chain(beneath);
        chosen.map(|(directory, reason)| self.plan(directory, reason, target)).collect()
    }

    /// The directories in which it is used, and what says so.
    fn found(&self, files: &ProjectFiles, target: &LintTarget) -> Vec<(String, String)> {
        let found = files.directories.iter().filter_map(|directory| {
            let has_file =
                target.files.iter().any(|file| is_in(file, &directory.path) && self.reads(file));
            let reason = match self.when.iter().find(|name| directory.files.contains(*name)) {
                Some(name) => name.clone(),
                None if self.when.is_empty() && directory.path.is_empty() => {
                    "the configuration of moss".to_owned()
                }
                None => return None,
            };
            has_file.then(|| (directory.path.clone(), reason))
        });
        found.collect()
    }

    fn reads(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let matches = |pattern: &String| match pattern.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => name == pattern,
        };
        self.files.is_empty() || self.files.iter().any(matches)
    }

    fn plan(&self, directory: String, reason: String, target: &LintTarget) -> PlannedLint {
        let path = quoted(&relative(&target.path, &directory));
        let first = self.command.split_whitespace().next().unwrap_or_default();
        PlannedLint {
            name: self.name.clone(),
            reason,
            base: directory.clone(),
            command: CheckCommand { command: self.command.replace("{path}", &path), directory },
            notes: Vec::new(),
            partial: None,
            format: self.format,
            finding_codes: self.codes.clone(),
            program: first.to_owned(),
            install: "install it, or correct its command in `[linters]` of the configuration"
                .to_owned(),
            unseen: None,
        }
    }
}
