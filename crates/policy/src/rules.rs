//! A rule in memory: compiled conditions and a verdict, and when it matches an effect.
//!
//! A rule that restricts ignores the case of paths, so that it holds on file systems that ignore
//! case; a rule that allows or opens a protected name does not. What a rule leaves out is the other
//! way round.

use std::sync::Arc;

use moss_sdk::Effect;
use moss_sdk::edit::MatchLevel;

use super::commands::CommandWords;
use super::globs::Globs;
use super::grants::RuleGrants;
use super::{Action, RuleRef, Subject, Verdict};

/// A rule of a layer whose verdicts are of type `V`.
#[derive(Debug, Clone)]
pub(super) struct Rule<V> {
    pub(super) conditions: Conditions,
    pub(super) verdict: V,
    /// What it grants the commands that it is about.
    pub(super) grants: RuleGrants,
    pub(super) rule: Arc<RuleRef>,
}

/// What a rule of the admin or the user says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ruling {
    /// The verdict; protected names stay protected.
    Ordinary(Verdict),
    /// Allows, protected names too.
    OpenAllow,
    /// Asks, and no longer denies protected names.
    OpenAsk,
}

/// What a rule of a workspace says: there is no way to allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Restriction {
    Ask,
    Deny,
}

/// Something that a rule can say.
pub(super) trait RuleVerdict: Copy {
    fn verdict(self) -> Verdict;

    /// Whether protected names that match are no longer denied by default.
    fn opens_protected(self) -> bool;
}

/// When a rule matches. A condition that is absent holds for everything.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    pub(super) tools: Option<Globs>,
    pub(super) not_tools: Option<Globs>,
    pub(super) plugins: Option<Globs>,
    pub(super) callers: Option<Globs>,
    pub(super) effects: Option<Vec<Action>>,
    pub(super) paths: Option<Globs>,
    pub(super) not_paths: Option<Globs>,
    pub(super) size_bytes_min: Option<u64>,
    pub(super) size_bytes_max: Option<u64>,
    pub(super) match_levels: Option<Vec<MatchLevel>>,
    pub(super) command: Option<CommandWords>,
}

/// Whether a name is one of those that a rule is about.
fn holds(globs: Option<&Globs>, name: Option<&str>) -> bool {
    match (globs, name) {
        (None, _) => true,
        (Some(globs), Some(name)) => globs.is_match(name),
        (Some(_), None) => false,
    }
}

/// Whether a name is none of those that a rule leaves out.
fn spares(globs: Option<&Globs>, name: Option<&str>) -> bool {
    globs.is_none_or(|globs| name.is_some_and(|name| !globs.is_match(name)))
}

// === impl Rule ===

impl<V: RuleVerdict> Rule<V> {
    pub(super) fn matches(&self, subject: &Subject<'_>) -> bool {
        self.conditions.mismatch(self.verdict.verdict(), subject).is_none()
    }

    /// Whether it depends on the path alone whether it matches.
    pub(super) fn distinguishes_paths(&self, subject: &Subject<'_>) -> bool {
        let Conditions { paths, not_paths, .. } = &self.conditions;
        (paths.is_some() || not_paths.is_some())
            && self.conditions.mismatch_but_path(self.verdict.verdict(), subject).is_none()
    }
}

// === impl Ruling ===

impl RuleVerdict for Ruling {
    fn verdict(self) -> Verdict {
        match self {
            Self::Ordinary(verdict) => verdict,
            Self::OpenAllow => Verdict::Allow,
            Self::OpenAsk => Verdict::Ask,
        }
    }

    fn opens_protected(self) -> bool {
        matches!(self, Self::OpenAllow | Self::OpenAsk)
    }
}

// === impl Restriction ===

impl RuleVerdict for Restriction {
    fn verdict(self) -> Verdict {
        match self {
            Self::Ask => Verdict::Ask,
            Self::Deny => Verdict::Deny,
        }
    }

    fn opens_protected(self) -> bool {
        false
    }
}

// === impl Conditions ===

