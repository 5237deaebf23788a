//! Which effects are allowed, asked about or denied: one pure function over rules.
//!
//! [`decide`] is the only place where moss decides. It opens no file and asks nobody: the caller resolves the path, finds
//! out whether the name is protected, and carries the decision out. The rules come from TOML files in three layers:
//! [`mod@format`] describes the files, [`layers`] how the layers combine.

use std::fmt;
use std::sync::Arc;

use moss_sdk::edit::MatchLevel;
use moss_sdk::{Effect, RelPath};
use serde::{Deserialize, Serialize};

use self::standing::StandingApproval;

mod built_in;
pub mod commands;
mod effect_word;
mod error;
mod examples;
pub mod explain;
pub mod format;
mod globs;
mod grants;
pub mod layers;
mod rule_ref;
mod rules;
mod sandbox_min;
pub mod standing;
mod subject;

pub use self::built_in::granted_command;
pub use self::commands::{CommandPart, ReadingDoubt};
pub use self::error::PolicyError;
pub use self::explain::{Explanation, MatchedRule, explain};
pub use self::grants::CommandGrants;
pub use self::layers::{Policy, PolicyFile, PolicyProblem, Sources, command_grants};
pub use self::rule_ref::{Layer, RuleRef};
pub use self::sandbox_min::SandboxMin;

/// What somebody wants to do, as far as the policy looks at it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The kind of effect.
    pub action: Action,
    /// The tool that is called.
    pub tool: &'a str,
    /// What the tool may do at all.
    pub tool_effect: Effect,
    /// The plugin that the tool belongs to; none for a built-in tool.
    pub plugin: Option<&'a str>,
    /// The credential or role in whose name the call runs.
    pub caller: &'a str,
    /// The file, as the workspace resolved it, or the directory of a command; none where none is known.
    pub path: Option<&'a RelPath>,
    /// Whether the file has a protected name, as the workspace says.
    pub protection: Option<Protection>,
    /// The size of the new content in bytes, for `Create` and `Modify`.
    pub size_bytes: Option<u64>,
    /// How the locations of an edit were found; none where nothing was searched for.
    pub match_level: Option<MatchLevel>,
    /// Whether an edit changes lines that are not as it says.
    pub drift: bool,
    /// The command, for `Exec`; none where none is known.
    pub command: Option<&'a CommandPart>,
    /// The standing approvals in effect for who calls.
    pub answers: &'a [Arc<StandingApproval>],
}

/// A kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Running a tool, before anything of what it wants to do is known.
    Call,
    /// Reading or listing a file.
    Read,
    /// Making a file that is not there.
    Create,
    /// Changing the content of a file.
    Modify,
    /// Removing a file, whatever the history keeps of it.
    Delete,
    /// Starting a process: one simple command of a text at a time.
    Exec,
    /// Reaching another machine: a download for moss, or a request of a plugin.
    Network,
    /// Registering a plugin or changing what one may do.
    Register,
    /// Changing the user's own prompt.
    Configure,
}

/// Why a file name is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// Makes other programs run code: written only where somebody is asked, whatever ordinary rules
    /// allow.
    Code,
    /// Belongs to git or to moss itself: not written without a rule that opens it.
    Metadata,
    /// Holds keys or passwords: neither read nor written without a rule that opens it.
    Secret,
}

/// Allow, ask or deny; a stricter one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The effect happens without a question.
    Allow,
    /// Needs the decision of an approver.
    Ask,
    /// The effect is refused.
    Deny,
}

/// A verdict and the rule that gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// What happens with the effect.
    pub verdict: Verdict,
    /// Whether a protected name is meant: a blanket yes must not cover an ask about it.
    pub protected: bool,
    /// Whether a rule wants that a person decides in moss: no form of a client and no blanket yes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub for_person: bool,
    /// The rule that decided.
    #[serde(serialize_with = "serialize_rule")]
    pub rule: Arc<RuleRef>,
}

