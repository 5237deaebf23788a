//! Deciding about the requests that a plugin sends. Its grant says which hosts it may reach; a rule
//! of the policy that would ask or deny takes that away, for nobody is asked on a plugin's behalf.

use moss_plugin_host::services::HttpError;

use super::Effects;
use moss_policy::{Action, Decision, Layer, Verdict};

/// Methods that change nothing where they lead (RFC 9110, 9.2.1).
const SAFE_METHODS: [http::Method; 3] =
    [http::Method::GET, http::Method::HEAD, http::Method::OPTIONS];

// === impl Effects ===

impl Effects {
    /// Decides about requests of the plugin that runs, as the policy is now.
    pub(in crate::call) fn decide_request(&self) -> Decision {
        let policy = self.scope.workspace.policy.load();
        let mut decision = self.decide(&policy, Action::Network, None);
        // The grant is the yes; what no rule speaks of needs no other.
        if decision.verdict == Verdict::Ask && decision.rule.layer == Layer::Default {
            decision.verdict = Verdict::Allow;
        }
        decision
    }

    /// Refuses a request that the policy does not let out, or that a dry run does not.
    ///
    /// # Errors
    ///
    /// `Denied`.
    pub(in crate::call) fn permit_request(
        &self,
        method: &http::Method,
        decision: &Decision,
    ) -> Result<(), HttpError> {
        match decision.verdict {
            Verdict::Allow if self.scope.call.dry_run && !SAFE_METHODS.contains(method) => Err(
                HttpError::Denied(format!("a dry run sends no {method}: it may change something")),
            ),
            Verdict::Allow => Ok(()),
            Verdict::Ask => Err(HttpError::Denied(format!(
                "the host is granted, but the policy keeps requests back: {decision}, and nobody is asked on behalf \
                 of a plugin"
            ))),
            Verdict::Deny => Err(HttpError::Denied(format!(
                "the host is granted, but the policy keeps requests back: {decision}"
            ))),
        }
    }
}
