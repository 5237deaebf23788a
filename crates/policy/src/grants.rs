//! What rules grant commands beyond what every command may: the network, the profile *danger-full*, variables of
//! the environment, sockets of agents.

use std::collections::BTreeSet;

use super::rules::{Rule, RuleVerdict};
use super::{Policy, Subject, Verdict};

/// What a command, or a part of one, may beyond what every command may.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandGrants {
    /// Whether it may reach other machines.
    pub network: bool,
    /// Whether it may do whatever its user may: the profile *danger-full*.
    pub danger_full: bool,
    /// Names of variables that it is given.
    pub environment: BTreeSet<String>,
    /// Sockets that it may connect to: paths, some from the home directory (`~/`), and names of variables that hold one.
    pub sockets: BTreeSet<String>,
}

/// What a rule says of that. None where it says nothing; `false`, or nothing in a list, takes away what others grant.
#[derive(Debug, Clone, Default)]
pub(super) struct RuleGrants {
    pub(super) network: Option<bool>,
    pub(super) danger_full: Option<bool>,
    pub(super) environment: Option<BTreeSet<String>>,
    pub(super) sockets: Option<BTreeSet<String>>,
}

/// What all rules say of one command.
#[derive(Debug, Default)]
pub(super) struct SaidGrants {
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

// === impl CommandGrants ===

impl CommandGrants {
    /// What both grant.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        Self {
            network: self.network && other.network,
            danger_full: self.danger_full && other.danger_full,
            environment: self.environment.intersection(&other.environment).cloned().collect(),
            sockets: self.sockets.intersection(&other.sockets).cloned().collect(),
        }
    }
}

// === impl SaidGrants ===

impl SaidGrants {
    /// Adds what a rule says. To grant something the words have to be known for certain; to take it away it is
    /// enough that they may be these.
    pub(super) fn add<V: RuleVerdict>(&mut self, rule: &Rule<V>, subject: &Subject<'_>) {
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

// === impl RuleGrants ===

impl RuleGrants {
    /// Whether the rule says nothing of it.
    pub(super) fn is_empty(&self) -> bool {
        let Self { network, danger_full, environment, sockets } = self;
        network.is_none() && danger_full.is_none() && environment.is_none() && sockets.is_none()
    }
}

#[cfg(test)]
mod tests;
