//! Reading a file that the policy asks about or denies.

use moss_sdk::RelPath;
use serde_json::json;

use super::ask::Ask;
use super::{Effects, FileNames, ToolFacts};
use crate::call::record;
use crate::call::stop::EffectStop;
use moss_policy::{Action, Decision, Policy, Verdict};
use moss_workspace::names_on_way;

// === impl Effects ===

impl Effects {
    /// Asks whether one file may be read.
    pub(in crate::call) async fn ask_read(
        &self,
        file: FileNames<'_>,
        decision: &Decision,
    ) -> Result<(), EffectStop> {
        let path = file.real;
        let arguments = match file.asked == path {
            true => json!({ "read": path }),
            // Both names of a link.
            false => json!({ "read": path, "asked_for": file.asked }),
        };
        let arguments = arguments.to_string();
        let digest = self.digest_of("read", path.as_str());
        let offers = self.offers_to_read(file, digest);
        let ask = Ask { arguments: Some(arguments), offers, ..Ask::of(digest, decision) };
        let asked = async {
            record::decided(&self.scope, Action::Read, Some(path), None, decision).await?;
            self.ask(ask).await
        };
        asked.await?;
        self.lock().approved_reads.push(path.clone());
        Ok(())
    }

    /// What keeps a path out of sight: a rule that denies it to readers. Then no error may say whether it is there,
    /// or what it is. None for protected names, which listings show, and for the root.
    pub(in crate::call) fn hides(
        &self,
        (policy, tool): (&Policy, &ToolFacts),
        names: FileNames<'_>,
    ) -> Option<Decision> {
        let is_listed = |path: &RelPath| path.is_root() || self.may_list((policy, tool), path);
        if is_listed(names.real) && is_listed(names.asked) {
            return None;
        }
        let decision = self.decide_one_read((policy, tool), names);
        (decision.verdict == Verdict::Deny).then_some(decision)
    }

    /// As [`Effects::hides`], of a path, with the name that is hidden: where the path leads to nothing, none that its error
    /// depends on may be. Looks at the disk.
    pub(in crate::call) fn hides_path(
        &self,
        rules: (&Policy, &ToolFacts),
        path: &RelPath,
    ) -> Option<(RelPath, Decision)> {
        let files = &self.scope.workspace.files;
        let found = files.resolve(path).ok();
        let is_there = found.as_ref().is_some_and(|found| found.kind.is_some());
        let real = found.map_or_else(|| path.clone(), |found| found.path);
        if let Some(decision) = self.hides(rules, FileNames { real: &real, asked: path }) {
            return Some((real, decision));
        }
        let on_way = if is_there { Vec::new() } else { names_on_way(files, path) };
        on_way.into_iter().find_map(|name| {
            let decision = self.hides(rules, FileNames { real: &name, asked: &name })?;
            Some((name, decision))
        })
    }

    /// Records a read that the policy denies and makes its error.
    pub(in crate::call) async fn deny_read(
        &self,
        path: &RelPath,
        decision: &Decision,
    ) -> EffectStop {
        let recorded = record::decided(&self.scope, Action::Read, Some(path), None, decision).await;
        recorded.err().unwrap_or_else(|| self.denied(decision)).into()
    }
}
