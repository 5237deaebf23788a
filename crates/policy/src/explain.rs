//! Why the policy decides as it does: every rule that speaks about an effect, layer by layer.

use std::collections::BTreeSet;
use std::fmt;

use moss_sdk::edit::MatchLevel;
use serde::Serialize;

use super::{Action, Decision, Policy, Protection, RuleRef, Subject, Verdict, decide};

/// The rules that speak about one effect, and what they come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The kind of effect.
    pub action: Action,
    /// Name of the tool.
    pub tool: String,
    /// Name of the credential.
    pub caller: String,
    /// The file, where one is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The simple command, where one is meant and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Why the file's name is protected, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protection: Option<Protection>,
    /// The rules that match, admin first; built-in ones only where they count.
    pub matched: Vec<MatchedRule>,
    /// What they come to.
    pub decision: Decision,
    /// What they come to by the size of the new content, where it is not known and matters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_size: Vec<SizedDecision>,
    /// What they come to by how the location of an edit is found, where that is not known and
    /// matters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_level: Vec<FoundDecision>,
}

/// What is decided for new content from a size on, up to that of the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SizedDecision {
    /// The smallest size, in bytes.
    pub from_bytes: u64,
    /// What is decided of such a size.
    pub decision: Decision,
}

/// What is decided of an edit whose location is found in some way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundDecision {
    /// How it is found; empty where that makes no difference.
    pub match_levels: Vec<MatchLevel>,
    /// Whether lines are not as the edit says.
    pub drift: bool,
    /// What is decided of such an edit.
    pub decision: Decision,
}

/// A rule that speaks about the effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchedRule {
    /// What this rule alone would decide.
    pub verdict: Verdict,
    /// Which one it is.
    pub rule: RuleRef,
    /// Whether it is the one that decides.
    pub decides: bool,
}

/// Decides about one effect and explains the decision.
pub fn explain(policy: &Policy, subject: &Subject<'_>) -> Explanation {
    explain_expecting(policy, subject, None)
}

/// As [`explain`], of new content whose size is only expected: rules and standing approvals that are
/// bound to a size are held against that one, and the other sizes are explained beside it.
pub fn explain_expecting(
    policy: &Policy,
    unsized_subject: &Subject<'_>,
    expected_bytes: Option<u64>,
) -> Explanation {
    let subject = &expecting(unsized_subject, expected_bytes);
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
        command: subject.command.map(|part| part.text.clone()),
        protection: subject.protection,
        matched,
        decision,
        by_size: by_size(policy, unsized_subject),
        by_level: Vec::new(),
    }
}

fn expecting<'a>(subject: &Subject<'a>, expected_bytes: Option<u64>) -> Subject<'a> {
    Subject { size_bytes: subject.size_bytes.or(expected_bytes), ..*subject }
}

/// As [`explain_expecting`], of an edit whose location will be searched for.
pub fn explain_search(
    policy: &Policy,
    subject: &Subject<'_>,
    expected_bytes: Option<u64>,
) -> Explanation {
    let plain = explain_expecting(policy, subject, expected_bytes);
    let subject = &expecting(subject, expected_bytes);
    let mut by_level: Vec<FoundDecision> = Vec::new();
    for match_level in MatchLevel::ALL {
        let found = Subject { match_level: Some(match_level), ..*subject };
        let decision = decide(policy, &found);
        match by_level.iter_mut().find(|known| known.decision == decision) {
            _ if decision == plain.decision => {}
            Some(known) => known.match_levels.push(match_level),
            None => by_level.push(FoundDecision {
                match_levels: vec![match_level],
                drift: false,
                decision,
            }),
        }
    }
    let decision = decide(policy, &Subject { drift: true, ..*subject });
    if decision != plain.decision {
        by_level.push(FoundDecision { match_levels: Vec::new(), drift: true, decision });
    }
    Explanation { by_level, ..plain }
}

/// Of one effect on a file of two names, the explanation by which it is decided: the stricter one, of equal ones the
/// first.
pub fn stricter(first: Explanation, other: Explanation) -> Explanation {
    if other.decision.rank() > first.decision.rank() { other } else { first }
}

/// Decides about every size of new content that makes a difference.
fn by_size(policy: &Policy, subject: &Subject<'_>) -> Vec<SizedDecision> {
    let has_content = matches!(subject.action, Action::Create | Action::Modify);
    if !has_content || subject.size_bytes.is_some() {
        return Vec::new();
    }
    let of_answers = subject.answers.iter().flat_map(|answer| answer.sizes());
    let starts: BTreeSet<_> = policy.sizes().chain(of_answers).chain([0]).collect();
    let mut sized: Vec<SizedDecision> = Vec::new();
    for from_bytes in starts {
        let decision = decide(policy, &Subject { size_bytes: Some(from_bytes), ..*subject });
        if sized.last().is_none_or(|last| last.decision != decision) {
            sized.push(SizedDecision { from_bytes, decision });
        }
    }
    if sized.len() == 1 { Vec::new() } else { sized }
}

// === impl Explanation ===

impl Explanation {
    /// Whether it is about a command that is known only when the tool runs: rules about its words are not in it.
    pub fn lacks_command(&self) -> bool {
        self.action == Action::Exec && self.command.is_none()
    }
}

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
