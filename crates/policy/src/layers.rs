//! The layers of a policy, and which rules speak about an effect.
//!
//! What a layer may do is in its type: a workspace rule has no way to allow or to open a protected
//! name, and a user or workspace layer that cannot be read is `LayerRules::Broken`, which denies
//! everything but reads. A broken admin file gives no [`Policy`] at all.
//!
//! A reload is kinder: a layer that had rules keeps them while its file is broken, and says so.

mod of_commands;

pub use self::of_commands::command_grants;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::built_in::{default_verdict, drift_rule, protection_verdict, register_rule};
use super::error::PolicyError;
use super::format::{self, FileRules};
use super::rules::{Restriction, Rule, RuleVerdict, Ruling};
use super::{Action, CommandPart, Layer, RuleRef, SandboxMin, Subject, Verdict};

/// Maximum number of admin policy files.
pub const ADMIN_FILES_MAX: usize = 16;

/// The rules in effect. Never changes: a reload makes another one.
#[derive(Debug, Clone)]
pub struct Policy {
    admin: Rules<Ruling>,
    user: LayerRules<Ruling>,
    workspace: LayerRules<Restriction>,
    /// What was read last; rules may be older.
    sources: Sources,
}

/// What is wrong with a policy file, and what applies meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct PolicyProblem<'a> {
    /// What is wrong and where.
    pub error: &'a PolicyError,
    /// Whether the rules that the file had before are still in effect; otherwise only reads pass.
    pub kept: bool,
}

/// The files that a policy is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources {
    /// `/etc/moss/policy.toml` and what `--admin-policy` adds.
    pub admin: Vec<PolicyFile>,
    /// The user's file, `~/.config/moss/policy.toml`.
    pub user: Option<PolicyFile>,
    /// The file that the workspace brings along, `.moss/policy.toml` in it.
    pub workspace: Option<PolicyFile>,
}

/// One policy file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// The file's name, as messages show it.
    pub file: String,
    /// Its text; none if there is no such file; why it cannot be read.
    pub text: Result<Option<String>, String>,
}

/// A rule that speaks about an effect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Match<'a> {
    pub(super) verdict: Verdict,
    pub(super) opens_protected: bool,
    pub(super) rule: &'a Arc<RuleRef>,
}

/// The rules of one layer.
#[derive(Debug, Clone)]
struct Rules<V> {
    rules: Vec<Rule<V>>,
    /// The least isolation that it wants for commands, where it says so.
    sandbox_min: Option<SandboxMin>,
    /// Directories that commands may write besides.
    caches: BTreeSet<String>,
    /// Why they are older than their file.
    outdated: Option<Box<PolicyError>>,
}

#[derive(Debug, Clone)]
enum LayerRules<V> {
    Rules(Rules<V>),
    /// Reads are left to the other layers; everything else is denied by `rule`.
    Broken {
        error: Box<PolicyError>,
        rule: Arc<RuleRef>,
    },
}

// === impl Policy ===

impl Policy {
    /// Reads and compiles the files. A broken user or workspace file leaves reads only.
    ///
    /// # Errors
    ///
    /// The first thing wrong in an admin file: nothing must run under half of an admin's rules.
    pub fn load(sources: Sources) -> Result<Self, Box<PolicyError>> {
        Ok(Self {
            admin: Rules::new(admin_rules(&sources)?),
            user: LayerRules::load(Layer::User, sources.user.as_ref()),
            workspace: LayerRules::load(Layer::Workspace, sources.workspace.as_ref()),
            sources,
        })
    }

    /// Reads and compiles the files again. A layer with a broken file keeps the rules that it had;
    /// the admin's files count as one, so that a rule that moves between them is not lost. None
    /// where they are what was read last.
    pub fn reload(&self, sources: Sources) -> Option<Self> {
        if sources == self.sources {
            return None;
        }
        Some(Self {
            admin: match admin_rules(&sources) {
                Ok(rules) => Rules::new(rules),
                Err(error) => self.admin.outdated(error),
            },
            user: self.user.reload(Layer::User, sources.user.as_ref()),
            workspace: self.workspace.reload(Layer::Workspace, sources.workspace.as_ref()),
            sources,
        })
    }

