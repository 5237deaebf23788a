//! What the layers say of commands besides whether they run: how well they are isolated, what they are granted.

use std::collections::BTreeSet;

use super::{LayerRules, Policy};
use crate::grants::{CommandGrants, RuleGrants};
use crate::rules::{Rule, RuleVerdict};
use crate::{SandboxMin, Subject, Verdict};

/// What all rules say of one command.
#[derive(Debug, Default)]
struct SaidGrants {
    opened: CommandGrants,
    closed: ClosedGrants,
}

/// What a rule keeps a command from, whatever others grant.
#[derive(Debug, Default)]
struct ClosedGrants {
    network: bool,
    danger_full: bool,
    environment: bool,
    sockets: bool,
}

/// Returns what the rules of the admin and the user grant a command, or a part of one, where it runs, less what a
/// rule of any layer keeps it from.
pub fn command_grants(policy: &Policy, subject: &Subject<'_>) -> CommandGrants {
    let SaidGrants { opened, closed } = policy.said_grants(subject);
    CommandGrants {
        network: opened.network && !closed.network,
        danger_full: opened.danger_full && !closed.danger_full,
        environment: if closed.environment { BTreeSet::new() } else { opened.environment },
        sockets: if closed.sockets { BTreeSet::new() } else { opened.sockets },
    }
}

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
    fn said_grants(&self, subject: &Subject<'_>) -> SaidGrants {
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

// === impl SaidGrants ===

impl SaidGrants {
    /// Adds what a rule says. To grant something the words have to be known for certain; to take it away it is
    /// enough that they may be these.
    fn add<V: RuleVerdict>(&mut self, rule: &Rule<V>, subject: &Subject<'_>) {
        let RuleGrants { network, danger_full, environment, sockets } = &rule.grants;
        let is_about = |verdict| rule.conditions.mismatch(verdict, subject).is_none();
        let (opens, closes) = (is_about(Verdict::Allow), is_about(Verdict::Deny));
        let Self { opened, closed } = self;
        opened.network |= opens && *network == Some(true);
        closed.network |= closes && *network == Some(false);
        opened.danger_full |= opens && *danger_full == Some(true);
        closed.danger_full |= closes && *danger_full == Some(false);
        for (said, opened, closed) in [
            (environment, &mut opened.environment, &mut closed.environment),
            (sockets, &mut opened.sockets, &mut closed.sockets),
        ] {
            let Some(said) = said else { continue };
            *closed |= closes && said.is_empty();
            opened.extend(said.iter().filter(|_| opens).cloned());
        }
    }
}