/// Decides about one effect.
///
/// The strictest of the admin, the user and the workspace verdict wins. Where neither an admin nor
/// a user rule matches, the default applies. A protected name is denied, or asked about where
/// it makes other programs run code, unless an admin or user rule opens it. An edit of lines that
/// are not as it says asks, whatever allows it, and so does the registration of a plugin. A standing
/// approval overrides an ask of the user's rules or of the default, and nothing else; one with
/// `approver = "person"` it does not.
///
/// A command is decided one simple command at a time: see [`commands`]. One that destroys, or of which
/// nobody knows what it does, asks, whatever allows it.
pub fn decide(policy: &Policy, subject: &Subject<'_>) -> Decision {
    let mut wants_person = false;
    let each = policy.matches(subject).inspect(|matched| wants_person |= matched.rule.for_person);
    let ruled = each.reduce(stricter).expect("where no rule matches, a built-in one does");
    Decision {
        verdict: ruled.verdict,
        protected: subject.is_guarded(),
        for_person: wants_person && ruled.verdict == Verdict::Ask,
        rule: Arc::clone(ruled.rule),
    }
}

/// Decides about all paths at once that are protected alike. None where a rule or a standing approval
/// that may match distinguishes one path from another: then each is decided by [`decide`].
pub fn decide_for_all_paths(policy: &Policy, subject: &Subject<'_>) -> Option<Decision> {
    let is_approved = subject.answers.iter().any(|answer| answer.is_of(subject.action));
    if is_approved || policy.distinguishes_paths(subject) {
        return None;
    }
    Some(decide(policy, subject))
}

/// Decides about every effect of one change set, in its order.
pub fn decide_all(policy: &Policy, subjects: &[Subject<'_>]) -> Vec<Decision> {
    subjects.iter().map(|subject| decide(policy, subject)).collect()
}

/// Returns the decision that holds for effects that happen together or not at all: the first of
/// the strictest ones; none if there are no effects.
pub fn strictest(decisions: &[Decision]) -> Option<&Decision> {
    decisions.iter().reduce(|best, next| if next.rank() > best.rank() { next } else { best })
}

/// Keeps the stricter of two matches; where they are equal, the earlier one, or a standing
/// approval: it only matches where it is needed. No rule takes away the question about drift: among
/// those who ask it is the one to name.
fn stricter<'a>(best: layers::Match<'a>, next: layers::Match<'a>) -> layers::Match<'a> {
    let says_more =
        next.rule.answer.is_some() || matches!(next.rule.layer, Layer::Drift | Layer::Command);
    let is_named = next.verdict == best.verdict && says_more;
    if next.verdict > best.verdict || is_named { next } else { best }
}

fn serialize_rule<S: serde::Serializer>(
    rule: &Arc<RuleRef>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    rule.as_ref().serialize(serializer)
}

// === impl Action ===

impl Action {
    /// Every action, for tables that must cover them all.
    pub const ALL: &[Self] = &[
        Self::Call,
        Self::Read,
        Self::Create,
        Self::Modify,
        Self::Delete,
        Self::Exec,
        Self::Network,
        Self::Register,
        Self::Configure,
    ];

    /// The actions that change files.
    pub const WRITES: &[Self] = &[Self::Create, Self::Modify, Self::Delete];

    /// Whether this changes a file.
    pub fn is_write(self) -> bool {
        Self::WRITES.contains(&self)
    }

    /// Returns the wire form, for example `create`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Read => "read",
            Self::Create => "create",
            Self::Modify => "modify",
            Self::Delete => "delete",
            Self::Exec => "exec",
            Self::Network => "network",
            Self::Register => "register",
            Self::Configure => "configure",
        }
    }
}

// === impl Verdict ===

impl Verdict {
    /// Returns the wire form: `allow`, `ask` or `deny`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

// === impl Decision ===

impl Decision {
    /// Orders decisions by strictness: an ask about a protected name is the stricter ask, then one
    /// that wants a person, then one about drift or about what a command is.
    fn rank(&self) -> (Verdict, bool, bool, bool) {
        let says_more = matches!(self.rule.layer, Layer::Drift | Layer::Command);
        (self.verdict, self.protected, self.for_person, says_more)
    }

    /// What becomes of the effect, as a predicate: the rule goes with it.
    pub fn verb(&self) -> &'static str {
        match self.verdict {
            Verdict::Allow => "allowed",
            Verdict::Ask => "needs a confirmation",
            Verdict::Deny => "denied",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb(), self.rule)
    }
}

#[cfg(test)]
mod tests;
