//! What the layers say of commands besides whether they run: how well they are isolated, what they are granted.

use super::{LayerRules, Policy};
use crate::grants::SaidGrants;
use crate::{SandboxMin, Subject};

// === impl Policy ===

impl Policy {
    /// Returns the least isolation of commands that is enough: the strictest that a layer names. An
    /// administrator or a user may name less than full isolation, a workspace only more than they do.
    pub fn sandbox_min(&self) -> SandboxMin {
        let ours = [self.admin.sandbox_min, self.user.sandbox_min()].into_iter().flatten().max();
        ours.unwrap_or_default().max(self.workspace.sandbox_min().unwrap_or(SandboxMin::None))
    }

    /// As [`Policy::sandbox_min`], for commands that only read: where no layer names one, Landlock is enough, which
    /// keeps them from writing.
    pub fn sandbox_min_to_read(&self) -> SandboxMin {
        let ours = [self.admin.sandbox_min, self.user.sandbox_min()].into_iter().flatten().max();
        let theirs = self.workspace.sandbox_min().unwrap_or(SandboxMin::None);
        ours.unwrap_or(SandboxMin::Landlock).max(theirs)
    }

    /// Returns what the rules that speak about a command say of what it is granted.
    pub(crate) fn said_grants(&self, subject: &Subject<'_>) -> SaidGrants {
        let mut said = SaidGrants::default();
        let ours = self.admin.rules.iter().chain(self.user.iter());
        ours.filter(|rule| !rule.grants.is_empty()).for_each(|rule| said.add(rule, subject));
        let theirs = self.workspace.iter().filter(|rule| !rule.grants.is_empty());
        theirs.for_each(|rule| said.add(rule, subject));
        said
    }

    /// Returns the directories that commands may write besides those that every one may: absolute, or from the home
    /// directory (`~/`).
    pub fn caches(&self) -> impl Iterator<Item = &str> {
        let of_user = match &self.user {
            LayerRules::Rules(rules) => Some(&rules.caches),
            LayerRules::Broken { .. } => None,
        };
        self.admin.caches.iter().chain(of_user.into_iter().flatten()).map(String::as_str)
    }
}
