//! Which commands reach the network.

use super::rules::{Rule, RuleVerdict};
use super::{Policy, Subject, Verdict};

/// Whether a command, or a part of one, may reach other machines where it runs: a rule of the admin or
/// the user says so, and none says no.
pub fn opens_network(policy: &Policy, subject: &Subject<'_>) -> bool {
    let mut opens = false;
    for said in policy.networks(subject) {
        if !said {
            return false;
        }
        opens = true;
    }
    opens
}

// === impl Rule ===

impl<V: RuleVerdict> Rule<V> {
    /// What the rule says of the network for a command. To open it the words have to be known for
    /// certain; to keep it closed it is enough that they may be these.
    pub(super) fn network_of(&self, subject: &Subject<'_>) -> Option<bool> {
        let opens = self.network?;
        let as_for = if opens { Verdict::Allow } else { Verdict::Deny };
        self.conditions.mismatch(as_for, subject).is_none().then_some(opens)
    }
}
