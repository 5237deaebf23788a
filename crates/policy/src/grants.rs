//! What rules grant commands beyond what every command may: the network, the profile *danger-full*, variables of
//! the environment, sockets of agents.

use std::collections::BTreeSet;

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

/// What a rule says of that. `None` if unset; `false`, or nothing in a list, takes away what others grant.
#[derive(Debug, Clone, Default)]
pub(super) struct RuleGrants {
    pub(super) network: Option<bool>,
    pub(super) danger_full: Option<bool>,
    pub(super) environment: Option<BTreeSet<String>>,
    pub(super) sockets: Option<BTreeSet<String>>,
}

// === impl CommandGrants ===

impl CommandGrants {
    /// Returns what both grant: of a list what stands in both.
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

// === impl RuleGrants ===

impl RuleGrants {
    /// Whether the rule has no key of these.
    pub(super) fn is_empty(&self) -> bool {
        let Self { network, danger_full, environment, sockets } = self;
        network.is_none() && danger_full.is_none() && environment.is_none() && sockets.is_none()
    }
}

#[cfg(test)]
mod tests;