    /// Returns what is wrong with the files, admin first, for people to fix.
    pub fn problems(&self) -> impl Iterator<Item = PolicyProblem<'_>> {
        let admin = self.admin.outdated.as_deref().map(|error| PolicyProblem { error, kept: true });
        [admin, self.user.problem(), self.workspace.problem()].into_iter().flatten()
    }

    /// Returns every rule with its verdict, layer by layer, in the order of the files.
    pub fn rules(&self) -> impl Iterator<Item = (Verdict, &RuleRef)> {
        let admin = self.admin.rules.iter().map(Rule::listed);
        admin
            .chain(self.user.iter().map(Rule::listed))
            .chain(self.workspace.iter().map(Rule::listed))
    }

    /// Returns the sizes from which on a rule begins or ceases to match.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u64> {
        let of_rules = self.admin.rules.iter().chain(self.user.iter()).map(|rule| &rule.conditions);
        let conditions = of_rules.chain(self.workspace.iter().map(|rule| &rule.conditions));
        conditions.flat_map(|conditions| {
            let above = conditions.size_bytes_max.and_then(|max| max.checked_add(1));
            [conditions.size_bytes_min, above].into_iter().flatten()
        })
    }

    /// Whether a rule matches some paths and not others, whatever path the effect is on.
    pub(super) fn distinguishes_paths(&self, subject: &Subject<'_>) -> bool {
        let mut ours = self.admin.rules.iter().chain(self.user.iter());
        ours.any(|rule| rule.distinguishes_paths(subject))
            || self.workspace.iter().any(|rule| rule.distinguishes_paths(subject))
    }

    /// Returns every rule that speaks about the effect, strictest layer first: admin, user,
    /// workspace, built-in. There is at least one.
    pub(super) fn matches<'a>(&'a self, subject: &Subject<'a>) -> impl Iterator<Item = Match<'a>> {
        let admin = self
            .admin
            .rules
            .iter()
            .filter(|rule| rule.matches(subject))
            .map(|rule| rule.matched(subject));
        let mut ruled: Vec<_> = admin.collect();
        let mut users: Vec<_> = self.user.matches(subject).collect();
        if let Some(approved) = approved(subject, &ruled, &users) {
            users.retain(|matched| matched.verdict != Verdict::Ask);
            users.push(approved);
        }
        ruled.extend(users);
        let opened = ruled.iter().any(|matched| matched.opens_protected);
        let decided = !ruled.is_empty();
        ruled.extend(self.workspace.matches(subject));
        let protection = subject.protection.filter(|_| subject.is_guarded() && !opened);
        if let Some(protection) = protection {
            ruled.push(Match::built_in(protection_verdict(protection)));
        } else if !decided {
            ruled.push(Match::built_in(default_verdict(subject.action, subject.command)));
        }
        if subject.drift {
            ruled.push(Match::built_in((Verdict::Ask, drift_rule())));
        }
        if let Some(rule) = subject.command.and_then(CommandPart::asking_rule) {
            ruled.push(Match::plain(Verdict::Ask, rule));
        }
        if subject.action == Action::Register {
            ruled.push(Match::built_in((Verdict::Ask, register_rule())));
        }
        ruled.into_iter()
    }
}

/// Returns the standing approval that replaces what the user's rules ask, or of what the
/// default asks where no rule matches.
fn approved<'a>(
    subject: &Subject<'a>,
    admins: &[Match<'_>],
    users: &[Match<'_>],
) -> Option<Match<'a>> {
    let by_user = users.iter().any(|matched| matched.verdict == Verdict::Ask);
    let by_default = admins.is_empty() && users.is_empty() && {
        default_verdict(subject.action, subject.command).0 == Verdict::Ask
    };
    let answer = subject.answers.iter().find(|answer| answer.allows(subject))?;
    // One may come from a form of a client.
    let by_person = users.iter().any(|matched| matched.rule.for_person);
    ((by_user || by_default) && !by_person).then(|| Match::plain(Verdict::Allow, &answer.rule))
}

/// Reads and compiles the admin's files, all or none.
fn admin_rules(sources: &Sources) -> Result<FileRules<Ruling>, Box<PolicyError>> {
    if let Some(source) = sources.admin.get(ADMIN_FILES_MAX) {
        let reason = format!("more than {ADMIN_FILES_MAX} admin policy files");
        return Err(PolicyError::unusable(&source.file, reason, "put the rules into fewer files"));
    }
    let mut all = FileRules::default();
    for source in &sources.admin {
        let file = source.rules(Layer::Admin)?;
        all.rules.extend(file.rules);
        all.sandbox_min = all.sandbox_min.max(file.sandbox_min);
        all.caches.extend(file.caches);
    }
    Ok(all)
}

// === impl PolicyProblem ===

impl PolicyProblem<'_> {
    /// Returns place, message, help and what applies meanwhile in one line.
    pub fn one_line(&self) -> String {
        let meanwhile = if self.kept {
            "the previous rules stay in effect until the file is fixed"
        } else {
            "only reads pass until the file is fixed"
        };
        format!("{} ({meanwhile})", self.error.one_line())
    }
}