impl Conditions {
    /// Returns the key of the first condition that does not hold; none if the rule matches.
    pub(super) fn mismatch(&self, verdict: Verdict, subject: &Subject<'_>) -> Option<&'static str> {
        let path = subject.path.map(moss_sdk::RelPath::as_str);
        let of_path = || {
            if !holds(self.paths.as_ref(), path) {
                Some("paths")
            } else if !spares(self.not_paths.as_ref(), path) {
                Some("not_paths")
            } else {
                None
            }
        };
        self.mismatch_of_caller(verdict, subject)
            .or_else(of_path)
            .or_else(|| self.mismatch_of_content(verdict, subject))
    }

    /// As [`Conditions::mismatch`], whatever the path is.
    fn mismatch_but_path(&self, verdict: Verdict, subject: &Subject<'_>) -> Option<&'static str> {
        self.mismatch_of_caller(verdict, subject)
            .or_else(|| self.mismatch_of_content(verdict, subject))
    }

    /// Of the conditions on who wants to do what.
    fn mismatch_of_caller(&self, verdict: Verdict, subject: &Subject<'_>) -> Option<&'static str> {
        if !holds(self.tools.as_ref(), Some(subject.tool)) {
            Some("tools")
        } else if !spares(self.not_tools.as_ref(), Some(subject.tool)) {
            Some("not_tools")
        } else if !holds(self.plugins.as_ref(), subject.plugin) {
            Some("plugins")
        } else if !holds(self.callers.as_ref(), Some(subject.caller)) {
            Some("callers")
        } else if !self.covers_action(verdict, subject) {
            Some("effects")
        } else {
            None
        }
    }

    /// Of the conditions on what is written or run.
    fn mismatch_of_content(&self, verdict: Verdict, subject: &Subject<'_>) -> Option<&'static str> {
        if !self.covers_size(verdict, subject) {
            Some("size_bytes_min, size_bytes_max")
        } else if !self.covers_level(subject) {
            Some("match_levels")
        } else if !self.covers_command(verdict, subject) {
            Some("argv, exact_argv")
        } else {
            None
        }
    }

    /// Whether the rule looks at more than who calls which tool.
    fn is_targeted(&self) -> bool {
        self.paths.is_some()
            || self.not_paths.is_some()
            || self.has_size()
            || self.match_levels.is_some()
            || self.command.is_some()
    }

    fn has_size(&self) -> bool {
        self.size_bytes_min.is_some() || self.size_bytes_max.is_some()
    }

    fn covers_action(&self, verdict: Verdict, subject: &Subject<'_>) -> bool {
        let named = |action: &Action| self.effects.as_ref().is_none_or(|all| all.contains(action));
        match subject.action {
            // Before a tool runs only that is decided which holds whatever it will do; and an ask
            // waits for the effect, so that people see a diff or a command and are asked once.
            Action::Call if self.is_targeted() => false,
            Action::Call => match subject.tool_effect {
                Effect::Read => named(&Action::Read),
                Effect::Write => verdict != Verdict::Ask && Action::WRITES.iter().all(named),
                Effect::Exec => verdict != Verdict::Ask && named(&Action::Exec),
            },
            // The ask at the call of a read tool covers what it reads. A write tool is asked about
            // with its diff, about its reads only where the rule says so.
            Action::Read if verdict == Verdict::Ask && !self.is_targeted() => {
                subject.tool_effect != Effect::Read
                    && self.effects.is_some()
                    && named(&Action::Read)
            }
            action => named(&action),
        }
    }

    /// Rules with sizes are about new content only; their effects were checked when they were read.
    fn covers_size(&self, verdict: Verdict, subject: &Subject<'_>) -> bool {
        match subject.size_bytes {
            _ if !self.has_size() => true,
            Some(size_bytes) => {
                self.size_bytes_min.is_none_or(|min| size_bytes >= min)
                    && self.size_bytes_max.is_none_or(|max| size_bytes <= max)
            }
            // An unknown size can neither satisfy an allow nor escape a restriction.
            None => verdict != Verdict::Allow,
        }
    }

    fn covers_command(&self, verdict: Verdict, subject: &Subject<'_>) -> bool {
        self.command.as_ref().is_none_or(|words| words.covers(verdict, subject.command))
    }

    /// Rules with match levels are about edits whose locations were searched for.
    fn covers_level(&self, subject: &Subject<'_>) -> bool {
        self.match_levels
            .as_ref()
            .is_none_or(|levels| subject.match_level.is_some_and(|level| levels.contains(&level)))
    }
}
