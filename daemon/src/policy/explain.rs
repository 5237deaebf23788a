//! Why the policy decides as it does: every rule that speaks about an effect, layer by layer.

use std::fmt;

use serde::Serialize;

use super::{Action, Decision, Policy, Protection, RuleRef, Subject, Verdict, decide};

/// The rules that speak about one effect, and what they come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The kind of effect.
    pub action: Action,
    /// The tool.
    pub tool: String,
    /// The caller.
    pub caller: String,
    /// The file, where one is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why the file's name is protected, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protection: Option<Protection>,
    /// The rules that match, admin first; built-in ones only where they count.
    pub matched: Vec<MatchedRule>,
    /// What they come to.
    pub decision: Decision,
}

/// A rule that speaks about the effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchedRule {
    /// What it says.
    pub verdict: Verdict,
    /// Which one it is.
    pub rule: RuleRef,
    /// Whether it is the one that decides.
    pub decides: bool,
}

/// Decides about one effect and tells how it came to that.
pub fn explain(policy: &Policy, subject: &Subject<'_>) -> Explanation {
    let decision = decide(policy, subject);
    let matched = policy
        .matches(subject)
        .map(|matched| MatchedRule {
            verdict: matched.verdict,
            rule: matched.rule.as_ref().clone(),
            decides: std::sync::Arc::ptr_eq(matched.rule, &decision.rule),
        })
        .collect();
    Explanation {
        action: subject.action,
        tool: subject.tool.to_owned(),
        caller: subject.caller.to_owned(),
        path: subject.path.map(ToString::to_string),
        protection: subject.protection,
        matched,
        decision,
    }
}

// === impl Explanation ===

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {} as {}", self.action.as_str(), self.tool, self.caller)?;
        if let Some(path) = &self.path {
            write!(f, ": {path}")?;
        }
        writeln!(f)?;
        for matched in &self.matched {
            let mark = if matched.decides { '>' } else { ' ' };
            writeln!(f, "{mark} {:5} {}", matched.verdict.as_str(), matched.rule)?;
        }
        write!(f, "{}", self.decision)
    }
}