// === impl PolicyFile ===

impl PolicyFile {
    fn rules<V: format::LayerVerdict>(
        &self,
        layer: Layer,
    ) -> Result<FileRules<V>, Box<PolicyError>> {
        match &self.text {
            Ok(Some(text)) => format::parse(layer, &self.file, text),
            Ok(None) => Ok(FileRules::default()),
            Err(reason) => Err(PolicyError::unusable(
                &self.file,
                format!("cannot be read: {reason}"),
                "check its permissions; it must be UTF-8 text",
            )),
        }
    }
}

// === impl Rules ===

impl<V> Rules<V> {
    fn new(file: FileRules<V>) -> Self {
        let FileRules { rules, sandbox_min, caches } = file;
        Self { rules, sandbox_min, caches, outdated: None }
    }
}

impl<V: Clone> Rules<V> {
    /// The same rules, which their file does not say any more.
    fn outdated(&self, error: Box<PolicyError>) -> Self {
        Self { outdated: Some(error), ..self.clone() }
    }
}

// === impl LayerRules ===

impl<V: format::LayerVerdict> LayerRules<V> {
    fn load(layer: Layer, source: Option<&PolicyFile>) -> Self {
        match source.map_or_else(|| Ok(FileRules::default()), |source| source.rules(layer)) {
            Ok(rules) => Self::Rules(Rules::new(rules)),
            Err(error) => Self::broken(layer, error),
        }
    }

    fn reload(&self, layer: Layer, source: Option<&PolicyFile>) -> Self {
        match (source.map_or_else(|| Ok(FileRules::default()), |source| source.rules(layer)), self)
        {
            (Ok(rules), _) => Self::Rules(Rules::new(rules)),
            (Err(error), Self::Rules(rules)) => Self::Rules(rules.outdated(error)),
            (Err(error), Self::Broken { .. }) => Self::broken(layer, error),
        }
    }

    fn broken(layer: Layer, error: Box<PolicyError>) -> Self {
        let rule = Arc::new(RuleRef {
            layer,
            file: Some(error.file.clone()),
            line: Some(error.line),
            name: None,
            reason: Some(format!(
                "only reads are allowed until the file is fixed: column {}: {}",
                error.column, error.message
            )),
            for_person: false,
            answer: None,
        });
        Self::Broken { error, rule }
    }

    fn iter(&self) -> std::slice::Iter<'_, Rule<V>> {
        match self {
            Self::Rules(rules) => rules.rules.iter(),
            Self::Broken { .. } => [].iter(),
        }
    }

    fn sandbox_min(&self) -> Option<SandboxMin> {
        match self {
            Self::Rules(rules) => rules.sandbox_min,
            Self::Broken { .. } => Some(SandboxMin::Full),
        }
    }

    fn problem(&self) -> Option<PolicyProblem<'_>> {
        match self {
            Self::Rules(rules) => {
                rules.outdated.as_deref().map(|error| PolicyProblem { error, kept: true })
            }
            Self::Broken { error, .. } => Some(PolicyProblem { error, kept: false }),
        }
    }

    fn matches(&self, subject: &Subject<'_>) -> impl Iterator<Item = Match<'_>> {
        let broken = match self {
            Self::Broken { rule, .. } if !subject.only_reads() => {
                Some(Match::plain(Verdict::Deny, rule))
            }
            Self::Broken { .. } | Self::Rules(_) => None,
        };
        let rules =
            self.iter().filter(|rule| rule.matches(subject)).map(|rule| rule.matched(subject));
        rules.chain(broken)
    }
}

// === impl Rule ===

impl<V: RuleVerdict> Rule<V> {
    fn matched(&self, subject: &Subject<'_>) -> Match<'_> {
        let verdict = self.verdict.verdict();
        let is_uncertain = verdict == Verdict::Deny
            && self
                .conditions
                .command
                .as_ref()
                .is_some_and(|words| words.is_uncertain(subject.command));
        Match {
            verdict: if is_uncertain { Verdict::Ask } else { verdict },
            opens_protected: self.verdict.opens_protected(),
            rule: &self.rule,
        }
    }

    fn listed(&self) -> (Verdict, &RuleRef) {
        (self.verdict.verdict(), &self.rule)
    }
}

// === impl Match ===

impl<'a> Match<'a> {
    /// Of a rule that says no more than its verdict.
    fn plain(verdict: Verdict, rule: &'a Arc<RuleRef>) -> Self {
        Self { verdict, opens_protected: false, rule }
    }

    fn built_in((verdict, rule): (Verdict, &'a Arc<RuleRef>)) -> Self {
        Self::plain(verdict, rule)
    }
}

#[cfg(test)]
mod tests;
